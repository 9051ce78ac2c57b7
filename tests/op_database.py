"""Tests: PyTorch's own operator database, each of its samples run under PyTorch and under gradcli.

The database (torch.testing._internal) makes thousands of calls that nobody here thought of. A call
is translated: tensors are copied, functions that name `torch` are bound to gradcli instead.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy
from oracle import torch

import gradcli
from gradcli import namespace
from gradcli.engine.memory.device import memory_of

SEED = 42
Fault = tuple[str, str]  # the aspect that differs, and how


def load() -> list[Any]:
    """The database's entries; importing it takes seconds."""
    if "expecttest" not in sys.modules and importlib.util.find_spec("expecttest") is None:
        # PyTorch's test classes derive from it; nothing of it runs here.
        stand_in = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stand_in
    path = "torch.testing._internal.common_methods_invocations"
    entries = list(importlib.import_module(path).op_db)
    # The import forbids the whole process to set a switch of torch.backends; programs set some.
    switches = torch.backends.disable_global_flags.__globals__
    assert "__allow_nonbracketed_mutation_flag" in switches
    switches["__allow_nonbracketed_mutation_flag"] = True
    # Each list of samples looks for a test of unittest up the stack, and reads each frame's file.
    for name in ("common_utils", "opinfo.core"):
        sys.modules[f"torch.testing._internal.{name}"].extract_test_fn = lambda: None  # type: ignore[attr-defined]
    return entries


def identity(entry: Any) -> str:
    """An entry's name, with its variant: "norm:fro"."""
    variant = entry.variant_test_name
    return f"{entry.name}:{variant}" if variant else str(entry.name)


# ---- from PyTorch's values to ours


def array_of(tensor: Any) -> Any:
    """A PyTorch tensor's numbers, laid out in memory as they are there."""
    plain = (
        tensor.detach().clone().resolve_conj().resolve_neg()
    )  # clone: a ZeroTensor has no memory
    return (plain.float() if plain.dtype is torch.bfloat16 else plain).numpy()


def translated(value: Any) -> Any:
    """The same value for gradcli; tensors become fresh leaves."""
    if isinstance(value, torch.Tensor):
        array = array_of(value)
        copy = numpy.empty_like(array)
        copy[...] = array
        ours = gradcli.from_numpy(copy)
        if value.dtype is torch.bfloat16:
            ours = ours.to(gradcli.bfloat16)
        return ours.requires_grad_() if value.requires_grad else ours
    if isinstance(value, torch.Size):
        return gradcli.Size(value)
    if isinstance(value, tuple | list):
        return type(value)(translated(item) for item in value)
    if isinstance(value, dict):
        return {key: translated(item) for key, item in value.items()}
    if isinstance(value, torch.dtype | torch.layout):
        return gradcli.strided if value is torch.strided else getattr(gradcli, str(value)[6:])
    if isinstance(value, torch.memory_format):
        return getattr(gradcli, str(value)[6:])
    if isinstance(value, torch.device):
        return gradcli.device(str(value))
    if isinstance(value, torch.nn.Module):
        ours = getattr(gradcli.nn, type(value).__name__)()
        for name, setting in vars(value).items():
            if not name.startswith("_") and name != "training":
                setattr(ours, name, setting)
        return ours
    if isinstance(value, types.FunctionType | functools.partial | type):
        return rebound(value)
    return value


NAMESPACES = {"torch": "", "F": "nn.functional", "nn": "nn"}


@functools.cache
def _by_identity() -> dict[int, Any]:
    """What stands under the same dotted name here and there."""
    found = {}
    for name in sorted(namespace.names()):
        if name.startswith(("func", "autograd", "vmap")):
            continue  # no operators there
        theirs: Any = torch
        for part in name.split("."):
            theirs = getattr(theirs, part, None)
        if callable(theirs):
            found[id(theirs)] = namespace.resolve(name)
    return found


