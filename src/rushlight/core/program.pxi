# Plans: what a call with known layouts does. A plan is a list of kernel launches, or the geometry of a view.

cdef extern from "team.h":
    ctypedef void (*kernel_fn)(void **, const int64_t *, int64_t, int64_t) noexcept nogil
    int team_launch(kernel_fn kernel, void **buffers, int count, const int64_t *params, int64_t range, int64_t grain,
                    int64_t scratch) noexcept nogil
    int team_size() nogil
    void team_resize(int size) nogil

DEF MAX_FLAT = 64
DEF FAILURES = 16  # from here on the rooms above say what a kernel's error means

cdef enum:
    ROLE_INPUT = 0
    ROLE_OUTPUT = 1
    ROLE_TEMP = 2
    ROLE_ERROR = 3

cdef enum:
    OUT_NEW = 0      # fresh memory
    OUT_INTO = 1     # written into an input's memory
    OUT_VIEW = 2     # a view of an input
    OUT_SAME = 3     # an input itself
    OUT_NONE = 4     # no value: None stands in the result

cdef enum:
    FORM_SINGLE = 0
    FORM_TUPLE = 1
    FORM_NONE = 2
    FORM_LIST = 3

cdef dict _roles = {"input": ROLE_INPUT, "output": ROLE_OUTPUT, "temp": ROLE_TEMP, "error": ROLE_ERROR}
cdef dict _out_kinds = {"new": OUT_NEW, "into": OUT_INTO, "view": OUT_VIEW, "same": OUT_SAME, "none": OUT_NONE}
cdef dict _result_forms = {"single": FORM_SINGLE, "tuple": FORM_TUPLE, "none": FORM_NONE, "list": FORM_LIST}

ctypedef struct Launch:
    kernel_fn kernel
    int count, n_params, n_patches
    int *roles
    int *indices
    int64_t *offsets
    int64_t *params
    int *patches              # triples: parameter, flat input, slot ("i", "f", "re", "im")
    int64_t range, grain, scratch


def get_num_threads():
    """The number of threads that share large launches."""
    return team_size()


def team_size_address():
    """The address of `int team_size(void)`, for kernels that share work among threads of their own."""
    return <size_t><void *>team_size


def set_num_threads(int count):
    """Set how many threads share large launches."""
    if count < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, got {count}")
    team_resize(count)


