"""language: the closed list of syntax; anything else is rejected, with advice."""

from __future__ import annotations

import ast
import functools
import types

# Node types that a program may contain. A node type that a new Python brings is in neither table
# and is refused until it is decided; a test compares both tables with Python's own list.
STATEMENTS: frozenset[type[ast.AST]] = frozenset({
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.While, ast.Break,
    ast.Continue, ast.Pass, ast.FunctionDef, ast.Return, ast.With, ast.Assert, ast.Try, ast.Raise,
    ast.Delete, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef, ast.Match,
})  # fmt: skip
EXPRESSIONS: frozenset[type[ast.AST]] = frozenset({
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Call, ast.Starred,
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.NamedExpr,
    ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.JoinedStr, ast.FormattedValue, ast.Yield, ast.YieldFrom,
})  # fmt: skip
OPERATORS: frozenset[type[ast.AST]] = frozenset({
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.LShift,
    ast.RShift, ast.BitOr, ast.BitXor, ast.BitAnd, ast.UAdd, ast.USub, ast.Not, ast.Invert,
    ast.And, ast.Or, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot,
    ast.In, ast.NotIn,
})  # fmt: skip
PARTS: frozenset[type[ast.AST]] = frozenset({
    ast.Module, ast.arguments, ast.arg, ast.keyword, ast.comprehension, ast.withitem,
    ast.ExceptHandler, ast.alias, ast.Load, ast.Store, ast.Del, ast.match_case, ast.MatchValue,
    ast.MatchSingleton, ast.MatchSequence, ast.MatchMapping, ast.MatchClass, ast.MatchStar,
    ast.MatchAs, ast.MatchOr,
})  # fmt: skip
ALLOWED = STATEMENTS | EXPRESSIONS | OPERATORS | PARTS

# Name of a refused node type -> (how a person calls it, what replaces it). Names, because
# some of these types exist in newer Pythons only.
REFUSED: dict[str, tuple[str, str]] = {
    "AsyncFunctionDef": ("'async def'", "use 'def'"),
    "AsyncFor": ("'async for'", "use 'for'"),
    "AsyncWith": ("'async with'", "use 'with'"),
    "Await": ("'await'", "call the function directly"),
    "TryStar": ("'except*'", "use 'except'"),
    "TypeAlias": ("the 'type' statement", "leave it out; annotations are not evaluated"),
    "TypeVar": ("a type parameter", "leave it out; annotations are not evaluated"),
    "ParamSpec": ("a type parameter", "leave it out; annotations are not evaluated"),
    "TypeVarTuple": ("a type parameter", "leave it out; annotations are not evaluated"),
    "TemplateStr": ("a t-string", "use an f-string"),
    "Interpolation": ("a t-string", "use an f-string"),
    # Never produced for a file: other parsing modes and names kept for old programs.
    "Interactive": ("an interactive statement", "write a file"),
    "Expression": ("a lone expression", "write a file"),
    "FunctionType": ("a type comment", "leave it out"),
    "TypeIgnore": ("a type comment", "leave it out"),
    "Suite": ("a suite", "write a block"),
    "Index": ("an index node", "write a subscript"),
    "ExtSlice": ("a slice node", "write a slice"),
    "AugLoad": ("an old context", "write an assignment"),
    "AugStore": ("an old context", "write an assignment"),
    "Param": ("an old context", "write a parameter"),
    "Num": ("an old constant", "write a number"),
    "Str": ("an old constant", "write a string"),
    "Bytes": ("an old constant", "write a string"),
    "NameConstant": ("an old constant", "write None, True or False"),
    "Ellipsis": ("an old constant", "write ..."),
}

CONSTANT_TYPES = frozenset({int, float, complex, bool, str, bytes, type(None), type(...)})

