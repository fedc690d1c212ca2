"""`rushlight.return_types`: the types of results with names, such as (values, indices)."""

from .ops.named import TYPES


def __getattr__(name: str):
    if name == "all_return_types":
        return list(TYPES.values())
    if name in TYPES:
        return TYPES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*TYPES, "all_return_types"])
