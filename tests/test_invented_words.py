"""Tests: a name that a program invents never answers a question that the library asks an object.

Every name that any code of gradcli reads from an object it was given becomes a buffer, a parameter
and a submodule of a module, and a field of a named tuple. What the library says of such an object
has to be what it says where the name is one that nobody reads.
"""

from __future__ import annotations

import pytest
from test_attacks import outcome_of
from test_door import names_looked_up

from gradcli.engine.schema.run_state import as_new

NOBODYS = "nobodys"
# Protocols of PyTorch's own, which asks any object: a sampler's length, a tensor's size.
PROTOCOLS = frozenset({"shape", "size"})
ADDED = {
    "buffer": "v = Net()\n        v.register_buffer(name, torch.ones(1))",
    "parameter": "v = Net()\n        v.register_parameter(name, nn.Parameter(torch.ones(1)))",
    "submodule": "v = Net()\n        v.add_module(name, nn.Linear(1, 1))",
    "field": "v = collections.namedtuple('Named', [name])(torch.ones(1))",
}
PROGRAM = """
import collections, copy, math, numpy as np
class Net(nn.Module): pass
x = torch.ones(2, requires_grad=True)
for name in NAMES:
    try:
        ADDED
    except (KeyError, ValueError):
        continue
    said = []
    for ask in (
        lambda: torch.autograd.grad(v, v), lambda: torch.autograd.backward(v), lambda: list(v),
        lambda: x.type(v), lambda: x.to(v), lambda: x.view(v), lambda: x[v], lambda: x + v,
        lambda: torch.sin(v), lambda: torch.ones(v), lambda: torch.zeros(1, dtype=v),
        lambda: torch.zeros(1, device=v), lambda: torch.tensor([v]), lambda: torch.as_tensor(v),
        lambda: torch.stack([v]), lambda: torch.sum(x, v), lambda: F.dropout(x, v),
        lambda: torch.typename(v), lambda: torch.numel(v), lambda: torch.manual_seed(v),
        lambda: optim.SGD(v, lr=1), lambda: nn.Sequential(v), lambda: x.sum().backward(v),
        lambda: nn.Module().register_buffer("a", v), lambda: nn.init.zeros_(v),
        lambda: np.array([v]), lambda: np.sin(v), lambda: np.ones(1).astype(v), lambda: [1][v],
        lambda: float(v), lambda: math.sqrt(v), lambda: -v, lambda: v @ v, lambda: sum([v]),
        lambda: torch.distributions.Normal(v, 1), lambda: torch.func.vmap(v)(x), lambda: v(1),
        lambda: open(v), lambda: torch.load(v), lambda: type(copy.copy(v)).__name__,
    ):
        try:
            made = ask()
            said.append(made if type(made) is str else type(made).__name__)
        except Exception as error:
            said.append(f"{type(error).__name__}: {error}")
    print(repr((name, said)))
"""


@pytest.mark.parametrize("kind", ADDED)
def test_what_the_library_says_of_an_object_is_the_same_under_every_name(kind: str) -> None:
    names = [name for name in sorted(names_looked_up() - PROTOCOLS) if not name.startswith("__")]
    text = PROGRAM.replace("NAMES", repr([NOBODYS, *names])).replace("ADDED", ADDED[kind])
    with as_new():
        out, error = outcome_of(text)
    assert error is None, error
    lines = [eval(line) for line in out.splitlines()]
    assert len(lines) > 200 and lines[0][0] == NOBODYS
    for name, said in lines[1:]:
        for one, other in zip(said, lines[0][1], strict=True):
            assert one.replace(name, "") == other.replace(NOBODYS, "").replace(name, ""), name
