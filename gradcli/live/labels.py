"""Live: where the nodes of PyTorch's graph were made.

A result's node is reported when it is created. The nodes that the operation created on its way
stand behind it; they are looked for when a pass reaches them, or on request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

from ..engine.schema.mode import state
from .again import operands
from .side import KEY, Mark

if TYPE_CHECKING:
    from ..engine.graph.observer import Observer
    from ..recording.facts.basic import Elsewhere
    from .recorder import Recorder

Kept = tuple[tuple[str, Any], ...]  # names, and the tensors that a node has saved under them
MOST = 2000  # results not examined yet


class _Nowhere:
    """The origin of a node that was made before the program's text was at any place."""


NOWHERE = _Nowhere()


class Labels:
    """Says of nodes where they were made."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder, self.side = recorder, recorder.side
        autograd = recorder.torch._C._autograd
        self.packs = getattr(autograd, "_top_saved_tensors_default_hooks", None)
        self.packing = 0  # pack hooks that are on, for a PyTorch that does not give the innermost
        self.leaf: Any = recorder.torch._C._functions.AccumulateGrad
        self.since = self.side.clock()  # nodes with smaller numbers were made before
        self.pending: list[Any] = []
        self.lost: dict[str, list[Any]] = {}  # what the operation in progress makes of what is lost
        self.modules: list[Any] = []  # that are running
        self.elsewhere: Elsewhere | None = None  # where the operation in progress stands
        # Nodes that came up unseen: their first number, the one behind the last, the place.
        self.unseen: deque[tuple[int, int, Any]] = deque(maxlen=MOST)

    def label(self, root: Any, origin: Any = None, *, is_reported: bool = True) -> bool:
        """Says of a result's node where it was made. Whether that was new."""
        about = root.metadata
        mark = about.get(KEY)
        if mark is not None and mark.origin is not None:
            return False
        known = self._place(root) if self.unseen else None
        module = self.modules[-1] if self.modules else None
        elsewhere = self.elsewhere if known is None and origin is None else None
        if elsewhere is not None and elsewhere.is_library and module is None:
            elsewhere = None  # of a library's function a reader knows the call
        origin = known or origin or state.origin or NOWHERE
        is_packed = self.packing > 0 if self.packs is None else self.packs(False) is not None
        if mark is None:
            mark = about[KEY] = Mark(origin, module, is_packed, elsewhere)
        else:
            mark.origin, mark.module, mark.is_packed = origin, module, is_packed
            mark.elsewhere = elsewhere
        if not is_reported:
            self._behind(root, mark)
        elif self.lost or not self.recorder.passes.is_light:
            self._look(root)
        else:
            self.pending.append(root)
            if len(self.pending) > MOST:
                self.settle()
        return True

    def counting(self, by: int, plain: Any) -> Any:
        """Pushes or pops pack hooks, and counts those that are on."""

        link = self.recorder.link

        def counted(*given: Any) -> Any:
            if (recorder := link.hearing()) is not None:
                recorder.labels.packing += by
            return plain(*given)

        return counted

    def _place(self, node: Any) -> Any:
        """Where one that came up unseen was made; None of others."""
        number = self.side.sequence(node)
        places = (place for first, end, place in reversed(self.unseen) if first <= number < end)
        return next(places, None)

    def _behind(self, root: Any, mark: Mark) -> dict[int, Any]:
        """The unknown nodes behind it, by their identity: they are of its operation."""
        found: dict[int, Any] = {}
        pending = [root]
        for node in pending:
            for child, _ in node.next_functions:
                if child is None or type(child) is self.leaf:
                    continue
                about = child.metadata
                known = about.get(KEY)
                if known is None or known.origin is None:
                    mark_within(about, mark, known)
                    pending.append(child)
                    found[id(child)] = child
        return found

    # ------------------------------------------------------------ results that keep gradients

    def retain(self, tensor: Any) -> None:
        """From here on a result keeps its gradient."""
        node = self.side.node(tensor)
        if node is not None:
            mark = self.side.mark(node)
            if not any(known() is tensor for _, known in mark.retains):
                mark.retains += ((tensor.output_nr, ref(tensor)),)

    def retained(self, node: Any, grads: Sequence[Any]) -> None:
        """Tells of those of a node that were just given theirs."""
        observer = self.recorder.observer
        observer.retaining(node)
        for output_nr, known in self.side.mark(node).retains:
            tensor = known()
            if tensor is not None and grads[output_nr] is not None:
                observer.accumulated(tensor, grads[output_nr])
                observer.stored(tensor)

    def tell_operands(self, node: Any) -> None:
        """Tells what a node was made of where nobody saw the call: as far as it has saved it."""
        if held := operands(node, self.side.kept):
            self.recorder.observer.used(node, held, None)

    # ------------------------------------------------------------ what was made on the way

    def settle(self) -> None:
        """Looks behind the results that are there."""
        pending, self.pending = self.pending, []
        for root in pending:
            self._look(root)

    def _look(self, root: Any) -> None:
        found = self._behind(root, self.side.mark(root))
        if found or self.side.outputs(root) > 1:
            with self.side.hands_off():
                self._tell(root, found)

    def _tell(self, root: Any, inner: dict[int, Any]) -> None:
        """Tells what an operation made on its way: the weight that a linear layer transposes."""
        observer, module = self.recorder.observer, self.side.mark(root).module

        def made(node: Any, value: Any) -> None:
            if value.grad_fn is node:
                observer.made(value)
            else:
                observer.made_within(node, value, module)

        is_over = (
            bool(inner) and module is not None and all(module is not one for one in self.modules)
        )
        if is_over:
            observer.entering(module)
        for name, values in self.lost.items():
            nodes = [node for node in inner.values() if node.name() == name]
            if len(nodes) == len(values):
                for node, value in zip(sorted(nodes, key=self.side.sequence), values, strict=True):
                    observer.made_within(inner.pop(id(node)), value, module)
        tell_within(root, inner, module, self.side.kept, observer, made)
        if is_over:
            observer.leaving(module)


