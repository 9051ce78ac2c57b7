"""Engine: the catalogue: the names that programs call, and the declarations behind them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from .carriers import RUNTIME, Body
from .row import Inplace
from .signature import MANY, REQUIRED

V = TypeVar("V")

# The in-place forms that PyTorch has as functions too: torch.sin_(x).
TWINS = frozenset(
    """
    abs_ acos_ acosh_ addmv_ alpha_dropout_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_
    as_strided_ asin_ asinh_ atan_ atanh_ ceil_ celu_ clamp_ clamp_max_ clamp_min_ clip_ cos_
    cosh_ deg2rad_ dropout_ erf_ erfc_ exp2_ exp_ expm1_ feature_alpha_dropout_ feature_dropout_
    fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_
    nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ relu_ round_ rrelu_ rsqrt_ selu_ sigmoid_
    sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ threshold_ trunc_ xlogy_ zero_
    """.split()
)


class Function:
    """A name that programs call: one or several overloads, tried in the order of declaration."""

    __slots__ = ("path", "name", "method", "one", "two", "lanes", "_declared", "_waiting")

    def __init__(self, path: str, method: bool) -> None:
        room, _, name = path.rpartition(".")
        self.path, self.method = path, method
        self.name = f"{room}_{name}" if room in ("linalg", "special", "fft") else name
        self._declared: list[Any] = []
        # Of overloads that were not read yet: their keys in order and files, and what reads one.
        self._waiting: tuple[str, Callable[[str], Any]] | None = None
        self.one: Body | None = None  # straight to the overload for (Tensor)
        self.two: Body | None = None  # ... and for (Tensor, Tensor)
        # ... and by the classes of what is given; None where they alone do not decide
        self.lanes: dict[tuple[type, ...], Body | None] = {}

    @property
    def overloads(self) -> list[Any]:
        """Its declarations, in their order; their files are read on demand."""
        if self._waiting is not None:
            (kept, load), self._waiting = self._waiting, None
            keys, rooms = map(str.split, kept.split("\t"))
            for room in rooms:
                load(room)
            self._declared.sort(key=lambda o: keys.index(_key(o)))
        return self._declared

    def add(self, overload: Any) -> None:
        self._declared.append(overload)
        self.settle()

    def __deepcopy__(self, memo: Any) -> Function:
        return self  # as every function of Python: a layer's activation is copied with the layer

    @property
    def __name__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        kind = "method" if self.method else "built-in method"
        return f"<{kind} {self.name} of type object>"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return "\n".join(f"{o.signature.text}\n    {o.doc}" for o in self.overloads)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            if len(args) == 1:
                if self.one is not None and args[0].__class__ is RUNTIME.tensor:
                    return self.one(args[0])
            elif len(args) == 2 and self.two is not None:
                first, second = args
                if first.__class__ is RUNTIME.tensor and second.__class__ is RUNTIME.tensor:
                    return self.two(first, second)
            kinds = tuple(map(type, args))
            lane = self.lanes.get(kinds)
            if lane is not None:
                return lane(*args)
        elif "out" in kwargs:
            return RUNTIME.into(self, args, kwargs)
        for overload in self.overloads:
            values = overload.signature.bind(args, kwargs, self.method)
            if values is not None:
                if not kwargs and kinds not in self.lanes:
                    self._note_lane(kinds, args, overload, values)
                return overload.run(*values)
        if not kwargs and len(args) > 2:
            from .older_orders import as_today

            for overload in self.overloads:
                older = as_today(self.name, overload.signature, args, self.method)
                if older is not None:
                    return self(*older[0], **older[1])
        if RUNTIME.call is not None:  # carriers of a transformation among the arguments?
            return RUNTIME.call(self, args, kwargs)
        raise self.misfit(args, kwargs)

    def misfit(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Exception:
        """The error of a call that no overload takes."""
        from .call_errors import misfit

        signatures = [overload.signature for overload in self.overloads]
        return misfit(self.path, self.name, signatures, args, kwargs, self.method)

    def settle(self) -> None:
        """Forgets the lanes: they are found when the first call comes."""
        self.one, self.two, self.lanes = self._find_one, self._find_two, {}

    def _note_lane(
        self, kinds: tuple[type, ...], args: Sequence[Any], overload: Any, values: Sequence[Any]
    ) -> None:
        """Classes that a program makes are not kept."""
        if len(self.lanes) < LANES and _KEPT.issuperset({*kinds} - {RUNTIME.tensor}):
            self.lanes[kinds] = self._lane_by(kinds, args, overload, values)

    def _lane_by(
        self, kinds: tuple[type, ...], args: Sequence[Any], overload: Any, values: Sequence[Any]
    ) -> Body | None:
        """The lane of arguments of these classes, where no value had a say in how they were taken.

        A tensor may stand for a number, and it may not: that depends on its size.
        """
        tensor, count = RUNTIME.tensor, len(args)
        if count > MANY or not _PLAIN.issuperset({*kinds} - {tensor}):
            return None
        for tried in self.overloads:
            taken = [p.kind for p in tried.signature.parameters[:count]]
            taken += [""] * (count - len(taken))
            if any(kind is tensor and name != "Tensor" for kind, name in zip(kinds, taken)):
                return None
            if tried is overload:
                break
        if all(value is given for value, given in zip(values, args)):
            return _with_defaults(overload.run, count, tuple(values[count:]))
        if {*kinds} == {int} and values[0] == args:  # zeros(2, 3) is zeros((2, 3))
            make, more = overload.run, tuple(values[1:])
            return lambda *sizes: make(sizes, *more)
        sizes = overload.signature.parameters[1]  # of a fixed number one stands for all of them
        spread = sizes.size in (None, 1) and {*kinds[1:]} == {int}
        if spread and values[0] is args[0] and values[1] == args[1:]:
            run, rest = overload.run, tuple(values[2:])  # x.view(2, 3) is x.view((2, 3))
            return lambda first, *sizes: run(first, sizes, *rest)
        return None

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
        """The overload's function is written at its first call, and replaces this one."""

        def first(*args: Any) -> Any:
            lane = _with_defaults(overload.run, count, defaults)
            if count == 1:
                self.one = lane
            else:
                self.two = lane
            return lane(*args)

        return first

    def as_function(self) -> Body:
        """A plain function that does the same: Python calls those fastest, and binds them."""
        tensor, absent = RUNTIME.tensor, object()

        def call(first: Any = absent, /, *more: Any, **named: Any) -> Any:
            if first.__class__ is tensor and not named:
                if not more:
                    if self.one is not None:
                        return self.one(first)
                elif len(more) == 1 and more[0].__class__ is tensor and self.two is not None:
                    return self.two(first, *more)
            return self(*more, **named) if first is absent else self(first, *more, **named)

        call.__name__ = call.__qualname__ = self.name
        return call


