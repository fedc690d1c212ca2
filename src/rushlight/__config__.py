"""`torch.__config__`: what this build is made of, and how it works in parallel."""

from __future__ import annotations


def show() -> str:
    """Versions, processor and cache in lines of text, as `rushlight doctor` prints them."""
    from .cli import environment

    return "\n".join(["rushlight, whose kernels are generated:", *(f"  - {line}" for line in environment())]) + "\n"


def parallel_info() -> str:
    """How many threads there are and what says so, in lines of text."""
    import os

    from .core.engine import get_num_threads

    return "\n".join(
        [
            f"rushlight::get_num_threads() : {get_num_threads()}",
            f"processors of this process : {len(os.sched_getaffinity(0))}",
            "parallel backend: a team of threads in rushlight's core\n",
        ]
    )
