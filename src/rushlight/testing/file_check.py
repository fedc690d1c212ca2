"""`FileCheck`: what a text (a printed graph, say) has to contain, in which order."""

from __future__ import annotations

import re


class FileCheck:
    """Checks of a text, added one after the other and carried out by `run`.

    Each positive check looks behind the match of the one before. A `check_not` looks between its neighbours'
    matches. Checks in a row made by `check_dag` may match in any order.

    >>> rushlight.testing.FileCheck().check("conv").check_not("relu").check("linear").run("conv(x)\\nlinear(y)")
    """

    def __init__(self):
        self._checks: list[tuple] = []

    def _add(self, kind: str, text: str, *rest) -> FileCheck:
        self._checks.append((kind, text, *rest))
        return self

    def check(self, text: str) -> FileCheck:
        """`text` comes next, anywhere behind the last match."""
        return self._add("CHECK", text)

    def check_not(self, text: str) -> FileCheck:
        """`text` does not come before the next match, or the end."""
        return self._add("CHECK-NOT", text)

    def check_same(self, text: str) -> FileCheck:
        """`text` comes next, on the line of the last match."""
        return self._add("CHECK-SAME", text)

    def check_next(self, text: str) -> FileCheck:
        """`text` comes next, on the line after that of the last match."""
        return self._add("CHECK-NEXT", text)

    def check_count(self, text: str, count: int, exactly: bool = False) -> FileCheck:
        """`text` comes `count` times; with `exactly`, not once more before the next match."""
        self._add("CHECK-COUNT", text, count)
        return self.check_not(text) if exactly else self

    def check_dag(self, text: str) -> FileCheck:
        """`text` comes behind the last match that was no `check_dag`."""
        return self._add("CHECK-DAG", text)

    def check_regex(self, pattern: str) -> FileCheck:
        """A match of a regular expression comes next."""
        return self._add("CHECK-REGEX", pattern)

    def check_source_highlighted(self, text: str) -> FileCheck:
        """`text` comes next, with a line below it that has `~` under all of it."""
        return self._add("CHECK-SOURCE-HIGHLIGHTED", text)

    def run(self, *arguments) -> None:
        """Carry out the checks on a text: `run(text)`, or `run(lines of "# CHECK: ..", text)`.

        Raises:
            RuntimeError: naming the first check that fails, or where there is no check
        """
        *added, text = arguments
        for lines in added:
            self._parse(lines)
        if not self._checks:
            raise RuntimeError("No checks have been added to this instance of Filecheck! Check for bad input.")
        _Run(str(text)).all(self._checks)

    def _parse(self, lines: str) -> None:
        for kind, count, exactly, text in re.findall(
            r"^\s*#?\s*(CHECK(?:-(?!COUNT)[A-Z-]+)?|CHECK-COUNT-(\d+)(-EXACTLY)?):\s*(.*?)\s*$", lines, re.MULTILINE
        ):
            if count:
                self.check_count(text, int(count), bool(exactly))
            elif kind in _KINDS:
                self._add(kind, text)
            else:
                raise RuntimeError(f"FileCheck: {kind} is no kind of check; expected one of {', '.join(_KINDS)}")

    def __repr__(self) -> str:
        return "".join(f"{kind}: {text}\n" for kind, text, *_ in self._checks)


_KINDS = "CHECK CHECK-NOT CHECK-SAME CHECK-NEXT CHECK-DAG CHECK-REGEX CHECK-SOURCE-HIGHLIGHTED".split()  # noqa: SIM905


class _Run:
    """Checks on one text: `end` is where the last match ended, `started` whether there was one."""

    def __init__(self, text: str):
        self.text, self.end, self.started = text, 0, False

    def all(self, checks: list) -> None:
        unwanted: list[str] = []
        place = 0
        while place < len(checks):
            kind, wanted, *rest = checks[place]
            place += 1
            if kind == "CHECK-NOT":
                unwanted.append(wanted)
                continue
            before = self.end
            if kind == "CHECK-DAG":
                group = [wanted]
                while place < len(checks) and checks[place][0] == "CHECK-DAG":
                    group.append(checks[place][1])
                    place += 1
                start = self.any_order(group)
            else:
                start = self.one(kind, wanted, *rest)
            self.none_of(unwanted, before, start)
            unwanted.clear()
        self.none_of(unwanted, self.end, len(self.text))

    def one(self, kind: str, wanted: str, count: int = 1) -> int:
        """Find the next match, or the next `count` ones; returns where the first starts."""
        before, first = self.end, None
        for _ in range(count):
            start, end = self.find(kind, wanted, self.end)
            first = start if first is None else first
            self.end = end
        if kind in ("CHECK-SAME", "CHECK-NEXT") and self.started:
            lines = self.text.count("\n", before, first)
            if lines != (kind == "CHECK-NEXT"):
                where = "on the next line" if kind == "CHECK-NEXT" else "on the same line"
                self.fail(kind, wanted, f'Expected to find "{wanted}" {where} but found it {lines} lines below')
        self.started = True
        return before if first is None else first

    def any_order(self, group: list[str]) -> int:
        found = [self.find("CHECK-DAG", wanted, self.end) for wanted in group]
        self.end, self.started = max(end for _, end in found), True
        return min(start for start, _ in found)

    def find(self, kind: str, wanted: str, begin: int) -> tuple[int, int]:
        if kind == "CHECK-REGEX":
            match = re.compile(wanted).search(self.text, begin)
            place = None if match is None else match.span()
        elif kind == "CHECK-SOURCE-HIGHLIGHTED":
            place = self.highlighted(wanted, begin)
        else:
            start = self.text.find(wanted, begin)
            place = None if start < 0 else (start, start + len(wanted))
        if place is None:
            self.fail(kind, wanted, f'Expected to find "{wanted}" but did not find it')
        return place

    def highlighted(self, wanted: str, begin: int):
        for match in re.compile(re.escape(wanted)).finditer(self.text, begin):
            column = match.start() - (self.text.rfind("\n", 0, match.start()) + 1)
            below = self.text[match.end() :].partition("\n")[2].partition("\n")[0]
            if below[column : column + len(wanted)] == "~" * len(wanted):
                return match.start(), match.end() + self.text[match.end() :].find("\n") + 1 + len(below)
        return None

    def none_of(self, unwanted: list[str], start: int, stop: int) -> None:
        for text in unwanted:
            place = self.text.find(text, start, stop)
            if place >= 0:
                line = self.text.count("\n", 0, place) + 1
                self.fail("CHECK-NOT", text, f'Expected to not find "{text}" but found it on line {line}')

    def fail(self, kind: str, wanted: str, what: str) -> None:
        raise RuntimeError(f"{what}\nSearched string:\n{self.text}\nFrom {kind}: {wanted}\n")
