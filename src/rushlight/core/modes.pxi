# Whether operations are recorded: modes of a thread.

cdef extern from *:
    """
    static __thread int rushlight_grad_mode = 1, rushlight_inference_mode = 0;
    """
    int _grad_mode "rushlight_grad_mode"            # of this thread
    int _inference_mode "rushlight_inference_mode"

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
