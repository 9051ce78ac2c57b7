"""Library: L-BFGS: a quasi-Newton method that evaluates the loss several times in a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.graph.leaf import gradient_of
from ..engine.schema.mode import enable_grad, no_grad
from ..operators import catalogue
from .line_search import Point, Search
from .optimizer import Optimizer, as_number, check_rate, real_parts


class LBFGS(Optimizer):
    def __init__(
        self, params: Any, lr: Any = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        check_rate(lr)
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _flat_grad(self) -> Any:
        pieces = []
        for parameter in self._params:
            grad = gradient_of(parameter)
            parts = real_parts(parameter)
            zeros = parts.new_zeros((parts.numel(),))
            pieces.append(zeros if grad is None else real_parts(grad.to_dense()).reshape([-1]))
        return catalogue.functions["cat"](pieces, 0)

    def _move(self, step: float, direction: Any) -> None:
        start = 0
        for parameter in map(real_parts, self._params):
            count = parameter.numel()
            piece = direction[start : start + count].view_as(parameter)
            parameter.add_(piece, alpha=step)
            start += count

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        if (count := len(self.param_groups)) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {count}")
        with no_grad():
            return self._iterate(closure)

    def _iterate(self, closure: Callable[[], Any]) -> Any:
        group, own = self.param_groups[0], self.state[self._params[0]]
        own.setdefault("func_evals", 0)
        own.setdefault("n_iter", 0)
        first = self._evaluated(closure)
        loss = float(first.item())
        evaluations = 1
        own["func_evals"] += 1
        grad = self._flat_grad()
        if grad.abs().max().item() <= group["tolerance_grad"]:
            return first
        iterations = 0
        while iterations < group["max_iter"]:
            iterations += 1
            own["n_iter"] += 1
            direction = self._direction(own, grad, group["history_size"])
            own["prev_flat_grad"], own["prev_loss"] = grad.clone(), loss
            lr = as_number(group["lr"])
            step = min(1.0, 1.0 / grad.abs().sum()) * lr if own["n_iter"] == 1 else lr
            own["t"], own["d"] = step, direction
            slope = grad.dot(direction)
            if slope.item() > -group["tolerance_change"]:
                break
            if group["line_search_fn"] is not None:
                found, count = self._searched(
                    closure, Point(0, loss, grad, slope), step, direction,
                    group["max_eval"] - evaluations,
                )  # fmt: skip
                loss, grad, step = found.loss, found.grad, found.step
                self._move(step, direction)
            else:
                self._move(step, direction)
                count = 0
                if iterations != group["max_iter"]:
                    loss = float(self._evaluated(closure).item())
                    grad = self._flat_grad()
                    count = 1
            own["t"] = step
            evaluations += count
            own["func_evals"] += count
            if (
                evaluations >= group["max_eval"]
                or grad.abs().max().item() <= group["tolerance_grad"]
                or direction.mul(step).abs().max().item() <= group["tolerance_change"]
                or abs(loss - own["prev_loss"]) < group["tolerance_change"]
            ):
                break
        return first

    def _searched(
        self, closure: Callable[[], Any], start: Point, step: Any, direction: Any, most: int
    ) -> tuple[Point, int]:
        """A step along the direction that satisfies the Wolfe conditions."""
        group = self.param_groups[0]
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        origin = [parameter.clone() for parameter in self._params]

        def evaluate(step: Any) -> Point:
            self._move(as_number(step), direction)
            loss = float(self._evaluated(closure).item())
            grad = self._flat_grad()
            for parameter, value in zip(self._params, origin, strict=True):
                parameter.copy_(value)
            return Point(step, loss, grad, grad.dot(direction))

        search = Search(evaluate, start, group["tolerance_change"], most)
        return search.run(step, direction.abs().max()), search.evaluations

    @staticmethod
    def _evaluated(closure: Callable[[], Any]) -> Any:
        with enable_grad():
            return closure()

    @staticmethod
    def _direction(own: dict[str, Any], grad: Any, history: int) -> Any:
        """The two-loop recursion over the differences of the last steps."""
        if own["n_iter"] == 1:
            own.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return grad.neg()
        change = grad.sub(own["prev_flat_grad"])
        moved = own["d"].mul(own["t"])
        curvature = change.dot(moved)
        if curvature > 1e-10:
            for name, value in (("old_dirs", change), ("old_stps", moved), ("ro", 1.0 / curvature)):
                if len(own[name]) == history:
                    own[name].pop(0)
                own[name].append(value)
            own["H_diag"] = curvature / change.dot(change)
        direction, weights = grad.neg(), own.setdefault("al", [None] * history)
        triples = list(zip(own["old_dirs"], own["old_stps"], own["ro"], strict=True))
        for place, (difference, moved_then, ro) in reversed(list(enumerate(triples))):
            weights[place] = moved_then.dot(direction) * ro
            direction.add_(difference, alpha=-weights[place])
        direction = direction.mul(own["H_diag"])
        for (difference, moved_then, ro), weight in zip(triples, weights, strict=False):
            again = difference.dot(direction) * ro
            direction.add_(moved_then, alpha=weight - again)
        return direction
