"""Plans of ops that write into the tensors of lists, such as optimizers' steps: one entry after the other.

What such an op does with one entry of its lists does not depend on the others. So the structure that is traced and
lowered is that of one entry, a few for any number of parameters, and the plan of a call is put together from those.
"""

from __future__ import annotations

from ..core.engine import Plan, missing
from .declare import DATA, LIST


def entry_count(declaration, key: tuple) -> int:
    """How many entries the lists of a call have that are treated one by one; 1 if that does not apply."""
    if not getattr(declaration, "mutates", ()):
        return 1
    lists = [entry for entry, kind in zip(key, declaration.kinds) if kind == LIST and entry]
    sizes = {len(entry) for entry in lists}
    return sizes.pop() if len(sizes) == 1 else 1


def plan_entries(called, key: tuple, count: int, parts_of) -> Plan:
    """The plan of all entries; `parts_of(key)` gives the structure and the parts of the plan of a call of one."""
    outputs, launches, temps, zeroed = [], [], [], []
    elementwise = True
    for i, flat in enumerate(flat_numbers(called.declaration, key, count)):
        structure, parts = parts_of(key_of_entry(called.declaration, key, i))
        elementwise = elementwise and structure.elementwise
        moved = {"input": flat, "output": len(outputs), "temp": len(temps)}
        launches += [moved_launch(launch, moved) for launch in parts[1]]
        zeroed += [(role, number + moved[role]) for role, number in parts[3]]
        outputs += [(kind, flat[number]) for kind, number in parts[0]]
        temps += parts[2]
    plan = Plan(outputs, launches, temps, zeroed, "none", False, elementwise, -1)
    plan.derive, plan.info = structure.derive, key
    return plan


def key_of_entry(declaration, key: tuple, i: int) -> tuple:
    return tuple((e[i],) if kind == LIST and e else e for e, kind in zip(key, declaration.kinds))


def flat_numbers(declaration, key: tuple, count: int) -> list[list[int]]:
    """For each entry the numbers, among the flat arguments of the whole call, of its own flat arguments."""
    numbers: list[list[int]] = [[] for _ in range(count)]
    position = 0
    for entry, kind in zip(key, declaration.kinds):
        if kind == LIST and entry:
            for own, part in zip(numbers, entry):
                if part is not None:
                    own.append(position)
                    position += 1
        elif kind == DATA and entry is not None and entry is not missing:
            for own in numbers:
                own.append(position)
            position += 1
    return numbers


def moved_launch(launch: tuple, moved: dict) -> tuple:
    """A launch with inputs, outputs and temporaries by their numbers in the whole plan."""
    address, buffers, params, *work = launch
    flat = moved["input"]

    def place(role: str, number: int, offset: int) -> tuple:
        return role, flat[number] if role == "input" else number + moved.get(role, 0), offset

    numbers = [(flat[p[0]], p[1]) if type(p) is tuple else p for p in params]
    return address, [place(*buffer) for buffer in buffers], numbers, *work
