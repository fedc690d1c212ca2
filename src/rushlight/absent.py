"""Public names of PyTorch 1.9 that rushlight does not have, or refuses, each with the reason.

`tools/list_unsupported.py` makes docs/unsupported.md of this table, and a missing attribute of `rushlight` says what is
here. `tests/test_absent.py` checks that all of it is true: whoever adds one of these names takes it out here.
"""

from __future__ import annotations

ABSENT, REFUSED = "absent", "refused"


class Group:
    """Names that are missing (or raise NotImplementedError or RuntimeError when called) for one reason.

    `names` maps a module or class to names separated by blanks; "" stands for the module itself.
    """

    def __init__(self, title: str, reason: str, kind: str, **names: str):
        self.title, self.reason, self.kind = title, reason, kind
        self.names = {owner.replace("__", "."): text.split() for owner, text in names.items()}

    def qualified(self) -> list[str]:
        """The names with their owners."""
        return [f"{owner}.{name}" for owner, names in self.names.items() for name in names]


GROUPS = [
    Group(
        "Named tensors",
        "A prototype that never left this state, and gone from `Tensor` in PyTorch itself: give dims by their numbers. "
        "`names=` raises the same error; `Tensor.names` is None for every dim.",
        REFUSED,
        torch="align_tensors",
        torch__Tensor="align_as align_to refine_names rename rename_",
    ),
    Group(
        "Removed from PyTorch",
        "PyTorch has them only to raise an error that says what took their place, and so it is here.",
        REFUSED,
        torch="eig lstsq matrix_rank solve symeig",
        torch__Tensor="reinforce",
    ),
    Group(
        "Older names of what there is",
        "PyTorch dropped them later: use `use_deterministic_algorithms`, `are_deterministic_algorithms_enabled`, "
        "`requires_grad`, `testing.assert_close`, `testing.make_tensor`.",
        ABSENT,
        torch="is_deterministic set_deterministic",
        torch__Tensor="volatile",
        torch__testing="""
            all_types all_types_and all_types_and_complex all_types_and_complex_and assert_equal complex_types
            floating_and_complex_types floating_and_complex_types_and floating_types floating_types_and
            get_all_complex_dtypes get_all_device_types get_all_dtypes get_all_fp_dtypes get_all_int_dtypes
            get_all_math_dtypes integral_types integral_types_and make_non_contiguous rand_like randn_like
        """,
    ),
    Group(
        "Internals of PyTorch's C++ library",
        "Classes of TorchScript's compiler and interpreter, of logging and of serialization in C++, which the torch "
        "namespace shows because it imports all of its bindings. There is no such library here.",
        ABSENT,
        torch="""
            AVG AggregationType AliasDb AnyType Argument ArgumentSpec BenchmarkConfig BenchmarkExecutionStats Block
            BoolType BufferDict CallStack Capsule ClassType Code CompleteArgumentSpec ComplexType ConcreteModuleType
            ConcreteModuleTypeBuilder DeepCopyMemoTable DeviceObjType DictType EnumType ErrorReport ExecutionPlan
            FatalError FileCheck FloatType FunctionSchema FutureType Gradient Graph GraphExecutorState IODescriptor
            InferredType IntType InterfaceType ListType LiteScriptModule LockingLogger LoggerBase MobileOptimizerType
            ModuleDict Node NoneType NoopLogger NumberType OptionalType ParameterDict PyObjectType PyTorchFileReader
            PyTorchFileWriter RRefType SUM ScriptModuleSerializer StaticModule StreamObjType StringType TensorType
            ThroughputBenchmark TracingState TupleType Type Use Value cpp import_ir_module
            import_ir_module_from_buffer merge_type_from_type_comment parse_ir parse_schema parse_type_comment
            set_vital unify_type_list
        """,
        torch__nn="backends cpp",
        torch__autograd="NestedIOFunction",
        torch__utils="ThroughputBenchmark backcompat throughput_benchmark",
    ),
    Group(
        "Extensions in C++ and CUDA",
        "Classes and ops registered from C++ need PyTorch's library and its binary interface. New ops are written in "
        "Python: see `ops/declare.py`, and `autograd.Function` for a derivative of one's own.",
        ABSENT,
        torch="classes",
        torch__utils="cpp_extension file_baton hipify",
    ),
    Group(
        "Other libraries' tensors and kernels",
        "oneDNN's opaque tensors, XNNPACK and Caffe2: every kernel is generated here, and works on ordinary tensors.",
        ABSENT,
        torch="contrib",
        torch__Tensor="to_mkldnn",
        torch__utils="mkldnn mobile_optimizer",
        torch__backends="xnnpack",
    ),
    Group(
        "TorchScript",
        "Not there yet: programs run op by op, which costs little here; `compile` warns and returns its argument.",
        ABSENT,
        torch="""
            CompilationUnit Future JITException ScriptClass ScriptClassFunction ScriptFunction ScriptMethod
            ScriptModule ScriptObject fork futures jit wait
        """,
    ),
    Group(
        "Modules and workflows of quantization",
        "Not there yet. There are quantized tensors, fake quantization and `ops.quantized` (see "
        "`quantize_per_tensor`); observers, quantized modules and the conversion of models are not, nor are types that "
        "pack several elements in a byte (`quint4x2`).",
        ABSENT,
        torch="QUInt4x2Storage ao quantization",
        torch__nn="intrinsic qat quantizable quantized",
    ),
    Group(
        "Training on several machines",
        "Not there yet. Several processes of one machine can train one model: see `multiprocessing` and "
        "`Module.share_memory`.",
        ABSENT,
        torch="distributed",
    ),
    Group(
        "Models as graphs",
        "Not there yet: models are run, not exported. Weights travel by `save`, `load` and `state_dict()`.",
        ABSENT,
        torch="fx onnx package",
        torch__utils="bundled_inputs model_dump show_pickle",
    ),
    Group(
        "Models from the network",
        "Nothing is fetched and no foreign code is run. Download a file of weights, and `load` it into the model "
        "whose code is at hand.",
        ABSENT,
        torch="hub",
        torch__utils="model_zoo",
    ),
    Group(
        "Measuring",
        "Not there yet: `cProfile` and `timeit` see what calls take, and `RUSHLIGHT_DEBUG` shows what is compiled.",
        ABSENT,
        torch="profiler",
        torch__utils="benchmark",
        torch__autograd="profiler",
    ),
    Group(
        "TensorBoard",
        "Its files need packages of its own: `tensorboardX` has the same `SummaryWriter` and takes NumPy arrays.",
        ABSENT,
        torch__utils="tensorboard",
    ),
    Group(
        "Tensors that carry masks",
        "A prototype newer than PyTorch 1.9: keep mask and tensor side by side for the functions of `masked`.",
        ABSENT,
        torch__masked="MaskedTensor as_masked_tensor is_masked_tensor masked_tensor",
    ),
]


