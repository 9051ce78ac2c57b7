"""Live: a pass whose gradients PyTorch's engine captures itself, without hooks on nodes.

The engine stores gradients in leaves, or it returns those of the edges that it is given. Here
it is given edges of the graph; what came for the leaves is stored by a second, short pass over
them alone. Left out are edges with nothing but the gradient of one node that saved no tensors: it
passes on the same when it is called again. Most views are such nodes, and what nobody has asked
for the engine adds up in place. A graph in which code of the program could run, or that could
fail on the way, is none for it: there a leaf would miss what PyTorch stores before an error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ..diagnostics import Enough
from ..recording.captured_pass import CapturedPass, Edge, Graph
from .labels import mark_within, tell_within
from .side import KEY

if TYPE_CHECKING:
    from ..engine.graph.observer import Observer, OfNodes
    from .recorder import Recorder

STORES = {"allow_unreachable": True, "accumulate_grad": True}
ANSWERS = {"allow_unreachable": True, "accumulate_grad": False}


class Capturing:
    """Finds the graphs that are fit for it, and runs passes over them."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder, self.side = recorder, recorder.side
        self.leaf: Any = recorder.torch._C._functions.AccumulateGrad
        self.edge: Any = recorder.torch.autograd.graph.GradientEdge
        self.python = recorder.torch._C._FunctionBase
        self.is_watched = recorder.torch.is_anomaly_enabled
        self.is_off = False
        self.classes = recorder.torch.Tensor, recorder.torch.nn.Parameter
        # Kinds of nodes: whether they run no code of a program, whether they save no tensors.
        self.plain: dict[type, tuple[bool, bool]] = {}

    def graph(self, roots: Sequence[Any]) -> Graph | None:
        """What is behind the roots, where PyTorch may capture it."""
        found, labels = Graph(), self.recorder.labels
        pending = labels.pending
        try:
            if self._is_fit(found, roots) and self._is_whole(found):
                return found
        except Exception as error:  # our defect: the program goes on
            self.recorder.defects.append(error)
        for node in found.inner:  # who goes over it in another way shall report them
            node.metadata[KEY].origin = None
        if labels.pending is not pending:
            labels.pending += [node for node in pending if node in found.seen]
        return None

    def _is_entered(self, found: Graph, roots: Sequence[Any]) -> bool:
        """Begins at the roots; whether each has a node."""
        for root in roots:
            node = self.side.node(root)
            if node is None:
                return False
            found.seen[node] = None
            edge = (node, root.output_nr)
            found.edges[edge] = found.edges.get(edge, 0) + 1
        return True

    def _is_fit(self, found: Graph, roots: Sequence[Any]) -> bool:
        """Walks over it; whether nothing of it runs code of the program, and all of it is known."""
        if self.is_off or self.is_watched() or not self._is_entered(found, roots):
            return False
        labels, leaf, plain = self.recorder.labels, self.leaf, self.plain
        seen, edges, nodes, left = found.seen, found.edges, found.nodes, found.left
        classes, has_numbers = self.classes, self.side.has_numbers
        origins, since, inner, ordered = found.origins, labels.since, found.inner, list(found.seen)
        for node in ordered:
            kind = type(node)
            if kind is leaf:
                variable = node.variable
                if variable._backward_hooks or variable._post_accumulate_grad_hooks:
                    return False
                if type(variable) not in classes and not has_numbers(variable):
                    return False
                found.leaves[node] = variable
                continue
            about, number = node.metadata, node._sequence_nr()
            mark = about.get(KEY)
            is_plain, is_again = plain.get(kind) or self._is_plain(node)
            if number < since or not is_plain:
                return False  # made before, or it runs code of the program
            if mark is None or mark.origin is None:
                user = seen[node]
                if user is None:
                    return False
                mark = mark_within(about, user.metadata[KEY], mark)
                inner[node] = inner.get(user, user)
            if mark.is_freed or mark.is_packed:
                return False
            if mark.retains:
                found.retaining.append(node)
            origins.append(kind)
            origins.append(mark.origin)
            following = node.next_functions
            nodes.append((number, node, following))
            if is_again:
                found.again.add(node)
            for edge in following:
                child = edge[0]
                if child is None:
                    continue
                if edge in edges:
                    edges[edge] += 1
                    left.discard(edge)
                    continue
                edges[edge] = 1
                if child not in seen:
                    seen[child] = node
                    ordered.append(child)
                if is_again and child._sequence_nr() < number:  # no leaf has such a number
                    left.add(edge)
        if found.retaining:
            left.difference_update([edge for edge in left if edge[0] in found.retaining])
        labels.pending = [node for node in labels.pending if node not in seen]
        labels.settle()  # what no pass comes to is not held
        return True

    def _tell_within(self, graph: Graph) -> None:
        """The same as `Labels.settle`, later: nobody asks of most passes."""
        side, observer, kept = self.side, self.recorder.observer, graph.kept
        inner: dict[Any, dict[int, Any]] = {
            node: {} for _, node, _ in graph.nodes if side.outputs(node) > 1
        }
        for node, root in graph.inner.items():
            inner.setdefault(root, {})[id(node)] = node
        with self.recorder.telling():
            for root, nodes in inner.items():
                module = root.metadata[KEY].module
                tell_within(
                    root, nodes, module, lambda node: kept.get(id(node), ()), observer,
                    functools.partial(_made, observer, module),
                )  # fmt: skip

    def _is_plain(self, node: Any) -> tuple[bool, bool]:
        """Whether nodes of its kind compute gradients, and nothing else, and save no tensors."""
        kind = type(node)
        name = kind.__name__.rstrip("0123456789")
        is_one = name.endswith("Backward") and not issubclass(kind, self.python)
        self.plain[kind] = found = is_one, not self.side.kept_names(node)
        return found

    def _is_whole(self, graph: Graph) -> bool:
        """Whether all is there that its nodes have saved, as it was; it is kept until they run."""
        again, kept, numbers, saving = graph.again, graph.kept, graph.numbers, graph.saving
        for _, node, _ in graph.nodes:
            if node in again:
                continue
            saved = self.saved(node)
            if saved is None:
                return False
            if saved[0]:
                kept[id(node)] = tuple(saved[0])
            if saved[1]:
                numbers[id(node)] = tuple(saved[1])
            if saved[0] or saved[1]:
                saving.append(node)
        return True

    def saved(self, node: Any) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]] | None:
        """The tensors that a node has saved, and the numbers, by their names. None where one is
        dropped, or was changed in place since: a pass fails there."""
        side, found, numbers = self.side, list[tuple[str, Any]](), list[tuple[str, Any]]()
        for name, short in side.kept_names(node):
            try:
                value = getattr(node, name)
            except RuntimeError:
                return None
            except AttributeError:
                continue
            if isinstance(value, side.tensor):
                is_one = value.dim() == 0 and side.is_number(value)
                (numbers if is_one else found).append((short, value))
            elif value.__class__ is tuple and (several := side.tensors(value)):
                found += [(short, one) for one in several]
                numbers.append((short, value))
        return found, numbers

    # ------------------------------------------------------------ the pass

    def run(
        self, graph: Graph, plain: Callable[..., Any], outputs: Any, gradients: Any, keep: bool,
        inputs: Any, told: OfNodes,
    ) -> list[Any]:  # fmt: skip
        """The pass; returns the nodes that released their saved tensors."""
        tell = functools.partial(self._tell_within, graph)
        self.recorder.observer.unmet((node for _, node, _ in graph.nodes), tell)
        graph.nodes.sort(key=itemgetter(0), reverse=True)
        handles, handed = self._watched(graph) if told.hands else ([], {})
        make, kind = tuple.__new__, self.edge
        edges = [edge for edge in graph.edges if edge not in graph.left]
        asked = tuple([make(kind, (node, number, None)) for node, number in edges])
        try:
            found = plain(outputs, gradients, keep, False, asked, **ANSWERS)
        finally:
            for handle in handles:
                handle.remove()
        came = dict(zip(edges, found, strict=True))
        with self._telling():
            self._tell(graph, CapturedPass(graph, came, handed), told)
        reached = self._reached(graph, came)
        stored = [one for one in reached if one[0].requires_grad]
        with self._telling():
            if len(stored) < len(reached):
                for variable, grad in reached:
                    if not variable.requires_grad:
                        self.recorder.observer.withheld(variable, grad)
            self.recorder.observer.gathered(stored)
        if stored:
            leaves, grads = zip(*stored, strict=True)
            plain(leaves, grads, False, False, inputs, **STORES)
            with self._telling():
                self.recorder.observer.filled(leaves)
        return graph.saving

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """An error in reporting is our defect: the program goes on. Whoever is given a
        gradient within it need not copy it."""
        side = self.side
        side.is_alone = True
        try:
            yield
        except Enough:
            raise
        except Exception as error:
            self.recorder.defects.append(error)
        finally:
            side.is_alone, side.about_to_run = False, (None, ())

    def _reached(self, graph: Graph, came: dict[Edge, Any]) -> list[tuple[Any, Any]]:
        """The leaves with their gradients, in the order in which they are complete."""
        found: list[tuple[Any, Any]] = []
        leaves, counts, met = graph.leaves, graph.edges, dict.fromkeys(graph.edges, 0)
        for _, _, following in graph.nodes:
            for edge in following:
                if edge[0] in leaves:
                    met[edge] += 1
                    if met[edge] == counts[edge] and came[edge] is not None:
                        found.append((leaves[edge[0]], came[edge]))
        return found

    def _watched(self, graph: Graph) -> tuple[list[Any], dict[int, Any]]:
        """What nodes pass on along edges on which several gradients meet: only a hook shows."""
        results: dict[int, Any] = {}

        def watch(node: Any) -> Any:
            number = id(node)

            def after(given: Any, grads: Any) -> None:
                results[number] = given

            return node.register_hook(after)

        shared = {edge for edge, count in graph.edges.items() if count > 1}
        handles = [watch(node) for _, node, following in graph.nodes
                   if node not in graph.again and not shared.isdisjoint(following)]  # fmt: skip
        return handles, results

    def _tell(self, graph: Graph, captured: CapturedPass, told: OfNodes) -> None:
        """Tells of the nodes as they ran."""
        for node in graph.retaining:
            self.recorder.labels.retained(node, captured.given(node))
        for tell in told.swept:
            tell(captured)
        if told.arrived or told.ran or told.applied:
            self._tell_each(graph, captured, told)

    def _tell_each(self, graph: Graph, captured: CapturedPass, told: OfNodes) -> None:
        """Tells who wants to observe each node."""
        side = self.side
        for node, grads, results in captured.steps():
            side.about_to_run = node, graph.kept.get(id(node), ())
            for tell in told.arrived:
                tell(node, grads)
            for tell_ran in told.ran:
                tell_ran(node)
            for tell_applied in told.applied:
                tell_applied(node, grads, results)


def _made(observer: Observer, module: Any, node: Any, value: Any) -> None:
    observer.made_within(node, value, module)
