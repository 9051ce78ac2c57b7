"""Engine: the lines of a lane that make the node of a result: its edges, and what it saves."""

from __future__ import annotations

from ..schema.signature import Parameter
from .lane import ALIKE, GENERAL, NUMBER, ORDINARY, Lane

# What formulas may ask about an argument (`self_sym_sizes`), and the source that answers it.
DERIVED = {
    "_sym_sizes": "{}._data.shape",
    "_sym_sizes_opt": "{}._data.shape",
    "_shape": "{}._data.shape",
    "_sym_numel": "{}._data.size",
    "_sym_strides": "element_strides({}._data)",
    **{f"_sym_argsize_{place}": f"{{}}._data.shape[{place}]" for place in range(3)},
    **{f"_sym_argsize_minus_{place}": f"{{}}._data.shape[-{place}]" for place in (1, 2, 3)},
    "_strides": "element_strides({}._data)",
    "_start": "{}.storage_offset()",
    "_dim": "{}._data.ndim",
    "_dtype": "{}._kind.dtype",
    "_kind": "{}._kind",
    "_layout": "{}.layout",
    "_options": "{}._kind.dtype",
}


class NodeSource:
    """Writes what a lane does where an input asks for gradients, up to the return of the result."""

    def __init__(self, lane: Lane) -> None:
        self.lane, self.row = lane, lane.row
        self.lines: list[str] = []

    def written(self) -> list[str]:
        row, lane, write = self.row, self.lane, self.lines.append
        edges, numbers, numbered = self.edges()
        if row.underivable:
            write(f"node = UnimplementedNode({row.name!r})")
        else:
            write("node = result_kind.node()" if lane.mode == GENERAL else "node = Node()")
        rest = "rest" if lane.mode == ALIKE and len(row.tensors) == 2 else "None"
        write(f"node.row = row; node.origin = state.origin; node.rest = {rest}; node.buffer = None")
        write(f"node.edges = {edges}; node.sequence = next_sequence()")
        if numbered and lane.mode != ALIKE:  # what has a form is an output 0
            write(f"if {numbered}: node.numbers = {numbers}")
        self.saved()
        self.inputs()
        if lane.several:
            write(f"return finish(row, kind, data, node, ({lane.given},))")
            return self.lines
        write("out._requires_grad = True; out._grad_fn = node")
        if row.signature.outputs[0] in row.saved_keys:
            self.saved_output()
        write(f"if state.told: watch(node, (out,), ({lane.given},))")
        write("return out")
        return self.lines

    def edges(self) -> tuple[str, str, str]:
        """Edges in the order of the tensor arguments that have a derivative, their numbers, and the
        condition under which one of those is not 0."""
        row = self.row
        given = [p for p in row.tensors if p.name in row.differentiable or not row.formulas]
        if not given:
            return "()", "None", ""
        parts, numbers = zip(*map(self.edge, given), strict=True)
        edges, all_numbers = f"({', '.join(parts)},)", f"({', '.join(numbers)},)"
        if any(p.kind == "Tensor[]" for p in given):
            self.lines.append(f"numbers = {all_numbers}")
            return edges, "numbers", "any(numbers)"
        return edges, all_numbers, " or ".join(number for number in numbers if number != "0")

    def edge(self, p: Parameter) -> tuple[str, str]:
        """Source of an argument's edge, and of the number of the output that it leads to."""
        name, write = p.name, self.lines.append
        if p.kind == "Tensor[]":
            return f"*[edge_of(t) for t in {name}]", f"*[t._output_nr for t in {name}]"
        if self.lane.a_number(p):
            write(f"e_{name} = None")
            return f"e_{name}", "0"
        if self.lane.a_tensor(p):
            write(f"e_{name} = {name}._grad_fn")
            write(f"if e_{name} is None or {name}._meta is not None: e_{name} = edge_of({name})")
            return f"e_{name}", f"{name}._output_nr"
        write(f"e_{name} = edge_of({name}) if {name}.__class__ is Tensor else None")
        return f"e_{name}", f"({name}._output_nr if e_{name} is not None else 0)"

    def saved(self) -> None:
        """What the formulas of the inputs that ask for gradients need; the rest stays None."""
        row, write = self.row, self.lines.append
        tensors = {p.name: p for p in row.tensors}
        values, tests = [], []
        for key in row.saved_keys:
            p = tensors.get(key)
            if key in row.signature.outputs:
                values.append("None")
            elif p is not None:
                served = row.served_by(key)  # an input, without whose edge the value is not needed
                serves = "" if served is None else f"e_{served} is not None"
                value = f"list({key})" if p.kind == "Tensor[]" else key
                values.append(f"{value} if {serves} else None" if serves else value)
                tests += self.has_storage(p, serves)
            else:
                values.append(key if key in row.signature.names else derived(self.lane, key))
        if values == ["None"] and row.output_count == 1:
            return  # the result alone is saved: see `saved_output`
        write(f"node.saved = saved = ({', '.join(values)}{',' if values else ''})")
        if tests and not self.lane.several:  # else `finish` looks at all that is saved
            counted = "".join(
                f"version_of(saved[{place}]), " if key in tensors else "0, "
                for place, key in enumerate(row.saved_keys)
            )
            versions = "versions_of(saved)" if "True" in tests else f"({counted})"
            write(f"if {' or '.join(tests)}: node.versions = {versions}")

    def has_storage(self, p: Parameter, serves: str) -> list[str]:
        """Tests for a saved tensor whose version may be other than 0."""
        if p.kind == "Tensor[]":
            return ["True"]
        if self.lane.a_number(p):
            return []
        test = f"{p.name}._storage is not None and {p.name}._storage.version"
        tests = ["" if self.lane.a_tensor(p) else f"{p.name}.__class__ is Tensor", test, serves]
        return [" and ".join(filter(None, tests))]

    def inputs(self) -> None:
        """Shapes and kinds of the inputs, where a gradient must be summed or cast back."""
        row, lane, write = self.row, self.lane, self.lines.append
        given = [p for p in row.tensors if p.name in row.differentiable]
        if not row.broadcasts or not given or lane.mode in (NUMBER, ALIKE):
            return
        if any(p.kind == "Tensor[]" for p in given):
            write(f"node.inputs = tuple([(t._data.shape, t._kind) for t in {given[0].name}])")
        elif lane.mode == ORDINARY:
            values = ", ".join(f"(a_{p.name}.shape, kind)" for p in given)
            apart = " != ".join(f"a_{p.name}.shape" for p in row.tensors)
            write(f"if {apart}: node.rest = inputs_of(node.rest, ({values},))")
        elif len(row.tensors) == 1:
            x = lane.first
            write(f"if {x}._kind is not kind: node.inputs = (({x}._data.shape, {x}._kind),)")
        else:
            values = ", ".join(
                f"({p.name}._data.shape, {p.name}._kind)"
                + ("" if lane.a_tensor(p) else f" if {p.name}.__class__ is Tensor else None")
                for p in given
            )
            write(f"node.rest = inputs_of(node.rest, ({values},))")

    def saved_output(self) -> None:
        """The result itself, saved without its tensor: see SavedOutput."""
        row, write = self.row, self.lines.append
        if row.view:
            write("kept = SharedOutput(out, 0)")
        elif self.lane.mode == ALIKE:  # the array alone: see Tensor._need_storage
            write("kept = data")
        else:
            write("kept = out._storage = new(SavedOutput)")
            write("kept.version = 0; kept.data = data; kept.kind = result_kind")
        if len(row.saved_keys) == 1:
            write("node.saved = (kept,)")
            return
        place = row.saved_keys.index(row.signature.outputs[0])
        before, after = f"saved[:{place}]", f"saved[{place + 1}:]"
        write(f"node.saved = (*{before}, kept, *{after})")
        write("if node.versions is not None: node.versions = versions_of(node.saved)")


def derived(lane: Lane, key: str) -> str:
    """Source of `self_sym_sizes` and its like: facts about an argument, worked out at the call."""
    row = lane.row
    for suffix, text in DERIVED.items():
        name = key.removesuffix(suffix)
        if name == key:
            continue
        if name in row.signature.outputs:
            return "None"  # a fact about an output, known when there is one: results.finish
        if name in row.signature.names:
            p = next(p for p in row.signature.parameters if p.name == name)
            if p.kind == "Tensor[]":
                return f"[{text.format('t')} for t in {name}]"
            if lane.a_number(p):
                return "None"
            fact = text.format(name)
            return fact if lane.a_tensor(p) else f"({fact} if {name}.__class__ is Tensor else None)"
    raise ValueError(f"{row!r}: a formula asks for {key!r}, neither argument nor output")
