"""Questions: the records of a provenance: values, the steps that made them, marks on tensors."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from types import GeneratorType
from typing import Any

from ...engine.tensors import metadata
from ...language.tracing import Inner
from ...language.values import Lazy
from ...named import NamedTuple
from ...recording.looking import is_a, pairs
from ...recording.modules import attributes, is_interpreted, is_module, named_parameters
from ...recording.sides import AnyTensor, has_method, is_tensor

FLATTENED = 256  # elements of a container that are looked at
NESTING = 4
CONTAINERS = frozenset({list, tuple, dict})
CALLED = frozenset({ast.Call, ast.Attribute})  # expressions that call or read something by a name
# What takes no numbers of a tensor's elements along: a flow of shapes.
SHAPES = metadata.NAMES | frozenset(
    "grad zeros_like ones_like empty_like rand_like randn_like randint_like full_like new_zeros "
    "new_ones new_empty new_full len isinstance print id requires_grad_ register_hook "
    "retain_grad backward zero_grad is_tensor".split()
)
FILLING = frozenset({"full_like", "new_full"})  # and what numbers go into all the same
MARKS = frozenset({"requires_grad_", "retain_grad", "detach_"})
ITERATORS = tuple(kind for kind in vars(itertools).values() if isinstance(kind, type))
VIEWS: tuple[type, ...] = (type({}.values()), type({}.items()), type(iter([])))
LAZY = (Lazy, GeneratorType, map, zip, filter, enumerate, reversed, *ITERATORS, *VIEWS)
NUMBERS = frozenset({int, bool, str, complex})


class Step(NamedTuple):
    """A value, and the expression that made it; without a node it is not known which.

    `tensor` refers to it weakly, None stands for a number. `out` is the value's own number.
    `kind`: tensor, integer, bool, number, changed. `switch` is what had switched gradients off,
    `nonfinite` tells NAN and INF. `made_by` tells one output of a node from others.
    """

    tensor: Any
    node: Any
    out: int
    live: tuple[int, ...]
    dead: tuple[int, ...]
    kind: str
    tracked: bool
    switch: ast.AST | None
    enabled: bool
    nonfinite: int
    inner: Inner | None  # what made it within the expression, if that is known
    made_by: Any


class Mark(NamedTuple):
    """requires_grad_, retain_grad, detach_ of a tensor: how many passes and values were before."""

    kind: str
    node: ast.AST
    tensor: Any
    on: bool
    passes: int
    steps: int


class Sources(tuple[int, ...]):
    """The values behind a generator, which is no container yet."""

    __slots__ = ()


class Chosen(NamedTuple):
    """A module that numbers of these values picked out of a list."""

    module: Any
    sources: tuple[int, ...]


def callee(node: ast.Call, owner: Any) -> Any:
    """What self.layer(x) calls: the layer; a method of the program's own reports itself."""
    function = node.func
    if not isinstance(function, ast.Attribute):
        return owner
    if not is_module(owner):  # an object of the program
        inner = attributes(owner).get(function.attr)
        return inner if is_module(inner) else None
    inner = owner._modules.get(function.attr)
    if inner is not None:
        return inner
    if function.attr == "deepcopy" or not has_method(owner, function.attr):
        return owner  # an operand of a function: copy.deepcopy(net), helpers.features(net, x)
    return owner if function.attr in ("forward", "__call__", *MARKS) else None


def copied_from(name: str, parameter: AnyTensor, parts: list[Any]) -> Iterator[AnyTensor]:
    """What a parameter of a copied module is a copy of."""
    for part in filter(is_module, parts):
        source = dict(named_parameters(part)).get(name)
        if source is not None and source.shape == parameter.shape:
            yield source


def may_be_named_in(value: Any) -> bool:
    """Whether a question may name something in it."""
    return type(value) in CONTAINERS or is_module(value) or bool(attributes(value))


def is_owner(value: Any) -> bool:
    """A module, or an object of an interpreted program, which may hold one."""
    return is_module(value) or is_interpreted(value)


def is_held(owner: Any, name: str, value: Any) -> bool:
    """Whether it is an attribute or a buffer of a module, and nothing that its code computes."""
    if not is_module(owner):
        return False
    tables = getattr(owner, "__dict__", {}), owner._buffers, attributes(owner)
    return any(table.get(name) is value for table in tables)


def owner_of(children: list[Any]) -> Any:
    """The module that is called, or the tensors of a distribution whose method is."""
    first = children[0] if children else None
    return first if type(first) is Sources or is_module(first) else None


def is_index(node: ast.AST, value: Any) -> bool:
    """Whether it is what picks elements in several dimensions, as in x[i : i + 2, j]."""
    return type(node) is ast.Tuple and any(type(item) in (int, slice) for item in value) and all(
        type(item) in (int, slice, type(None), type(...)) or is_tensor(item) for item in value
    )  # fmt: skip


def name_of(node: ast.AST) -> str:
    """The last word of what an expression calls or reads."""
    while isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_shape(node: ast.AST) -> bool:
    """Whether numbers of a tensor's elements do not go into what an expression reads or calls:
    x.grad does not, autograd.grad(y, x) does."""
    word = name_of(node)
    return word in SHAPES and (
        type(node) is ast.Attribute or (type(node) is ast.Call and word != "grad")
    )


def items(value: Any, depth: int = 0) -> Iterator[Any]:
    """The elements of a container, as far as is worth looking."""
    for place, (_, item) in enumerate(pairs(value)):
        if place >= FLATTENED:
            return
        if is_a(item, (list, tuple, dict)) and depth < NESTING:
            yield from items(item, depth + 1)
        else:
            yield item
