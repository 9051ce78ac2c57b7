"""Questions: the catalogue of operators, read off the declarations; no array library is loaded."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...engine.schema.operator import Composite, Factory, Row
from ...engine.schema.row import SPARSE
from ...operators import catalogue
from ...recording.facts.operators import OperatorFact, OverloadFact

# How a face is written in front of a name, in the order in which the catalogue lists them.
WRITTEN = {
    "torch": "torch.", "method": "Tensor.", "property": "Tensor.",
    "functional": "torch.nn.functional.", "linalg": "torch.linalg.", "special": "torch.special.",
    "fft": "torch.fft.", "signal.windows": "torch.signal.windows.", "sparse": "torch.sparse.",
    "hidden": "",
}  # fmt: skip
FACES = (
    "torch", "method", "functional", "linalg", "special", "fft", "signal.windows", "sparse",
    "hidden",
)  # fmt: skip


@functools.cache
def operators() -> tuple[OperatorFact, ...]:
    """Every operator that programs can call, then the steps that only derivatives take."""
    spellings: dict[tuple[int, ...], list[tuple[str, str]]] = {}
    overloads: dict[tuple[int, ...], list[Any]] = {}
    for face, name, found in _named():
        own = [o for o in found if isinstance(o, Row | Composite | Factory)]
        if own and not name.startswith("__"):
            key = tuple(id(o) for o in own)
            overloads[key] = own
            spellings.setdefault(key, []).append((face, name))
    _merge(spellings, overloads)
    known = {id(o) for own in overloads.values() for o in own}
    for row in catalogue.rows.values():
        named = row.signature.name not in ("", "_") and not is_form(row)
        if isinstance(row, Row) and id(row) not in known and named:
            overloads[(id(row),)] = [row]
            spellings[(id(row),)] = [("hidden", row.signature.name)]
    facts = [_operator(spellings[key], own) for key, own in overloads.items()]
    return tuple(sorted(facts, key=lambda fact: (FACES.index(fact.face), fact.name)))


def is_form(row: Any) -> bool:
    """Whether it is another row's kernel for sparse operands: the same operator."""
    return str(row.signature.overload).endswith(SPARSE) and row.where == "hidden"


def _merge(
    spellings: dict[tuple[int, ...], list[tuple[str, str]]],
    overloads: dict[tuple[int, ...], list[Any]],
) -> None:
    """A method that takes some of a function's overloads is the same operator."""
    by_name: dict[str, list[tuple[int, ...]]] = {}
    for key, spelled in spellings.items():
        for name in {name for _, name in spelled}:
            by_name.setdefault(name, []).append(key)
    for keys in by_name.values():
        for small in keys:
            for large in keys:
                if small not in overloads or large not in overloads:
                    continue
                of_tensors = all(face in ("method", "property") for face, _ in spellings[small])
                if of_tensors and set(small) < set(large):
                    spellings[large] += spellings.pop(small)
                    del overloads[small]


def _named() -> Iterator[tuple[str, str, Sequence[Any]]]:
    """(face, name, overloads) of everything that has a name."""
    for path, function in catalogue.functions.items():
        space, _, name = path.rpartition(".")
        face = {"": "torch", "nn.functional": "functional"}.get(space, space)
        yield face, name, function.overloads
    for name, function in catalogue.methods.items():
        yield "method", name, function.overloads
    for name, function in catalogue.properties.items():
        yield "property", name, function.overloads


def _operator(spelled: Sequence[tuple[str, str]], own: Sequence[Any]) -> OperatorFact:
    face, name = min(
        spelled, key=lambda s: (tuple(WRITTEN).index(s[0]), s[1] != own[0].signature.name, s[1])
    )
    face = "method" if face == "property" else face
    if name.startswith("_"):
        face = "hidden"  # PyTorch's own steps have a name too
    calls = [WRITTEN[where] + word for where, word in spelled if where != "hidden"]
    plain = face in ("torch", "method", "hidden")
    shown = name if plain else WRITTEN[face].removeprefix("torch.") + name
    overloads = tuple(map(_overload, own))
    group = catalogue.rooms.get(overloads[0].key, "").partition(".")[0]
    return OperatorFact(shown, face, tuple(dict.fromkeys(calls)), overloads, group)


def _overload(row: Any) -> OverloadFact:
    signature = row.signature
    key = signature.name + ("." + signature.overload if signature.overload else "")
    if isinstance(row, Row):
        inplace_node = row.inplace_node if row.inplace and row.inplace_node != row.node else ""
        constant = row.dtype in ("compare", "bool") or _short(row.node) == "NotImplemented"
        asking = () if constant else row.differentiable
        return OverloadFact(
            key, signature.text, "operator", row.doc, _short(row.node),
            row.saved_names if row.formulas else (), row.inplace or "", _short(inplace_node),
            bool(row.view), tuple(p.name for p in row.tensors if p.name in asking), row.samples,
            row.broadcasts and len(row.signature.parameters) > 1,
        )  # fmt: skip
    kind = "composed" if isinstance(row, Composite) else "creation"
    return OverloadFact(key, signature.text, kind, row.doc, "", (), "", "", False, (), row.samples)


def _short(node: str) -> str:
    return node.split("::")[-1]