def rebound(function: Any) -> Any:
    """PyTorch's function -> ours; a function of Python that calls PyTorch -> one that calls us."""
    known = _by_identity().get(id(function))
    if known is not None:
        return known
    if isinstance(function, functools.partial):
        keywords = {key: translated(value) for key, value in function.keywords.items()}
        return functools.partial(
            rebound(function.func), *(translated(value) for value in function.args), **keywords
        )
    name = getattr(function, "__name__", "")
    if getattr(torch.Tensor, name, None) is function:
        return getattr(gradcli.Tensor, name)
    own = getattr(function, "__module__", "").startswith("torch.testing.")
    if isinstance(function, types.FunctionType) and (own or function.__module__ == __name__):
        names = dict(function.__globals__)
        names |= {"torch": gradcli, "F": gradcli.nn.functional, "nn": gradcli.nn}
        cells = tuple(
            types.CellType(translated(cell.cell_contents)) for cell in function.__closure__ or ()
        )
        made = types.FunctionType(
            function.__code__, names, name, _translated_defaults(function), cells
        )
        made.__kwdefaults__ = function.__kwdefaults__
        return made
    raise LookupError(f"gradcli has no {getattr(function, '__module__', '')}.{name or function!r}")


def _translated_defaults(function: types.FunctionType) -> Any:
    return translated(function.__defaults__) if function.__defaults__ else None


# ---- one call, described


