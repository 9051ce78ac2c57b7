"""language: what a backward returned, and what could not be registered as a parameter."""

from __future__ import annotations

import ast
import re

from ...diagnostics import Edit
from ...engine.tensors.invented_names import kept_on
from ...engine.tensors.tensor import Tensor
from ...nn.module import Module
from ...recording.sides import origin_of
from ..explanation import ENCLOSED, Explanation, line_before, replaced, suffixed
from ..intermediates import intermediates
from .unregistered import unregistered

_COUNT = re.compile(r"^function (\w+)Backward returned an incorrect number of gradients \(expected")
_SHAPE = re.compile(
    r"^Function (\w+)Backward returned an invalid gradient at index (\d+) - got (\[[\d, ]*\]) but "
    r"expected shape compatible with (\[[\d, ]*\])"
)
LONGEST = 80  # characters of an expression that advice repeats
_PARAMETER = re.compile(r"^cannot assign 'torch\.\w*Tensor' as parameter ")


def refused(out: Explanation, error: BaseException) -> None:
    """By the words of PyTorch's that name the class, or the parameter."""
    message = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    count = _COUNT.match(message)
    if count is not None and isinstance(error, RuntimeError):
        _counted(out, count[1])
    elif (shape := _SHAPE.match(message)) is not None:
        _shaped(out, shape[1], int(shape[2]), shape[3], shape[4])
    elif isinstance(error, TypeError) and _PARAMETER.match(message):
        _assigned(out)
    elif message.startswith("Legacy autograd function with non-static forward"):
        _legacy(out)
    elif message == "optimizer got an empty parameter list":
        unregistered(out)
    elif message.startswith("unscale_() has already been called"):
        out.advise("update() of the scaler in each turn, also where the step is left out")
    elif message.startswith("Only Tensors created explicitly by the user"):
        _copied(out)
    elif message == "can't optimize a non-leaf Tensor":
        _computed(out)
    elif message.startswith("Jacobian mismatch for output") and _is_second(out):
        for one in intermediates(out.places):
            out.put(one.node, one.reason)
            out.advise(one.advice)


def _is_second(out: Explanation) -> bool:
    """gradgradcheck, whatever it was called on."""
    called = out.places.called(out.place)
    return called is not None and called[0] == "gradgradcheck"


def _copied(out: Explanation) -> None:
    """copy.deepcopy of what was computed, or of a module that keeps such a tensor."""
    called = out.places.called(out.place)
    given = called[1][0] if called is not None and called[1] else None
    value = None if given is None else out.places.value_of(given)
    text = None if given is None else out.places.text(given)
    if isinstance(value, Tensor) and text is not None:
        whole = f"{text}.detach().clone()"
        out.advise(f"{whole}, which has no graph", replaced(out.places, out.place, whole))
    elif isinstance(value, Module) and any("weight_g" in n for n, _ in value.named_parameters()):
        edits = [
            edit for node in out.places.program.body for part in ast.walk(node)
            for edit in _newer(out, part)
        ]  # fmt: skip
        out.advise("weight_norm of torch.nn.utils.parametrizations, which can be copied", edits)
    elif isinstance(value, Module) and text is not None:
        _keeps_result(out, value, text, given)


def _keeps_result(out: Explanation, module: Module, text: str, given: ast.expr | None) -> None:
    """copy.deepcopy(net) of a net that keeps what it has computed in an attribute."""
    for path, one in module.named_modules():
        for name, value in kept_on(one).items():
            if isinstance(value, Tensor) and value.grad_fn is not None:
                whole = ".".join(filter(None, (text, path, name)))
                out.put(origin_of(value.grad_fn), f"computes {whole}, which is not a leaf")
                state = f"{text}.state_dict()"
                edits = replaced(out.places, given, state)
                out.advise(f"copy {state}, which has no graph", edits)
                out.or_else(f"{whole} = None before line {out.places.line(out.place)}",
                            line_before(out.places, out.places.statement(out.place),
                                        f"{whole} = None"))  # fmt: skip
                return


def _newer(out: Explanation, part: ast.AST) -> list[Edit]:
    """weight_norm's successor, where it is imported or called by its path."""
    if isinstance(part, ast.ImportFrom) and part.module == "torch.nn.utils":
        if [name.name for name in part.names] == ["weight_norm"]:
            whole = ast.unparse(part).replace("utils", "utils.parametrizations")
            return replaced(out.places, part, whole) or []
    if isinstance(part, ast.Attribute) and ast.unparse(part).endswith("utils.weight_norm"):
        whole = ast.unparse(part).replace("weight_norm", "parametrizations.weight_norm")
        return replaced(out.places, part, whole) or []
    return []


