"""language: compiles expectations to closures: each reports to the log, none stops the program."""

from __future__ import annotations

from typing import Any

from ...diagnostics import LimitReached
from ...engine.tensors.tensor import Tensor
from ..builtins.errors import message_of, name_of
from ..expectations import Expectation, Failure, Log
from ..operations import type_name
from ..session import session
from ..values import Closure
from .flow import catchable
from .operand_values import Operands, OperandValues

MOST_SHOWN = 3


def holds(test: Closure, kept: OperandValues, log: Log, expectation: Expectation) -> Closure:
    """A condition of the program, at this place."""

    def run(frame: list[Any]) -> None:
        try:
            value = test(frame)
            failure = judged(value, kept.taken())
        except Exception as error:
            if not catchable(error):
                raise
            failure = failure_of(error, kept.taken())
        finally:
            kept.values.clear()
        log.tell(expectation, failure)

    return run


def missed(log: Log, expectation: Expectation) -> Closure:
    """The statement ended without an error."""

    def run(frame: list[Any]) -> None:
        ended_well(log, expectation)

    return run


def met(log: Log, expectation: Expectation) -> Closure:
    """The statement ended in an error of this type."""

    def run(frame: list[Any]) -> None:
        ended_in(session.handling[-1], log, expectation)

    return run


def ended_well(log: Log, expectation: Expectation) -> None:
    """A statement that was to fail has ended without an error."""
    log.tell(expectation, Failure("nothing was raised"))


def ended_in(error: BaseException, log: Log, expectation: Expectation) -> None:
    """It has ended in an error of the type that was expected."""
    log.expected = error
    said = _words(error) if expectation.words else ""
    log.tell(expectation, None if expectation.words in said else Failure(f"the error is {said}"))


def failure_of(error: BaseException, operands: Operands) -> Failure:
    """A condition that could not be computed."""
    return Failure(_words(error), _operand_texts(operands))


def _words(error: BaseException) -> str:
    """Type and message; the message may be the program's own code."""
    try:
        return f"{name_of(error)}: {message_of(error)}"
    except LimitReached:
        raise
    except Exception as own:
        if not catchable(own):
            raise
        return name_of(error)


def judged(value: Any, operands: Operands) -> Failure | None:
    """Nothing where the condition holds, for every element of a tensor of them."""
    if value is True:
        return None
    if isinstance(value, Tensor) and value._data.dtype.kind == "b":
        fits = _same_shapes([operand for _, operand in operands])
        if fits and bool(value._data.all()):
            return None
    elif value is not False:
        return Failure(f"it is neither True nor False, but {_value_text(value)}")
    return Failure("it does not hold", _operand_texts(operands))


def _same_shapes(values: list[Any]) -> bool:
    """Tensors that broadcast are not equal; a single number stands for all elements."""
    shapes = {tuple(v.shape) for v in values if isinstance(v, Tensor) and v.dim() > 0}
    return len(shapes) <= 1


def _value_text(value: Any) -> str:
    from ..explain.conditions import short

    return short(value) or f"a value of type {type_name(value)}"


def _operand_texts(operands: Operands) -> tuple[str, ...]:
    """What the operands held, and where two tensors differ."""
    from ..explain.conditions import difference, short

    told = []
    for node, value in operands[:MOST_SHOWN]:
        code, text = getattr(node, "code", ""), short(value)
        if text is not None and text != code:
            told.append(f"{code if len(code) <= 60 else code[:57] + '...'}: {text}")
    said = difference([value for _, value in operands])
    return (*told, said) if said else tuple(told)