def tensors(value: Any, kind: type) -> Iterator[Any]:
    """The tensors in a value, in order."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from tensors(item, kind)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item, kind)


def graph(roots: list[Any]) -> list[Any]:
    """Every node reachable from the roots: name, saved names, edges by number."""
    numbers: dict[int, int] = {}
    kept = []
    waiting = [root.grad_fn for root in roots if root.grad_fn is not None]
    lines = []
    for node in waiting:  # grows while it is read
        if id(node) in numbers:
            continue
        numbers[id(node)] = len(numbers)
        kept.append(node)
        waiting.extend(child for child, _ in node.next_functions if child is not None)
    for node in kept:
        children = [
            None if child is None else (numbers[id(child)], place)
            for child, place in node.next_functions
        ]
        saved = sorted(word for word in dir(node) if word.startswith("_saved_"))
        lines.append((node.name().rsplit("::", 1)[-1], children, saved))
    return lines


class Call:
    """A sample under one of the two libraries: what was given, what came out."""

    def __init__(self, library: Any, function: Callable[..., Any], given: Any) -> None:
        self.library = library
        first, args, kwargs = given
        self.leaves = [t for t in tensors([first, args, kwargs], library.Tensor) if t.requires_grad]
        library.manual_seed(SEED)
        self.result = function(first, *args, **kwargs)

    def outputs(self, process: Any) -> list[Any]:
        return list(tensors(process(self.result), self.library.Tensor))


def describe(tensor: Any) -> tuple[Any, ...]:
    return (
        str(tensor.dtype), tuple(tensor.shape), tensor.requires_grad, tensor.is_leaf,
        tensor.output_nr,
    )  # fmt: skip


def numbers_of(tensor: Any) -> Any:
    if isinstance(tensor, gradcli.Tensor):
        plain = tensor.detach().clone()
        return (plain.float() if plain.dtype is gradcli.bfloat16 else plain).cpu().numpy()
    return array_of(tensor)


def distance(ours: Any, theirs: Any) -> float:
    """The largest difference, as a share of the largest number; NaN and infinities must agree."""
    mine, its = numpy.asarray(ours), numpy.asarray(theirs)
    if mine.shape != its.shape:
        return float("inf")
    if mine.dtype.kind in "iub" and its.dtype.kind in "iub":
        return 0.0 if bool((mine == its).all()) else float("inf")
    wide = "complex128" if "c" in (mine.dtype.kind, its.dtype.kind) else "float64"
    mine, its = mine.astype(wide), its.astype(wide)
    if not numpy.array_equal(numpy.isnan(mine), numpy.isnan(its)):
        return float("inf")
    finite = numpy.isfinite(its)
    if not numpy.array_equal(mine[~finite & ~numpy.isnan(its)], its[~finite & ~numpy.isnan(its)]):
        return float("inf")
    if not numpy.isfinite(mine[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    scale = max(1.0, float(abs(its[finite]).max()))
    return float(abs(mine[finite] - its[finite]).max()) / scale


CLOSE = {
    "float64": 1e-9, "complex128": 1e-9, "float32": 2e-5, "complex64": 2e-5,
    "float16": 1.02 * 2.0**-10, "bfloat16": 1.02 * 2.0**-7,  # one unit of the largest number
}  # fmt: skip


def tolerance(tensor: Any) -> float:
    return CLOSE.get(str(tensor.dtype).removeprefix("torch."), 1e-2)


class Comparison:
    """Both libraries run one sample; `faults` says in which aspects they differ."""

    def __init__(self, entry: Any, sample: Any, function: Any, ours: Any) -> None:
        self.faults: list[Fault] = []
        self.entry = entry
        self.process = sample.output_process_fn_grad
        self.given = (sample.input, sample.args, sample.kwargs)
        self.theirs, self.ours = function, ours
        self.truth: dict[str, Any] | None = None
        self.seeds: dict[Any, list[Any]] = {}  # by library, of its last pass

    def fault(self, aspect: str, text: str) -> bool:
        self.faults.append((aspect, text[:300]))
        return False

    def calls(self, extra: Any = None) -> tuple[Call, Call] | None:
        """Both calls, or None when one of them fails (which is a fault, unless both do)."""
        made: list[Any] = []
        for library, function, given in (
            (torch, self.theirs, fresh(self.given)),
            (gradcli, self.ours, translated(self.given)),
        ):
            try:
                made.append(Call(library, function, given))
            except Exception as error:
                made.append(error)
        if isinstance(made[0], Call) and isinstance(made[1], Call):
            return made[0], made[1]
        if not (isinstance(made[0], Exception) and same_error(made[1], made[0])):
            self.fault("call", f"{brief(made[1])}, PyTorch: {brief(made[0])}")
        return None

    def run(self, second: bool) -> list[Fault]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pair = self.calls()
            if pair is not None and self.same_result(*pair):
                if self.first_order(*pair) and second:
                    self.second_order()
        return self.faults

    def same_result(self, theirs: Call, ours: Call) -> bool:
        its = list(tensors(theirs.result, torch.Tensor))
        mine = list(tensors(ours.result, gradcli.Tensor))
        if len(its) != len(mine):
            return self.fault("outputs", f"{len(mine)}, PyTorch {len(its)}")
        if not its and theirs.result != ours.result and theirs.result == theirs.result:
            return self.fault("value", f"{ours.result!r}, PyTorch {theirs.result!r}")
        for a, b in zip(mine, its, strict=True):
            if describe(a) != describe(b):
                return self.fault("description", f"{describe(a)}, PyTorch {describe(b)}")
        self.same_graph("graph", mine, its)
        mine, its = ours.outputs(rebound(self.process)), theirs.outputs(self.process)
        return self.same_numbers("value", mine, its)

    def same_graph(self, aspect: str, mine: list[Any], its: list[Any]) -> bool:
        a, b = graph(mine), graph(its)
        if a == b:
            return True
        for x, y in zip(a, b, strict=False):
            if x != y:
                return self.fault(aspect, f"{x}, PyTorch {y}")
        return self.fault(aspect, f"{len(a)} nodes, PyTorch {len(b)}")

    def same_numbers(self, aspect: str, mine: list[Any], its: list[Any]) -> bool:
        for place, (a, b) in enumerate(zip(mine, its, strict=True)):
            if a is None or b is None:
                if a is not b:
                    return self.fault(aspect, f"{a}, PyTorch {b}")
                continue
            if str(a.dtype) != str(b.dtype) or tuple(a.shape) != tuple(b.shape):
                kinds = f"{a.dtype} {tuple(a.shape)}, PyTorch {b.dtype} {tuple(b.shape)}"
                return self.fault(aspect, kinds)
            apart = distance(numbers_of(a), numbers_of(b))
            if not apart <= tolerance(b) and not self.as_true(aspect, place, a, b):
                text = f"apart by {apart:.1e}: {numbers_of(a)!r}, PyTorch {numbers_of(b)!r}"
                return self.fault(aspect, text)
        return True

    def as_true(self, aspect: str, place: int, ours: Any, theirs: Any) -> bool:
        """In single precision both round: is ours no farther from the truth than PyTorch's is?

        The truth is what PyTorch says in double precision.
        """
        if str(theirs.dtype) not in ("torch.float32", "torch.complex64"):
            return False
        if self.truth is None:
            self.truth = self.in_double()
        exact = self.truth.get(aspect, ())
        if len(exact) <= place or exact[place] is None:
            return False
        truth = numbers_of(exact[place])
        # Second derivatives are sums of many numbers that cancel; double precision is held to 1e-9.
        least = tolerance(theirs) * (20 if aspect.endswith("second") else 1)
        allowed = max(least, 4 * distance(numbers_of(theirs), truth))
        return distance(numbers_of(ours), truth) <= allowed

    def in_double(self) -> dict[str, Any]:
        """PyTorch's numbers for the same sample in double precision, by aspect."""
        found: dict[str, Any] = {}
        try:
            call = Call(torch, self.theirs, doubled(fresh(self.given)))
            found["value"] = call.outputs(self.process)
            roots = [t for t in found["value"] if t.requires_grad]
            first = self.gradients(roots, call.leaves, True)
            found["first"] = found["create_graph value"] = first
            grads = [t for t in first if t is not None and t.requires_grad]
            found["second"] = self.gradients(grads, call.leaves, False)
        except Exception:
            pass  # what could not be computed has no truth to tell
        return found

    def first_order(self, theirs: Call, ours: Call) -> bool:
        its = [t for t in theirs.outputs(self.process) if t.requires_grad]
        mine = [t for t in ours.outputs(rebound(self.process)) if t.requires_grad]
        if not its or not theirs.leaves:
            return False
        mine, its = (mine, ours.leaves), (its, theirs.leaves)
        a, b = self.gradients(*mine, False), self.gradients(*its, False)
        if self.same_failure("first", a, b) or not self.same_numbers("first", a, b):
            return False
        a, b = shared(a, self.seeds[gradcli]), shared(b, self.seeds[torch])
        return a == b or self.fault("memory of gradients", f"{a}, PyTorch {b}")

    def second_order(self) -> None:
        pair = self.calls()
        if pair is None:
            return
        theirs, ours = pair
        roots = (
            [t for t in ours.outputs(rebound(self.process)) if t.requires_grad],
            [t for t in theirs.outputs(self.process) if t.requires_grad],
        )
        mine, its = (
            self.gradients(roots[0], ours.leaves, True),
            self.gradients(roots[1], theirs.leaves, True),
        )
        if self.same_failure("create_graph", mine, its):
            return
        kept = [
            (a, b, x, y)
            for a, b, x, y in zip(mine, its, ours.leaves, theirs.leaves, strict=True)
            if b is not None and a is not None
        ]
        if not self.same_numbers("create_graph value", mine, its):
            return
        grads = ([row[0] for row in kept], [row[1] for row in kept])
        flags = [[t.requires_grad for t in side] for side in grads]
        if flags[0] != flags[1]:
            self.fault("create_graph", f"requires grad {flags[0]}, PyTorch {flags[1]}")
            return
        self.same_graph("create_graph graph", *grads)
        grads = tuple([t for t in side if t.requires_grad] for side in grads)
        if grads[0]:
            sides = ((grads[0], ours.leaves), (grads[1], theirs.leaves))
            self.same_gradients("second", *sides, False)

    def same_gradients(self, aspect: str, mine: Any, its: Any, create: bool) -> bool:
        a, b = self.gradients(*mine, create), self.gradients(*its, create)
        if self.same_failure(aspect, a, b):
            return False
        return self.same_numbers(aspect, a, b)

    def same_failure(self, aspect: str, mine: Any, its: Any) -> bool:
        """Did one of them fail? That is a fault unless both did, in the same words."""
        if not isinstance(mine, Exception) and not isinstance(its, Exception):
            return False
        if not (isinstance(its, Exception) and same_error(mine, its)):
            self.fault(aspect, f"{brief(mine)}, PyTorch: {brief(its)}")
        return True

    def gradients(self, roots: list[Any], leaves: list[Any], create: bool) -> Any:
        library = torch if isinstance(roots[0], torch.Tensor) else gradcli
        seeds = [cotangent(root, library, at) for at, root in enumerate(roots)]
        self.seeds[library] = seeds
        try:
            return library.autograd.grad(
                roots, leaves, seeds, create_graph=create, allow_unused=True, retain_graph=True
            )
        except Exception as error:
            return error


