"""Write docs/unsupported.md from the table in rushlight/absent.py; with --check, say whether it is up to date."""

import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).parent.parent
PAGE = ROOT / "docs" / "unsupported.md"
HEAD = """
# What is not supported

Public names of PyTorch 1.9 that rushlight does not have, or that raise an error when called.
`tools/list_unsupported.py` writes this page from `src/rushlight/absent.py`; a test checks that all of it is true.
"""


def page() -> str:
    """The text of docs/unsupported.md."""
    from rushlight.absent import GROUPS, REFUSED

    parts = [HEAD.strip()]
    for group in GROUPS:
        what = "Raise an error when called" if group.kind == REFUSED else "Absent"
        parts.append(f"## {group.title}\n\n" + textwrap.fill(group.reason, 120, break_on_hyphens=False))
        for owner, names in group.names.items():
            text = ", ".join(f"`{name}`" for name in names)
            parts.append(textwrap.fill(f"{what}, of `{owner}`: {text}.", 120, break_on_hyphens=False))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    if "--check" in sys.argv:
        sys.exit(None if PAGE.read_text() == page() else f"{PAGE} is out of date: run {sys.argv[0]}")
    PAGE.write_text(page())


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    main()
