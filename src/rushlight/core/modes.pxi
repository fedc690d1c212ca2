# What happens to operations beside computing them: modes of a thread.

cdef extern from *:
    """
    static __thread int rushlight_grad_mode = 1, rushlight_inference_mode = 0, rushlight_saving_hooks = 0, rushlight_depth = 0;
    static __thread int64_t rushlight_dual_level = 0;
    """
    int _grad_mode "rushlight_grad_mode"            # of this thread
    int _inference_mode "rushlight_inference_mode"
    int _saving_hooks "rushlight_saving_hooks"      # how many pairs of hooks look after saved tensors
    int _depth "rushlight_depth"                    # how many backward passes call each other
    unsigned long PyThread_get_thread_ident()
    int64_t _dual_level "rushlight_dual_level"      # the level of forward mode that is open, or 0

cdef dict _open_levels = {}   # thread -> what `vmap` maps over there, outermost first; threads without are left out
cdef bint _anomaly = False    # nodes remember where they were recorded
cdef bint _check_nan = False  # and are searched for NaN

cdef int64_t _sequence = 0


def is_grad_enabled():
    """Whether operations are recorded."""
    return bool(_grad_mode)


def set_grad_mode(bint enabled):
    """Switch recording; returns the previous state."""
    global _grad_mode
    was = bool(_grad_mode)
    _grad_mode = enabled
    return was


def is_inference_mode_enabled():
    """Whether inference mode is on."""
    return bool(_inference_mode)


def set_inference_mode(bint enabled):
    """Switch inference mode; returns the previous state."""
    global _inference_mode
    was = bool(_inference_mode)
    _inference_mode = enabled
    return was


def set_saving_hooks(int count):
    """Tell this thread's recording how many pairs of hooks look after saved tensors; returns the previous count."""
    global _saving_hooks
    was = _saving_hooks
    _saving_hooks = count
    return was


def saving_hooks():
    """How many pairs of hooks look after saved tensors in this thread."""
    return _saving_hooks


def set_anomaly_mode(bint enabled, bint check_nan):
    """Let nodes remember their stack, and search gradients for NaN; returns the previous setting."""
    global _anomaly, _check_nan
    was = bool(_anomaly), bool(_check_nan)
    _anomaly, _check_nan = enabled, check_nan
    return was


def anomaly_mode():
    """Whether nodes remember their stack, and whether gradients are searched for NaN."""
    return bool(_anomaly), bool(_check_nan)


def set_dual_level(int64_t level):
    """Open (or with 0 close) a level of forward mode in this thread; returns the previous one."""
    global _dual_level
    was = _dual_level
    _dual_level = level
    return was


def open_levels():
    """The levels of `vmap` that are open in this thread, outermost first."""
    return _open_levels.get(PyThread_get_thread_ident(), ()) if _open_levels else ()


def set_open_levels(tuple levels not None):
    """Say which levels of `vmap` are open in this thread; returns the previous ones."""
    was = open_levels()
    if levels:
        _open_levels[PyThread_get_thread_ident()] = levels
    else:
        _open_levels.pop(PyThread_get_thread_ident(), None)
    return was


def dual_level():
    """The level of forward mode that is open in this thread, or 0."""
    return _dual_level
