"""`rushlight.return_types`: the types of results with names, such as (values, indices)."""

from .ops.named import FIELDS, type_of


def __getattr__(name: str):
    if name == "all_return_types":
        return [type_of(known) for known in FIELDS]
    if name in FIELDS:
        return type_of(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*FIELDS, "all_return_types"])