def _computed(out: Explanation) -> None:
    """optim.Adam([image]) of an image that was computed: its value as a leaf of its own."""
    places = out.places
    given = out.place.args[0] if isinstance(out.place, ast.Call) and out.place.args else None
    for part in () if given is None else ast.walk(given):
        value = places.value_of(part)
        made = places.bound_value(part.id) if isinstance(part, ast.Name) else None
        if isinstance(value, Tensor) and value.grad_fn is not None and made is not None:
            out.put(made, "computed: only leaves can be optimised")
            edits = suffixed(places, made, ".detach().requires_grad_()")
            out.advise(f".detach().requires_grad_() at the end of line {made.end_lineno}", edits)
            return


def _legacy(out: Explanation) -> None:
    """Square()(x): its methods have to be static, and apply() calls them."""
    places, call = out.places, out.place
    made = call.func if isinstance(call, ast.Call) else None
    name = made.func.id if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) else None
    edits = [] if name is None else replaced(places, made, f"{name}.apply") or []
    for part in places.program.body:
        if isinstance(part, ast.ClassDef) and part.name == name:
            for method in part.body:
                if isinstance(method, ast.FunctionDef) and method.name in ("forward", "backward"):
                    if not method.decorator_list:
                        edits += line_before(places, method, "@staticmethod") or []
    called = f"{name}.apply(...)" if name is not None else "apply(...) of the class"
    out.advise(f"@staticmethod before forward and backward, and {called}", edits)


def _methods(out: Explanation, name: str) -> dict[str, ast.FunctionDef]:
    """Those of a class of the program."""
    return {
        method.name: method
        for part in ast.walk(out.places.program.tree)
        if isinstance(part, ast.ClassDef) and part.name == name
        for method in part.body
        if isinstance(method, ast.FunctionDef)
    }


def _shaped(out: Explanation, name: str, index: int, got: str, wanted: str) -> None:
    """A gradient has the shape of its input; a transposed one is the commonest other."""
    methods = _methods(out, name)
    forward, backward = methods.get("forward"), methods.get("backward")
    parts = [] if backward is None else list(ast.walk(backward))
    returns = [part.value for part in parts if isinstance(part, ast.Return)]
    values = returns[0].elts if returns and isinstance(returns[0], ast.Tuple) else returns[:1]
    inputs = [] if forward is None else [argument.arg for argument in forward.args.args[1:]]
    given = [
        (input_name, value) for input_name, value in zip(inputs, values, strict=False)
        if value is not None and getattr(value, "value", value) is not None
    ]  # fmt: skip
    if len(returns) != 1 or index >= len(given):
        return
    of, value = given[index]
    out.put(value, f"shape {got}, and {of} has the shape {wanted}")
    if got.strip("[]").split(", ")[::-1] == wanted.strip("[]").split(", ") and ", " in got:
        turned = suffixed(out.places, value, ".t()")
        text = out.places.text(value, LONGEST)
        if text is not None:
            text = f"({text}).t()" if isinstance(value, ENCLOSED) else f"{text}.t()"
            out.advise(f"{text} on line {out.places.line(value)}", turned)


def _counted(out: Explanation, name: str) -> None:
    """A backward returns a gradient for each input of forward, None for what is no tensor."""
    methods = _methods(out, name)
    forward, backward = methods.get("forward"), methods.get("backward")
    if forward is None or backward is None or forward.args.vararg is not None:
        return
    inputs = [argument.arg for argument in forward.args.args[1:]]
    returns = [part for part in ast.walk(backward) if isinstance(part, ast.Return)]
    last = returns[-1].value if len(returns) == 1 else None
    if last is None:
        return
    parts = last.elts if isinstance(last, ast.Tuple) else [last]
    out.put(returns[0], f"returns {len(parts)}; forward takes {', '.join(inputs)}")
    texts = [out.places.text(part, LONGEST) or "" for part in parts]
    if all(texts) and len(parts) < len(inputs):
        missing = ["None"] * (len(inputs) - len(parts))
        whole = f"return {', '.join([*texts, *missing])}"
        out.advise(whole, replaced(out.places, returns[0], whole))


def _assigned(out: Explanation) -> None:
    """An update that makes a new tensor: the parameter itself has to change."""
    statement = out.places.statement(out.place)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target = out.places.text(statement.targets[0], LONGEST)
    value = out.places.text(statement.value, LONGEST)
    if target is None or value is None:
        return
    parts = {ast.unparse(part) for part in ast.walk(statement.value)}
    if ast.unparse(statement.targets[0]) not in parts:
        whole = f"{target} = torch.nn.Parameter({value})"
    else:
        update = f"{target}.copy_({value})"
        above = (part for part in out.places.ancestors(statement) if isinstance(part, ast.With))
        items = [ast.unparse(item.context_expr) for part in above for item in part.items]
        off = any(item.endswith("no_grad()") for item in items)
        whole = update if off else f"with torch.no_grad(): {update}"
    out.advise(whole, replaced(out.places, statement, whole))
