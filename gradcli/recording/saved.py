"""Recording: what nodes save for backward, and what was freed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .collect import Collected
from .facts import SavedFact
from .measures import bytes_of
from .numbers import text_of
from .saved_sizes import SavedSize
from .sides import is_packed, side_of_node, with_one_shape

MOST = 10_000  # tensors that are listed
PREFIX = "_saved_"
OF_FUNCTION = "saved_tensors"  # of a torch.autograd.Function of the program
CHANGED = "modified by an inplace operation"  # what PyTorch says of such a tensor


class SavedNames:
    """The names of a node's `_saved_*` attributes, found once for each name of a node."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def of(self, node: Any) -> tuple[str, ...]:
        key = node.name()
        names = self._known.get(key)
        if names is None:
            asked = getattr(node, "saved_names", None)
            if asked is not None:
                names = tuple(f"{PREFIX}{name.removeprefix(PREFIX)}" for name in asked())
            else:
                names = tuple(name for name in dir(node) if name.startswith(PREFIX))
            if hasattr(type(node), OF_FUNCTION):
                names = (*names, OF_FUNCTION)
            self._known[key] = names
        return names


def _held_tensors(node: Any, name: str) -> bool:
    """Whether what a pass freed were tensors: numbers such as a dim are no memory to speak of."""
    try:
        return name == OF_FUNCTION or getattr(node, f"_raw{name}", None) is not None
    except RuntimeError:  # of several
        return True


def _saved_tensors(node: Any, names: Sequence[str], kind: type) -> Iterator[tuple[str, Any, str]]:
    """(name, tensor or None, "freed", "changed" or "") for every tensor that the node saved."""
    for name in names:
        try:
            value = getattr(node, name)
        except RuntimeError as error:
            lost = "changed" if CHANGED in str(error) else "freed"
            if lost == "changed" or _held_tensors(node, name):
                yield name, None, lost
            continue
        except Exception:  # the program's own function that unpacks it fails: nothing to show
            continue
        if isinstance(value, kind):
            yield name, value, ""
        elif isinstance(value, (list, tuple)):
            for i, item in enumerate(value):
                if isinstance(item, kind):
                    yield f"{name}[{i}]", item, ""


def _bytes(node: Any, name: str) -> int:
    """Of what a node keeps under this name."""
    kept = side_of_node(node).kept(node)
    return sum(bytes_of(data) for key, data in kept if key == name)


def freed(collected: Collected, kind: type) -> tuple[list[Any], int]:
    """(nodes whose saved tensors are gone, how many nodes are not the ends of the graph)."""
    names = SavedNames()
    gone: list[Any] = []
    inner = 0
    for node, fact in zip(collected.alive, collected.nodes, strict=True):
        if fact.name == "AccumulateGrad":
            continue
        inner += 1
        flag = side_of_node(node).freed(node)
        if flag is None:
            read = () if is_packed(node) else names.of(node)  # reading runs code of the program
            flag = any(lost == "freed" for _, _, lost in _saved_tensors(node, read, kind))
        if flag:
            gone.append(node)
    return gone, inner


def _was_there(was: Mapping[int, Sequence[SavedSize]] | None, node: Any, name: str) -> bool:
    """Whether a node that is freed had a tensor of this name, as far as is known."""
    kept = None if was is None else was.get(id(node))
    if kept is None:
        return side_of_node(node).freed(node) is not False
    return any(one.name == name.partition("[")[0] for one in kept)


def saved(
    collected: Collected, kind: type, freed_by: Callable[[Any], int | None] | None = None,
    was: Mapping[int, Sequence[SavedSize]] | None = None,
) -> tuple[tuple[SavedFact, ...], tuple[str, ...]]:  # fmt: skip
    """Every tensor that is kept for backward, node by node, and in words what is left out of very
    many; `freed_by` gives the line of the call that freed a node, `was` what nodes kept before
    that, by identity: a loss may have no weight."""
    names = SavedNames()
    holders = {id(tensor): fact.name for fact, tensor in zip(
        reversed(collected.tensors), reversed(collected.held), strict=True)}  # fmt: skip
    found: list[SavedFact] = []
    left = 0
    for node, fact in zip(collected.alive, collected.nodes, strict=True):
        if not fact.next and fact.name == "AccumulateGrad":
            continue
        if len(found) >= MOST:
            left += bool(names.of(node))
            continue
        for name, tensor, lost in _saved_tensors(node, names.of(node), kind):
            short = name.removeprefix(PREFIX)
            if lost == "changed":
                size = _bytes(node, short)
                found.append(
                    SavedFact(fact.id, short, (), None, None, None, size, False, changed=True)
                )
            elif lost and not _was_there(was, node, short):
                continue
            elif lost:
                line = None if freed_by is None else freed_by(node)
                found.append(SavedFact(fact.id, short, (), None, None, None, 0, True, line))
            else:
                whole = with_one_shape(tensor)
                size = whole.numel() * whole.element_size()
                holder = holders.get(id(tensor))
                version = None if tensor.is_inference() else tensor._version
                shape, text = tuple(whole.shape), text_of(whole)
                found.append(
                    SavedFact(fact.id, short, shape, text, holder, version, size, False,
                              packed=is_packed(node))
                )  # fmt: skip
    if not left:
        return tuple(found), ()
    nodes = f"{left:,} more node{'s' * (left > 1)}"
    return tuple(found), (f"what {nodes} saved is not listed: --of NAME asks for a part of it",)
