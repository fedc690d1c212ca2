"""`torch` for child processes that got the path of this folder from their parent: makes the name mean rushlight."""

import sys

if __name__ == "torch":  # and not a module of rushlight's, which tools import by its full name
    del sys.modules[__name__]
    try:
        import rushlight
    except ModuleNotFoundError:  # the parent had it on a path that it did not pass on
        sys.path.append(__file__.rpartition("/rushlight/interop/")[0])
        import rushlight
    from rushlight.interop.as_torch import install

    install()
    sys.modules[__name__] = rushlight
