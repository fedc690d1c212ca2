# Op: the public callable. A call with known layouts is one dictionary hit away from its plan.

cdef extern from "Python.h":
    ctypedef PyObject *(*vectorcallfunc)(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
    ctypedef PyObject *(*ternaryfunc)(PyObject *, PyObject *, PyObject *)
    ctypedef struct PyTypeObject:
        const char *tp_name
        Py_ssize_t tp_vectorcall_offset
        unsigned long tp_flags
        ternaryfunc tp_call
        PyObject *tp_dict
        PyObject *(*tp_new)(PyTypeObject *, PyObject *, PyObject *)
    PyObject *PyVectorcall_Call(PyObject *, PyObject *, PyObject *)
    Py_ssize_t PyVectorcall_NARGS(size_t nargsf)
    void PyType_Modified(PyTypeObject *)
    PyObject *PyDict_GetItemWithError(PyObject *, PyObject *)
    PyObject *PyTuple_New(Py_ssize_t)
    void PyTuple_SET_ITEM(PyObject *, Py_ssize_t, PyObject *)
    PyObject *PyTuple_GET_ITEM(PyObject *, Py_ssize_t)
    Py_ssize_t PyTuple_GET_SIZE(PyObject *)
    PyObject *PyList_GET_ITEM(PyObject *, Py_ssize_t)
    void Py_INCREF(PyObject *)
    void Py_XINCREF "Py_XINCREF"(PyObject *)
    void Py_DECREF(PyObject *)
    object PyMethod_New(object, object)
    int PyErr_CheckSignals() except -1

DEF DATA = 0      # a tensor, or a number passed at run time
DEF STATIC = 1    # part of the plan's key
DEF LIST = 2      # a list of tensors

DEF MAX_PARAMS = 40
DEF MAX_PLANS = 20000
DEF RECENT = 8    # plans that an op finds without a dictionary; a power of two


class _Missing:
    def __repr__(self):
        return "missing"


cdef object MISSING = _Missing()
missing = MISSING


cdef class Op:
    """A tensor function: plans once per structure, then repeats.

    name      what it is called in errors and in the graph
    names     parameter names; `kinds[i]` is 0 for data, 1 for static arguments, 2 for lists of tensors
    planner   planner(op, key, flat) -> Plan, for a key not seen before; `flat` are the data arguments
    into      flat input that the call writes (in-place ops), or -1
    mutates   flat inputs are written as the plan's outputs say, nothing is returned
    variadic  any number of data arguments
    """

    cdef vectorcallfunc vectorcall
    cdef readonly str name
    cdef readonly tuple names
    cdef bytes kinds
    cdef readonly int required
    cdef int n_params, positional, takes
    cdef int gathers          # parameter that takes a tuple of sizes, which may also be given one by one; or -1
    cdef dict plans           # key -> (key, plan)
    cdef list recent          # some of these pairs, each at the place that the addresses of a key's parts say: see `recent_plan`
    cdef public dict out_plans  # (key, layouts of `out`) -> plan that writes these, or None: it can't; filled by the rooms above
    cdef public object planner, declaration, tracer
    cdef public int most      # tensors that a list may hold; a longer one leaves the fast path
    cdef public object many   # what is called with a longer list, or None
    cdef readonly int into
    cdef bint mutates, variadic
    cdef public bint records
    cdef public bint overridable  # calls may go to `__torch_function__` of an argument's type, or to a mode
    cdef dict __dict__
    cdef object __weakref__

    def __init__(self, str name not None, names, kinds, int required, planner, *, int positional=-1, int into=-1, bint mutates=False,
                 bint variadic=False, bint records=True, int gathers=-1):
        self.vectorcall = op_vectorcall
        self.name, self.names, self.kinds, self.required = name, tuple(names), bytes(kinds), required
        self.n_params = <int>len(self.names)
        self.positional = self.takes = positional if positional >= 0 else self.n_params
        if self.n_params > MAX_PARAMS:
            raise ValueError(f"{name}: at most {MAX_PARAMS} parameters")
        if len(self.kinds) != self.n_params or not 0 <= required <= self.n_params or gathers >= self.n_params:
            raise ValueError(f"{name}: {self.n_params} parameters, {len(self.kinds)} kinds, {required} required")
        self.planner, self.into, self.mutates, self.variadic, self.records = planner, into, mutates, variadic, records
        self.plans, self.recent, self.out_plans = {}, [None] * RECENT, {}
        self.gathers, self.most, self.overridable = gathers, 0x7fffffff, not (variadic or mutates)

    def __call__(self, *args, **kwargs):
        raise AssertionError("replaced by vectorcall")

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def clear(self):
        """Forget all plans (the kernels stay)."""
        self.plans.clear()
        self.out_plans.clear()
        self.recent = [None] * RECENT

    def redirect(self, bint away):
        """Send every call to `slow_call`, or (the usual thing) only those that are out of the ordinary."""
        self.positional = -1 if away else self.takes  # more arguments than this leave the fast path

    @property
    def plan_count(self):
        return len(self.plans)

    def call(self, list args not None):
        """Call with positional arguments given as a list (any number, for variadic ops)."""
        cdef Py_ssize_t i, n = len(args)
        cdef PyObject **pointers = <PyObject **>_calloc(n, sizeof(PyObject *))
        try:
            for i in range(n):
                pointers[i] = <PyObject *>args[i]
            return call_op(self, pointers, n, None)
        finally:
            free(pointers)

    def run_into(self, list outputs not None, Plan plan not None, list flat not None):
        """Execute a plan with outputs in given tensors (`out=`)."""
        cdef Py_ssize_t i, n = len(flat)
        cdef PyObject **pointers = <PyObject **>_calloc(n, sizeof(PyObject *))
        cdef Tensor t
        try:
            for i in range(n):
                pointers[i] = <PyObject *>flat[i]
            if (<Plan>plan).in_layouts is None:
                (<Plan>plan).in_layouts = data_layouts(self, (<Plan>plan).info)
            check_arguments(<Plan>plan, flat)
            check_outputs(<Plan>plan, outputs)
            for t in outputs:
                check_memory_writable(t)
                for value in flat:
                    if isinstance(value, Tensor) and may_overlap(t, <Tensor>value) and not (
                            (<Plan>plan).elementwise and is_same_memory(<Tensor>value, t)):
                        raise_overlap()
            run_plan(<Plan>plan, pointers, outputs)
            for t in outputs:
                t.memory.version += 1
        finally:
            free(pointers)

    def __repr__(self):
        return f"<op {self.name}>"

    def __reduce__(self):
        return _hooks["op_named"], (self.name,)


cdef raise_overlap():
    raise RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                       "memory location. Please clone() the tensor before performing the operation.")


