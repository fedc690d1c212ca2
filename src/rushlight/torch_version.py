"""Versions that compare by their numbers: `TorchVersion("1.10") > "1.9"`."""

from __future__ import annotations

import re

from .version import __version__ as internal_version

__all__ = ["TorchVersion", "internal_version"]

_FORM = re.compile(
    r"""v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)
    (?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_number>\d*))?
    (?P<post>-(?P<post_implicit>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>\d*))?
    (?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d*))?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?""",
    re.VERBOSE | re.IGNORECASE,
)
_PHASES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}


def order_of(text: str):
    """What versions are compared by (PEP 440), or None for text that is no version."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        return None
    release = [int(part) for part in found["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    pre, post, dev = found["pre"], found["post"], found["dev"]
    if pre:
        phase = _PHASES.get(pre.lower(), pre.lower()), int(found["pre_number"] or 0)
    else:  # a development version without a phase comes before all phases, a final one after them
        phase = ("", 0) if dev and not post else ("~", 0)
    post_key = int(found["post_implicit"] or found["post_number"] or 0) if post else -1
    dev_key = int(found["dev_number"] or 0) if dev else float("inf")
    local = re.split("[-_.]", found["local"].lower()) if found["local"] else []
    local_key = [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in local]
    return int(found["epoch"] or 0), release, phase, post_key, dev_key, bool(local), local_key


class TorchVersion(str):
    """A version as text that compares with text, and with tuples of numbers, as a version.

    Text that is no version compares as text.

    >>> from rushlight.torch_version import TorchVersion
    >>> TorchVersion("1.10.0a1") > "1.9", TorchVersion("1.10.0a1") < (1, 10)
    (True, True)
    """

    def _compare(self, other, method: str):
        text = ".".join(map(str, other)) if isinstance(other, (tuple, list)) else other
        if not isinstance(text, str):
            return NotImplemented
        ours, theirs = order_of(self), order_of(str(text))
        if ours is None or theirs is None:
            return getattr(str, method)(self, other) if isinstance(other, str) else NotImplemented
        return getattr(ours, method)(theirs)

    __hash__ = str.__hash__


for _method in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(TorchVersion, _method, lambda self, other, _method=_method: self._compare(other, _method))

__version__ = TorchVersion(internal_version)