LANES = 64  # so many are kept for a name
_PLAIN = frozenset({int, float, bool, type(None)})
_KEPT = _PLAIN | {tuple, list, str}


def _with_defaults(run: Body, count: int, defaults: tuple[Any, ...]) -> Body:
    written = getattr(run, "__defaults__", None)  # where they are plain, the function has them
    if not defaults or (written is not None and written[-len(defaults) :] == defaults):
        return run
    if count == 1 and len(defaults) == 1:
        (only,) = defaults
        return lambda a: run(a, only)
    return lambda *args: run(*args, *defaults)


def _key(overload: Any) -> str:
    """The schema name: the in-place twin has its own."""
    variant = overload.signature.overload
    return f"{overload.name}.{variant}" if variant else str(overload.name)


class OnDemand(dict[str, V]):
    """A dictionary whose values are made when they are asked for; whoever goes through all of them
    makes all. `waiting` has what the values are made of."""

    def __init__(self) -> None:
        self.waiting: dict[str, str] = {}
        self.load: Callable[[str], Any] = str

    def _all(self) -> None:
        raise NotImplementedError

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - this is what get means

    def __contains__(self, key: object) -> bool:
        return key in self.waiting or dict.__contains__(self, key)

    def __iter__(self) -> Iterator[str]:
        self._all()
        return dict.__iter__(self)

    def __len__(self) -> int:
        self._all()
        return dict.__len__(self)

    def keys(self) -> Any:
        self._all()
        return dict.keys(self)

    def values(self) -> Any:
        self._all()
        return dict.values(self)

    def items(self) -> Any:
        self._all()
        return dict.items(self)


class Names(OnDemand[Function]):
    """Functions by the names that programs write, in the order of declaration."""

    def __init__(self, method: bool) -> None:
        super().__init__()
        self.method = method

    def __missing__(self, name: str) -> Function:
        function = Function(name, self.method)
        function._waiting = self.waiting[name], self.load
        function.settle()
        self[name] = function
        return function

    def _all(self) -> None:
        if self.waiting:
            known = {name: self[name] for name in (*self.waiting, *dict.keys(self))}
            self.clear()
            self.update(known)
            self.waiting = {}