cdef PyObject *op_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) noexcept:
    try:
        result = call_op(<Op>callable, <PyObject **>args, PyVectorcall_NARGS(nargsf), <object>kwnames if kwnames != NULL else None)
    except BaseException as error:
        raise_again(error)
        return NULL
    Py_INCREF(<PyObject *>result)
    return <PyObject *>result


cdef extern from "Python.h":
    void PyErr_SetRaised "rushlight_set_raised"(object)

cdef extern from *:
    """
    static void rushlight_set_raised(PyObject *error) {
        PyObject *type = (PyObject *)Py_TYPE(error), *traceback = PyException_GetTraceback(error);
        Py_INCREF(type);
        Py_INCREF(error);
        PyErr_Restore(type, error, traceback);
    }
    static int rushlight_pending(void) { return PyErr_Occurred() ? -1 : 0; }
    """
    int raise_pending "rushlight_pending"() except -1


cdef void raise_again(object error) noexcept:
    PyErr_SetRaised(error)


cdef object bind_arguments(Op op, PyObject **args, Py_ssize_t nargs, tuple kwnames, PyObject **slots, PyObject **out):
    """Place keyword arguments, a tensor `out=` apart; returns the number of leading slots in use, or None for the slow path."""
    cdef Py_ssize_t i, j, used = nargs
    for i in range(op.n_params):
        slots[i] = args[i] if i < nargs else NULL
    for j in range(len(kwnames)):
        name = kwnames[j]
        for i in range(op.n_params):
            if op.names[i] is name or op.names[i] == name:
                break
        else:
            if name != "out" or type(<object>args[nargs + j]) is not Tensor:
                return None
            out[0] = args[nargs + j]
            continue
        if slots[i] != NULL:
            raise TypeError(f"{op.name}() got multiple values for argument '{name}'")
        slots[i] = args[nargs + j]
        if i + 1 > used:
            used = i + 1
    return used


