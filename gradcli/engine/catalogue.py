"""Engine: the catalogue: the names that programs call, and the declarations behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .row import CARRIERS, Body, Inplace
from .signature import REQUIRED, misfit


class Function:
    """A name that programs call: one or several overloads, tried in the order of declaration."""

    __slots__ = ("name", "overloads", "method", "one", "two")

    def __init__(self, name: str, method: bool) -> None:
        self.name, self.method = name, method
        self.overloads: list[Any] = []
        self.one: Body | None = None  # straight to the overload for (Tensor)
        self.two: Body | None = None  # ... and for (Tensor, Tensor)

    @property
    def __name__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        kind = "method" if self.method else "built-in method"
        return f"<{kind} {self.name} of type object>"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return "\n".join(f"{o.signature.text}\n    {o.doc}" for o in self.overloads)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            if len(args) == 1:
                if self.one is not None and args[0].__class__ is CARRIERS.tensor:
                    return self.one(args[0])
            elif len(args) == 2 and self.two is not None:
                first, second = args
                if first.__class__ is CARRIERS.tensor and second.__class__ is CARRIERS.tensor:
                    return self.two(first, second)
        elif "out" in kwargs:
            kwargs = without_out(self.name, kwargs)
        for overload in self.overloads:
            values = overload.signature.bind(args, kwargs)
            if values is not None:
                return overload.run(*values)
        if CARRIERS.call is not None:  # carriers of a transformation among the arguments?
            return CARRIERS.call(self, args, kwargs)
        raise misfit(self.name, [o.signature for o in self.overloads], args, kwargs, self.method)

    def settle(self) -> None:
        """Forgets the lanes: they are found when the first call comes."""
        self.one, self.two = self._find_one, self._find_two

    def _find_one(self, a: Any) -> Any:
        self.one = self._lane(1)
        return self(a) if self.one is None else self.one(a)

    def _find_two(self, a: Any, b: Any) -> Any:
        self.two = self._lane(2)
        return self(a, b) if self.two is None else self.two(a, b)

    def _lane(self, count: int) -> Body | None:
        for overload in self.overloads:
            parameters = overload.signature.parameters
            head, tail = parameters[:count], parameters[count:]
            fits = len(head) == count and all(
                p.kind == "Tensor" and not p.keyword_only for p in head
            )
            if fits and all(p.default is not REQUIRED for p in tail):
                return self._first_call(count, overload, tuple(p.default for p in tail))
            if len(head) == count and any(not p.is_tensor for p in head):
                return None  # an earlier overload may take a 0-dim tensor for a number
        return None

    def _first_call(self, count: int, overload: Any, defaults: tuple[Any, ...]) -> Body:
        """The overload's function is written when somebody calls it, and put in place of this."""

        def first(*args: Any) -> Any:
            run = overload.run
            run = getattr(run, "straight", run)  # the lane has seen that these are plain tensors
            lane = _with_defaults(run, count, defaults)
            if count == 1:
                self.one = lane
            else:
                self.two = lane
            return lane(*args)

        return first

    def as_function(self) -> Body:
        """A plain function that does the same: Python calls those fastest, and binds them."""
        tensor, absent = CARRIERS.tensor, object()

        def call(first: Any = absent, *more: Any, **named: Any) -> Any:
            if first.__class__ is tensor and not named:
                if not more:
                    if self.one is not None:
                        return self.one(first)
                elif len(more) == 1 and more[0].__class__ is tensor and self.two is not None:
                    return self.two(first, *more)
            return self(*more, **named) if first is absent else self(first, *more, **named)

        call.__name__ = call.__qualname__ = self.name
        return call


def _with_defaults(run: Body, count: int, defaults: tuple[Any, ...]) -> Body:
    if not defaults:
        return run
    if count == 1 and len(defaults) == 1:
        (only,) = defaults
        return lambda a: run(a, only)
    return lambda *args: run(*args, *defaults)


def without_out(name: str, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """`out=None` means nothing; a tensor is refused: it would hide what was computed from what."""
    if kwargs["out"] is not None:
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    return {key: value for key, value in kwargs.items() if key != "out"}


class Catalogue:
    """All declarations: by the names that programs write, and by the schema names of rows."""

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}
        self.methods: dict[str, Function] = {}
        self.properties: dict[str, Function] = {}
        self.rows: dict[str, Any] = {}

    def add(self, overload: Any) -> None:
        signature = overload.signature
        key = signature.name + ("." + signature.overload if signature.overload else "")
        if key in self.rows:
            raise ValueError(f"{key} is declared twice")
        self.rows[key] = overload
        for name in (signature.name, *overload.aliases):
            for face in overload.where.split():
                self._put(face, name, overload)
        if overload.inplace:
            twin = Inplace(overload)
            self.rows[
                overload.inplace + ("." + signature.overload if signature.overload else "")
            ] = twin
            faces = overload.where.split()
            if "method" in faces or "inplace" in faces:
                self._put("method", overload.inplace, twin)
            if "torch" in faces:
                self._put("torch", overload.inplace, twin)

    def _put(self, face: str, name: str, overload: Any) -> None:
        if face in ("hidden", "inplace"):  # "inplace": only the twin has a name
            return
        if face == "method":
            function = self.methods.setdefault(name, Function(name, True))
        elif face == "property":
            function = self.properties.setdefault(name, Function(name, True))
        else:
            path = {"torch": "", "functional": "nn.functional."}.get(face, face + ".") + name
            function = self.functions.setdefault(path, Function(name, False))
        function.overloads.append(overload)
        function.settle()

    def row(self, key: str) -> Any:
        return self.rows[key]


catalogue = Catalogue()
