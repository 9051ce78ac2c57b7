"""All that a program can get hold of: a walk from every public name, by every way that it has.

The ways are attributes, items, iteration, calls with arguments of many kinds, what a call's error
says, what a program's function is handed when the library calls it, and what a `with` gives.
The walk asks the language's own doors, so whatever it holds, a program could hold.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradcli
from gradcli.autograd.function import FunctionContext
from gradcli.defects import Defect
from gradcli.engine.graph.hooks import RemovableHandle
from gradcli.engine.graph.node import Node
from gradcli.engine.memory.device import Device
from gradcli.engine.schema.dtypes import DType
from gradcli.engine.schema.returns import Named
from gradcli.engine.schema.size import Size
from gradcli.engine.tensors.tensor import Tensor
from gradcli.engine.tensors.tensor_type import Layout, MemoryFormat
from gradcli.language import sets, values
from gradcli.language.adoption import adopt
from gradcli.language.attributes import MISSING, get_attribute
from gradcli.language.budget import Budget, LimitReached
from gradcli.language.builtins.errors import value_of
from gradcli.language.builtins.paths import resolve_path
from gradcli.language.builtins.prelude import PRELUDE
from gradcli.language.builtins.types import CONSTRUCTIBLE
from gradcli.language.calls import call, is_callable
from gradcli.language.classes import ClassValue, ProgramModule
from gradcli.language.classes.instances import ClassMethod, Property, StaticMethod
from gradcli.language.classes.superclasses import Super
from gradcli.language.interpreter import run
from gradcli.language.libraries import publishes
from gradcli.language.members import members_of
from gradcli.language.names import known_paths
from gradcli.language.operations import DICTS, VIEWS, get_item, iterate, type_name
from gradcli.language.program import parse
from gradcli.language.session import session
from gradcli.language.source import Source
from gradcli.language.values import Builtin, Namespace, Type

DEEPEST = 5
FIRST = 4  # of a long sequence
TRIES = 100  # that share the limits of a run
# Names that are in no table and are requested all the same.
ALWAYS = ("__class__", "__doc__", "__name__", "__qualname__", "__dict__", "__self__", "__func__",
          "__module__", "__wrapped__", "__globals__", "__code__", "__init__", "__call__",
          "_parameters", "_modules", "_data", "_kind", "_kept", "_program_class", "saved_tensors",
          "args", "__cause__", "__traceback__", "__context__", "table", "function", "host",
          "construct", "owner", "code", "array", "items", "native", "row", "variable",
          "weight", "bias", "hidden", "scale")  # fmt: skip


# Networks of up to 140 million numbers, which a walk makes many times; resnet18 stands for them.
BIG = re.compile(r"torchvision\.models\.(?:\w+\.)?(?:resn(?!et18)|wide|vgg|alex|mobile)")
# Names that no message tells: of our modules, classes and inner functions.
OURS = re.compile(
    r"gradcli\.|(?<!_avg_fn\.)(?<!_ntuple\.)<locals>|\b(Builtin|FunctionContext|ClassValue|ErrorValue|Lazy|Annotation|FrozenSet|"
    r"MemoryFile|Compared|Ufunc|Record|Plain|ProgramModule|_Forward|_Layer|_Pad|_Amount|FunctionNode|"
    r"WrappedNumber|Configured|Twister|MemoryFormat|_Mode|_Copies|_Switch|_Extensible|_Elements)\b|"
    r"(not |')(Device|DType|Size|Layout|UntypedStorage)\b|\b(Device|Number|ArrayType)\.__"
)


class Walk:
    """What was found, by how it was reached; `seen` counts objects by the name of their type."""

    def __init__(self, arguments: list[tuple[Any, ...]], allowed: Callable[[type], bool]) -> None:
        self.arguments = arguments
        self.allowed = allowed
        self.seen: Counter[str] = Counter()
        self.strangers: dict[str, str] = {}
        self.done: set[Any] = set()
        self.handed: list[Any] = []
        self.ready: dict[int, tuple[Any, ...]] = {}  # arguments that no call has taken yet
        self.called = self.tried = 0
        self.path = ""

    def start(self, bindings: dict[str, Any]) -> None:
        session.reset(Budget(max_memory=1 << 30, timeout=1e6), lambda text: None)
        session.budget.start()
        for name, value in bindings.items():
            self.look(value, name, DEEPEST)
        values, spaces = known_paths()
        for path in sorted({*spaces}):
            self.look(Namespace(path), path, DEEPEST)
        for path in sorted(path for path in values if not BIG.match(path)):
            self.look(resolve_path(path), path, DEEPEST)
        self.look(resolve_path("matplotlib.pyplot"), "matplotlib.pyplot", DEEPEST)
        for name, value in sorted(PRELUDE.items()):
            self.look(value, name, DEEPEST)

    def look(self, value: Any, path: str, depth: int) -> None:
        """One object: is it a value, and what does it lead to?"""
        self.seen[type(value).__name__] += 1
        if not self.allowed(type(value)):
            self.strangers.setdefault(type(value).__name__, path)
            return
        mark = self.mark(value, path)
        if depth == 0 or mark in self.done:
            return
        self.done.add(mark)
        self.path = path
        for step, found in itertools.chain(
            self.attributes(value), self.inside(value), self.calls(value)
        ):
            self.look(found, path + step, depth - 1)
        handed, self.handed = self.handed, []
        for found in handed:
            self.look(found, path + " hands", depth - 1)

    def mark(self, value: Any, path: str) -> Any:
        """Objects that lead to the same are gone through once."""
        if isinstance(value, (Builtin, Type, Namespace)):
            return (type(value), type_name(value), getattr(value, "name", path), path.count("("))
        if isinstance(value, (list, tuple, dict)):
            return (type(value), *sorted({type(item).__name__ for item in value}))
        return (type(value), type_name(value))

    def attributes(self, value: Any) -> Iterator[tuple[str, Any]]:
        members = members_of(value)
        names = {*members.methods, *members.properties, *ALWAYS}
        if isinstance(value, Type):
            names |= {name for kind in _hosts(value) for name in members_of(kind).methods}
        for name in sorted(names):
            found = self.attempt(lambda name=name: get_attribute(value, name))
            if found is not MISSING:
                yield f".{name}", found

    def inside(self, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, str):
            return
        found = self.attempt(lambda: list(itertools.islice(iterate(value), FIRST)))
        if found is not MISSING:
            yield from ((f"[iter {place}]", item) for place, item in enumerate(found))
        for index in (0, "weight", slice(0, 1)):
            found = self.attempt(lambda index=index: get_item(value, index))
            if found is not MISSING:
                yield f"[{index!r}]", found
        enter = getattr(type(value), "__enter__", None)
        if enter is not None:
            found = self.attempt(lambda: adopt(enter(value)))
            if found is not MISSING:
                yield " as", found

    def calls(self, value: Any) -> Iterator[tuple[str, Any]]:
        if not is_callable(value):
            return
        for place, arguments in enumerate(self.arguments):
            given = self.ready.pop(place, None) or fresh(arguments)
            found = self.attempt(lambda given=given: call(value, given, {}))
            self.called += 1
            if found is not MISSING:
                yield f"(#{place})", found
            elif not any(isinstance(item, values.Lazy) for item in given):
                self.ready[place] = given  # a generator may have been begun

    def attempt(self, ask: Callable[[], Any]) -> Any:
        """What a question gives, or the error as the program would catch it."""
        self.tried += 1
        if self.tried % TRIES == 0:
            session.budget.start()
        try:
            return ask()
        except LimitReached:
            session.budget.start()
            return MISSING
        except Defect as error:
            self.strangers.setdefault(str(error), self.path)
            return MISSING
        except Exception as error:
            caught = value_of(error)
            for item in (caught, *caught.args):
                if not self.allowed(type(item)):
                    self.strangers.setdefault(type(item).__name__, f"error {error!r}")
                elif isinstance(item, str) and OURS.search(item):
                    self.strangers.setdefault(item[:80], self.path)
            return MISSING

    def handing(self, name: str) -> Builtin:
        """A function of the program: keeps what it is handed."""

        def run(*args: Any, **kwargs: Any) -> Any:
            self.handed += [*args[:FIRST], *list(kwargs.values())[:FIRST]]
            return args[0] if args else None

        return Builtin(name, run)


def fresh(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments that a call may change are made anew for it."""
    return tuple([item() if isinstance(item, Made) else item for item in arguments])


