"""The names of old: `sparse.FloatTensor` and its kin, classes of COO tensors of one dtype."""

from __future__ import annotations

import warnings

from ..core.engine import Tensor
from ..ir import dtypes
from ..ops.tensor_types import NAMES
from .construct import is_sizes, sparse_coo_tensor
from .parts import COO, kind_of

_KINDS = ("Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double")


class SparseTensorType(type):
    """The class of `sparse.FloatTensor`: COO tensors of its dtype are its instances, calls make such tensors."""

    def __instancecheck__(cls, instance) -> bool:
        return isinstance(instance, Tensor) and kind_of(instance) == COO and instance.dtype is cls.dtype

    def __call__(cls, *args, device=None) -> Tensor:
        """(indices, values[, size]), with the dtype of the values; or sizes, of a tensor without elements."""
        if len(args) == 1 and is_sizes(args[0]):
            args = tuple(args[0])
        if all(type(n) is int for n in args):
            warn("size, dtype=")
            return sparse_coo_tensor(args or (0,), dtype=cls.dtype, device=device)
        size = args[2] if len(args) == 3 else None
        if len(args) not in (2, 3) or not (isinstance(args[0], Tensor) and isinstance(args[1], Tensor)):
            kinds = ", ".join(type(a).__name__ for a in args)
            raise TypeError(
                f"new() received an invalid combination of arguments - got ({kinds}), but expected (Tensor indices, "
                "Tensor values), (Tensor indices, Tensor values, torch.Size size) or (torch.Size size)"
            )
        if args[0].dtype is not dtypes.int64:
            raise RuntimeError(f"expected scalar type Long but found {args[0].dtype.name}")
        warn("indices, values, size")
        return sparse_coo_tensor(args[0], args[1], size, device=device)

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def warn(arguments: str) -> None:
    """Say what took the place of such a call."""
    warnings.warn(
        f"{dtypes._MODULE}.sparse.SparseTensor(...) is deprecated. Please use "
        f"{dtypes._MODULE}.sparse_coo_tensor({arguments}).",
        UserWarning,
        stacklevel=3,
    )


TYPES = {
    f"{kind}Tensor": SparseTensorType(
        f"{kind}Tensor",
        (),
        {
            "dtype": NAMES[f"{kind}Tensor"],
            "__module__": f"{dtypes._MODULE}.sparse",
            "is_cuda": False,
            "is_sparse": True,
        },
    )
    for kind in _KINDS
}
