"""The fuzzer's author: writes a program statement by statement and knows roughly what stands where.

It never runs what it writes. It keeps for every name the shape and the element type that PyTorch
would give, as far as it can tell, so that most statements are in order; a wrong guess is an error
that both sides must report alike.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

Shape = tuple[int, ...]
FLOATS = ("float32", "float64")
SHAPES: tuple[Shape, ...] = (
    (2, 3), (2, 3), (2, 3), (3,), (3,), (2,), (), (3, 2), (3, 3), (2, 1), (1, 3), (2, 2, 3), (4,),
    (6,), (2, 3, 1), (0,), (0, 3), (5, 2),
)  # fmt: skip
RANK = ("bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")
DEEPEST = 3


class Value(NamedTuple):
    """A name that holds a tensor."""

    name: str
    shape: Shape
    dtype: str = "float32"
    grad: bool = False
    leaf: bool = False

    @property
    def floating(self) -> bool:
        return self.dtype.startswith(("float", "bfloat"))

    @property
    def count(self) -> int:
        return math.prod(self.shape)


class Author:
    """The program so far."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.kinds: Counter[str] = Counter()
        self.values: list[Value] = []
        self.made: Counter[str] = Counter()
        self.depth = 0
        self.recording = True  # whether gradients are on where the next statement stands
        self.modules: list[tuple[str, Shape, Shape]] = []
        self.functions: list[tuple[str, int]] = []
        self.handles: list[str] = []
        self.lists: list[str] = []

    # ------------------------------------------------------------ text

    def put(self, text: str) -> None:
        pad = "    " * self.depth
        self.lines.extend(pad + line for line in text.split("\n"))

    def new(self, stem: str = "t") -> str:
        self.made[stem] += 1
        return f"{stem}{self.made[stem]}"

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """What is written within it stands below the head, and is forgotten when it may not run."""
        self.put(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.put("pass")
        self.depth -= 1

    @contextmanager
    def attempt(self, chance: float = 1.0) -> Iterator[None]:
        """`try`, with what was raised printed: the program goes on."""
        if self.draw.random() >= chance:
            yield
            return
        known = {value.name for value in self.values}
        with self.block("try:"):
            yield
        self.values = [value for value in self.values if value.name in known]
        error = self.one("Exception", "RuntimeError", "(RuntimeError, ValueError, TypeError)")
        if self.draw.random() < 0.7:
            error = "Exception"
        with self.block(f"except {error} as e:"):
            self.put('print(type(e).__name__, str(e).split("\\n")[0])')

    # ------------------------------------------------------------ choices

    def chance(self, share: float) -> bool:
        return self.draw.random() < share

    def one(self, *options: Any) -> Any:
        return self.draw.choice(options)

    def number(self) -> str:
        return self.one("2", "0.5", "3", "-1", "1.5", "0.1", "10", "-0.25", "1", "0", "2.0")

    def pick(self, test: Callable[[Value], bool] = lambda value: True) -> Value | None:
        """A name in use, the later ones more often."""
        fitting = [value for value in self.values if test(value)]
        if not fitting:
            return None
        if self.chance(0.6):
            fitting = fitting[-6:]
        return self.draw.choice(fitting)

    def floating(self, test: Callable[[Value], bool] = lambda value: True) -> Value:
        """A name of floats; one is made where there is none."""
        found = self.pick(lambda value: value.floating and test(value))
        return found or self.leaf()

    def partner(self, value: Value) -> Value:
        """Another tensor that broadcasts with it, mostly."""
        if self.chance(0.04):
            return self.floating()
        found = self.pick(
            lambda other: other.floating and broadcast(value.shape, other.shape) is not None
        )
        return found or value

    def dim(self, value: Value) -> int:
        """A dimension of it, counted from either end."""
        rank = len(value.shape)
        return self.draw.randrange(-rank, rank) if rank else self.one(0, -1)

    # ------------------------------------------------------------ names

    def bind(self, text: str, like: Value, shape: Shape | None = None, **changes: Any) -> Value:
        """A statement that gives a new name a value; sometimes an old name."""
        name = self.new()
        old = self.pick() if self.chance(0.06) else None
        if old is not None and self.depth == 0:
            name = old.name
            self.values.remove(old)
        self.put(f"{name} = {text}")
        shape = like.shape if shape is None else shape
        value = like._replace(name=name, shape=shape, leaf=False)._replace(**changes)
        value = value._replace(grad=value.grad and self.recording and value.floating)
        self.values.append(value)
        return value

    def leaf(self, shape: Shape | None = None, grad: bool | None = None) -> Value:
        """A new tensor that the program makes from numbers."""
        shape = self.draw.choice(SHAPES) if shape is None else shape
        dtype = "float64" if self.chance(0.15) else "float32"
        grad = self.chance(0.7) if grad is None else grad
        name = self.new(self.one("x", "w", "a"))
        more = (["dtype=torch.float64"] if dtype == "float64" else []) + (
            ["requires_grad=True"] if grad else []
        )
        if self.chance(0.35):
            make = f"torch.{self.one('randn', 'randn', 'rand')}({', '.join([repr(shape), *more])})"
        else:
            make = f"torch.tensor({', '.join([nested(self.draw, shape), *more])})"
            if 0 in shape:
                make = f"torch.zeros({', '.join([repr(shape), *more])})"
        self.put(f"{name} = {make}")
        value = Value(name, shape, dtype, grad, True)
        self.values.append(value)
        return value


def nested(draw: random.Random, shape: Shape, whole: bool = False) -> str:
    """A literal of that shape."""
    if shape:
        return "[" + ", ".join(nested(draw, shape[1:], whole) for _ in range(shape[0])) + "]"
    return str(draw.randint(-2, 4)) if whole else str(round(draw.uniform(-2, 2), 2))


def broadcast(left: Shape, right: Shape) -> Shape | None:
    """The shape of both together."""
    longest = max(len(left), len(right))
    pairs = zip((1,) * (longest - len(left)) + left, (1,) * (longest - len(right)) + right)
    result = []
    for one, other in pairs:
        if one != other and 1 not in (one, other):
            return None
        result.append(other if one == 1 else one)
    return tuple(result)


def together(left: Value, right: Value) -> str:
    """The element type of both together, without PyTorch's care for tensors of no dimension."""
    return max(left.dtype, right.dtype, key=RANK.index)
