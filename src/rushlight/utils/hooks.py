"""`rushlight.utils.hooks`: handles that remove hooks."""

from __future__ import annotations

from ..nn.hooks import RemovableHandle as _Handle

__all__ = ["RemovableHandle", "unserializable_hook"]


class RemovableHandle(_Handle):
    """Removes an entry of `hooks_dict`, its `id`, with `remove()`, or at the end of a `with` block.

    `extra_dict` is a further dictionary, or several, that lose the same key.
    """

    def __init__(self, hooks_dict: dict, *, extra_dict: dict | list[dict] | None = None):
        extra = [] if extra_dict is None else [extra_dict] if isinstance(extra_dict, dict) else extra_dict
        super().__init__(hooks_dict, tuple(extra))


def unserializable_hook(f):
    """Mark a hook as one that is not saved with its tensor, which is true of all; returns it."""
    f.__torch_unserializable__ = True
    return f