def matching(words: Sequence[str], face: str | None) -> tuple[OperatorFact, ...]:
    """The operators in which all words occur: in names, in nodes, in what they say they do."""
    wanted = [word.lower() for word in words]
    return tuple(
        fact
        for fact in operators()
        if (face is None or face == fact.face or _written_at(fact, face))
        and (face is not None or fact.face != "hidden" or wanted)
        and all(word in _searched(fact) for word in wanted)
    )


def _written_at(fact: OperatorFact, face: str) -> bool:
    if face == "hidden":
        return False
    head = WRITTEN[face]
    rests = [call.removeprefix(head) for call in fact.calls if call.startswith(head)]
    return any("." not in rest for rest in rests)


def _searched(fact: OperatorFact) -> str:
    parts = [fact.name, *fact.calls]
    for overload in fact.overloads:
        parts += [overload.doc, overload.grad_fn, overload.inplace, *overload.saved]
    return " ".join(parts).lower()


QUALIFIED = {"F.": "torch.nn.functional.", "nn.": "torch.nn.", "Tensor.": "Tensor."}
SPACES = ("linalg.", "special.", "fft.", "signal.", "sparse.")


def named(name: str) -> tuple[OperatorFact, ...]:
    """What a name means: `sin`, `torch.sin`, `F.relu`, `add_`, a node such as SinBackward0."""
    if name.startswith(NUMPY):
        return _of_numpy(name.partition(".")[2].removesuffix("()"))
    name = name.removeprefix("aten::").removeprefix("torch.Tensor.").removesuffix("()")
    name = _of_sign(name)
    if name.removeprefix("torch.").startswith("nn.") and name.rpartition(".")[2][:1].isupper():
        return _of_module(name.rpartition(".")[2])
    by_key = tuple(
        f for f in operators() if "." in name and any(o.key == name for o in f.overloads)
    )
    if by_key:
        return by_key
    full = name
    for short, long in QUALIFIED.items():
        if name.startswith(short):
            full = long + name.removeprefix(short)
    if name.startswith(SPACES):
        full = "torch." + name
    if "." in full:
        return tuple(
            f
            for f in operators()
            if full in f.calls
            or (full.startswith("Tensor.") and full.removeprefix("Tensor.") in f.inplace)
        )
    return tuple(
        f
        for f in operators()
        if name in (last_part(f.name), *map(last_part, f.calls), *f.nodes, *f.inplace)
        or any(name in (o.key, o.inplace_grad_fn) for o in f.overloads)
    )


def _of_sign(name: str) -> str:
    """The operator that a sign of the language stands for: @ is matmul."""
    written = {"@": "matmul", "**": "pow", "//": "floor_divide", "%": "remainder"}
    for row in catalogue.rows.values():
        if isinstance(row, Row) and row.symbol is not None:
            written.setdefault(row.symbol, row.name)
    return written.get(name, name)


def _of_module(name: str) -> tuple[OperatorFact, ...]:
    """The operators that a class of torch.nn is named after: nn.LayerNorm is F.layer_norm."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    near = (words, name.lower(), words.removesuffix("_loss"), words.rstrip("123d"))
    for one in near:
        found = named(f"F.{one}")
        if found:
            return found
    return ()


NUMPY = ("np.", "numpy.")
NEAR = 0.66  # of the letters of a name are those of another, in their order


def _of_numpy(name: str) -> tuple[OperatorFact, ...]:
    """A function of arrays: its row says how it is called."""
    from ...arrays.table import functions

    row = functions().get(name)
    if row is None:
        return ()
    doc = f"NumPy's {name}, on arrays: no derivative, and no grad_fn."
    signature = f"{row.name}({row.parameters})"
    overload = OverloadFact(
        f"numpy.{name}", signature, "arrays", doc, "", (), "", "", False, (), ()
    )  # fmt: skip
    return (OperatorFact(f"numpy.{name}", "numpy", (f"numpy.{name}",), (overload,)),)


def is_pattern(name: str) -> bool:
    """Whether a name stands for several: relu*, log[0-9]*, ?tan."""
    return name != "**" and any(sign in name for sign in "*?[")


def fitting(pattern: str) -> tuple[OperatorFact, ...]:
    """Operators that programs can call, one of whose names or nodes looks like this."""
    from fnmatch import fnmatchcase

    return tuple(
        fact
        for fact in operators()
        if fact.face != "hidden"
        and any(
            fnmatchcase(name, pattern)
            for call in (fact.name, *fact.calls, *fact.nodes, *fact.inplace)
            for name in (call, last_part(call))
        )
    )


def last_part(path: str) -> str:
    return path.rpartition(".")[2]


def near(name: str) -> tuple[str, ...]:
    """Names close to this one."""
    from difflib import get_close_matches

    if name.startswith(NUMPY):
        from ...arrays.table import functions

        head, _, plain = name.partition(".")
        return tuple(f"{head}.{word}" for word in get_close_matches(plain, functions(), n=4))
    known: dict[str, str] = {}
    for fact in operators():
        if fact.face != "hidden":
            known.setdefault(last_part(fact.name), fact.name)
    plain = last_part(name)
    found = get_close_matches(plain, known, n=8, cutoff=NEAR)
    found.sort(key=lambda word: sorted(word) != sorted(plain))  # two letters changed places
    return tuple(known[word] for word in found[:4])