class Made:
    """An argument that is made for each call."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __call__(self) -> Any:
        return self.make()


def _hosts(value: Type) -> tuple[type, ...]:
    return value.host if isinstance(value.host, tuple) else (value.host,)


# The closed list, written down here once more.
CLOSED = {
    type(None), bool, int, float, complex, str, bytes, list, tuple, range, slice,
    type(...), type(NotImplemented), Layout, MemoryFormat, *DICTS, *VIEWS, Size, DType, Device,
    RemovableHandle, FunctionContext, values.Annotation, values.Bound,
    values.Builtin, values.ErrorValue, sets.FrozenSet, values.Function, values.Lazy,
    values.Namespace, values.Plain, sets.Set, values.Type, ClassValue, Super, Property,
    StaticMethod, ClassMethod,
}  # fmt: skip


def is_closed(kind: type) -> bool:
    return (
        kind in CLOSED
        or kind in CONSTRUCTIBLE
        or (publishes(kind) and kind.__module__.startswith("gradcli."))
        or issubclass(kind, (Tensor, Node, Named, values.Instance, ProgramModule))
        or (issubclass(kind, tuple) and kind.__module__.startswith("gradcli."))
    )


def leaf() -> Any:
    return gradcli.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)


def array() -> Any:
    return adopt(leaf().detach().numpy())


def parameters() -> list[Any]:
    return [gradcli.nn.Parameter(leaf().detach())]


def model() -> Any:
    return gradcli.nn.Sequential(gradcli.nn.Linear(2, 2), gradcli.nn.BatchNorm1d(2))


def optimizer() -> Any:
    return gradcli.optim.SGD(parameters(), 0.1, 0.9)


def arguments(walk: Walk) -> list[tuple[Any, ...]]:
    """What calls are tried with."""
    hook = walk.handing("hook")
    x, net, opt = Made(leaf), Made(model), Made(optimizer)
    return [
        (), (x,), (x, x), (x, 0), (x, 1, 0), (x, x, x), (1,), (2, 2), (2, 2, 2), (2, 2, 2, 2),
        (net,), (net, x), (net, hook), (opt,), (opt, hook), (opt, 1), (Made(parameters),),
        (Made(parameters), 0.1), (hook,), (hook, x), (x, hook), (hook, (leaf(),)), ("weight",),
        ("a", 1), ([1, 2, 3],), ([Made(leaf)()],), ({"a": 1},), ((2, 2),), (None,), (True,),
        (0.5,), (b"a",), (hook, [1, 2]),
        (Made(lambda: values.Lazy("generator", iter([1, 2]))),),
        (Made(lambda: gradcli.arange(3)),),
        (Made(array),), (Made(array), Made(array)), (Made(array), 1), (hook, 0, Made(array)),
        (Made(lambda: get_item(array(), (0, 0))),),
        (Made(lambda: gradcli.utils.data.TensorDataset(leaf(), leaf())),),
        (Made(lambda: [gradcli.optim.lr_scheduler.StepLR(optimizer(), 1)]),),
    ]  # fmt: skip


PROGRAM = """
class Net(nn.Linear):
    scale = 2
    def __init__(self):
        super().__init__(2, 2)
        self.hidden = [1, (2, {"a": torch.ones(1)})]
        self.act = lambda v: v * 2
    def forward(self, v): return super().forward(v) * self.scale
    @property
    def twice(self): return self.weight * 2
    @staticmethod
    def fixed(): return 1
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        ctx.scale = 2
        contexts.append(ctx)
        return v * v
    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0] * ctx.scale
