"""`torch.storage`: the classes of storages; `_StorageBase` is what they have in common."""

from .interop.storage_types import BaseStorage, TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

_StorageBase = BaseStorage
_TypedStorage, _UntypedStorage = TypedStorage, UntypedStorage  # before they were public
