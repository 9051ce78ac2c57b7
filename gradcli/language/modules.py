"""language: the modules beside torch that a program may import, as data; nothing is loaded here.

A module is known by the names that it publishes and by the file below `standard` that makes them
when the first is used. What draws is known by its first word: every name of it is silent. What is
neither is refused, with what there is instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cached_property

from ..namespace.absent import is_absent


class Module:
    """Where the values of a module are made, and what it publishes."""

    def __init__(self, home: str, listed: Callable[[], frozenset[str]]) -> None:
        self.home = home
        self._listed = listed

    @cached_property
    def names(self) -> frozenset[str]:
        return self._listed()


def _module(home: str, names: str) -> Module:
    return Module(home, lambda: frozenset(names.split()))


# Functions of NumPy for files, which exist in memory here.
ARRAY_FILES = frozenset("load save savez savez_compressed loadtxt savetxt genfromtxt".split())


def _numpy(space: str = "") -> Module:
    """numpy, or a module below it: the table of arrays lists the names."""

    def listed() -> frozenset[str]:
        from ..arrays.table import names_in

        return names_in(space) if space else names_in(space) | ARRAY_FILES

    return Module("standard.arrays", listed)


# For annotations, which are not evaluated; outside of them they are values without use.
TYPING = (
    "Any Callable ClassVar Dict Final FrozenSet Generator Iterable Iterator List Literal Mapping "
    "NoReturn Optional Sequence Set Tuple Type Union Generic Annotated Self Hashable Sized Deque "
    "DefaultDict OrderedDict Counter Text AnyStr IO Awaitable MutableMapping MutableSequence "
    "MutableSet AbstractSet Collection Container Reversible NamedTuple Protocol TypedDict "
    "TYPE_CHECKING cast overload final TypeVar TypeVarTuple NewType TypeAlias ParamSpec "
    "get_type_hints Concatenate Required NotRequired "
    "Unpack TypeGuard Never LiteralString SupportsFloat "
    "SupportsInt SupportsIndex SupportsAbs BinaryIO TextIO ContextManager AsyncIterator "
    "AsyncGenerator Coroutine runtime_checkable override deprecated no_type_check"
)
# Networks of torchvision.
RESNETS = (
    "ResNet resnet18 resnet34 resnet50 resnet101 resnet152 wide_resnet50_2 resnext50_32x4d "
    "ResNet18_Weights ResNet34_Weights ResNet50_Weights ResNet101_Weights ResNet152_Weights "
    "Wide_ResNet50_2_Weights ResNeXt50_32X4D_Weights"
)
VGGS = " ".join(
    f"vgg{depth} vgg{depth}_bn VGG{depth}_Weights VGG{depth}_BN_Weights"
    for depth in (11, 13, 16, 19)
)
NETS = "alexnet AlexNet_Weights mobilenet_v2 MobileNet_V2_Weights"
MODULES: dict[str, Module] = {
    "math": _module(
        "builtins.mathematics",
        "pi e tau inf nan sqrt exp expm1 log log1p log2 log10 sin cos tan asin acos atan atan2 "
        "sinh cosh tanh asinh acosh atanh floor ceil trunc fabs fmod fsum prod gcd lcm factorial "
        "comb perm hypot dist degrees radians isnan isinf isfinite isclose copysign pow erf erfc "
        "gamma lgamma modf frexp ldexp isqrt cbrt exp2 remainder nextafter ulp",
    ),
    "numpy": _numpy(),
    "numpy.linalg": _numpy("linalg"),
    "numpy.random": _numpy("random"),
    "numpy.fft": _numpy("fft"),
    "numpy.exceptions": _numpy("exceptions"),
    "numpy.testing": _numpy("testing"),
    "numpy.polynomial": _numpy("polynomial"),
    **{
        f"numpy.polynomial.{family}": _numpy(f"polynomial.{family}")
        for family in ("legendre", "hermite", "hermite_e", "laguerre", "chebyshev")
    },
    "copy": _module("builtins.modules", "copy deepcopy"),
    "random": _module(
        "standard.randomness",
        "random uniform triangular gauss normalvariate lognormvariate expovariate "
        "vonmisesvariate gammavariate betavariate paretovariate weibullvariate seed getstate "
        "setstate getrandbits randrange randint choice choices shuffle sample Random",
    ),
    "itertools": _module(
        "standard.iterators",
        "count cycle repeat chain accumulate product permutations combinations "
        "combinations_with_replacement islice takewhile dropwhile filterfalse starmap groupby "
        "zip_longest pairwise compress batched tee",
    ),
    "functools": _module(
        "standard.dispatch",
        "reduce partial wraps update_wrapper lru_cache cache cached_property cmp_to_key "
        "total_ordering singledispatch partialmethod",
    ),
    "operator": _module(
        "standard.callables",
        "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift iadd isub imul "
        "itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift neg pos invert not_ "
        "eq ne lt le gt ge is_ is_not abs truth index contains getitem setitem delitem "
        "length_hint concat iconcat call itemgetter attrgetter methodcaller",
    ),
    "collections": _module(
        "standard.collected", "OrderedDict defaultdict deque Counter ChainMap namedtuple"
    ),
    "heapq": _module(
        "standard.collected",
        "heappush heappop heapify heappushpop heapreplace nlargest nsmallest merge",
    ),
    "bisect": _module(
        "standard.collected", "bisect bisect_right bisect_left insort insort_right insort_left"
    ),
    "string": _module(
        "standard.words",
        "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation "
        "printable whitespace capwords Template",
    ),
    "unicodedata": _module(
        "standard.words",
        "normalize is_normalized category name lookup combining bidirectional mirrored numeric "
        "decimal digit east_asian_width decomposition unidata_version",
    ),
    "re": _module(
        "standard.words",
        "search match fullmatch findall finditer split sub subn compile escape Pattern Match I "
        "IGNORECASE M MULTILINE S DOTALL X VERBOSE A ASCII U UNICODE error",
    ),
    "json": _module("standard.words", "dumps loads dump load JSONDecodeError JSONEncoder"),
    "pprint": _module("standard.words", "pprint pp pformat"),
    "textwrap": _module("standard.words", "dedent indent fill wrap shorten"),
    "hashlib": _module("standard.digests", "new md5 sha1 sha224 sha256 sha384 sha512"),
    "pickle": _module(
        "standard.stored",
        "dump load dumps loads PickleError PicklingError UnpicklingError HIGHEST_PROTOCOL "
        "DEFAULT_PROTOCOL",
    ),
    "csv": _module(
        "standard.stored",
        "reader writer DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONNUMERIC "
        "QUOTE_NONE",
    ),
    "time": _module(
        "standard.clock",
        "time perf_counter monotonic process_time thread_time time_ns perf_counter_ns "
        "monotonic_ns process_time_ns sleep strftime strptime localtime gmtime ctime asctime "
        "mktime struct_time",
    ),
    "timeit": _module("standard.clock", "default_timer timeit repeat"),
    "datetime": _module(
        "standard.clock", "datetime date time timedelta timezone UTC MINYEAR MAXYEAR"
    ),
    **dict.fromkeys(
        ("tqdm", "tqdm.auto", "tqdm.notebook", "tqdm.autonotebook", "tqdm.std"),
        _module("standard.progress", "tqdm trange"),
    ),
    "os": _module(
        "standard.system",
        "makedirs mkdir listdir remove unlink rmdir rename replace getcwd chdir getenv cpu_count "
        "getpid system popen fspath fsync walk sep linesep name curdir pardir pathsep environ path",
    ),
    "os.path": _module(
        "standard.pathnames",
        "join basename dirname split splitext normpath isabs abspath realpath expanduser exists "
        "isfile isdir getsize relpath commonprefix getmtime expandvars islink",
    ),
    "pathlib": _module("standard.pathnames", "Path PurePath PosixPath"),
    "sys": _module(
        "standard.system",
        "exit getrecursionlimit setrecursionlimit getsizeof getdefaultencoding argv path modules "
        "stdout stderr exc_info exception maxsize platform byteorder version executable "
        "version_info float_info",
    ),
    "platform": _module(
        "standard.system",
        "system python_version machine node processor release platform python_implementation",
    ),
    "glob": _module("standard.pathnames", "glob iglob"),
    "io": _module("standard.system", "StringIO BytesIO open UnsupportedOperation"),
    "tempfile": _module(
        "standard.temporary",
        "mkdtemp mkstemp gettempdir NamedTemporaryFile TemporaryFile TemporaryDirectory",
    ),
    "traceback": _module(
        "standard.tracebacks",
        "format_exc print_exc print_exception format_exception format_exception_only print_tb "
        "print_stack print_last format_tb format_stack",
    ),
    "threading": _module(
        "standard.threads",
        "Thread Lock RLock Semaphore Event current_thread main_thread active_count get_ident",
    ),
    "asyncio": _module(
        "standard.waiting",
        "run sleep gather create_task ensure_future get_event_loop new_event_loop "
        "get_running_loop set_event_loop Future Task Event Lock Queue QueueEmpty QueueFull "
        "Semaphore",
    ),
    "unittest": _module(
        "standard.unit_tests",
        "TestCase TestResult TestSuite TestLoader TextTestRunner skip skipIf skipUnless "
        "expectedFailure main SkipTest defaultTestLoader",
    ),
    "queue": _module("standard.threads", "Queue LifoQueue PriorityQueue SimpleQueue Empty Full"),
    "concurrent.futures": _module("standard.threads", "ThreadPoolExecutor Future as_completed"),
    "shutil": _module("standard.system", "rmtree copy copy2 copyfile move"),
    "gc": _module("standard.system", "collect enable disable"),
    "struct": _module("standard.octets", "pack unpack calcsize unpack_from iter_unpack error"),
    "base64": _module(
        "standard.octets",
        "b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode b16encode "
        "b16decode",
    ),
    "uuid": _module("standard.octets", "UUID uuid1 uuid3 uuid4 uuid5 NAMESPACE_DNS NAMESPACE_URL"),
    "getpass": _module("standard.system", "getuser"),
    # Of PyTorch itself, what only a program has: a library could not keep it in memory.
    "torch": _module("standard.saved", "save load"),
    "torch.jit": _module("standard.saved", "save load"),
    # What needs a network or other processes can be named, and refuses when it is called.
    "torch.distributed": _module(
        "standard.unavailable",
        "is_available is_initialized is_nccl_available is_gloo_available is_mpi_available "
        "is_torchelastic_launched init_process_group destroy_process_group barrier all_reduce "
        "all_gather broadcast reduce scatter gather send recv new_group get_rank get_world_size",
    ),
    "torch.nn.parallel": _module("standard.unavailable", "DistributedDataParallel"),
    "torch.utils.data.distributed": _module("standard.unavailable", "DistributedSampler"),
    "torch.multiprocessing": _module(
        "standard.unavailable", "spawn Process Pool Queue set_start_method"
    ),
    "multiprocessing": _module(
        "standard.unavailable",
        "cpu_count set_start_method freeze_support Process Pool Queue Manager Pipe",
    ),
    "torch.hub": _module(
        "standard.unavailable", "load list help load_state_dict_from_url download_url_to_file"
    ),
    "torch.utils.model_zoo": _module("standard.unavailable", "load_url"),
    "importlib.metadata": _module("standard.unavailable", "version PackageNotFoundError"),
    **dict.fromkeys(("typing", "typing_extensions"), _module("standard.declared", TYPING)),
    "collections.abc": _module(
        "standard.declared",
        "Callable Iterable Iterator Generator Mapping MutableMapping Sequence MutableSequence Set "
        "Hashable Sized Collection Container Awaitable Coroutine AsyncIterable AsyncIterator "
        "AsyncGenerator Reversible MutableSet KeysView ItemsView ValuesView",
    ),
    "torchvision": _module("standard.torchvision.datasets", "__version__"),
    "torchvision.datasets": _module(
        "standard.torchvision.datasets", "MNIST FashionMNIST KMNIST CIFAR10 CIFAR100"
    ),
    "torchvision.datasets.mnist": _module(
        "standard.torchvision.datasets", "MNIST FashionMNIST KMNIST"
    ),
    "torchvision.datasets.cifar": _module("standard.torchvision.datasets", "CIFAR10 CIFAR100"),
    **dict.fromkeys(
        ("torchvision.transforms", "torchvision.transforms.transforms"),
        _module(
            "standard.torchvision.transforms",
            "Compose ToTensor ToPILImage Normalize Lambda Resize CenterCrop Pad RandomCrop "
            "RandomResizedCrop RandomHorizontalFlip RandomVerticalFlip RandomRotation Grayscale "
            "ColorJitter RandomGrayscale RandomApply RandomErasing InterpolationMode",
        ),
    ),
    "torchvision.transforms.functional": _module(
        "standard.torchvision.colours",
        "adjust_brightness adjust_contrast adjust_saturation adjust_hue "
        "to_tensor normalize to_pil_image resize crop center_crop pad hflip vflip rotate "
        "rgb_to_grayscale to_grayscale InterpolationMode",
    ),
    "torchvision.models": _module("standard.torchvision.models", f"{RESNETS} {VGGS} {NETS}"),
    "torchvision.models.resnet": _module(
        "standard.torchvision.models", f"{RESNETS} BasicBlock Bottleneck"
    ),
    "torchvision.models.vgg": _module("standard.torchvision.models", VGGS),
    "torchvision.utils": _module("standard.torchvision.utils", "make_grid save_image"),
    "sklearn.datasets": _module(
        "standard.sklearn.samples",
        "make_moons make_circles make_blobs make_regression make_classification load_iris "
        "load_wine load_breast_cancer load_digits",
    ),
    "sklearn.model_selection": _module("standard.sklearn.learning", "train_test_split"),
    "sklearn.preprocessing": _module(
        "standard.sklearn.learning", "StandardScaler MinMaxScaler LabelEncoder"
    ),
    "sklearn.utils": _module("standard.sklearn.learning", "shuffle"),
    "sklearn.metrics": _module(
        "standard.sklearn.scores",
        "accuracy_score confusion_matrix mean_squared_error mean_absolute_error r2_score "
        "precision_score recall_score f1_score classification_report roc_auc_score "
        "precision_recall_fscore_support balanced_accuracy_score",
    ),
    "einops": _module(
        "standard.einops.functions",
        "rearrange reduce repeat einsum pack unpack parse_shape asnumpy EinopsError",
    ),
    "einops.layers.torch": _module("standard.einops.functions", "Rearrange Reduce"),
    "functorch": _module(
        "standard.functorch",
        "vmap grad grad_and_value vjp jvp jacrev jacfwd hessian make_functional "
        "make_functional_with_buffers combine_state_for_ensemble",
    ),
    "inspect": _module(
        "standard.introspection", "signature Signature Parameter isclass isfunction ismethod"
    ),
    "numbers": _module("standard.introspection", "Number Complex Real Rational Integral"),
    "types": _module(
        "standard.namespaces",
        "SimpleNamespace MethodType FunctionType LambdaType ModuleType NoneType "
        "BuiltinFunctionType",
    ),
    "weakref": _module("standard.namespaces", "ref"),
    "ast": _module("standard.literals", "literal_eval"),
    "cmath": _module(
        "standard.literals",
        "sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh phase "
        "polar rect isnan isinf isfinite isclose pi e tau inf nan infj nanj",
    ),
    "abc": _module("standard.declared", "ABC ABCMeta abstractmethod abstractproperty"),
    "dataclasses": _module(
        "standard.declared",
        "dataclass field asdict astuple replace is_dataclass fields Field FrozenInstanceError "
        "InitVar KW_ONLY MISSING make_dataclass",
    ),
    "enum": _module("standard.enumerations", "Enum IntEnum StrEnum Flag IntFlag auto unique"),
    "contextlib": _module(
        "standard.contexts",
        "contextmanager nullcontext suppress closing redirect_stdout redirect_stderr ExitStack "
        "ContextDecorator "
        "AbstractContextManager",
    ),
    "warnings": _module(
        "standard.contexts", "warn filterwarnings simplefilter resetwarnings catch_warnings"
    ),
    "logging": _module(
        "standard.logs",
        "debug info warning warn error critical exception log basicConfig disable getLogger "
        "getLevelName Logger Handler StreamHandler FileHandler NullHandler Formatter Filter "
        "DEBUG INFO WARNING WARN ERROR CRITICAL FATAL NOTSET",
    ),
    "argparse": _module(
        "standard.command_lines",
        "ArgumentParser Namespace HelpFormatter ArgumentDefaultsHelpFormatter RawTextHelpFormatter "
        "RawDescriptionHelpFormatter MetavarTypeHelpFormatter SUPPRESS ArgumentTypeError "
        "BooleanOptionalAction",
    ),
    "statistics": _module(
        "standard.averages",
        "mean fmean median median_low median_high stdev pstdev variance pvariance harmonic_mean "
        "geometric_mean quantiles mode multimode StatisticsError",
    ),
}
# Modules that draw: whatever they give can be called, unpacked, entered and walked, and is silent.
DRAWING = frozenset(
    "matplotlib seaborn plotly bokeh altair mpl_toolkits pylab matplotlib_inline torchviz "
    "graphviz livelossplot tensorboardX IPython".split()
)
# The same below torch. Profilers are silent too: times of one machine are no answer.
PROFILERS = ("torch.profiler", "torch.autograd.profiler")
DRAWING_BELOW = ("torch.utils.tensorboard", *PROFILERS)
OUTSIDE = "nothing that leaves the program"
# What a program can have in the place of a module that it can't, by the module's first word.
INSTEAD: dict[str, str] = {
    "sklearn": "what docs/language.md lists of it",
    "torchvision": "the layers of torch.nn",
    "pandas": "--set x=@table.csv, which reads numbers into a tensor",
    "PIL": "--set x=@image.npy, which reads an array",
    "cv2": "--set x=@image.npy, which reads an array",
    "skimage": "--set x=@image.npy, which reads an array",
    "imageio": "--set x=@image.npy, which reads an array",
    "h5py": "--set x=@data.npz:key, which reads an array",
    "scipy": "torch.special and torch.linalg",
    "transformers": "the layers of torch.nn",
    "timm": "the layers of torch.nn",
    "torchtext": "plain strings and dictionaries",
    "torchaudio": "torch.fft",
    "torchmetrics": "comparisons and means of tensors",
    "pytorch_lightning": "a loop over a DataLoader",
    "lightning": "a loop over a DataLoader",
    "ignite": "a loop over a DataLoader",
    "tensorflow": "torch",
    "jax": "torch.func",
    "keras": "torch.nn",
    "d2l": "torch (copy the functions of d2l that the program uses)",
    "gym": "a class with reset and step",
    "gymnasium": "a class with reset and step",
    "multiprocessing": "a plain loop",
    "subprocess": OUTSIDE,
    "socket": OUTSIDE,
    "requests": "--set x=@data.npz:key for data in files",
    "urllib": "--set x=@data.npz:key for data in files",
    "wget": "--set x=@data.npz:key for data in files",
}  # fmt: skip


# Modules that are often imported and seldom needed; nothing is in their place.
ELSEWHERE = frozenset(
    "torchvision torchinfo torchsummary datasets build_vocab tensorflow_datasets zipfile "
    "tarfile gzip struct uuid signal "
    "unittest pytest mlxtend wandb optuna ray visdom nltk spacy "
    "torch.nn.parallel".split()
)

# Functions of NumPy that read and write files by their bytes, which a program doesn't reach.
FILES = frozenset("fromfile memmap tofile".split())
# Modules of which programs have a part.
IN_PART = frozenset({"torchvision", "sklearn"})
REAL = "run the file by real Python with --engine torch, which trusts it"


def refused_name(home: str, name: str) -> str | None:
    """What to do instead of a function that a module has for real Python alone."""
    root = home.partition(".")[0]
    if root in IN_PART:
        return f"help: use {INSTEAD[root]}, or {REAL}"
    if home != "numpy" or name not in FILES:
        return None
    return (
        f"help: use --set x=@table.csv (@data.npy, @data.npz:key), which reads an array, or {REAL}"
    )


def is_elsewhere(home: str, name: str) -> bool:
    """Is it a module that real Python finds where it is installed, or a name of torchvision's?"""
    root = home.partition(".")[0]
    if root == "torch":
        return home in ELSEWHERE or is_absent(f"{home}.{name}")
    if root in sys.stdlib_module_names and root not in INSTEAD:
        return True
    return root in ELSEWHERE or INSTEAD.get(root, OUTSIDE) != OUTSIDE


def refusal(name: str) -> tuple[str, str]:
    """Python's words for a module that is not there, and what to do about it."""
    root = name.partition(".")[0]
    missing = name if root in ROOTS else root
    instead = INSTEAD.get(root)
    use = f"use {instead}, or " if instead is not None else ""
    advice = f"help: {use}{REAL}"
    return f"No module named '{missing}'", advice


ROOTS = frozenset({"torch", *(name.partition(".")[0] for name in MODULES)})


def is_drawing(path: str) -> bool:
    return path.partition(".")[0] in DRAWING or path.startswith(DRAWING_BELOW)


def is_module(path: str) -> bool:
    """Whether it can be imported: a module of the table, or what lies above one."""
    return path in MODULES or path in ROOTS or is_drawing(path)


def has(path: str) -> bool:
    """Is it a name of a module of the table?"""
    home, _, name = path.rpartition(".")
    return (home in MODULES and name in MODULES[home].names) or is_drawing(path)


def paths() -> Iterator[str]:
    """The full names of everything in the table."""
    for home, module in MODULES.items():
        yield from (f"{home}.{name}" for name in module.names)