cdef object slow_call(Op op, PyObject **args, Py_ssize_t nargs, tuple kwnames):
    """Everything unusual: types that override, traced values, `out=`, NumPy scalars, aliases of keywords, errors."""
    cdef Py_ssize_t i
    if op.overridable and any_overrides(args, nargs + (len(kwnames) if kwnames is not None else 0)):
        return call_overridden(op, args, nargs, kwnames)
    positional = [<object>args[i] for i in range(nargs)]
    keywords = {kwnames[i]: <object>args[nargs + i] for i in range(len(kwnames))} if kwnames is not None else {}
    return _hooks["slow_call"](op, positional, keywords)


cdef object call_op(Op op, PyObject **args, Py_ssize_t nargs, tuple kwnames):
    cdef PyObject *local_slots[MAX_PARAMS]
    cdef PyObject **slots = args
    cdef PyObject *local_flat[MAX_FLAT]
    cdef PyObject *local_parts[MAX_FLAT]
    cdef PyObject **flat = local_flat
    cdef PyObject **parts = local_parts  # of the key
    cdef Py_ssize_t i, used = nargs, n_flat = 0, capacity = MAX_FLAT
    cdef PyObject *item
    cdef PyObject *out = NULL
    cdef bint needs = False
    cdef int kind
    cdef object value, held = None
    if rare(_mode_count) and op.overridable and mode_overrides():
        return call_overridden(op, args, nargs, kwnames)
    if op.gathers >= 0 and nargs > op.gathers + 1 and kwnames is None and type(<object>args[op.gathers]) is int:
        return call_gathered(op, args, nargs)
    if not op.variadic:
        if nargs > op.positional:
            return slow_call(op, args, nargs, kwnames)
        if kwnames is not None:
            bound = bind_arguments(op, args, nargs, kwnames, local_slots, &out)
            if bound is None:
                return slow_call(op, args, nargs, kwnames)
            used, slots = bound, local_slots
        if used < op.required:
            return slow_call(op, args, nargs, kwnames)
    if op.variadic and used > MAX_FLAT:
        flat = <PyObject **>_calloc(used, sizeof(PyObject *))
        capacity = used
    try:
        if op.variadic and used > MAX_FLAT:
            parts = <PyObject **>_calloc(used, sizeof(PyObject *))
        for i in range(used):
            item = slots[i]
            if item == NULL:
                if i < op.required:
                    return slow_call(op, args, nargs, kwnames)
                parts[i] = <PyObject *>MISSING
                continue
            value = <object>item
            kind = DATA if op.variadic else op.kinds[i]
            if kind == DATA:
                if type(value) is Tensor or (isinstance(value, Tensor) and not (op.overridable and tensor_overrides(item))):
                    parts[i] = <PyObject *>(<Tensor>value).lay
                    needs |= wants_grad(<Tensor>value)
                elif value is None:
                    parts[i] = item
                    continue
                elif type(value) is float:
                    parts[i] = <PyObject *>float
                elif type(value) is int:
                    if not -0x8000000000000000 <= value <= 0x7fffffffffffffff:
                        return slow_call(op, args, nargs, kwnames)
                    parts[i] = <PyObject *>int
                elif type(value) is bool:
                    parts[i] = <PyObject *>bool
                elif type(value) is complex:
                    parts[i] = <PyObject *>complex
                elif type(value) is Layout and op.variadic:  # a derivative's, in the place of a tensor that is not read
                    parts[i] = item
                else:
                    return slow_call(op, args, nargs, kwnames)
                if n_flat == capacity:
                    flat = grow(flat, local_flat, &capacity)
                flat[n_flat] = item
                n_flat += 1
            elif kind == STATIC:
                if type(value) in _static_types:
                    parts[i] = item
                elif type(value) is list and are_integers(<list>value):
                    value = tuple(<list>value)
                    held = (held, value)
                    parts[i] = <PyObject *>value
                else:
                    return slow_call(op, args, nargs, kwnames)
            else:
                if type(value) is not list and type(value) is not tuple:
                    return slow_call(op, args, nargs, kwnames)
                if len(value) > op.most:
                    if op.many is None or kwnames is not None or nargs > 2 or any_overrides(args, nargs):
                        return slow_call(op, args, nargs, kwnames)
                    return op.many(value) if nargs == 1 else op.many(value, <object>args[1])
                layouts = []
                value = tuple(value)
                held = (held, value)  # the caller's list may change while kernels run
                for part in value:
                    if type(part) is not Tensor and (not isinstance(part, Tensor) or (
                            op.overridable and tensor_overrides(<PyObject *>part))):
                        if part is None:
                            layouts.append(None)
                            continue
                        return slow_call(op, args, nargs, kwnames)
                    layouts.append((<Tensor>part).lay)
                    needs |= wants_grad(<Tensor>part)
                    if n_flat == capacity:
                        flat = grow(flat, local_flat, &capacity)
                    flat[n_flat] = <PyObject *>part
                    n_flat += 1
                value = tuple(layouts)
                held = (held, value)
                parts[i] = <PyObject *>value
        if out != NULL:
            if needs or not write_out(op, parts, used, <Tensor>out, flat, n_flat):
                return slow_call(op, args, nargs, kwnames)
            return <object>out
        plan = recent_plan(op, parts, used)
        if plan is None:
            key = key_of(parts, used)
            pair = planned(op, key)
            if pair is None:
                if _sparse_exists and any_sparse(flat, n_flat):
                    return call_sparse(op, op.name, args, nargs, kwnames)
                pair = make_plan(op, key, flat, n_flat)
            op.recent[recent_place(parts, used)] = pair
            plan = (<tuple>pair)[1]
        return perform(op, <Plan>plan, flat, n_flat, needs)
    finally:
        if flat != local_flat:
            free(flat)
        if parts != local_parts:
            free(parts)


