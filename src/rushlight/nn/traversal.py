"""Walking the tree of modules: iterators over what it holds, and access by dotted name."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import Tensor


class Traversal:
    """The `named_*` iterators of `Module` and `get_submodule`, `get_parameter`, `get_buffer`.

    All iterators go depth first in the order of registration. A shared object comes once, under its
    first name, unless `remove_duplicate=False`.
    """

    def named_modules(self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True) -> Iterator:
        """This module under `prefix`, then all modules below it with their dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, _join(prefix, name), remove_duplicate)

    def modules(self) -> Iterator:
        """This module and all modules below it."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator:
        """The direct submodules with their names."""
        memo = set()
        for name, module in self._modules.items():
            if module is not None and module not in memo:
                memo.add(module)
                yield name, module

    def children(self) -> Iterator:
        """The direct submodules."""
        for _, module in self.named_children():
            yield module

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator:
        """Parameters with their dotted names; `recurse=False` leaves out those of submodules."""
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator:
        """Parameters; `recurse=False` leaves out those of submodules."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator:
        """Buffers with their dotted names; `recurse=False` leaves out those of submodules."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator:
        """Buffers; `recurse=False` leaves out those of submodules."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(self, members_of, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True):
        memo: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for module_prefix, module in modules:
            for name, member in members_of(module):
                if member is None or id(member) in memo:
                    continue
                if remove_duplicate:
                    memo.add(id(member))
                yield _join(module_prefix, name), member

    def get_submodule(self, target: str):
        """The module with a dotted name; this one for "". AttributeError where there is none."""
        from .module import Module

        module = self
        for name in target.split(".") if target else ():
            owner = module
            if not hasattr(owner, name):
                raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
            module = getattr(owner, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module, strict: bool = False) -> None:
        """Puts `module` at a dotted name; with `strict` the name must hold a module already."""
        from .module import Module

        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent_name, _, name = target.rpartition(".")
        parent = self.get_submodule(parent_name)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str):
        """The parameter with a dotted name."""
        from .parameter import Parameter

        parameter = self._get_member(target)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{target.rpartition('.')[2]}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with a dotted name."""
        buffer = self._get_member(target)
        module_name, _, name = target.rpartition(".")
        if name not in self.get_submodule(module_name)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    def _get_member(self, target: str):
        module_name, _, name = target.rpartition(".")
        module = self.get_submodule(module_name)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        return getattr(module, name)


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