BINARY_METHODS = frozenset(
    f"__{side}{name}__"
    for side in ("", "r", "i")
    for name in (
        "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift".split()
    )
)
# Those that tensors have.
OPERATOR_METHODS = (
    BINARY_METHODS - {"__divmod__", "__rdivmod__", "__idivmod__", "__imatmul__"}
) | frozenset(
    "__neg__ __pos__ __abs__ __invert__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ "
    "__float__ __int__".split()
)
# Names with two underscores that have a meaning here, most of them as methods of a program's
# classes; every other is refused at parse time.
DUNDER_ATTRIBUTES = (
    frozenset(
        "__init__ __call__ __name__ __qualname__ __doc__ __class__ __len__ __getitem__ __setitem__ "
        "__contains__ __iter__ __next__ __bool__ __repr__ __str__ __hash__ __enter__ __exit__ "
        "__cause__ __getattr__ __delitem__ __reversed__ __format__ __float__ __int__ __index__ "
        "__round__ __slots__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __neg__ __pos__ __invert__ "
        "__abs__ __post_init__ __setstate__ __getstate__ __new__ __missing__ __setattr__ "
        "__delattr__ __copy__ __deepcopy__ __get__ __set__ __set_name__ __init_subclass__ "
        "__instancecheck__ __subclasscheck__ __subclasshook__ __aiter__ __anext__ __aenter__ "
        "__aexit__ __del__ __delete__ __class_getitem__ __dir__".split()
    )
    | BINARY_METHODS
)
# Further names of that kind that Python's own modules and objects have, and programs read.
READ = frozenset({"__version__", "__dict__", "__module__", "__file__", "__members__"}) | frozenset(
    "__defaults__ __kwdefaults__ __annotations__ __wrapped__ __self__ __func__ "
    "__dataclass_fields__ __match_args__".split()
)
# Of these only the classes of a program say anything.
OF_OWN_CLASSES = frozenset("__bases__ __base__ __mro__ __subclasses__ __abstractmethods__".split())
# What files say of themselves: names like any other.
OF_FILES = frozenset(
    "__all__ __author__ __version__ __copyright__ __license__ __email__ __maintainer__ __credits__ "
    "__status__ __date__ __title__ __file__ __doc__".split()
)


def is_foreign(name: str) -> bool:
    """A name with two underscores on each side that means something elsewhere, and nothing here.

    Others of this form are names that a program invents.
    """
    if not (name.startswith("__") and name.endswith("__")):
        return False
    return not _means_something(name) and name in elsewhere()


def _means_something(name: str) -> bool:
    return name in DUNDER_ATTRIBUTES or name in READ or name in OF_OWN_CLASSES


def is_invented(name: str) -> bool:
    """A name with two underscores in front that means nothing anywhere but in the program."""
    return not _means_something(name) and name not in elsewhere()


@functools.cache
def elsewhere() -> frozenset[str]:
    """The names of this form to which Python, NumPy or PyTorch give a meaning."""
    kinds = (
        type, int, float, str, list, dict, set, tuple, slice, property, BaseException,
        types.FunctionType, types.ModuleType, types.GeneratorType, types.CoroutineType,
        types.MethodType, types.GenericAlias,
    )  # fmt: skip
    return frozenset(OF_PROTOCOLS.split()).union(*map(dir, kinds))


OF_PROTOCOLS = (
    "__aenter__ __aexit__ __aiter__ __anext__ __array__ __array_function__ __array_interface__ "
    "__array_priority__ __array_struct__ __array_ufunc__ __array_wrap__ __buffer__ __builtins__ "
    "__bytes__ __cached__ __class_getitem__ __complex__ __context__ __copy__ "
    "__cuda_array_interface__ __debug__ __deepcopy__ __del__ __dlpack__ __dlpack_device__ "
    "__fspath__ __getinitargs__ __getnewargs_ex__ __import__ __init_subclass__ __instancecheck__ "
    "__jit_unused_properties__ __length_hint__ __main__ __match_args__ __mro_entries__ __path__ "
    "__prepare__ __release_buffer__ __set_name__ __subclasscheck__ __suppress_context__ "
    "__tensor_flatten__ __tensor_unflatten__ __torch_dispatch__ __torch_function__ __traceback__ "
    "__unicode__ __nonzero__ __div__ __idiv__ __rdiv__ __cmp__ __coerce__ __long__ __wrapped__ "
    "__notes__ __orig_bases__ __orig_class__ __set__ __exports__ __future__ __metaclass__"
)


def mangled(name: str, owner: str | None) -> str:
    """What Python makes of `self.__weight` in the text of a class."""
    if owner is None or not name.startswith("__") or name.endswith("__") or not owner.strip("_"):
        return name
    return f"_{owner.lstrip('_')}{name}"


def words_of(node: ast.AST) -> tuple[str, str]:
    """How a person calls a node that is refused, and what to write in its place."""
    name = type(node).__name__
    return REFUSED.get(name, (f"the construct {name!r}", "write it with plain statements"))


def constant_refusal(value: object) -> str | None:
    """Why a literal is not in the language; None when it is."""
    if type(value) in CONSTANT_TYPES:
        return None
    return f"a constant of type {type(value).__name__} is not part of the language"