def reason(name: str, owner: str = "torch") -> str | None:
    """Why the namespace `owner` here lacks a name, or None if the table does not say."""
    for group in GROUPS:
        if group.kind == ABSENT and name in group.names.get(owner, ()):
            return f"{group.title}: {group.reason}"
    return None


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that a module of rushlight lacks; it says why if the table does."""
    why = reason(name, "torch" + module.removeprefix("rushlight"))
    return AttributeError(f"module {module!r} has no attribute {name!r}" + (f": {why}" if why else ""))


def refuse_import(name: str, asker) -> None:
    """Raises ModuleNotFoundError, with the reason, for a module that is not there; returns if the table has none.

    `asker` is the frame that looks for the module: one that only asks whether there is such a module gets no error.
    """
    if asker.f_back is None or asker.f_back.f_code.co_name != "_find_and_load_unlocked":  # an import, since Python 3.3
        return
    package, _, path = name.partition(".")
    owner, _, last = f"torch.{path}".rpartition(".")
    why = reason(last, owner)
    if why is not None or package == "torch":
        # without `name=`, or else `from torch import x` drops this error for one that says nothing
        what = f"{name}: rushlight has no rushlight.{path}" if package == "torch" else f"there is no {name}"
        raise ModuleNotFoundError(what + (f". {why}" if why else ""))