cdef bint write_out(Op op, PyObject **parts, Py_ssize_t n, Tensor out, PyObject **flat, Py_ssize_t n_flat) except -1:
    """Run the plan that writes `out`; False if there is none yet, or if something needs a closer look."""
    cdef tuple key = (key_of(parts, n), (out.lay,))
    cdef PyObject *found = PyDict_GetItemWithError(<PyObject *>op.out_plans, <PyObject *>key)
    cdef Py_ssize_t i
    if found == NULL or found == <PyObject *>None or out.needs_grad or (out.base is not None and out.base.needs_grad) or _dual_level:
        raise_pending()
        return False
    plan = <Plan>found
    if plan.in_layouts is None or not are_same_values(<tuple>key[0], plan.info):  # another thread is about to use it first
        return False
    for i in range(n_flat):
        if isinstance(<object>flat[i], Tensor) and not (plan.elementwise and is_same_memory(<Tensor>flat[i], out)) and may_overlap(
                out, <Tensor>flat[i]):
            return False
    check_memory_writable(out)
    run_plan(plan, flat, [out])
    out.memory.version += 1
    return True


cdef inline Py_ssize_t recent_place(PyObject **parts, Py_ssize_t n) noexcept:
    """Where `Op.recent` may hold the key of these parts."""
    cdef Py_ssize_t i
    cdef size_t mixed = 0
    for i in range(n):
        mixed = mixed * 31 + (<size_t>parts[i] >> 4)
    return <Py_ssize_t>((mixed ^ (mixed >> 3) ^ (mixed >> 6)) & (RECENT - 1))


