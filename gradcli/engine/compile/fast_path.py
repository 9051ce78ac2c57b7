"""Engine: one function of a row, written line by line: its operands, its kernel, its result."""

from __future__ import annotations

from ..schema.row import OF, Row
from ..schema.signature import Parameter
from ..tensors.tensor_type import LARGE
from .lane import ALIKE, GENERAL, NUMBER, OPERATOR, ORDINARY, Lane
from .node_source import NodeSource

SIDE = 1 << 8  # two operands with no more elements than this make at most LARGE


class FastPath(Lane):
    """Writes the source of one lane of a row, line by line."""

    def __init__(self, row: Row, mode: str, plain_symbol: bool = False) -> None:
        super().__init__(row, mode)
        # Only the operands vary: the kernel is Python's operator itself.
        self.plain_symbol = plain_symbol or len(row.signature.parameters) == len(row.tensors)
        self.lines: list[str] = []

    def function(self, name: str, parameters: str, otherwise: str = "") -> list[str]:
        row, write = self.row, self.write
        self.lines = [f"def {name}({parameters}):"]
        if self.mode == ALIKE:
            self.alike(name, otherwise)
        else:
            self.entry(otherwise)
        refuses = (
            f"if {self.first}._kind.dtype.word in row.refuse: refused(row, {self.first}._kind)"
        )
        late = all(isinstance(m, str) or m[0] is NotImplementedError for m in row.refuse.values())
        if row.refuse and not row.broadcasts and not late:
            write(refuses)
        if row.check is not None:
            write(f"check({self.given})")
        if row.refuse and not row.broadcasts and late:
            write(refuses)
        if row.check_mixed is not None and self.mode not in (ORDINARY, ALIKE):
            write(f"check_mixed({self.given})")
        if self.mode == GENERAL:
            self.operands()
        plain = self.mode == ALIKE and not {"Float", "Double"} & row.refuse.keys()
        if row.refuse and row.broadcasts and not plain:  # the type counts that operands meet in
            arrays = "".join(f"a_{p.name}, " for p in row.tensors)
            write(f"if kind.dtype.word in row.refuse: refused(row, kind, ({arrays}))")
        write(f"result_kind = {self.result_kind()}")
        self.memory()
        self.kernel()
        self.record()
        return self.lines

    def write(self, text: str, depth: int = 1) -> None:
        self.lines.append("    " * depth + text)

    # ---- operands

    def entry(self, otherwise: str) -> None:
        """The question that lets a call into the lane, and its operands' arrays."""
        if self.mode == GENERAL:
            return
        x, y = (p.name for p in self.row.tensors)
        self.write(f"kind = {x}._kind")
        direct = self.row.dtype == "promote_float" or self.mode == NUMBER
        tests = (
            [f"{y}.__class__ is not Tensor or {y}._kind is not kind"]
            if self.mode == ORDINARY
            else []
        )
        tests += ["not kind.is_direct" if direct else "kind.is_reduced"]
        self.write(f"if {' or '.join(tests)}: return {otherwise}")
        if self.mode == ORDINARY:
            self.write(f"a_{x} = {x}._data; a_{y} = {y}._data")
        else:
            self.write(f"a_{x} = {x}._data; a_{y} = kind.number({y}) if a_{x}.ndim else {y}")

    def alike(self, name: str, otherwise: str) -> None:
        """The entry of tensors whose forms go together, which answers every other question."""
        x, *others = (p.name for p in self.row.tensors)
        self.write(f"form = {x}._form" + "; rest = None" * bool(others))
        tests = ["not form", *(f"{y}.__class__ is not Tensor" for y in others)]
        if self.row.dtype == "scalar" and not others:
            tests.append(f"{self.row.scalar}.__class__ is complex")
        plain = "".join(f"{y}.__class__ is Tensor and " for y in others)
        unasked = ["form is None"]
        for y in others:
            unasked += [f"{y}._form is None", f"form and {y}._form not in form.beside"]
        given = ", ".join((x, *others)) if name == OPERATOR else self.given
        again = f"{plain}({' or '.join(unasked)}) and formed({', '.join((x, *others))})"
        again = f"return {name}({given}) if {again} else {otherwise}"
        self.write(f"if {' or '.join(tests)}: {again}")
        both = not self.row.formulas or self.row.differentiable.issuperset((x, *others))
        for y in others:
            self.write(f"if {y}._form is not form:")
            self.write(f"met = {f'form.beside.get({y}._form)' if both else None}", 2)
            self.write(f"if not met: {again}", 2)
            self.write("form, rest = met", 2)
        self.write("kind = form.kind")
        self.write("; ".join(f"a_{name} = {name}._data" for name in (x, *others)))

    def operands(self) -> None:
        """Arrays `a_<name>` of the tensor arguments, and `kind`, that they meet in."""
        row, write = self.row, self.write
        if row.broadcasts and len(row.tensors) == 1 and row.tensors[0].kind == "Tensor":
            x = self.first
            write(f"kind = {x}._kind; a_{x} = {x}._data")
            if row.dtype == "promote_float":
                write(f"if not kind.differentiable: kind, (a_{x},) = meet(row.dtype, ({x},))")
            elif row.dtype == "scalar":
                met = f"meet('promote', ({x}, {row.scalar}))"
                apart = f"not kind.differentiable or {row.scalar}.__class__ is complex"
                write(f"if {apart}: kind, (a_{x}, _) = {met}")
            return
        if row.broadcasts:
            given = "".join(f"{p.name}, " for p in row.tensors)
            arrays = "".join(f"a_{p.name}, " for p in row.tensors)
            wide = ", True" if row.reduced.wide_numbers else ""
            write(f"kind, ({arrays}) = meet(row.dtype, ({given}){wide})")
            return
        listed = row.tensors[0].kind == "Tensor[]"
        write(f"kind = {self.first}{'[0]' if listed else ''}._kind")
        for p in row.tensors:
            write(f"a_{p.name} = {self.array_of(p)}")
        if len(row.tensors) > 1 or listed:
            given = "".join(f"{'*' if p.kind == 'Tensor[]' else ''}{p.name}, " for p in row.tensors)
            more = row.tensors[1:]
            apart = " or ".join(f"{p.name}._kind is not kind" for p in more)
            sure = not listed and all(self.a_tensor(p) for p in more)
            write(f"{f'if {apart}: ' if sure else ''}one_device(row, kind, ({given}))")

    def array_of(self, p: Parameter) -> str:
        if p.kind == "Tensor[]":
            return f"[t._data if t is not None else None for t in {p.name}]"
        if p.number:
            return f"{p.name}._data if {p.name}.__class__ is Tensor else {p.name}"
        if self.row.view:
            array = f"{p.name}._data"
            return f"{array} if {array}.__class__ is ndarray else {p.name}._need_array()"
        return f"None if {p.name} is None else {p.name}._data" if p.optional else f"{p.name}._data"

    def result_kind(self) -> str:
        """Source for the kind of the result."""
        policy = self.row.dtype
        if policy in ("compare", "bool"):
            return "kind.of(bool_)"
        if policy == "int64":
            return "kind.of(int64)"
        if policy in ("same", "promote", "promote_float", "scalar"):
            return "kind"
        if policy == "given":
            return "kind if dtype is None else kind.of(dtype)"
        if self.mode != GENERAL and str(policy).startswith(OF):
            return "kind"
        inferred = f"infer(row, kind, ({self.given},))"
        return f"({inferred} if kind.dtype.is_complex else kind)" if policy == "real" else inferred

    # ---- the kernel

    def memory(self) -> None:
        """Asks for the result's memory where it may be large."""
        row = self.row
        if self.mode == ALIKE:
            return
        ask = f"guard(row, kind, ({self.given},))"
        if row.cost is not None:
            self.write(ask)
        elif self.mode == ORDINARY:
            x, y = (p.name for p in row.tensors)
            self.write(f"n_{x} = a_{x}.size; n_{y} = a_{y}.size")
            side = f"n_{x} > {SIDE} or n_{y} > {SIDE}"
            self.write(f"if ({side}) and (n_{x} > {LARGE} or a_{x}.shape != a_{y}.shape): {ask}")
        elif not row.view:
            sizes = [f"a_{p.name}.size" for p in row.tensors if self.a_tensor(p)]
            sizes += [
                f"(a_{p.name}.size if {p.name}.__class__ is Tensor else 1)"
                for p in row.tensors
                if p.kind == "Tensor" and not self.a_tensor(p) and not self.a_number(p)
            ]
            if sizes:
                self.write(f"if {' * '.join(sizes)} > {LARGE}: {ask}")

    def kernel(self) -> None:
        row, write = self.row, self.write
        tensors = {p.name for p in row.tensors}
        arguments = ", ".join(f"a_{n}" if n in tensors else n for n in row.signature.names)
        call = f"kernel({'kind' if row.kinded else 'kind.xp'}, {arguments})"
        if row.reduced.forward is not None and self.mode == GENERAL:
            wide = f"widened(kind, ({self.given},)), " if row.reduced.mixed else ""
            call = f"(reduced(kind, {wide}{arguments}) if kind.is_reduced else {call})"
        if row.symbol and self.plain_symbol:
            call = f" {row.symbol} ".join(f"a_{p.name}" for p in row.tensors)
        if row.broadcasts and len(row.tensors) > 1 and self.mode not in (NUMBER, ALIKE):
            arrays = "".join(f"a_{p.name}, " for p in row.tensors)
            write("try:")
            write(f"data = {call}", 2)
            write("except ValueError as error:")
            write(f"raise shape_error(({arrays}), error) from None", 2)
        elif hasattr(row.forward, "ufunc"):  # a function of the array library: `transcendental`
            a, (few, most) = f"a_{self.first}", row.forward.bounds  # type: ignore[attr-defined]
            rounded = f"kind.settled is single and kind.is_plain and 1 < {a}.size <= {few}"
            write(f"if {rounded}: data = ufunc({a}, dtype=double).astype(single)")
            write(f"elif kind.xp is numpy and {a}.size > {most}: data = ufunc({a})")
            write(f"else: data = {call}")
        else:
            write(f"data = {call}")
        if self.several:
            return
        typed = row.symbol or hasattr(row.forward, "ufunc")
        if not (typed and self.mode in (ORDINARY, ALIKE)):  # + - * / of one type give that type
            self.cast()
        if self.mode != ALIKE:
            self.lay_out()
        form, shape = f"{self.first}._form or None", f"a_{self.first}.shape"
        if self.mode == ALIKE:
            form, shape = "form", "form.shape"
        elif self.mode != NUMBER:
            form = "None"
        if self.result_kind() != "kind":
            form = "None"
        elif form != "None" and not typed:  # it may reduce: a loss, a distance, a logsumexp
            form = f"({form}) if data.shape == {shape} else None"
        write("out = new(Tensor)")
        write("out._data = data; out._kind = result_kind; out._output_nr = 0")
        write(f"out._form = {form}; out._storage = out._meta = None")
        if row.view:
            write(f"make_view(out, {self.first})")
        elif row.shares:
            write(f"share(out, {self.first})")

    def lay_out(self) -> None:
        """The result's order in memory, which NumPy gets right where all operands are row-major."""
        row, write = self.row, self.write
        if not (row.iterates or row.layout):
            return
        x, first = self.first, row.tensors[0]
        if row.layout:
            tests = ["data.flags.c_contiguous"]
            if first.kind == "Tensor" and self.a_tensor(first):
                tests.append(f"{x}._form")
            write(f"if data.ndim > 1 and not ({' and '.join(tests)}): data = lay_out(data, a_{x})")
            return
        operands = "".join(f"a_{p.name}, " for p in row.tensors)
        relay = f"data = iterated(data, ({operands}))"
        tests = ["data.ndim > 1"]
        if self.mode == NUMBER or (len(row.tensors) == 1 and self.a_tensor(first)):
            tests.insert(0, f"not {x}._form")
        if not (first.number or first.optional):  # the first operand decides where it can
            tests.append(f"data.strides != a_{x}.strides")
        write(f"if {' and '.join(tests)}: {relay}")

    def cast(self) -> None:
        if self.row.view and self.result_kind() == "kind":
            return  # the same memory
        known = "array_dtype" if self.row.view else "settled"
        self.write(f"if data.dtype is not result_kind.{known}: data = result_kind.settle(data)")

    # ---- the graph

    def record(self) -> None:
        """Makes the node when an input asks for gradients; returns the result."""
        row, write = self.row, self.write
        if row.formulas or row.node:
            asks = " or ".join(self.asks(p) for p in row.tensors if not self.a_number(p))
            write(f"if state.grad_enabled and ({asks}){self.differentiable()}:")
            for line in NodeSource(self).written():
                write(line, 2)
        if self.several:
            write(f"return finish(row, kind, data, None, ({self.given},))")
            return
        # Without a node a result requires no gradient; a view still says what its base does.
        flag = "mark_of_base(out)" if row.view else "False"
        write(f"out._requires_grad = {flag}; out._grad_fn = None")
        if not row.view:
            write("if state.newborn: state.newborn(out)")
        write("return out")

    def differentiable(self) -> str:
        sure = self.mode != GENERAL or (self.row.broadcasts and len(self.row.tensors) == 1)
        if self.several or (sure and self.row.dtype != "compare"):
            return ""
        return " and result_kind.differentiable"

    def asks(self, p: Parameter) -> str:
        """Does this argument require a gradient?"""
        if p.kind == "Tensor[]":
            return f"any(t is not None and t._requires_grad for t in {p.name})"
        test = f"{p.name}._requires_grad"
        return test if self.a_tensor(p) else f"({p.name}.__class__ is Tensor and {test})"
