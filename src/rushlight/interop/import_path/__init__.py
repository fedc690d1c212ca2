"""A folder for `sys.path`, in which `torch` is found: see `interop.as_torch`."""
