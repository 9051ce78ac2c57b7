"""Questions: the calls of PyTorch in a run, recorded so that they can be made again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.tensors.tensor import Tensor
from ....live.values import own_tensor
from ....recording.sides import edges_of, is_end, node_of, sides, standing
from ....recording.spectator import Spectator
from ...graph import PASSING
from .live_call import Call, Out
from .live_pass import PassAgain
from .tape import MOST_BYTES, MOST_STEPS, Key, Operand, Step, leaves_of, operands_of

if TYPE_CHECKING:
    from ....language.interpreter import Outcome
    from ....recording.passes import Pass


class LiveTape(Spectator):
    """What `Tape` is for the engine, for PyTorch. Tensors of the engine stand for its tensors."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.full = ""
        self.generators: dict[int, Any] = {}  # none of the engine's has a part in it
        self.passes: dict[int, tuple[Any, Any]] = {}  # by line the last one: origin, root
        self._bytes = 0
        self._known: set[Key] = set()
        self._kept: list[Any] = []  # nodes: their identity must stay their own
        self._standing: dict[
            int, tuple[Any, Tensor, int | None]
        ] = {}  # by tensor: who stands, version
        self._theirs: dict[int, Any] = {}  # by who stands for it

    def begin(self, machine: Any) -> None:
        """The recorder hands every call over."""
        machine.recorder.tape = self

    def began(self, one: Pass) -> None:
        """A result is differentiated."""
        if one.roots and not self.full:
            self.passes.pop(one.line or 0, None)
            self.passes[one.line or 0] = one.origin, one.roots[0]

    # ------------------------------------------------------------ events of the recorder

    def call(
        self, make: Callable[..., Any], function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Makes a call, and keeps how it was made if its result is in a graph."""
        live = sides.live
        if self.full or live is None or not live.grad_enabled():
            return make(function, args, kwargs)
        if getattr(function, "__module__", "") == "torch.autograd":
            result = make(function, args, kwargs)
            with live.hands_off():
                self._passed(inspect.signature(function).bind(*args, **kwargs).arguments, result)
            return result
        with live.hands_off():
            call = Call(function, args, kwargs)
            if not any(one.requires_grad for one in call.given):
                return make(function, args, kwargs)
            given = [self.operand(one) for one in call.given]
            before = [None if one._base is None else self.operand(one._base) for one in call.given]
            versions = list(map(_version, call.given))
        result = make(function, args, kwargs)
        with live.hands_off():
            self._over(call, given, before, versions, result)
        return result

    def _over(
        self, call: Call, given: list[Operand], before: list[Operand | None],
        versions: list[int], result: Any,
    ) -> None:  # fmt: skip
        tensors = call.given
        changed = [n for n, one in enumerate(tensors) if _version(one) != versions[n]]
        results = call.tree.tree_leaves(result)
        found: list[tuple[Out, Any]] = [
            (Out(True, n), one) for n, one in enumerate(results)
            if isinstance(one, call.torch.Tensor) and node_of(one) is not None
        ]  # fmt: skip
        found += [(Out(False, n), tensors[n]) for n in changed
                  if node_of(tensors[n]) is not None
                  and not any(one is tensors[n] for one in results)]  # fmt: skip
        found = [pair for pair in found if self._key(pair[1]) not in self._known]
        call.changes = bool(changed)
        if not found:
            return
        self._put(call, given, found)
        for n in changed:
            base, whole = before[n], tensors[n]._base
            if base is not None and node_of(whole) is not None:
                self._put_back(whole, base, tensors[n])
        if len(self.steps) >= MOST_STEPS:
            self.full = f"more than {MOST_STEPS:,} operations"
        elif self._bytes > MOST_BYTES:
            self.full = f"more than {MOST_BYTES >> 20} MiB of operands"

    def _passed(self, asked: dict[str, Any], result: Any) -> None:
        """Gradients that are in a graph themselves came from all that the results were made by."""
        if not asked.get("create_graph") or asked.get("is_grads_batched"):
            return
        outputs, inputs = _listed(asked["outputs"]), _listed(asked["inputs"])
        seeds = [one for one in _listed(asked.get("grad_outputs")) if one is not None]
        if len(seeds) not in (0, len(outputs)):
            return
        steps = self.behind(*outputs)
        leaves = leaves_of(steps)
        first = {id(one.tensor): one for step in reversed(steps) for _, _, one in operands_of(step)}
        again = PassAgain(steps, leaves, list(map(self._key, outputs)), [
            self._key(one) or id(self.standing_for(one)) for one in inputs
        ])  # fmt: skip
        call = Call(again, (*map(self.theirs, leaves), *seeds), {})
        nodes = [node_of(one) for one in result if one is not None]
        reached = _ends(node for node in nodes if node is not None)
        given = [first[id(leaf)]._replace(is_leaf=id(self.theirs(leaf)) in reached)
                 for leaf in leaves]  # fmt: skip
        given += [self.operand(one) for one in seeds]
        self._over(call, given, [None] * len(given), list(map(_version, call.given)), result)

    def _put(self, call: Call, given: Sequence[Operand], found: list[tuple[Out, Any]]) -> None:
        call.outs = [out for out, _ in found]
        call.node = node_of(found[0][1])
        outs = tuple((self.standing_for(one), self._key(one)) for _, one in found)
        self._known.update(key for _, key in outs if key is not None)
        call.over()
        self.steps.append(Step(call.node, call.function_class(), tuple(given), outs, False, None))

    def _put_back(self, whole: Any, before: Operand, part: Any) -> None:
        """What was changed is a view: so was what it is a view of."""
        window = part.size(), part.stride(), part.storage_offset() - whole.storage_offset()
        call = Call(_written_into, (whole, part, _layout(whole), window), {})
        changed = Operand(self.standing_for(part), self._key(part), False,
                          self.standing_for(part)._data, ())  # fmt: skip
        self._put(call, (before, changed), [(Out(True, 0), whole)])

    # ------------------------------------------------------------ tensors

    def operand(self, tensor: Any) -> Operand:
        """The tensor with its history and values as they are now."""
        key, base = self._key(tensor), tensor._base
        standing = self.standing_for(tensor)
        if key is not None and key not in self._known and base is not None:
            self._view(tensor, base)
        leaf = key is None and bool(tensor.requires_grad)
        return Operand(standing, key, leaf, standing._data, ())

    def _view(self, tensor: Any, base: Any) -> None:
        """What it is a view of was changed, so it has a new node."""
        operand = self.operand(base)
        window = tensor.size(), tensor.stride(), tensor.storage_offset() - base.storage_offset()
        call = Call(_window, (base, _layout(base), window), {})
        self._put(call, (operand,), [(Out(True, 0), tensor)])

    def standing_for(self, tensor: Any) -> Tensor:
        """The engine's tensor for one of PyTorch's, with the values that it has now."""
        version = standing(tensor)  # None where elements may change and nothing reports it
        known = self._standing.get(id(tensor))
        if known is not None and known[2] == version is not None:
            return known[1]
        fresh = own_tensor(tensor)
        self._bytes += fresh._data.nbytes
        if known is not None:
            known[1]._data = fresh._data
            fresh = known[1]
        self._standing[id(tensor)] = tensor, fresh, version
        self._theirs[id(fresh)] = tensor
        return fresh

    def theirs(self, standing: Any) -> Any:
        """The tensor of PyTorch's that it stands for."""
        return self._theirs.get(id(standing), standing)

    def _key(self, tensor: Any) -> Key | None:
        node = node_of(tensor)
        if node is None:
            return None
        self._kept.append(node)
        return id(node), int(tensor.output_nr)

    # ------------------------------------------------------------ what is asked of it afterwards

    def differentiated(self, outcome: Outcome) -> Iterator[tuple[int, str, Any]]:
        """What passes began at, the last of each line: line, text of the call, tensor."""
        for line, (origin, root) in self.passes.items():
            called = getattr(origin, "func", None)
            if self._key(root) in self._known and getattr(called, "attr", "") not in PASSING:
                yield line, outcome.text_of(origin) or "", root

    def behind(self, *roots: Any) -> list[Step]:
        """The steps that results were made by, in the order in which they ran."""
        wanted = set(map(self._key, roots))
        found = []
        for step in reversed(self.steps):
            if any(key in wanted for _, key in step.outs):
                found.append(step)
                wanted.update(one.key for _, _, one in operands_of(step) if one.key is not None)
        found.reverse()
        return found


def _ends(nodes: Iterable[Any]) -> set[int]:
    """The leaves that a graph ends in, by their identity."""
    pending = list(nodes)
    seen = set(pending)
    for node in pending:
        fresh = {edge for edge in edges_of(node) if edge is not None} - seen
        seen |= fresh
        pending.extend(fresh)
    return {id(node.variable) for node in pending if is_end(node)}


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _version(tensor: Any) -> int:
    return -1 if tensor.is_inference() else int(tensor._version)


def _layout(tensor: Any) -> tuple[Any, Any]:
    return tensor.size(), tensor.stride()


def _as_laid(tensor: Any, layout: tuple[Any, Any]) -> Any:
    """The same numbers, as the tensor of the program lies in memory."""
    return tensor.new_empty_strided(*layout).copy_(tensor)


def _window(tensor: Any, layout: tuple[Any, Any], window: tuple[Any, Any, int]) -> Any:
    return _as_laid(tensor, layout).as_strided(*window)


def _written_into(
    tensor: Any, part: Any, layout: tuple[Any, Any], window: tuple[Any, Any, int]
) -> Any:
    whole = _as_laid(tensor, layout)
    whole.as_strided(*window).copy_(part)
    return whole
