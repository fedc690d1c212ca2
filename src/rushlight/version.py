"""What this build is."""

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

__version__ = "0.1.0"
debug = False
cuda: str | None = None  # no device beside the processor
hip: str | None = None
xpu: str | None = None
git_version = "Unknown"  # a package does not know the commit it was built from
