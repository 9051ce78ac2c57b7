"""Questions: the gates of `check`: gradients that are nan, inf, none, zero, stale."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any

from ...diagnostics import command
from ...named import NamedTuple
from ...pipeline.request import Ran
from ...recording import holding
from ...recording.collect import Collected
from ...recording.facts.check import FileCheck, LeafCheck, Problem
from ...recording.sides import AnyTensor, array_of
from ...recording.snapshot import restored
from ..ledger import stale_gradients
from .culprits import Culprits
from .numeric.points import words_of
from .results import Result

ALWAYS = frozenset(("nan", "inf"))  # unless a program or the call allows them


class Gates(NamedTuple):
    """The words that fail a gradient, and those of them that --fail-on names."""

    asked: frozenset[str]
    named: frozenset[str]

    @staticmethod
    def of(fail_on: Collection[str], allow: Collection[str]) -> Gates:
        """NaN and infinity are always looked for."""
        named = frozenset(fail_on).difference(allow)
        return Gates(ALWAYS.difference(allow) | named, named)


def gates(
    fact: FileCheck, ran: Ran, found: Collected, results: list[Result], words: Gates,
    culprits: Culprits,
) -> Iterator[Problem]:  # fmt: skip
    """The gradients that fail, and the results: those that were differentiated, or all of them
    where --fail-on names the word, since a mask of infinities is a result too."""
    asked = words.asked
    differentiated = _called_backward(ran)
    for result in results:
        for word in words_of(array_of(result.tensor)):
            if word in (asked if differentiated else words.named) and word != "zero":
                problem = Problem(word, f"{result.name} is {word}", result.line)
                yield culprits.of_value(result.tensor, problem)
    told = _stored(ran, found) if differentiated else _computed(fact, found)
    failed = {leaf.leaf for leaf in fact.leaves if _is_wrong(leaf)}
    for name, line, has in told:
        for word in has:
            if word in asked and not (word in ALWAYS and name in failed):
                said = "None" if word == "none" else f"all {word}" if word == "zero" else word
                advice = "help: " + command("why", fact.file, name)
                problem = Problem(word, f"{name}.grad is {said}", line, advice=(advice,))
                yield culprits.of_gradient(name, problem) if word in ALWAYS else problem
    if "stale" in asked:
        yield from _stale(ran)


def _is_wrong(leaf: LeafCheck) -> bool:
    """NaN or infinity where the slope is finite: that is a problem of its own already."""
    wrong = leaf.status == "different" and leaf.analytic is not None
    return wrong and not math.isfinite(leaf.analytic or 0.0)


def _called_backward(ran: Ran) -> bool:
    """Whether the program stored gradients; autograd.grad answers them."""
    return ran.recording.ends.any_stored


def _leaves(ran: Ran, found: Collected) -> Iterator[tuple[str, int | None, AnyTensor]]:
    """Every named leaf that requires grad, parameters of modules among them; each once."""
    seen: set[int] = set()
    named = [
        (fact.name, fact.line, tensor)
        for fact, tensor in zip(found.tensors, found.held, strict=True)
        if fact.requires_grad and fact.is_leaf
    ]
    if ran.outcome is not None:
        inner = holding.parameters(ran.outcome.bindings, AnyTensor)
        named += [(name, None, t) for name, t in inner if t.requires_grad and t.is_leaf]
    for name, line, tensor in named:
        if id(tensor) not in seen:
            seen.add(id(tensor))
            yield name, line, tensor


def _stored(ran: Ran, found: Collected) -> Iterator[tuple[str, int | None, tuple[str, ...]]]:
    """What arrived at each leaf last, whether or not it was reset since."""
    accounts = ran.recording.ledger.accounts
    for name, line, tensor in _leaves(ran, found):
        account = accounts.get(id(tensor))
        added: list[Any] = []
        if account is not None:
            entries = *account.first, *account.last
            added = [one for one in entries if one.mark[0] in ("added", "assigned")]
        if not added and tensor.grad is None:
            yield name, line, ("none",)
            continue
        last = restored(added[-1].amount) if added else None
        gradient = last if last is not None else tensor.grad
        if gradient is not None:
            yield name, line, words_of(array_of(gradient))


def _computed(
    fact: FileCheck, found: Collected
) -> Iterator[tuple[str, int | None, tuple[str, ...]]]:
    """The same where the program only computes: the gradients of its results."""
    words: dict[str, tuple[int | None, set[str]]] = {}
    for leaf in fact.leaves:
        line, held = words.setdefault(leaf.leaf, (leaf.line, set(leaf.words)))
        held &= set(leaf.words)  # of several results one is enough
    for tensor in found.tensors:
        if tensor.requires_grad and tensor.is_leaf and tensor.name not in words and fact.leaves:
            words[tensor.name] = (tensor.line, {"none"})
    for name, (line, held) in words.items():
        yield name, line, tuple(sorted(held))


def _stale(ran: Ran) -> Iterator[Problem]:
    for stale in stale_gradients(ran):
        times = f", {stale.times} times" if stale.times > 1 else ""
        message = (
            f"{stale.name}.grad is stale: line {stale.again} adds to what line {stale.first} left, "
            f"although line {stale.update} changed {stale.name} in between{times}"
        )
        advice = f"help: {stale.name}.grad = None after line {stale.update}"
        yield Problem("stale", message, stale.again, advice=(advice,))