def tell_within(
    root: Any, inner: dict[int, Any], module: Any, kept: Callable[[Any], Kept], observer: Observer,
    made: Callable[[Any, Any], None],
) -> None:  # fmt: skip
    """Tells of nodes that one operation made, by their identity; of most what other nodes have
    saved is all that is known."""
    for number, node in list(inner.items()):
        if type(node).__name__ == "TBackward0":
            leaf = getattr(node.next_functions[0][0], "variable", None)
            if leaf is not None:
                observer.met(inner.pop(number), leaf, module)
    nodes = list(inner.values())
    for node, value in made_within(root, inner, kept):
        made(node, value)
    for node in nodes:
        if held := operands(node, kept):
            observer.used(node, held, None)
    for node in inner.values():
        observer.met(node, None, module)


def mark_within(about: Any, mark: Mark, known: Mark | None) -> Mark:
    """Of a node behind another one with this mark, which its operation made on its way."""
    if known is None:
        known = about[KEY] = Mark(mark.origin, mark.module, mark.is_packed, mark.elsewhere)
    else:
        known.origin, known.module, known.is_packed = mark.origin, mark.module, mark.is_packed
        known.elsewhere = mark.elsewhere
    return known


def made_within(
    root: Any, inner: dict[int, Any], kept: Callable[[Any], Kept]
) -> Iterator[tuple[Any, Any]]:
    """What nodes of one operation made and another one of it has saved: it itself, or a copy, where
    the operation changed it next. Such nodes are no longer in `inner` then. Of a node with several
    outputs also those that it has saved itself, as the mean of a group."""
    for node in (root, *inner.values()):
        for _, value in kept(node):
            maker = value.grad_fn
            if maker is node and value.output_nr:
                yield node, value
            elif maker is not None:
                if id(maker) not in inner and maker.name() == "CloneBackward0":
                    maker, number = maker.next_functions[0]
                    if number:  # it is told as the first output
                        continue
                if inner.pop(id(maker), None) is not None:
                    yield maker, value


def hook_of_program(hook: Any) -> Any:
    """The function that a hook of PyTorch's own calls, as register_multi_grad_hook makes them."""
    code = getattr(hook, "__code__", None)
    if getattr(hook, "__module__", "") != "torch.autograd.graph" or code is None:
        return hook
    held = dict(zip(code.co_freevars, hook.__closure__ or (), strict=False))
    return held["fn"].cell_contents if "fn" in held else hook