cdef inline object recent_plan(Op op, PyObject **parts, Py_ssize_t n):
    """The plan of a recent call whose key had the very same parts, or None. (A pair is one object, which threads see whole.)"""
    cdef Py_ssize_t i
    cdef PyObject *pair = PyList_GET_ITEM(<PyObject *>op.recent, recent_place(parts, n))
    if pair == <PyObject *>None:
        return None
    cdef PyObject *key = PyTuple_GET_ITEM(pair, 0)
    if PyTuple_GET_SIZE(key) != n:
        return None
    for i in range(n):
        if PyTuple_GET_ITEM(key, i) != parts[i]:
            return None
    return <object>PyTuple_GET_ITEM(pair, 1)


cdef tuple key_of(PyObject **parts, Py_ssize_t n):
    """The parts of a key as a tuple."""
    cdef Py_ssize_t i
    key = <object>PyTuple_New(n)
    Py_DECREF(<PyObject *>key)
    for i in range(n):
        put(<tuple>key, i, parts[i])
    return <tuple>key


cdef object planned(Op op, tuple key):
    """The key and its plan, or None."""
    cdef PyObject *found = PyDict_GetItemWithError(<PyObject *>op.plans, <PyObject *>key)
    if found == NULL:
        raise_pending()  # a static argument may have refused to be hashed
        return None
    return <object>found if are_same_values(key, (<tuple>found)[0]) else None


cdef bint are_same_values(tuple key, tuple known):
    """Whether the values of equal keys are of equal types, too: a size is 1, but neither True nor 1.0.

    A value that was not given is like any.
    """
    cdef Py_ssize_t i
    cdef PyObject *a
    cdef PyObject *b
    for i in range(min(len(key), len(known))):
        a, b = PyTuple_GET_ITEM(<PyObject *>key, i), PyTuple_GET_ITEM(<PyObject *>known, i)
        if a == b or a == <PyObject *>MISSING:
            continue
        if type(<object>a) is not type(<object>b) or (type(<object>a) is tuple and not are_same_values(<tuple>a, <tuple>b)):
            return False
    return True


cdef object call_gathered(Op op, PyObject **args, Py_ssize_t nargs):
    """`x.reshape(2, 3)` as `x.reshape((2, 3))`."""
    cdef PyObject *fewer[MAX_PARAMS]
    cdef Py_ssize_t i
    sizes = integers_from(args, op.gathers, nargs)
    if sizes is None:
        return slow_call(op, args, nargs, None)
    for i in range(op.gathers):
        fewer[i] = args[i]
    fewer[op.gathers] = <PyObject *>sizes
    return call_op(op, fewer, op.gathers + 1, None)


cdef tuple integers_from(PyObject **args, Py_ssize_t start, Py_ssize_t stop):
    """Arguments start..stop as a tuple, or None if one of them is not an int."""
    cdef Py_ssize_t i
    for i in range(start, stop):
        if type(<object>args[i]) is not int:
            return None
    return tuple([<object>args[i] for i in range(start, stop)])


cdef bint are_integers(list values) noexcept:
    """Whether a list of sizes or dims can be part of a key as it is."""
    for value in values:
        if type(value) is not int:
            return False
    return True


cdef set _static_types = {int, bool, str, type(None), tuple, float, Size, Device}


def register_static_type(cls):
    """Let instances of `cls` be static arguments (dtypes, memory formats)."""
    _static_types.add(cls)


cdef inline void put(tuple key, Py_ssize_t i, PyObject *item) noexcept:
    Py_INCREF(item)
    PyTuple_SET_ITEM(<PyObject *>key, i, item)


cdef PyObject **grow(PyObject **flat, PyObject **local, Py_ssize_t *capacity) except NULL:
    cdef Py_ssize_t n = capacity[0]
    cdef PyObject **larger = <PyObject **>_calloc(2 * n, sizeof(PyObject *))
    memcpy(larger, flat, n * sizeof(PyObject *))
    if flat != local:
        free(flat)
    capacity[0] = 2 * n
    return larger