class Rows(OnDemand[Any]):
    """Rows by schema name. A row whose file was not read yet is read on demand."""

    def __init__(self) -> None:
        super().__init__()
        self.rooms: list[str] = []
        self.looks: list[Callable[[Any], None]] = []

    def __missing__(self, key: str) -> Any:
        self.load(self.waiting[key])
        return dict.__getitem__(self, key)

    def read(self) -> list[Any]:
        """The rows whose files were read."""
        return list(dict.values(self))

    def named(self, name: str) -> Iterator[Any]:
        """The overloads of a schema name, without in-place twins."""
        for key in dict.fromkeys((*self.waiting, *dict.keys(self))):
            if key.partition(".")[0] == name and not isinstance(row := self[key], Inplace):
                yield row

    def each(self, look: Callable[[Any], None]) -> None:
        """Calls `look` for every row: those whose files are read later, then."""
        self.looks.append(look)
        for row in self.read():
            look(row)

    def __setitem__(self, key: str, row: Any) -> None:
        dict.__setitem__(self, key, row)
        for look in self.looks:
            look(row)

    def _all(self) -> None:
        rooms, self.rooms = self.rooms, []
        for room in rooms:
            self.load(room)


def _lines(table: Any, face: str) -> Iterator[tuple[str, str]]:
    """The names of a face, and what was kept of each."""
    names, kept = table.get(face, ("", ""))
    return zip(names.splitlines(), kept.splitlines(), strict=True)


class Catalogue:
    """All declarations: by the names that programs write, and by the schema names of rows."""

    def __init__(self) -> None:
        self.functions, self.methods, self.properties = Names(False), Names(True), Names(True)
        self.rows = Rows()
        self.rooms: dict[str, str] = {}  # the file in which a row is declared, once it was read
        # (face, name, key, file) of everything declared, while `rooms` wants to know it.
        self.notes: list[tuple[str, str, str, str]] | None = None

    def defer(self, table: Any, load: Callable[[str], Any], rooms: list[str]) -> None:
        """Makes names known whose declarations are read on demand."""
        for face, known in (
            ("functions", self.functions), ("methods", self.methods),
            ("properties", self.properties),
        ):  # fmt: skip
            known.waiting, known.load = dict(_lines(table, face)), load
        rows = self.rows
        rows.waiting = dict(_lines(table, "rows"))
        rows.load, rows.rooms = load, list(rooms)

    def add(self, overload: Any) -> None:
        signature = overload.signature
        self._put_row(_key(overload), overload)
        for name in (signature.name, *overload.aliases):
            for face in overload.where.split():
                self._put(face, name, overload)
        if overload.inplace:
            twin = Inplace(overload)
            self._put_row(_key(twin), twin)
            faces = overload.where.split()
            names = [overload.inplace]
            if overload.inplace == f"{signature.name}_":
                names += [f"{alias}_" for alias in overload.aliases]
            for name in names:
                if "method" in faces or "inplace" in faces:
                    self._put("method", name, twin)
                if name in TWINS and not {"torch", "inplace"}.isdisjoint(faces):
                    self._put("torch", name, twin)

    def _put(self, face: str, name: str, overload: Any) -> None:
        if face in ("hidden", "inplace"):  # "inplace": only the twin has a name
            return
        where, known = "functions", self.functions
        if face == "method":
            where, known = "methods", self.methods
        elif face == "property":
            where, known = "properties", self.properties
        else:
            name = {"torch": "", "functional": "nn.functional."}.get(face, face + ".") + name
        function = known.get(name)
        if function is None:
            function = known[name] = Function(name, where != "functions")
        function.add(overload)
        self._note(where, name, overload)

    def _put_row(self, key: str, overload: Any) -> None:
        if dict.__contains__(self.rows, key):
            raise ValueError(f"{key} is declared twice")
        self.rows[key] = overload
        self.rooms[key] = _room()
        self._note("rows", key, overload)

    def _note(self, face: str, name: str, overload: Any) -> None:
        if self.notes is not None:
            self.notes.append((face, name, _key(overload), _room()))

    def row(self, key: str) -> Any:
        return self.rows[key]

    def forget_formulas(self) -> None:
        """The functions of the way back are written again when they are needed next."""
        for row in self.rows.read():
            if (forget := getattr(row, "forget_formulas", None)) is not None:
                forget()


def _room() -> str:
    """The file that is being read: the innermost one whose top level is running."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return str(frame.f_globals["__name__"]).partition(".operators.")[2]


catalogue = Catalogue()