@cython.final
cdef class Plan:
    """A planned call: outputs, temporaries and launches with every size filled in.

    outputs   tuples ("new", layout) | ("into", input) | ("view", input, layout, offset) | ("same", input), where
              `input` counts the flat data arguments
    launches  tuples (address, [(role, index, byte offset)], [int | float | (input, slot)], range, grain, scratch)
    temps     bytes of each temporary
    zeroed    ("temp" | "output", index) to clear before the first launch
    """

    cdef Launch *launches
    cdef int n_launches, n_outputs, n_temps, form
    cdef int n_inputs               # one more than the last flat input that a kernel reads
    cdef bytes reads                # per flat input: 1 if a kernel reads it
    cdef list in_layouts            # per flat input: the layout it was planned for, or None
    cdef public int natural         # flat input that is a number which must not be negative, or -1
    cdef int visible                # how many outputs the caller sees; -1 for all
    cdef int64_t *temp_offsets
    cdef int64_t temp_bytes
    cdef int *out_kinds
    cdef int *out_inputs
    cdef int64_t *out_offsets
    cdef int64_t *out_bytes
    cdef list out_layouts
    cdef list zeroed
    cdef bint heavy, reports, runs
    cdef bint differentiable
    cdef bint elementwise           # an in-place call may read operands that are the very memory written
    cdef dict gradients             # needs-mask -> GradientPlan, filled by `derive`
    cdef unsigned long long last_mask   # the mask seen last, its gradient plan, and what its nodes hold if that is
    cdef object last_gradient           # the same for every call: layouts alone
    cdef list constant_args, constant_versions
    cdef public object derive       # derive(plan, needs) -> GradientPlan
    cdef public object info         # the planner's own record (structure, layouts)

    def __cinit__(self, list outputs, list launches, list temps, list zeroed, str form="single",
                  bint differentiable=True, bint elementwise=False, int visible=-1):
        cdef int i, j
        cdef int64_t total = 0
        self.form, self.natural = _result_forms[form], -1
        self.differentiable = differentiable
        self.elementwise = elementwise
        self.visible = visible
        self.gradients = {}
        self.zeroed = [(_roles[role], index) for role, index in zeroed]
        self.n_outputs = <int>len(outputs)
        self.out_kinds = <int *>_calloc(self.n_outputs, sizeof(int))
        self.out_inputs = <int *>_calloc(self.n_outputs, sizeof(int))
        self.out_offsets = <int64_t *>_calloc(self.n_outputs, sizeof(int64_t))
        self.out_bytes = <int64_t *>_calloc(self.n_outputs, sizeof(int64_t))
        self.out_layouts = [None] * self.n_outputs
        for i in range(self.n_outputs):
            self._set_output(i, outputs[i])
        self.n_temps = <int>len(temps)
        self.temp_offsets = <int64_t *>_calloc(self.n_temps, sizeof(int64_t))
        for i in range(self.n_temps):
            self.temp_offsets[i] = total
            total += (<int64_t>temps[i] + 127) // 64 * 64
        self.temp_bytes = total
        self.n_launches = <int>len(launches)
        self.launches = <Launch *>_calloc(self.n_launches, sizeof(Launch))
        read = {index for launch in launches for role, index, _ in launch[1] if role == "input"}
        self.n_inputs = max(read, default=-1) + 1
        self.reads = bytes([index in read for index in range(self.n_inputs)])
        for i in range(self.n_launches):
            self._set_launch(&self.launches[i], launches[i])
        self.runs = self.n_launches > 0 or len(self.zeroed) > 0

    cdef _set_output(self, int i, tuple output):
        cdef Layout layout
        cdef int kind = _out_kinds[output[0]]
        self.out_kinds[i] = kind
        if kind == OUT_NEW:
            layout = output[1]
            self.out_layouts[i] = layout
            self.out_bytes[i] = (layout.high + 1) * layout.itemsize if layout.numel else 0
        elif kind != OUT_NONE:
            self.out_inputs[i] = output[1]
            if kind == OUT_VIEW:
                self.out_layouts[i] = output[2]
                self.out_offsets[i] = output[3]

    cdef _set_launch(self, Launch *launch, tuple given):
        address, buffers, params, work, grain, scratch = given
        cdef int i, n_patches = 0
        cdef double real
        launch.kernel = <kernel_fn><void *><size_t>address
        launch.range, launch.grain, launch.scratch = work, max(1, grain), scratch
        launch.count, launch.n_params = <int>len(buffers), <int>len(params)
        launch.roles = <int *>_calloc(launch.count, sizeof(int))
        launch.indices = <int *>_calloc(launch.count, sizeof(int))
        launch.offsets = <int64_t *>_calloc(launch.count, sizeof(int64_t))
        launch.params = <int64_t *>_calloc(launch.n_params, sizeof(int64_t))
        launch.patches = <int *>_calloc(3 * launch.n_params, sizeof(int))
        for i in range(launch.count):
            role, index, offset = buffers[i]
            launch.roles[i], launch.indices[i], launch.offsets[i] = _roles[role], index, offset
            if launch.roles[i] == ROLE_ERROR:
                self.reports = True
        for i in range(launch.n_params):
            value = params[i]
            if type(value) is float:
                real = value
                memcpy(&launch.params[i], &real, 8)
            elif type(value) is tuple:
                launch.patches[3 * n_patches] = i
                launch.patches[3 * n_patches + 1] = value[0]
                launch.patches[3 * n_patches + 2] = <int>("i", "f", "re", "im").index(value[1])
                n_patches += 1
            else:
                launch.params[i] = value
        launch.n_patches = n_patches
        if launch.range >= 2 * launch.grain or launch.range >= 4096:
            self.heavy = True

    def __dealloc__(self):
        cdef int i
        for i in range(self.n_launches):
            free(self.launches[i].roles)
            free(self.launches[i].indices)
            free(self.launches[i].offsets)
            free(self.launches[i].params)
            free(self.launches[i].patches)
        free(self.launches)
        free(self.out_kinds)
        free(self.out_inputs)
        free(self.out_offsets)
        free(self.out_bytes)
        free(self.temp_offsets)

    def layouts_of(self, entries):
        """The outputs' layouts, given those of the flat inputs."""
        return [entries[self.out_inputs[i]] if self.out_kinds[i] in (OUT_INTO, OUT_SAME) else self.out_layouts[i]
                for i in range(self.n_outputs)]


class IndexOutOfRange(IndexError, RuntimeError):
    """An index that a kernel found to be out of bounds: PyTorch raises an IndexError for some ops, a RuntimeError for others."""

    def __reduce__(self):
        return IndexError, self.args


