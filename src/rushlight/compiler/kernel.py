"""A kernel: LLVM IR text on one side, the address of machine code on the other."""

from __future__ import annotations


class Kernel:
    """A compiled function of the kernel ABI, made on first use of `address`.

    `text` is a whole LLVM module that defines `@name`; equal texts share machine code, in memory
    and in the disk cache (see `cache`).
    """

    __slots__ = ("_address", "name", "text")

    def __init__(self, name: str, text: str):
        self.name, self.text, self._address = name, text, 0

    @property
    def address(self) -> int:
        if not self._address:
            from .cache import load

            self._address = load(self.name, self.text)
        return self._address


def compile_all(kernels) -> None:
    """Make the code of many kernels ready at once: what is on no disk is compiled on all processors."""
    kernels = [kernel for kernel in kernels if not kernel._address]
    if len(kernels) > 1:
        from .cache import load_all

        for kernel, address in zip(kernels, load_all((k.name, k.text) for k in kernels)):
            kernel._address = address
