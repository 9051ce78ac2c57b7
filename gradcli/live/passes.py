"""Live: PyTorch's backward passes, reported by hooks on their nodes."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ..diagnostics import Enough
from ..engine.graph.node import FREED_MESSAGE
from ..engine.schema.mode import state
from ..recording.captured_pass import Graph
from .captured import STORES, Capturing
from .causes import causes_of
from .compiled_regions import is_compiling, uncompiled
from .program_hooks import ProgramHooks, leaves_of, plainly
from .side import KEY

if TYPE_CHECKING:
    from .recorder import Recorder

UNUSED = "appears to not have been used in the graph"  # is found when the pass is over
DEEP = 20  # sums of sums that are looked into


@contextmanager
def _unwarned() -> Iterator[None]:
    """Within it the engine does not warn of a graph that only an option asks for."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Using backward.. with create_graph=True")
        yield


class PassTeller:
    """Stands around PyTorch's engine for the length of a recording."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.running = 0
        self.leaf: Any = recorder.torch._C._functions.AccumulateGrad
        self.capturing = Capturing(recorder)
        self.is_light = False  # one hook for each node is enough: none before it runs
        self.keep_graph = self.create_graph = False  # options of the command line
        self.holds_graph = False  # for a question that comes when the program has ended
        self.freed: list[Any] = []
        self.hooked: set[Any] = set()  # nodes that tell of themselves when they run
        self.begun: Any = None  # the call that began the pass
        self.unfollowed = 0  # passes over tensors that have no numbers
        self.latest: dict[tuple[Any, int], Any] = {}  # which node's gradient came last to an edge
        self.hooks = ProgramHooks(recorder)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """PyTorch's Python calls its engine by this one name."""
        link = self.recorder.link

        def made(plain: Any) -> Any:
            def run(outputs: Any, *args: Any, **kwargs: Any) -> Any:
                recorder = link.hearing()
                if recorder is None or is_compiling():
                    return plain(outputs, *args, **kwargs)  # which is no pass of the program
                with recorder.compiled.told():
                    return recorder.passes._run(plain, outputs, args, kwargs)

            return run

        autograd = self.recorder.torch.autograd
        try:
            # Compiled code is left for a pass: what tells of it must not be compiled.
            with self.recorder.planted.replaced(autograd, "_engine_run_backward", made, uncompiled):
                yield
        finally:
            self.hooks.give_back()

    # ------------------------------------------------------------ one pass

    def _run(self, plain: Any, outputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`args` are the gradients, whether to keep the graph, to create one, and the inputs."""
        recorder = self.recorder
        recorder.end_step()  # by an error
        roots = [self._tensor(output) for output in outputs]
        side = recorder.side
        if side.is_traced() or self._is_unreported(args):
            return plain(outputs, *args, **kwargs)
        with side.hands_off():
            if not all(map(self._is_told, roots)):
                self.unfollowed += any(
                    root is not None and not side.has_numbers(root) for root in roots
                )
                return plain(outputs, *args, **kwargs)
        is_asked = bool(args[2])
        create = is_asked or self.create_graph
        keep = bool(args[1]) or create or self.keep_graph
        frees, keep = not keep, keep or self.holds_graph
        gradients, inputs = args[0], args[3]
        args = (gradients, keep, create, *args[3:])
        capture = not kwargs.get("accumulate_grad", True)
        outer = not self.running
        is_plain = outer and self._is_plain(args, kwargs) and side.transform() is None
        with side.hands_off():
            graph = self.capturing.graph(roots) if is_plain else None
            nodes = [] if graph is not None else self._nodes(roots)
            is_numeric = self._is_numeric(nodes)
        if not is_numeric:
            self.unfollowed += 1
            return plain(outputs, *args, **kwargs)
        before, place = state.origin, recorder.stand(sys._getframe(2))
        spot = place if outer else None
        self.begun = place.node if outer else self.begun
        if outer and recorder.on_pass is not None:
            recorder.on_pass(sys._getframe(2))
        with recorder.telling():
            if not is_plain:
                recorder.labels.settle()  # before it makes nodes itself
            asked = [one for tensor in inputs for one in side.levels(tensor)] or None
            given = side.all_bare(gradients)
            recorder.observer.started(roots, given, keep, create, asked, capture)
        with side.hands_off():
            if self.holds_graph:
                self._hold(roots, frees)
            self.running += 1
        if graph is not None and spot is not None:
            return self._captured_pass(graph, spot, plain, outputs, args)
        call = plainly if spot is None else spot.call
        run = functools.partial(call, plain, (outputs, *args), kwargs)
        try:
            with _unwarned() if create and not is_asked else nullcontext():
                return self._hooked_pass(run, nodes, args, outer=outer, capture=capture)
        finally:
            state.origin = state.origin if outer else before

    def place(self, node: Any) -> Any:
        """Where the program is within a pass: code of PyTorch's, as that of a checkpoint, stands
        where the node was made that runs it, and not where the pass began."""
        running = self.recorder.side.about_to_run[0]
        if node is not self.begun or running is None:
            return node
        return self.recorder.side.origin(running) or node

    def _hooked_pass(
        self, run: Callable[[], Any], nodes: list[Any], args: tuple[Any, ...], *, outer: bool,
        capture: bool,
    ) -> Any:  # fmt: skip
        """One that hooks of its nodes tell of."""
        recorder, side = self.recorder, self.recorder.side
        keep, create, inputs = args[1:4]
        origin = state.origin
        with side.hands_off():
            recorder.labels.settle()
            self.hooks.found(nodes)
            handles: list[Any] = []
            mine = [node for node in nodes if node not in self.hooked]  # by a pass around it
            self.hooked.update(mine)
            for node in mine:
                self._hook(node, handles)
            spies = list(self.hooks.spies(nodes)) if outer and self.hooks.all else []
        freed, self.freed = self.freed, []
        done = False
        try:
            with self._captures(nodes, inputs if capture else ()), self._heard(nodes, create):
                found = run()
            done = True
        except RuntimeError as error:
            done = UNUSED in str(error)
            recorder.causes = causes_of(error, recorder, nodes)
            raise
        finally:
            self.running -= 1
            state.origin = origin
            for handle in handles:
                handle.remove()
            self.hooked.difference_update(mine)
            self.hooks.take_back(spies)
            released, self.freed = self.freed, freed
            with side.hands_off():
                self._over(released, keep, create, outer=outer, done=done)
        return found

    def _heard(self, nodes: list[Any], create: bool) -> Any:
        """Within it is heard what code of the program makes in a pass: the mode has been put aside
        for the call that began it."""
        python = self.capturing.python
        is_heard = create or any(isinstance(node, python) for node in nodes)
        return self.recorder.operations.mode() if is_heard else nullcontext()

    def _hold(self, roots: Sequence[Any], frees: bool) -> None:
        """What a pass would free is held; another pass over it fails as it would without."""
        side = self.recorder.side
        for node in self._nodes(roots):
            if type(node) is not self.leaf:
                mark = side.mark(node)
                if mark.is_aside and side.has_saved(node):
                    self.recorder.observer.failed([])
                    raise RuntimeError(FREED_MESSAGE)
                mark.is_aside |= frees

    def _is_plain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether PyTorch may capture the gradients of a pass: nothing of the program's runs in
        it, and it stores gradients of all leaves."""
        is_seen = self.hooks.all or self.hooks.standing or self.recorder.side.dispatching()
        if not self.is_light or is_seen or kwargs != STORES:
            return False
        return len(args) == 4 and not args[2] and not args[3]

    def _captured_pass(
        self, graph: Graph, spot: Any, plain: Any, outputs: Any, args: tuple[Any, ...]
    ) -> Any:
        """One without hooks."""
        side, observer = self.recorder.side, self.recorder.observer
        given, keep = args[:2]
        with side.hands_off():
            told, freed, done = observer.of_nodes(at_once=True), [], False
            try:
                freed = self.capturing.run(
                    graph, functools.partial(_called, spot.call, plain), outputs, given, keep,
                    args[3], told,
                )  # fmt: skip
                done = True
            finally:
                self.running -= 1
                self._over(freed, keep, False, outer=True, done=done)
        return ()

    def _is_told(self, root: Any) -> bool:
        """Whether a graph begins there, of tensors that have numbers."""
        side = self.recorder.side
        return root is not None and side.edge(root) is not None and side.has_numbers(root)

    def _is_numeric(self, nodes: list[Any]) -> bool:
        """Whether all leaves have numbers: what flows to others has none either."""
        leaf, has_numbers = self.leaf, self.recorder.side.has_numbers
        return all(has_numbers(node.variable) for node in nodes if type(node) is leaf)

    def _is_unreported(self, args: tuple[Any, ...]) -> bool:
        """A pass that PyTorch refuses to begin, or that ends in edges of the graph."""
        with self.recorder.side.hands_off():
            return any(self._tensor(one) is None or not one.requires_grad for one in args[3])

    def _tensor(self, output: Any) -> Any:
        """A root of the pass; an edge of the graph is not reported."""
        return output if isinstance(output, self.recorder.side.tensor) else None

    def _over(self, mine: list[Any], keep: bool, create: bool, *, outer: bool, done: bool) -> None:
        side, observer = self.recorder.side, self.recorder.observer
        side.about_to_run, side.given = (None, ()), ()
        if outer:
            self.latest.clear()
        if keep:
            mine = []
        for node in mine:
            mark = node.metadata[KEY]
            mark.is_freed, mark.freed_at = True, state.origin
        if done:
            observer.walked(mine, keep, create)
        else:
            observer.failed(mine)

    @contextmanager
    def _captures(self, nodes: list[Any], inputs: Sequence[Any]) -> Iterator[None]:
        """Tells what comes for each input when it comes: PyTorch returns all at the end, and none
        where nothing came for one."""
        side, leaves = self.recorder.side, leaves_of(nodes)
        handles: list[Any] = []
        bare: list[Any] = []  # tensors that had no table of hooks
        with side.hands_off():
            for place, tensor in enumerate(inputs):
                node = leaves.get(id(tensor)) or side.node(tensor)
                if node is not None and self._tensor(tensor) is not None:
                    bare += [tensor] if tensor._backward_hooks is None else []
                    hook = functools.partial(self._came, node, tensor.output_nr, place)
                    handles.append(tensor.register_hook(self._safe(hook)))
        try:
            yield
        finally:
            with side.hands_off():
                for handle in handles:
                    handle.remove()
                for tensor in bare:
                    if not tensor._backward_hooks:
                        tensor._backward_hooks = None

    def _came(self, node: Any, output_nr: int, place: int, grad: Any) -> None:
        """An input of `autograd.grad` is given its gradient."""
        if grad is not None:
            with self.recorder.side.hands_off():
                self._label_sum_on((node, output_nr), grad)
                self.recorder.observer.captured(node, place, grad)

    # ------------------------------------------------------------ nodes

    def _nodes(self, roots: Sequence[Any]) -> list[Any]:
        """Every node that the pass may come to."""
        ends = dict.fromkeys(map(self.recorder.side.edge, roots))  # two may be of one node
        pending = [node for node in ends if node is not None]
        seen = set(pending)
        for node in pending:
            for child, _ in node.next_functions:
                if child is not None and child not in seen:
                    seen.add(child)
                    pending.append(child)
        return pending

    def _hook(self, node: Any, handles: list[Any]) -> None:
        """Tells of a node when it runs."""
        if type(node) is self.leaf:
            before, after = self._of_leaf(node)
        else:
            self.recorder.labels.label(node, self.recorder.elsewhere, is_reported=False)
            # A module's hook runs between the two.
            is_python = isinstance(node, self.capturing.python)  # and may begin a pass
            if self.is_light and not (self.hooks.standing or is_python or self._fails(node)):
                handles.append(node.register_hook(self._at_once(node)))
                return
            before, after = self._of_node(node)
        handles.append(node.register_prehook(self._safe(before)))
        handles.append(node.register_hook(self._safe(after)))

    def _fails(self, node: Any) -> bool:
        """Whether a pass ends there, which only a hook before it hears."""
        side = self.recorder.side
        is_known = node._sequence_nr() >= self.recorder.labels.since and not side.is_packed(node)
        return is_known and self.capturing.saved(node) is None

    def _of_node(self, node: Any) -> tuple[Callable[..., None], Callable[..., None]]:
        observer, side = self.recorder.observer, self.recorder.side
        off = side.hands_off

        def before(grads: Any) -> None:
            with off():
                side.about_to_run = (None, ())
                if side.switched():
                    self._label_sums(node, grads)
                kept = side.kept(node)
                side.about_to_run = (node, kept)
                side.given = grads
                grads = side.all_bare(grads)
                if side.mark(node).retains:
                    self.recorder.labels.retained(node, grads)
                observer.arrived(node, grads)
                if kept or side.has_saved(node):
                    self.freed.append(node)
                elif isinstance(node, self.capturing.python):
                    side.mark(node).is_freed = False  # which it will not say any more

        def after(results: Any, grads: Any) -> None:
            with off():
                side.about_to_run = (None, ())
                observer.ran(node)
                observer.applied(node, side.all_bare(grads), side.all_bare(results))
                if side.switched():
                    self._label(node, results)

        return before, after

    def _safe(self, hook: Callable[..., None]) -> Callable[..., None]:
        def safe(*given: Any) -> None:
            with self.recorder.telling():
                hook(*given)

        return safe

    def _at_once(self, node: Any) -> Callable[..., None]:
        """One hook for both events: what a node saved is there until its hooks have run. It is
        safe by itself, for most of what a pass costs are calls."""
        recorder = self.recorder
        observer, side, off = recorder.observer, recorder.side, recorder.side.hands_off
        arrived, ran, applied = observer.arrived, observer.ran, observer.applied
        defects = recorder.defects

        def both(results: Any, grads: Any) -> None:
            try:
                with off():
                    if side.switched():
                        self._label_sums(node, grads)
                    kept = side.kept(node)
                    side.about_to_run = (node, kept)
                    side.given, grads = grads, side.all_bare(grads)
                    if side.mark(node).retains:
                        recorder.labels.retained(node, grads)
                    arrived(node, grads)
                    if kept or side.has_saved(node):
                        self.freed.append(node)
                    ran(node)
                    applied(node, grads, side.all_bare(results))
                    side.about_to_run = (None, ())
                    if side.switched():
                        self._label(node, results)
            except Enough:
                raise
            except Exception as error:
                defects.append(error)

        return both

    def _label(self, node: Any, results: Any) -> None:
        """A pass that makes a graph: it stands where the node does."""
        recorder = self.recorder
        for edge, result in zip(node.next_functions, results, strict=False):
            if result is None:
                continue
            self.latest[edge] = node
            for one in recorder.side.levels(result):
                if one.grad_fn is not None:
                    origin = recorder.side.origin(node)
                    if recorder.labels.label(one.grad_fn, origin):
                        recorder.observer.made(one)
                        recorder.labels.tell_operands(one.grad_fn)

    def _label_sums(self, node: Any, grads: Iterable[Any]) -> None:
        """What a pass that makes a graph adds up for a node."""
        for number, grad in enumerate(grads):
            self._label_sum_on((node, number), grad)

    def _label_sum_on(self, edge: tuple[Any, int], grad: Any) -> None:
        """A sum stands where what came last does."""
        side = self.recorder.side
        for one in side.levels(grad):
            node = None if one is None else side.node(one)
            if node is None:
                continue
            is_new, last = side.origin(node) is None, self.latest.get(edge)
            if self._label_sum(node, DEEP, last) is not None and is_new:
                self.recorder.observer.made(one)

    def _label_sum(self, node: Any, room: int, last: Any = None) -> Any:
        """The origin of a node, found in its parts where it was not reported."""
        recorder = self.recorder
        origin = recorder.side.origin(node)
        if origin is not None or not room:
            return origin
        for part, _ in node.next_functions:
            if part is not None and type(part) is not self.leaf:
                origin = self._label_sum(part, room - 1) or origin
        if last is not None:
            origin = recorder.side.origin(last)
        if origin is not None:
            recorder.labels.label(node, origin, is_reported=False)
        return origin

    def _label_stored(self, grad: Any) -> None:
        """A copy for a leaf, or the sum with what it had: the call of the pass makes it."""
        for one in self.recorder.side.levels(grad):
            node = self.recorder.side.node(one)
            if node is not None and self.recorder.labels.label(node, self.begun):
                self.recorder.observer.made(one)

    def _of_leaf(self, node: Any) -> tuple[Callable[..., None], Callable[..., None]]:
        observer, off = self.recorder.observer, self.recorder.side.hands_off
        variable = node.variable

        def before(grads: Any) -> None:
            if grads[0] is not None:
                with off():
                    if variable.requires_grad:
                        observer.accumulated(variable, grads[0])
                    else:
                        observer.withheld(variable, grads[0])

        def after(results: Any, grads: Any) -> None:
            if variable.requires_grad:
                with off():
                    if self.recorder.side.switched() and variable.grad is not None:
                        self._label_sums(node, grads)
                        self._label_stored(variable.grad)
                    observer.stored(variable)

        return before, after


def _called(caller: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    return caller(function, args, kwargs)