cdef object make_plan(Op op, tuple key, PyObject **flat, Py_ssize_t n_flat):
    cdef Py_ssize_t i
    values = [<object>flat[i] for i in range(n_flat)]
    plan = <Plan?>op.planner(op, key, values)
    (<Plan>plan).in_layouts = data_layouts(op, key)
    if len(op.plans) >= MAX_PLANS:
        op.plans.clear()
    op.plans[key] = pair = (key, plan)
    return pair


cdef list data_layouts(Op op, tuple key):
    """Per flat argument: its layout, None for numbers."""
    cdef list found = []
    cdef Py_ssize_t i
    for i in range(len(key)):
        entry = key[i]
        if entry is None or entry is MISSING or (not op.variadic and op.kinds[i] == STATIC):
            continue
        if not op.variadic and op.kinds[i] == LIST:
            found.extend([part for part in entry if part is not None])
        else:
            found.append(entry if isinstance(entry, Layout) else None)
    return found


cdef object perform(Op op, Plan plan, PyObject **flat, Py_ssize_t n_flat, bint needs):
    """Run a plan and record it."""
    cdef Tensor target = None, previous = None
    cdef GradientPlan gradient
    cdef object result
    cdef Py_ssize_t i
    cdef bint record = needs and _grad_mode and plan.differentiable and op.records
    if _dual_level and any_moves(flat, n_flat):
        return _hooks["perform_dual"](op, plan, [<object>flat[i] for i in range(n_flat)])
    if op.into >= 0:
        if n_flat <= op.into or not isinstance(<object>flat[op.into], Tensor):
            raise TypeError(f"{op.name}(): argument '{op.names[op.into]}' (position {op.into + 1}) must be Tensor")
        target = <Tensor>flat[op.into]
        check_memory_writable(target)
        if _grad_mode and (needs or target.base is not None):
            check_in_place(target)
        for i in range(n_flat):
            if i != op.into and isinstance(<object>flat[i], Tensor):
                check_operand(plan, target, <Tensor>flat[i])
        if record:
            gradient = gradient_plan(plan, flat, n_flat)
            if gradient is not None and gradient.save_inputs[op.into]:
                previous = _hooks["copied"].call([alias_of(target)])  # the derivative reads what is about to be overwritten
            else:
                previous = alias_of(target)
            previous.node, previous.slot, previous.needs_grad = current_node(target), target.slot, target.needs_grad
        run_plan(plan, flat, [target])
        target.memory.version += 1
        if record:
            flat[op.into] = <PyObject *>previous
            record_in_place(op, plan, flat, n_flat, target, previous)
        return target
    if op.mutates:
        shared = separate_operands(plan, flat, n_flat)  # holds the copies until the kernels have run
    result = run_plan(plan, flat, None)
    if op.mutates:
        for i in range(plan.n_outputs):
            if plan.out_kinds[i] == OUT_INTO:
                (<Tensor>flat[plan.out_inputs[i]]).memory.version += 1
        return None
    if record:
        record_call(op, plan, flat, n_flat, result)
    if plan.visible >= 0:
        return result[0] if plan.visible == 1 else tuple(result[:plan.visible])
    return tuple(result) if plan.form == FORM_TUPLE else result


cdef list separate_operands(Plan plan, PyObject **flat, Py_ssize_t n_flat):
    """Check the tensors that a plan overwrites, and put copies in the places of others that share their memory.

    A plan of several kernels may write a parameter before it reads the gradient, which can be a view of it.
    """
    cdef Py_ssize_t i
    cdef Tensor t
    cdef list shared = []
    cdef bytearray targets = bytearray(n_flat)
    for i in range(plan.n_outputs):
        if plan.out_kinds[i] == OUT_INTO:
            check_memory_writable(<Tensor>flat[plan.out_inputs[i]])
            targets[plan.out_inputs[i]] = 1
    for i in range(n_flat):
        if targets[i]:
            root_of((<Tensor>flat[i]).memory).written = True
    for i in range(n_flat):
        if not targets[i] and isinstance(<object>flat[i], Tensor) and root_of((<Tensor>flat[i]).memory).written:
            shared.append(i)
    for i in range(n_flat):
        if targets[i]:
            root_of((<Tensor>flat[i]).memory).written = False
    for number in range(len(shared)):
        i = shared[number]
        t = _hooks["copied"].call([alias_of(<Tensor>flat[i])])
        shared[number] = t
        flat[i] = <PyObject *>t
    return shared


