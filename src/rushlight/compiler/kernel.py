"""A kernel: LLVM IR text on one side, the address of machine code on the other."""

from __future__ import annotations


class Kernel:
    """A compiled function of the kernel ABI, made on first use of `address`.

    `text` is a whole LLVM module that defines `@name`; equal texts share machine code, in memory
    and in the disk cache (see `cache`).
    """

    __slots__ = ("name", "text", "_address")

    def __init__(self, name: str, text: str):
        self.name, self.text, self._address = name, text, 0

    @property
    def address(self) -> int:
        if not self._address:
            from .cache import load

            self._address = load(self.name, self.text)
        return self._address