def shared(gradients: Any, seeds: list[Any]) -> list[list[int]]:
    """Of each gradient, which of the others and of the seeds lie in the same memory.

    Here a tensor without dimensions may be a number that has no memory.
    """
    owners = [None if tensor is None else _owner(tensor) for tensor in (*gradients, *seeds)]
    return [
        [] if own is None else [j for j, other in enumerate(owners) if other == own and j != i]
        for i, own in enumerate(owners[: len(gradients)])
    ]


def _owner(tensor: Any) -> int | None:
    if not tensor.dim() or not tensor.numel():
        return None
    if isinstance(tensor, gradcli.Tensor):
        return id(memory_of(tensor._data))
    if tensor._is_zerotensor():
        return None
    return int(tensor.untyped_storage().data_ptr())


def brief(outcome: Any) -> str:
    if isinstance(outcome, Exception):
        return f"{type(outcome).__name__}: {(str(outcome).splitlines() or [''])[0]}"
    return "succeeds"


def same_error(ours: Any, theirs: Any) -> bool:
    return isinstance(ours, Exception) and brief(ours) == brief(theirs)


def fresh(value: Any) -> Any:
    """PyTorch's sample again, with new leaves: samples share tensors, and programs change them."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, tuple | list) and not isinstance(value, torch.Size):
        return type(value)(fresh(item) for item in value)
    if isinstance(value, dict):
        return {key: fresh(item) for key, item in value.items()}
    return value


def doubled(value: Any) -> Any:
    """The same numbers in double precision."""
    if isinstance(value, torch.Tensor):
        kinds = {torch.float32: torch.float64, torch.complex64: torch.complex128}
        wide = value.detach().to(kinds.get(value.dtype, value.dtype))
        return wide.requires_grad_(value.requires_grad)
    if isinstance(value, tuple | list) and not isinstance(value, torch.Size):
        return type(value)(doubled(item) for item in value)
    if isinstance(value, dict):
        return {key: doubled(item) for key, item in value.items()}
    return torch.float64 if value is torch.float32 else value


def cotangent(root: Any, library: Any, place: int) -> Any:
    """Numbers without a pattern: a sum would hide a gradient that went to the wrong element."""
    kind = str(root.dtype).removeprefix("torch.")
    drawn = _drawn(tuple(root.shape), kind.startswith("complex"), place)
    return library.from_numpy(drawn.copy()).to(getattr(library, kind))


@functools.lru_cache(256)
def _drawn(shape: tuple[int, ...], is_complex: bool, place: int) -> Any:
    draw = numpy.random.default_rng([SEED, place])
    flat = draw.uniform(0.5, 1.5, shape) * draw.choice((-1.0, 1.0), shape)
    if is_complex:
        flat = flat + 1j * draw.uniform(-1.0, 1.0, shape)
    return numpy.asarray(flat)


# ---- one entry


def samples(entry: Any, dtype: Any = None, first: int | None = None) -> list[Any]:
    """The database's calls of an entry, by default on float32 or what comes nearest."""
    if dtype is None:
        kinds = (torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64)
        dtype = next(kind for kind in kinds if kind in entry.dtypes)
    floating = dtype.is_floating_point or dtype.is_complex
    torch.manual_seed(SEED)
    numpy.random.seed(SEED)
    made = entry.sample_inputs("cpu", dtype, requires_grad=entry.supports_autograd and floating)
    return list(itertools.islice(made, first))


def inplace_of(entry: Any) -> Any:
    """The in-place form of an entry, as something to call under both libraries."""
    function = entry.get_inplace()
    if function is None or not hasattr(function, "__name__"):
        return None
    return function.__name__ if hasattr(torch.Tensor, function.__name__) else None


def compare(entry: Any, sample: Any, second: bool = True) -> list[Fault]:
    """All aspects in which a sample differs; empty when gradcli does what PyTorch does."""
    try:
        ours = rebound(entry.op)
    except (LookupError, AttributeError) as error:
        return [("missing", str(error))]
    return Comparison(entry, sample, entry.op, ours).run(second)


def compare_inplace(entry: Any, sample: Any) -> list[Fault]:
    """The same for the in-place form, on a copy of the input."""
    twin = inplace_of(entry)
    if twin is None or not isinstance(sample.input, torch.Tensor) or sample.broadcasts_input:
        return []

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        copy = self.clone()
        getattr(copy, twin)(*args, **kwargs)
        return copy

    return Comparison(entry, sample, run, run).run(False)