cdef bint any_moves(PyObject **flat, Py_ssize_t n_flat):
    """Whether forward mode follows one of the arguments."""
    cdef Py_ssize_t i
    for i in range(n_flat):
        if isinstance(<object>flat[i], Tensor) and (<Tensor>flat[i]).tangent_level:
            return True
    return False


def perform_plan(Op op not None, Plan plan not None, list flat not None):
    """Run a plan found before on flat arguments and record it, as a call of the op does."""
    cdef Py_ssize_t i, n = len(flat)
    cdef bint needs = False
    cdef PyObject **pointers
    check_arguments(plan, flat)
    pointers = <PyObject **>_calloc(n, sizeof(PyObject *))
    try:
        for i in range(n):
            pointers[i] = <PyObject *>flat[i]
            needs |= isinstance(flat[i], Tensor) and wants_grad(<Tensor>flat[i])
        return perform(op, plan, pointers, n, needs)
    finally:
        free(pointers)


cdef int check_arguments(Plan plan, list flat) except -1:
    """Raise unless the flat arguments are those that a plan was made for."""
    if plan.in_layouts is None or len(flat) != len(plan.in_layouts):
        raise ValueError(f"the plan takes {0 if plan.in_layouts is None else len(plan.in_layouts)} arguments, not {len(flat)}")
    for value, layout in zip(flat, plan.in_layouts):
        if layout is not None and (not isinstance(value, Tensor) or (<Tensor>value).lay is not layout) and type(value) is not Layout:
            raise TypeError(f"the plan takes a tensor of {layout}, not {type(value).__name__}")
    return 0


cdef int check_outputs(Plan plan, list outputs) except -1:
    """Raise unless tensors can receive a plan's outputs."""
    cdef Layout layout
    if len(outputs) != plan.n_outputs:
        raise ValueError(f"the plan has {plan.n_outputs} outputs, not {len(outputs)}")
    for i in range(plan.n_outputs):
        layout = plan.out_layouts[i]
        if not isinstance(outputs[i], Tensor) or plan.out_kinds[i] != OUT_NEW:
            raise TypeError("a plan writes tensors where it would have made new ones")
        other = (<Tensor>outputs[i]).lay
        if other.numel != layout.numel or other.high != layout.high or other.low != layout.low or other.dtype is not layout.dtype:
            raise ValueError(f"the plan writes {layout}, not {other}")
    return 0


cdef inline bint is_same_memory(Tensor a, Tensor b):
    """Whether two tensors show the same places of memory in the same order."""
    return plain_of(a.lay) is plain_of(b.lay) and a.memory.ptr + a.start * a.lay.itemsize == b.memory.ptr + b.start * b.lay.itemsize


cdef int check_operand(Plan plan, Tensor target, Tensor other) except -1:
    if not (plan.elementwise and is_same_memory(other, target)) and may_overlap(target, other):
        raise_overlap()
    return 0


cdef install_vectorcall():
    cdef Op probe = Op("probe", (), b"", 0, None)
    cdef PyTypeObject *type_object = <PyTypeObject *>Op
    type_object.tp_vectorcall_offset = <char *>&probe.vectorcall - <char *><void *>probe
    type_object.tp_call = PyVectorcall_Call
    # HAVE_VECTORCALL, METHOD_DESCRIPTOR: `tensor.exp()` calls without making a bound method
    type_object.tp_flags |= (1UL << 11) | (1UL << 17)
    PyType_Modified(type_object)


def attach_method(str name not None, value):
    """Make `value` an attribute of Tensor: methods come from the catalogue."""
    (<dict>(<PyTypeObject *>Tensor).tp_dict)[name] = value
    PyType_Modified(<PyTypeObject *>Tensor)


install_vectorcall()
(<PyTypeObject *>Tensor).tp_name = "rushlight.Tensor"  # what Python's own messages call it
