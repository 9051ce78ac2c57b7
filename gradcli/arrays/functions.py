"""arrays: a call of a NumPy function: arguments are bound, converted, charged; results wrapped."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from ..engine.schema.mode import state
from ..engine.tensors.construct import from_numpy
from ..engine.tensors.tensor import Tensor
from ..operators import catalogue
from .costs import COSTS
from .extents import Given
from .limits import computed
from .payment import pay
from .table import Row, functions
from .values import Array, AxisError, LinAlgError, element_type, host, wrap

CALLED = 512  # bytes of a call's result, and more than the steps around it
MOST = 100_000  # steps that NumPy may take to find out whether memory is shared


class Signature:
    """The parameters of a row, by which a call is bound."""

    __slots__ = ("collects", "keywords", "name", "names", "required")

    def __init__(self, name: str, parameters: str) -> None:
        self.name = name.rpartition(".")[2]
        self.names: list[str] = []
        self.keywords: set[str] = set()
        self.collects: str | None = None
        self.required: list[str] = []
        target = self.names
        for part in filter(None, _parts(parameters)):
            word, _, default = part.partition("=")
            if word == "*":
                target = []
            elif word.startswith("*"):
                self.collects, target = word[1:], []
            else:
                target.append(word)
                self.keywords.add(word)
                if not default:
                    self.required.append(word)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        """The arguments by their names; what was not given is not there."""
        given: Given = dict(zip(self.names, args, strict=False))
        extra = args[len(self.names) :]
        if extra and self.collects is None:
            raise TypeError(self._too_many(len(args)))
        if self.collects is not None:
            given[self.collects] = extra
        for name, value in kwargs.items():
            if name not in self.keywords:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{name}'")
            if name in given:
                raise TypeError(f"{self.name}() got multiple values for argument '{name}'")
            given[name] = value
        missing = [f"'{name}'" for name in self.required if name not in given]
        if missing:
            words = " and ".join([", ".join(missing[:-1]), missing[-1]][not missing[:-1] :])
            plural = "s" if len(missing) > 1 else ""
            raise TypeError(
                f"{self.name}() missing {len(missing)} required positional argument{plural}: "
                f"{words}"
            )
        return given

    def _too_many(self, count: int) -> str:
        most, least = len(self.names), len([n for n in self.required if n in self.names])
        takes = f"{most}" if least == most else f"from {least} to {most}"
        plural = "s" if most != 1 else ""
        were = "was" if count == 1 else "were"
        return f"{self.name}() takes {takes} positional argument{plural} but {count} {were} given"


def _parts(parameters: str) -> list[str]:
    """Parameters at their commas; defaults may be tuples."""
    parts, depth = [""], 0
    for letter in parameters:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def converted(given: Given) -> Given:
    """The same arguments as NumPy takes them; `dtype` names a type of elements."""
    return {
        name: value if value is None
        else element_type(value) if name == "dtype" or (name in TYPES and type(value) is str)
        else host(value)
        for name, value in given.items()
    }  # fmt: skip


TYPES = frozenset({"type1", "type2", "to", "from_", "arg1", "arg2"})


def run(
    numpys: Callable[..., Any], signature: Signature, cost: Callable[[Given], None], given: Given
) -> Any:
    """Pay for the bound arguments, and call NumPy's function with them."""
    cost(given)
    args: list[Any] = []
    for name in signature.names:
        if name not in given:
            break
        args.append(given[name])
    rest = {name: given[name] for name in given if name not in signature.names[: len(args)]}
    if signature.collects is not None:
        args += rest.pop(signature.collects)
    try:
        found = computed(numpys, *args, **rest)
    except numpy.linalg.LinAlgError as error:
        raise LinAlgError(str(error)) from None
    except numpy.exceptions.AxisError as error:
        raise AxisError(str(error)) from None
    if "where" in given and given.get("out") is None and isinstance(numpys, numpy.ufunc):
        return _blanked(found, given["where"])
    return found


def _blanked(found: Any, where: Any) -> Any:
    """np.add(a, b, where=mask): the elements that are left out, as they lay in memory, are 0."""
    array = numpy.asarray(found)
    numpy.copyto(array, numpy.zeros((), array.dtype), where=numpy.logical_not(where))
    return array[()]