class DividedByZero(ZeroDivisionError, RuntimeError):
    """An integer was divided by zero; PyTorch raises RuntimeError for this."""

    def __reduce__(self):
        return RuntimeError, self.args


for _kind, _title in ((IndexOutOfRange, "IndexError"), (DividedByZero, "RuntimeError")):  # tracebacks show what users know
    _kind.__name__, _kind.__qualname__, _kind.__module__ = _title, _title, "builtins"


cdef void *_calloc(size_t count, size_t size) except NULL:
    cdef void *p = calloc(count if count else 1, size)
    if p == NULL:
        raise MemoryError()
    return p


cdef int patch_scalar(int64_t *target, object value, int slot) except -1:
    """Write a run-time number where a kernel reads it."""
    cdef double real
    if slot == 0:
        target[0] = <int64_t>value if type(value) is int else <int64_t>int(value)
        return 0
    if slot == 1:
        real = value
    elif slot == 2:
        real = value.real
    else:
        real = value.imag
    memcpy(target, &real, 8)
    return 0


cdef object run_plan(Plan plan, PyObject **flat, list given):
    """Execute: allocate outputs (or use `given` tensors), launch, return the result."""
    cdef void *local_outputs[16]
    cdef void *local_inputs[MAX_FLAT]
    cdef void **output_pointers = local_outputs
    cdef void **input_pointers = local_inputs
    cdef char *temps = NULL
    cdef Tensor t, source
    cdef int i
    cdef list results = None
    cdef list held = [] if plan.heavy else None  # other threads may give tensors other memory while kernels run
    cdef Tensor single = None
    if plan.natural >= 0 and <object>flat[plan.natural] < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    try:
        if plan.n_outputs > 16:
            output_pointers = <void **>_calloc(plan.n_outputs, sizeof(void *))
        if plan.n_inputs > MAX_FLAT:
            input_pointers = <void **>_calloc(plan.n_inputs, sizeof(void *))
        if plan.n_outputs != 1 or plan.form != FORM_SINGLE:
            results = []
        for i in range(plan.n_outputs):
            if given is not None:
                t = <Tensor>given[i]
                if plan.out_kinds[i] == OUT_NEW and (t.lay.high != (<Layout>plan.out_layouts[i]).high or
                                                     t.lay.low != (<Layout>plan.out_layouts[i]).low):
                    raise_moved()
                if plan.out_kinds[i] == OUT_INTO and t.lay is not plan.in_layouts[plan.out_inputs[i]]:
                    raise_moved()
            elif plan.out_kinds[i] == OUT_NEW:
                t = new_tensor(new_storage(plan.out_bytes[i]), 0, <Layout>plan.out_layouts[i])
            elif plan.out_kinds[i] == OUT_NONE:
                results.append(None)
                continue
            elif plan.out_kinds[i] == OUT_VIEW:
                source = <Tensor>flat[plan.out_inputs[i]]
                t = new_tensor(source.memory, start_as(source, <Layout>plan.out_layouts[i]) + plan.out_offsets[i],
                               <Layout>plan.out_layouts[i])
                t.base = source.base if source.base is not None else source
                t.inference = t.inference or source.inference
                t.view_version = version_seen(t.base, source)
            else:
                t = <Tensor>flat[plan.out_inputs[i]]
                if plan.out_kinds[i] == OUT_INTO and t.lay is not plan.in_layouts[plan.out_inputs[i]]:
                    raise_moved()
            output_pointers[i] = t.memory.ptr + t.start * t.lay.itemsize
            if held is not None:
                hold(held, t.memory)
            if results is None:
                single = t
            else:
                results.append(t)
        if plan.runs:
            for i in range(plan.n_inputs):
                if plan.reads[i]:
                    t = <Tensor>flat[i]
                    if t.lay is not plan.in_layouts[i]:
                        raise_moved()
                    input_pointers[i] = t.memory.ptr + t.start * t.lay.itemsize
                    if held is not None:
                        hold(held, t.memory)
            if plan.temp_bytes:
                temps = <char *>allocator_get(plan.temp_bytes)
                if temps == NULL:
                    raise RuntimeError(f"out of memory: could not allocate {plan.temp_bytes} bytes of temporary memory")
            _clear(plan, output_pointers, temps)
            _launch_all(plan, flat, input_pointers, output_pointers, temps)
    finally:
        if held is not None:
            for storage in held:
                (<Storage>storage).pins -= 1
        if temps != NULL:
            allocator_put(temps, plan.temp_bytes)
        if output_pointers != local_outputs:
            free(output_pointers)
        if input_pointers != local_inputs:
            free(input_pointers)
    if results is None:
        return single
    return results


