"""language: layers, losses and optimizers that are used in another way than they are made for."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from ...autograd.function import Function
from ...diagnostics import Edit
from ...engine.tensors.tensor import Tensor
from ...nn.module import Module
from .. import names
from ..cut_reasons import reasons
from ..explanation import Explanation, line_after, line_before, replaced, suffixed
from .layers import constructor_call, layers, module_name
from .operands import arguments

LONGEST = 80  # characters of an expression that advice repeats
Told = Callable[[Explanation, BaseException, "re.Match[str]"], None]


def uses(out: Explanation, error: BaseException) -> None:
    """By the words of the message."""
    message = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    for pattern, tell in _TOLD:
        match = pattern.search(message)
        if match is not None:
            tell(out, error, match)
            return


# ---------------------------------------------------------------- classes of the program


def _methods(out: Explanation, owner: str) -> Iterator[ast.FunctionDef]:
    for part in out.places.program.body:
        if isinstance(part, ast.ClassDef) and part.name == owner:
            yield from (one for one in part.body if isinstance(one, ast.FunctionDef))


def _before_init(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """self.fc = nn.Linear(2, 1) in an __init__ that has not called the one of Module."""
    around = out.places.ancestors(out.place)
    method = next((part for part in around if isinstance(part, ast.FunctionDef)), None)
    if method is not None and method.name == "__init__":
        first = method.body[0]
        text = "super().__init__()"
        edits = line_before(out.places, first, text)
        out.advise(f"{text} before line {first.lineno}", edits)


def _no_forward(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """A class without forward: a word like it, or a function in the wrong place."""
    methods = {one.name: one for one in _methods(out, match[1])}
    near = names.suggestion("forward", sorted(methods))
    if near is not None:
        node = methods[near]
        line = out.places.source.line(node.lineno)
        start = line.find(near, node.col_offset)
        span = out.places.span(node)
        if span is not None and start >= 0:
            word = span._replace(
                column=start + 1, end_line=span.line, end_column=start + 1 + len(near)
            )
            out.advise(
                f"forward in the place of {near} on line {node.lineno}", [Edit(word, "forward")]
            )
        return
    for method in methods.values():
        for part in ast.walk(method):
            if isinstance(part, ast.FunctionDef) and part.name == "forward" and part is not method:
                first = next(iter(part.args.args), part.body[0])
                out.put(first, f"this forward is inside of {method.name}, and no method")


# ---------------------------------------------------------------- what a call returned


def _given(out: Explanation, error: BaseException) -> Iterator[tuple[ast.expr, Any]]:
    """The arguments of the failing call, and what they were."""
    place, called = out.place, layers(error.__traceback__)
    if isinstance(place, ast.Call) and not any(isinstance(a, ast.Starred) for a in place.args):
        held = called[0][1] if called else arguments(error.__traceback__)[0]
        yield from zip(place.args, held, strict=False)


def _no_tensor(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """A loss or a layer that is given None, or the tuple that a network returned."""
    for node, value in _given(out, error):
        text = out.places.text(node, LONGEST)
        if isinstance(value, tuple) and any(isinstance(part, Tensor) for part in value):
            out.put(node, f"a tuple of {len(value)}")
            if text is not None:
                out.advise(f"{text}[0], the first of the {len(value)}",
                           suffixed(out.places, node, "[0]"))  # fmt: skip
            return
        if value is None and _returned(out, node):
            return
    owner = out.place.value if isinstance(out.place, ast.Attribute) else None
    if owner is None or not _returned(out, owner):
        _after_layer(out, error)


def _nothing(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """An operator on None, or an element of it."""
    part = getattr(out.place, "operand", None) or getattr(out.place, "value", None)
    given = out.places.operands(out.place) if part is None else [part]
    any(_returned(out, node) for node in given)


def _returned(out: Explanation, node: ast.expr) -> bool:
    """Says which call of the program returned the None that stands there, or that a name holds."""
    made: ast.expr | None = node
    if isinstance(node, ast.Name):
        is_none = out.places.is_bound(node) and out.places.value_of(node) is None
        made = out.places.bound_value(node.id) if is_none else None
        places = out.places.bindings.get(node.id, [])
        if is_none and made is None and len(places) == 1:  # of a function
            made = out.places.value_at(places[0], node.id)
    if not isinstance(made, ast.Call) or (function := _without_return(out, made)) is None:
        return False
    out.put(made, "returns None")
    _returns_nothing(out, function)
    return True


def _without_return(out: Explanation, call: ast.Call) -> ast.FunctionDef | None:
    """The function of the program that a call runs, where it returns no value anywhere."""
    value, word = out.places.value_of(call.func), getattr(call.func, "id", "")
    methods = _methods(out, type(value).__name__) if isinstance(value, Module) else ()
    found = [one for one in methods if one.name == "forward"] or [
        one for one in out.places.program.body
        if isinstance(one, ast.FunctionDef) and one.name == word
    ]  # fmt: skip
    returns = any(isinstance(p, ast.Return) and p.value for one in found for p in ast.walk(one))
    return found[0] if len(found) == 1 and not returns else None


def _returns_nothing(out: Explanation, function: ast.FunctionDef) -> None:
    """`forward` that ends in an assignment."""
    last = function.body[-1]
    target = last.targets[0] if isinstance(last, ast.Assign) else None
    out.put(last, f"{function.name} ends here, without a return")
    if isinstance(target, ast.Name):
        text = f"return {target.id}"
        out.advise(f"{text} after line {last.end_lineno}", line_after(out.places, last, text))


def _after_layer(out: Explanation, error: BaseException) -> None:
    """A recurrent layer in a Sequential: the next one is given its result and its state."""
    chain = layers(error.__traceback__)
    outer, inner = (chain[0][0], chain[-1][0]) if len(chain) > 1 else (None, None)
    parts = [] if outer is None else [*outer.children()]
    if outer is None or not any(part is inner for part in parts):
        return
    at = next(place for place, part in enumerate(parts) if part is inner)
    if not at or not isinstance(chain[-1][1][0], tuple):
        return
    name = module_name(out, outer)
    made = None if name is None else constructor_call(out, f"{name}[{at - 1}]", parts[at - 1])
    if made is not None:
        out.put(made, "gives a tuple: its result and its state")
    out.advise("call it by itself and pass on the first of what it gives")


# ---------------------------------------------------------------- layers that are not called


def _not_called(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """nn.ReLU(x) for nn.ReLU()(x): it makes a layer, and calls none."""
    calls = {id(part): part for part in out.places.parents.values() if isinstance(part, ast.Call)}
    found = [call for call in calls.values() if _makes(call, match[1]) and call.args
             and not all(isinstance(arg, ast.Constant) for arg in call.args)]  # fmt: skip
    if len(found) == 1:
        _called(out, found[0])


def _makes(call: ast.Call, name: str) -> bool:
    return str(getattr(call.func, "attr", getattr(call.func, "id", ""))) == name


def _called(out: Explanation, call: ast.Call) -> None:
    text = out.places.text(call.func)
    kind = out.places.value_of(call.func)
    if getattr(kind, "native", None) is Function:  # a class of the program
        out.put(call, "makes an object; apply() of the class computes")
        given = f"{text}.apply({', '.join(map(ast.unparse, call.args))})"
        out.advise(given, replaced(out.places, call.func, f"{text}.apply"))
    elif text is not None:
        given = ", ".join(map(ast.unparse, call.args))
        out.put(call, "makes a layer, and does not call it")
        out.advise(f"{text}()({given})", replaced(out.places, call.func, f"{text}()"))


def _condition(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """nn.MSELoss(prediction, target): arguments of its class, which are to be true or false."""
    word = getattr(getattr(out.place, "func", None), "attr", "")
    if isinstance(out.place, ast.Call) and word[:1].isupper() and len(out.place.args) > 1:
        _called(out, out.place)


# ---------------------------------------------------------------- optimizers


def _first(out: Explanation) -> tuple[ast.expr | None, str | None]:
    call = out.place
    node = call.args[0] if isinstance(call, ast.Call) and call.args else None
    return node, None if node is None else out.places.text(node, LONGEST)


def _module(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """optim.SGD(net) for optim.SGD(net.parameters())."""
    node, text = _first(out)
    if node is not None and isinstance(out.places.value_of(node), Module):
        out.advise(f"{text}.parameters()", suffixed(out.places, node, ".parameters()"))


def _one_tensor(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """optim.SGD(w) for optim.SGD([w])."""
    node, text = _first(out)
    if node is not None and text is not None:
        out.advise(f"[{text}], a list", replaced(out.places, node, f"[{text}]"))


def _generators(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """[a.parameters(), b.parameters()] for the parameters themselves."""
    node, _ = _first(out)
    parts = node.elts if isinstance(node, ast.List) else []
    texts = [out.places.text(part) for part in parts]
    if node is not None and texts and None not in texts:
        starred = [f"*{text}" if isinstance(part, ast.Call) else str(text)
                   for part, text in zip(parts, texts, strict=True)]  # fmt: skip
        whole = f"[{', '.join(starred)}]"
        out.advise(whole, replaced(out.places, node, whole))


def _constant(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """A hook on, or retain_grad() of, what does not require grad: what it was computed from."""
    places, function = out.places, getattr(out.place, "func", None)
    owner = function.value if isinstance(function, ast.Attribute) else None
    tensor = places.value_of(owner)
    if isinstance(owner, ast.Name) and isinstance(tensor, Tensor):
        found = reasons(places, owner, tensor)
        for reason in found:
            out.put(reason.node, reason.text)
        advice = [reason for reason in found if reason.advice is not None]
        if len(advice) == 1:
            out.advise(str(advice[0].advice), advice[0].edits)


# ---------------------------------------------------------------- shapes and items


def _reshaped(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """x.t().view(6): its elements do not lie one behind the other."""
    function = out.place.func if isinstance(out.place, ast.Call) else None
    text, span = out.places.text(out.place, LONGEST), out.places.span(function)
    if isinstance(function, ast.Attribute) and function.attr == "view" and text and span:
        owner = out.places.text(function.value, LONGEST) or ""
        out.advise(f"{owner}.reshape{text[len(owner) + len('.view') :]}",
                   [Edit(span.tail(len("view")), "reshape")])  # fmt: skip


def _sequences(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """A cross entropy of scores [batch, time, classes]: classes have to be dimension 1."""
    given = [(node, value) for node, value in _given(out, error) if isinstance(value, Tensor)]
    if len(given) != 2:
        return
    (node, scores), (_, target) = given
    text, last = out.places.text(node), scores.dim() - 1
    if text is not None and scores.dim() > 2 and scores.shape[:-1] == target.shape:
        word = f".movedim({last}, 1)" if last > 2 else ".transpose(1, 2)"
        out.advise(f"{text}{word} on line {out.places.line(node)}: classes are dimension 1",
                   suffixed(out.places, node, word))  # fmt: skip


def _number(out: Explanation, error: BaseException, match: re.Match[str]) -> None:
    """loss.data[0], as it was written once."""
    value = out.place.value if isinstance(out.place, ast.Subscript) else None
    text = None if value is None else out.places.text(value)
    if text is not None:
        out.advise(f"{text}.item()", replaced(out.places, out.place, f"{text}.item()"))


_TOLD: tuple[tuple[re.Pattern[str], Told], ...] = tuple(
    (re.compile(pattern), tell) for pattern, tell in (
        (r"^cannot assign \w+ before Module\.__init__\(\) call", _before_init),
        (r'^Module \[(\w+)\] is missing the required "forward" function', _no_forward),
        (r"^'(?:NoneType|tuple)' object has no attribute", _no_tensor),
        (r"must be Tensor, not (?:NoneType|tuple)$", _no_tensor),
        (r"^(?:unsupported|bad) operand type.*'NoneType'", _nothing),
        (r"^'NoneType' object is not subscriptable", _nothing),
        (r"^'([A-Z]\w+)' object has no attribute", _not_called),
        (r"^Boolean value of Tensor with more than one value is ambiguous", _condition),
        (r"^'([A-Z]\w+)' object is not iterable", _module),
        (r"^params argument given to the optimizer should be an iterable", _one_tensor),
        (r"^optimizer can only optimize Tensors, but one of the params is Module", _generators),
        (r"^view size is not compatible with input tensor's size and stride", _reshaped),
        (r"^Expected target size \[", _sequences),
        (r"^invalid index of a 0-dim tensor", _number),
        (r"^cannot register a hook on a tensor that doesn't require gradient", _constant),
        (r"^can't retain_grad on Tensor that has requires_grad=False", _constant),
    )
)  # fmt: skip