@functools.cache
def function(name: str) -> Callable[..., Any]:
    """The function of a row, which takes and gives values."""
    row = functions()[name]
    signature, cost = Signature(name, row.parameters), COSTS[row.cost]
    numpys = OURS.get(name) or numpys_own(numpy, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(args, kwargs) if args or kwargs or not signature.required else None
        if given is None:
            return numpys()  # NumPy has its own words for each function
        if row.trait and (tensor := _tensor_among(given)) is not None:
            return _of_tensors(row, tensor, given, signature)
        return wrap(run(numpys, signature, cost, converted(given)))

    def _of_tensors(row: Row, tensor: Tensor, given: Given, signature: Signature) -> Any:
        """What NumPy does with a tensor: its own method, or an array that becomes a tensor."""
        if row.trait == "by method" and given.get(signature.names[0]) is tensor:
            return by_method(row.name, given, signature)
        found = run(numpys, signature, cost, converted(given))
        return tensor_of(found)

    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    return call


def _tensor_among(given: Given) -> Tensor | None:
    return next((value for value in given.values() if isinstance(value, Tensor)), None)


def tensor_of(found: Any) -> Any:
    """What __array_wrap__ of a tensor makes: a tensor on the same memory."""
    if isinstance(found, tuple):
        return tuple(map(tensor_of, found))
    return from_numpy(numpy.asarray(found))


def by_method(name: str, given: Given, signature: Signature) -> Any:
    """np.mean(tensor) is the tensor's mean, called with all of NumPy's keywords."""
    tensor = given[signature.names[0]]
    defaults = {"axis": None, "dtype": None, "out": None}
    asked = {
        word: given.get(word, value) for word, value in defaults.items() if word in signature.names
    }
    asked.update({word: given[word] for word in list(given)[1:]})
    if name in ("std", "var"):
        asked.setdefault("ddof", 0)
    return catalogue.methods[name](tensor, **asked)


def numpys_own(home: Any, name: str) -> Callable[..., Any]:
    """NumPy's object of a name that is in the table."""
    for part in name.split("."):
        home = getattr(home, part)
    return home


# ---------------------------------------------------------------- what is ours


def _array(cls: type, shape: Any, dtype: Any = float) -> Any:
    """np.ndarray(shape): zeros, since nothing shows what lay in memory before."""
    return function("zeros")(shape, dtype)


Array.__new__ = staticmethod(_array)  # type: ignore[method-assign, assignment]


def _zeros(shape: Any, *args: Any, **kwargs: Any) -> Any:
    """empty: nothing shows what lay in memory before."""
    return numpy.zeros(shape, *args, **kwargs)


def _zeros_like(prototype: Any, *args: Any, **kwargs: Any) -> Any:
    return numpy.zeros_like(prototype, *args, **kwargs)


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **more: Any) -> Any:
    """pad: what would be left as it lay in memory is zero."""
    return numpy.pad(array, pad_width, "constant" if mode == "empty" else mode, **more)


def _einsum(*operands: Any, optimize: Any = False) -> Any:
    """einsum: the search for the best of all orders would have no end."""
    return numpy.einsum(*operands, optimize="greedy" if optimize else False)


OURS: dict[str, Callable[..., Any]] = {
    "empty": _zeros, "empty_like": _zeros_like, "pad": _pad, "einsum": _einsum,
}  # fmt: skip


def shares_memory(a: Any, b: Any) -> bool:
    """np.shares_memory, within a number of steps."""
    return bool(numpy.shares_memory(host(a), host(b), max_work=MOST))  # type: ignore[arg-type]


def vectorize(pyfunc: Any, otypes: Any = None) -> Callable[..., Any]:
    """np.vectorize: a function of the program, called with each element."""

    def vectorized(*args: Any) -> Any:
        parts = numpy.broadcast_arrays(*[numpy.asarray(host(value)) for value in args])
        if not parts:
            raise TypeError("a vectorized function takes at least one argument")
        elements = parts[0].size
        pay(CALLED * elements, CALLED * elements)
        found = [
            pyfunc(*[wrap(part[place]) for part in parts])
            for place in numpy.ndindex(parts[0].shape)
        ]
        made = numpy.asarray(host(found))
        if otypes is not None:
            made = made.astype(element_type(otypes[0]))
        return wrap(made.reshape(parts[0].shape + made.shape[1:])[()])

    return vectorized


def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """np.apply_along_axis: a function of the program, called with each line."""
    array = numpy.asarray(host(arr))
    lines = numpy.moveaxis(array, host(axis), -1)
    shape = lines.shape[:-1]
    pay(CALLED * math.prod(shape), CALLED * math.prod(shape))
    found = [host(func1d(wrap(lines[place]), *args, **kwargs)) for place in numpy.ndindex(shape)]
    made = numpy.asarray(found)
    made = made.reshape(shape + made.shape[1:])
    if made.ndim > len(shape):
        made = numpy.moveaxis(made, -1, host(axis))
    return wrap(made[()])


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """np.fromfunction: a function of the program, called with the indices."""
    grids = _indices(shape, dtype)
    return function(*grids, **kwargs)


def _indices(shape: Any, dtype: Any) -> list[Any]:
    made = function("indices")(shape, dtype)
    return [wrap(part) for part in made.array]


def _places(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not shape:
        yield ()
    elif math.prod(shape):
        for first in range(shape[0]):
            for rest in _places(shape[1:]):
                yield first, *rest


def ndindex(*shape: Any) -> Iterator[tuple[int, ...]]:
    """np.ndindex: the indices of all elements of an array of that shape; nothing is made for it."""
    given = host(shape)
    sizes = tuple(map(operator.index, given[0] if given and isinstance(given[0], tuple) else given))
    if min(sizes, default=0) < 0:
        raise ValueError("negative dimensions are not allowed")
    return _places(sizes)


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """np.ndenumerate: each element with its indices."""
    array = numpy.asarray(host(arr))
    return ((place, wrap(array[place])) for place in _places(array.shape))


def fromiter(iter: Any, dtype: Any, count: Any = -1) -> Any:
    """np.fromiter: the items of a program's iterator."""
    items = state.taken(iter)
    return wrap(numpy.array(host(items[: count if count >= 0 else None]), element_type(dtype)))


def frombuffer(buffer: Any, dtype: Any = float, count: Any = -1, offset: Any = 0) -> Any:
    """np.frombuffer: the numbers that bytes of the program stand for."""
    if type(buffer) is not bytes:
        raise TypeError(f"a bytes-like object is required, not '{type(buffer).__name__}'")
    return wrap(numpy.frombuffer(buffer, element_type(dtype), host(count), host(offset)))
