"""Live: PyTorch's side of `recording.sides`: where its nodes were made, what they save."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from functools import partial
from io import StringIO
from itertools import starmap, zip_longest
from math import isfinite
from typing import Any
from weakref import ref

from ..namespace import resolve
from ..recording.saved import SavedNames
from ..recording.side import INF, NAN, Live
from ..recording.sides import make_known, sides
from ..recording.snapshot import Summary
from .again import Known, by_formulas, made_again
from .arrays import Arrays
from .large import WHOLE, Large, Larges, dtype_word, packed, version_of
from .library import Homes, unobserved
from .objects import ProgramObjects
from .printed import Printer
from .rows import rows
from .transformed import Transformed

KEY = "gradcli"  # in the metadata of a node, which lives as long as the node
SMALL = 256  # elements of a tensor that is copied at once
LARGEST = 2**63 - 1  # of integers with a sign
MOST = 10_000  # leaves that are known


class Mark:
    """What is known of a node: where it was made, in which module, and whether it was freed."""

    __slots__ = (
        "origin", "module", "is_freed", "is_packed", "is_aside", "freed_at", "retains",
        "elsewhere", "__weakref__",
    )  # fmt: skip

    def __init__(
        self, origin: Any, module: Any = None, is_packed: bool = False, elsewhere: Any = None
    ) -> None:
        self.origin, self.module, self.is_packed = origin, module, is_packed
        self.elsewhere = elsewhere  # the line of another file that made it
        self.is_freed: bool | None = None
        self.is_aside = False  # freed as far as the program knows, and held for a question
        self.freed_at: Any = None  # the call that did
        self.retains: tuple[tuple[int, Any], ...] = ()  # results that keep their gradients


class TorchSide(Live):
    """The answers for one recording."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.tensor: Any = torch.Tensor
        self.parameter: Any = torch.nn.Parameter
        self.leaf: Any = torch._C._functions.AccumulateGrad
        transformed = self.transformed = Transformed(torch)
        self.levels, self.all_bare = transformed.levels, transformed.all_bare
        self.given: tuple[Any, ...] = ()  # the gradients that a node was given last
        self.bare = transformed.bare
        self.homes = Homes()
        self.objects = ProgramObjects(torch, self.homes)
        self.bindings = self.objects.bindings
        self.names = SavedNames()
        self.no_functions = torch._C.DisableTorchFunction
        self.dispatching = torch._C._len_torch_dispatch_stack
        self.count_modes = torch._C._len_torch_function_stack
        self.edge_to = torch.autograd.graph.get_gradient_edge
        self.switched = torch.is_grad_enabled
        self.scripting = torch._C._get_tracing_state
        kinds = torch._C._TorchDispatchModeKey
        self.traces = [partial(torch._C._get_dispatch_mode, kind)
                       for kind in (kinds.FUNCTIONAL, kinds.PROXY, kinds.FAKE)]  # fmt: skip
        self.transform = torch._C._functorch.peek_interpreter_stack  # None outside of torch.func
        pairs = ("int64", "int8"), ("float64", "float16"), ("complex128", "complex64")
        self.smaller = {getattr(torch, large): torch.zeros((), dtype=getattr(torch, small))
                        for large, small in pairs}  # fmt: skip
        self.holding: dict[type, tuple[tuple[str, str], ...]] = {}
        self.about_to_run: tuple[Any, tuple[tuple[str, Any], ...]] = (None, ())
        self.is_shared = False  # whether elements may change and their version does not
        self.leaves: dict[int, tuple[Any, int, Any]] = {}  # as they were in the pass before
        self.finite: tuple[Any, int] = (None, 0)  # the tensor that was looked at last
        self.is_alone = False  # who is given a gradient now is the only one who has it
        self.larges = Larges(torch.strided)
        arrays = Arrays(torch, self.hands_off, self.bare)
        self.array, self.in_line = arrays.array, arrays.in_line  # type: ignore[method-assign]
        self.has_numbers = arrays.has_numbers
        self.text = Printer(torch, self.bare, self.array).text  # type: ignore[method-assign]

    def hands_off(self) -> Any:
        """Within it no code of a program observes what is done to tensors."""
        is_heard = self.dispatching() or self.transform() is not None
        return unobserved(self.torch) if is_heard else self.no_functions()

    def is_traced(self) -> bool:
        """Whether PyTorch only looks at a program, as TorchScript and aot_function do."""
        is_aside = self.dispatching() and any(mode() is not None for mode in self.traces)
        return bool(is_aside) or self.scripting() is not None

    def mark(self, node: Any) -> Mark:
        about = node.metadata
        mark = about.get(KEY)
        if mark is None:
            mark = about[KEY] = Mark(None)
        return mark

    def edges(self, node: Any) -> tuple[Any, ...]:
        return tuple(edge for edge, _ in node.next_functions)

    def numbers(self, node: Any) -> tuple[int, ...]:
        return tuple(number for _, number in node.next_functions)

    def following(self, node: Any) -> list[tuple[Any, int, Any]]:
        leaf = self.leaf
        return [(edge, number, edge if type(edge) is leaf else edge.metadata.get(KEY))
                for edge, number in node.next_functions if edge is not None]  # fmt: skip

    def freed(self, node: Any) -> bool | None:
        return self.mark(node).is_freed

    def outputs(self, node: Any) -> int:
        return len(getattr(node, "_input_metadata", (None,)))

    def row(self, node: Any) -> Any:
        return rows().get(node.name().rpartition("::")[2])

    def users_class(self, node: Any) -> str:
        found = getattr(node, "_forward_cls", None)
        if found is None or found.__module__ == "torch.nn.modules._functions":
            return ""  # a place for the hooks of a module
        return str(found.__name__)

    def saved(self, node: Any) -> dict[str, Any]:
        """The saved values by their names, without what a pack hook holds."""
        if self.mark(node).is_packed:
            return {}
        found = {}
        for name in self.names.of(node):
            try:
                found[name.removeprefix("_saved_")] = getattr(node, name)
            except RuntimeError:
                continue
        return found

    def saved_under(self, node: Any, saved: Any, key: str) -> Any:
        value = saved.get(key) if isinstance(saved, dict) else None
        if type(value) is int and value > LARGEST:
            return value - 2 * (LARGEST + 1)  # a negative number, which PyTorch shows as none
        return self.array(value) if isinstance(value, self.tensor) else value

    def run_again(self, node: Any, saved: Any, grads: Any, other: Any) -> Any:
        came = next((grad for grad in grads if grad is not None), None)
        if came is None or self.mark(node).is_packed:
            return None
        try:
            found = node(self.torch.as_tensor(other, device=came.device).to(came.dtype))
        except Exception:  # PyTorch freed what it needs
            values = {name: self.saved_under(node, saved, name) for name in saved or ()}
            return by_formulas(self.row(node), self.edges(node), values, self.array(came), other)
        found = found if isinstance(found, tuple) else (found,)
        return [None if one is None else self.array(one) for one in found]

    def probed(self, node: Any, *grads: Any) -> list[Any]:
        run = node if callable(node) else node.apply  # that of a Function of the program
        with self.hands_off(), self.torch.no_grad():
            given = list(map(self.torch.as_tensor, grads))
            for place, about in enumerate(getattr(node, "_input_metadata", ())[: len(given)]):
                # An array is on the host, and has never PyTorch's bfloat16.
                given[place] = given[place].to(about.device, about.dtype)
        unheard = nullcontext() if callable(node) else redirect_stdout(StringIO())
        with self.no_functions(), self.torch.no_grad(), self.transformed.on(), unheard:
            likes = zip_longest(given, self.given[: len(given)])  # one asked later is given none
            found = run(*starmap(self.transformed.dressed, likes))
            found = found if isinstance(found, tuple) else (found,)
            return [None if one is None else self.array(one) for one in found]

    def passed_again(self, node: Any, grads: Sequence[Any]) -> Sequence[Any]:
        """As the engine does it, which brings gradients to the shapes and types of the edges."""
        following = node.next_functions
        if all(grad is None for grad in grads):
            return [None] * len(following)
        unused = [None] * (self.outputs(node) - len(grads))
        with self.hands_off(), self.torch.no_grad():
            found = node(*grads, *unused)
            found = list(found) if isinstance(found, tuple) else [found]
            for place, (child, number) in enumerate(following):
                grad = found[place]
                if grad is None or child is None:
                    continue
                about = child._input_metadata[number]
                if grad.shape != about.shape:
                    grad = grad.sum_to_size(about.shape)
                if grad.is_complex() and not about.dtype.is_complex:
                    grad = grad.real
                found[place] = grad.to(about.dtype)
            return found

    def given_shapes(self, node: Any) -> tuple[tuple[int, ...] | None, ...]:
        """The shapes of the inputs that gradients go to: the engine sums up to them. Samples of a
        node that runs for all of them lie in front."""
        samples = self.transformed.samples(*self.given[:1])
        found: list[tuple[int, ...] | None] = []
        for edge, number in node.next_functions:
            if edge is None:
                found.append(None)
            else:
                leaf = getattr(edge, "variable", None)
                about = edge._input_metadata[number] if leaf is None else leaf
                found.append((*samples, *about.shape))
        return tuple(found)

    def is_packed(self, node: Any) -> bool:
        return self.mark(node).is_packed

    def differentiated(
        self, result: Any, inputs: Sequence[Any], seed: Any, *, create_graph: bool
    ) -> Sequence[Any]:
        """torch.autograd.grad: None for what the result was not computed from."""
        if seed is not None:
            seed = self.torch.as_tensor(seed).to(result).reshape(result.shape)
        found: Sequence[Any] = self.torch.autograd.grad(
            result, inputs, seed, retain_graph=True, create_graph=create_graph, allow_unused=True
        )
        return found

    def made_again(self, node: Any, output_nr: int, known: Known, operand: Known) -> Any:
        """What it made, where nobody saw that: from what it made it of."""
        with self.hands_off(), self.torch.no_grad():
            return made_again(self.torch, node, output_nr, known, operand)

    def backward(self, result: Any, seed: Any, *, keep: bool | None, create_graph: bool) -> None:
        """torch.autograd.backward."""
        if seed is not None:
            seed = self.torch.as_tensor(seed).to(result).reshape(result.shape)
        self.torch.autograd.backward(result, seed, retain_graph=keep, create_graph=create_graph)

    def is_parameter(self, tensor: Any) -> bool:
        return type(tensor) is self.parameter or isinstance(tensor, self.parameter)

    def word(self, tensor: Any) -> str:
        if tensor.is_floating_point() or tensor.is_complex():
            return "tensor"
        return "bool" if tensor.dtype is self.torch.bool else "integer"

    def found_finite(self, tensor: Any) -> None:
        self.finite = tensor, version_of(tensor)

    def nonfinite(self, tensor: Any) -> int:
        is_known = tensor is self.finite[0] and self.finite[1] == version_of(tensor)
        is_known = is_known or self.is_traced()  # a look would be part of the trace
        if is_known or self.word(tensor) != "tensor" or not tensor.numel():
            return 0
        if not self.has_numbers(tensor):
            return 0
        with self.hands_off(), suppress(RuntimeError):  # nested tensors have no sum
            held = tensor.detach()
            if tensor.is_complex() or not isfinite(held.sum().item()):
                return NAN * bool(held.isnan().any()) | INF * bool(held.isinf().any())
        return 0

    def all_finite(self, tensors: Sequence[Any]) -> set[int]:
        """The identities of small ones where all of these are finite: one look for many."""
        small = [one for one in tensors if one.numel() <= WHOLE and self.has_numbers(one)]
        flatten = self.torch._C._nn.flatten_dense_tensors
        # Some may be sparse, or complex.
        with self.hands_off(), self.torch.no_grad(), suppress(RuntimeError, TypeError):
            if small and isfinite(flatten(small).sum().item()):
                return set(map(id, small))
        return set()

    def changed_at(self, tensor: Any) -> Any:
        return None

    def origin(self, node: Any) -> Any:
        return self.mark(node).origin

    def elsewhere(self, node: Any) -> Any:
        return self.mark(node).elsewhere

    def is_new_leaf(self, tensor: Any) -> bool:
        """Whether a tensor of the program is a leaf; classes and modes of it observe nothing."""
        if type(tensor) in (self.tensor, self.parameter) and self.count_modes() < 2:
            return bool(tensor.requires_grad and tensor.is_leaf)
        with self.hands_off():
            return bool(tensor.requires_grad and tensor.is_leaf)

    def clock(self) -> int:
        """The sequence number that the next node gets."""
        return int(self.torch._C._autograd._get_sequence_nr())

    def sequence(self, node: Any) -> int:
        return int(node._sequence_nr())

    def node(self, tensor: Any) -> Any:
        try:
            return tensor.grad_fn
        except RuntimeError:  # a view that PyTorch no longer lets anyone use
            return None

    def edge(self, tensor: Any) -> Any:
        node = self.node(tensor)
        if node is not None or not tensor.requires_grad or tensor.is_inference():
            return node
        try:
            return self.edge_to(tensor).node
        except (AssertionError, AttributeError):  # of a view made under no_grad PyTorch finds none
            return None

    def gradient(self, tensor: Any) -> Any:
        if tensor.is_leaf or tensor.retains_grad:
            return tensor.grad
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tensor.grad

    def data(self, tensor: Any) -> Any:
        return tensor.detach()._values() if tensor.layout is self.torch.sparse_coo else tensor

    def kept(self, node: Any) -> tuple[tuple[str, Any], ...]:
        """Its saved tensors. What a pack hook holds is not read: unpacking runs code."""
        if self.about_to_run[0] is node:
            return self.about_to_run[1]
        mark = self.mark(node)
        if mark.is_packed or mark.is_freed:
            return ()
        found: list[tuple[str, Any]] = []
        for name, short in self.kept_names(node):
            try:
                value = getattr(node, name)
            except (RuntimeError, AttributeError):  # freed, or changed in place since
                continue
            found += [(short, one) for one in self.tensors(value) if not self.is_number(one)]
        return tuple(found)

    def tensors(self, value: Any) -> tuple[Any, ...]:
        """Those that a saved value is: one, or several, as the indices of an element are."""
        if isinstance(value, self.tensor):
            return (value,)
        if not isinstance(value, (tuple, list)):
            return ()
        return tuple(one for one in value if isinstance(one, self.tensor))

    def has_saved(self, node: Any) -> bool:
        """Whether it keeps anything that a pass drops, a number of Python too."""
        if self.mark(node).is_packed:  # unpacking would run code
            return bool(self.kept_names(node)) and not isinstance(node, self.torch._C._FunctionBase)
        for name, _ in self.kept_names(node):
            try:
                if self.tensors(getattr(node, name)):
                    return True
            except (RuntimeError, AttributeError):
                continue
        return False

    def is_number(self, value: Any) -> bool:
        """A number of Python becomes a tensor without dimensions, of the type that Python has. It
        is not strong: beside another such tensor of a smaller type the other type wins."""
        if not isinstance(value, self.tensor) or value.dim():
            return False
        smaller = self.smaller.get(value.dtype)
        if smaller is None:
            return False
        with self.hands_off():
            return bool(self.torch.result_type(value, smaller) is smaller.dtype)

    def kept_names(self, node: Any) -> tuple[tuple[str, str], ...]:
        """The attributes of a kind of nodes that may hold tensors, found once."""
        kind = type(node)
        names = self.holding.get(kind)
        if names is None:
            raw = {name.removeprefix("_raw") for name in dir(kind) if name.startswith("_raw_saved")}
            if issubclass(kind, self.torch._C._FunctionBase):  # of a Function of the program
                names = (("saved_tensors", "saved_tensors"),)
            else:
                names = tuple((name, name.removeprefix("_saved_")) for name in sorted(raw))
            self.holding[kind] = names
        return names

    def memory(self, value: Any) -> Any:
        if not isinstance(value, self.tensor):
            return None
        try:
            return self.bare(value).untyped_storage()
        except (RuntimeError, NotImplementedError):  # sparse, or of a transform
            return None

    def common(self, tensor: Any) -> Any:
        with self.hands_off():
            memory = self.memory(tensor)
        return tensor if memory is None else memory

    counter = common

    def grad_enabled(self) -> bool:
        return bool(self.switched())

    def standing(self, tensor: Any) -> int | None:
        return None if self.is_shared else version_of(tensor)

    def snapshot(self, value: Any, largest: float) -> Any:
        is_leaf = value.requires_grad and value.grad_fn is None and not self.is_shared
        return (self._of_leaf if is_leaf else self._snapshot)(value, largest)

    def packed(self, tensors: Sequence[Any]) -> Sequence[Any]:
        with self.hands_off(), self.torch.no_grad():
            return packed(tensors, self.torch._C._nn.flatten_dense_tensors)

    def _of_leaf(self, leaf: Any, largest: float) -> Any:
        """A leaf that is as it was a pass ago is held already."""
        held, version, known = self.leaves.get(id(leaf), (None, 0, None))
        if held is not None and held() is leaf and version == leaf._version and largest <= WHOLE:
            if type(known) is not Large or known.tensor is not None:
                return known
        made = self._snapshot(leaf, largest)
        if largest <= WHOLE:
            if len(self.leaves) >= MOST:
                self.leaves.clear()
            over = partial(self.leaves.pop, id(leaf))  # called with the reference
            self.leaves[id(leaf)] = ref(leaf, over), leaf._version, made
        return made

    def forget(self) -> None:
        """Holds no tensors of a recording that is over."""
        self.leaves.clear()
        self.finite, self.about_to_run, self.given = (None, 0), (None, ()), ()

    def _snapshot(self, value: Any, largest: float) -> Any:
        value = self.in_line(value) if value.is_nested else self.bare(value)
        if not self.has_numbers(value):
            return Summary(tuple(value.shape), None, dtype_word(value))
        with self.hands_off():
            tensor = value.detach()
            if tensor.layout is not self.torch.strided and tensor.numel() > SMALL:
                return Summary(tuple(tensor.shape), None, dtype_word(tensor))
            if tensor.numel() <= SMALL or largest > WHOLE:
                return tensor.clone()
            return self.larges.hold(tensor)

    def about_to_change(self, tensor: Any) -> None:
        """Large tensors that were kept as they are, and share this memory, are summed up now."""
        self.larges.changing(tensor)


def torch_side(torch: Any) -> TorchSide:
    """The one side of PyTorch, made known at first use."""
    if not isinstance(sides.live, TorchSide):
        resolve("Tensor")  # small tensors of our own stand for numbers: they need their methods
        make_known(TorchSide(torch))
    assert isinstance(sides.live, TorchSide)
    return sides.live
