"""`python -m rushlight.utils.collect_env`: what a report of a fault needs to say about the machine."""

from __future__ import annotations

from ..cli import environment


def get_pretty_env_info() -> str:
    """Versions, processor, threads and kernel cache, a line each."""
    return "\n".join(environment())


def main() -> None:
    """Print them."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