cdef inline int hold(list held, Storage memory) except -1:
    """Keep memory alive, and where it is, until a kernel is done with it."""
    held.append(memory)
    memory.pins += 1
    return 0


cdef raise_moved():
    raise RuntimeError("a tensor was given other memory while an operation on it was being prepared")


cdef inline int64_t start_as(Tensor source, Layout layout):
    """Where a tensor starts, counted in elements of a view's dtype (the parts of complex numbers, say)."""
    return source.start * source.lay.itemsize // layout.itemsize


cdef _clear(Plan plan, void **outputs, char *temps):
    cdef int64_t size
    for role, index in plan.zeroed:
        if role == ROLE_TEMP:
            size = (plan.temp_offsets[<int>index + 1] if index + 1 < plan.n_temps else plan.temp_bytes) - plan.temp_offsets[<int>index]
            memset(temps + plan.temp_offsets[<int>index], 0, size)
        else:
            memset(outputs[<int>index], 0, plan.out_bytes[<int>index])


cdef int _launch_all(Plan plan, PyObject **flat, void **inputs, void **outputs, char *temps) except -1:
    cdef void *local_buffers[65]
    cdef int64_t local_params[128]
    cdef void **buffers
    cdef int64_t *params
    cdef int64_t error[4]
    cdef Launch *launch
    cdef int i, j, status
    memset(error, 0, sizeof(error))
    for i in range(plan.n_launches):
        launch = &plan.launches[i]
        buffers = local_buffers
        if launch.count > 64:
            buffers = <void **>_calloc(launch.count + 1, sizeof(void *))
        params = launch.params
        if launch.n_patches:
            params = local_params
            if launch.n_params > 128:
                params = <int64_t *>_calloc(launch.n_params, sizeof(int64_t))
            memcpy(params, launch.params, launch.n_params * sizeof(int64_t))
        try:
            for j in range(launch.n_patches):
                patch_scalar(&params[launch.patches[3 * j]], <object>flat[launch.patches[3 * j + 1]], launch.patches[3 * j + 2])
            for j in range(launch.count):
                if launch.roles[j] == ROLE_INPUT:
                    buffers[j] = <char *>inputs[launch.indices[j]] + launch.offsets[j]
                elif launch.roles[j] == ROLE_OUTPUT:
                    buffers[j] = <char *>outputs[launch.indices[j]] + launch.offsets[j]
                elif launch.roles[j] == ROLE_TEMP:
                    buffers[j] = temps + plan.temp_offsets[launch.indices[j]] + launch.offsets[j]
                else:
                    buffers[j] = error
            if plan.heavy:
                with nogil:
                    status = team_launch(launch.kernel, buffers, launch.count, params, launch.range, launch.grain, launch.scratch)
            else:
                status = team_launch(launch.kernel, buffers, launch.count, params, launch.range, launch.grain, launch.scratch)
            if status:
                raise RuntimeError(f"out of memory: could not allocate {launch.scratch} bytes of scratch memory per thread")
        finally:
            if buffers != local_buffers:
                free(buffers)
            if params != launch.params and params != local_params:
                free(params)
        if plan.reports and error[0] >= FAILURES:
            raise _hooks["failure"](error[0], error[1], error[2], error[3])
        if plan.reports and error[0] == 2:
            raise DividedByZero("ZeroDivisionError: integer division or modulo by zero")
        if plan.reports and error[0]:
            raise _hooks["out_of_bounds"](plan, [<object>flat[j] for j in range(plan.n_inputs)], error[1], error[2], error[3])
    return 0


def launch_kernel(size_t address, list buffers not None, list params not None, int64_t work, int64_t grain, int64_t scratch=0):
    """Run one kernel on raw addresses; used by the generators of random numbers."""
    cdef void *pointers[65]
    cdef int64_t numbers[128]
    cdef double real
    cdef int i, status, count = <int>len(buffers)
    if count > 64 or len(params) > 128:
        raise ValueError("launch_kernel: at most 64 buffers and 128 parameters")
    for i in range(count):
        pointers[i] = <void *><size_t>buffers[i]
    for i in range(len(params)):
        if type(params[i]) is float:
            real = params[i]
            memcpy(&numbers[i], &real, 8)
        else:
            numbers[i] = params[i]
    with nogil:
        status = team_launch(<kernel_fn><void *>address, pointers, count, numbers, work, grain, scratch)
    if status:
        raise RuntimeError(f"out of memory: could not allocate {scratch} bytes of scratch memory per thread")