class Rows(torch.utils.data.Dataset):
    def __len__(self): return 2
    def __getitem__(self, i): return torch.ones(2) * i, i
class Slow(torch.optim.Optimizer):
    def __init__(self, ps): super().__init__(ps, {"lr": 0.1})
    def step(self): return None
class Oops(ValueError):
    def __init__(self, a): self.a = a
class Box:
    def __init__(self): self.items = {"weight": 1}
    def __call__(self, *a): return a
    def __getitem__(self, i): return i
contexts = []
net, box, oops = Net(), Box(), Oops(1)
x = torch.ones(2, 2, requires_grad=True)
y = Square.apply(net(x))
y.sum().backward(retain_graph=True)
rows = torch.utils.data.DataLoader(Rows(), 2)
slow = Slow(net.parameters())
sup = super(Net, net)
gen = (i for i in [x])
try:
    torch.ones(2) @ torch.ones(3)
except RuntimeError as e:
    error = e
handle = x.register_hook(lambda g: g)
node = y.grad_fn
state, jac = net.state_dict(), torch.func.jacrev(lambda v: v.sin())(x)
"""

# The same of what the modules beside torch make.
OTHERS = (Path(__file__).parent / "programs" / "reached.txt").read_text("utf-8")


def made_by_a_program(text: str = PROGRAM) -> dict[str, Any]:
    outcome = run(parse(Source(text)), {}, write=lambda words: None)
    assert outcome.error is None, outcome.error
    return outcome.bindings


def main() -> None:
    walk = Walk([], is_closed)
    walk.arguments = arguments(walk)
    walk.start({**made_by_a_program(), **made_by_a_program(OTHERS)})
    found = {"strangers": walk.strangers, "objects": sum(walk.seen.values())}
    print(json.dumps({**found, "types": len(walk.seen), "calls": walk.called}))


if __name__ == "__main__":
    main()
