"""A module's text cut into its functions, each a module of its own.

Kernels of a family share micro kernels, packing and transposition: what they share is compiled once, since equal parts
have equal texts. Only the form that `text` writes is cut.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"@([\w.]+)")
_DEFINITION = re.compile(r"define (?:internal )?(.+? @([\w.]+)\(.*\)) ([\w ]*)\{")
_CONSTANT = re.compile(r"@[\w.]+ = private unnamed_addr constant ")
_ARGUMENT = re.compile(r" %[\w.]+(?=[,)])")


def parts_of(text: str) -> list[str]:
    """Modules that, linked together, are the module `text`, their functions all public; none if there is nothing to
    cut."""
    cut = _cut(text)
    if cut is None or len(cut[0]) < 2:
        return []
    functions, outside, metadata = cut
    outside |= {name: f"declare {_ARGUMENT.sub('', head)}" for name, (head, _) in functions.items()}
    return [_part(name, functions, outside, metadata) for name in functions]


def _cut(text: str):
    """({function: (its head, its text)}, {name: constant or declaration}, [metadata]); None for any other form."""
    functions, outside, metadata, lines = {}, {}, [], iter(text.splitlines())
    for line in lines:
        if line.startswith("define "):
            head = _DEFINITION.fullmatch(line)
            if head is None:
                return None
            body = [f"define {head[1]} {head[3]}{{"]
            while body[-1] != "}":
                body.append(next(lines, "}"))
            functions[head[2]] = head[1], "\n".join(body)
        elif line.startswith("declare ") or _CONSTANT.match(line):
            outside[_NAME.search(line)[1]] = line
        elif line.startswith("!"):
            metadata.append(line)
        elif line:
            return None
    return functions, outside, metadata


def _part(name: str, functions: dict, outside: dict, metadata: list[str]) -> str:
    """The module of one function: with it the constants that it reads, and declarations of what it or they name."""
    text = functions[name][1]
    needed, open_names = {name}, _NAME.findall(text)
    while open_names:
        found = open_names.pop()
        if found not in needed:
            needed.add(found)
            if _CONSTANT.match(outside.get(found, "")):
                open_names += _NAME.findall(outside[found])
    before = [line for known, line in outside.items() if known in needed and known != name]
    return "\n".join([*before, text, *(metadata if "!" in text else ())]) + "\n"
