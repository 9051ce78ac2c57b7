"""The fuzzer's table of differences that stay, each with its reason."""

from __future__ import annotations

import re
from typing import NamedTuple

from .compare import Difference


class Known(NamedTuple):
    """A difference that is explained: its aspect, what its text looks like, and why it is so."""

    aspect: str
    pattern: str
    reason: str
    program: str = ""  # what the program has in it


# x.backward(x), x.backward(gradient=x.detach())
# A leaf that is made in inference mode. Outside of it, it has none of the dispatch keys by which
# PyTorch records: what is computed of such tensors alone is no part of a graph, and a change in
# place is refused by the version counter, after the kernel wrote.
INFERENCE_LEAF = (
    r"inference_mode\((True)?\)(:|\ndef .*:)\n( .*\n)*? .*"
    r"(requires_grad|Parameter|nn\.|\.data\b)"
)
OWN_GRADIENT = r"\b(\w+)\.backward\((gradient=)?\1(\.detach\(\))?[,)]"
KNOWN: tuple[Known, ...] = (
    Known(
        "grad version",
        "here 0, ",
        "PyTorch counts the writes of its kernels into a new gradient; here a gradient that the "
        "pass made starts at 0, and one that had to be copied at 1",
    ),
    Known(
        "grad version",
        r"here \d, PyTorch \d",
        "the same, where hooks change in place what a later pass adds to",
        r"hook\(.*\w_\(",
    ),
    Known(
        "grad version",
        "|".join(rf"here {n}, PyTorch {n + 2}\b" for n in range(9)),
        "the same two writes of CopySlices, where a later pass adds to the gradient",
        r"\] [-+*/]?= |\w_\(",
    ),
    Known(
        "grad version",
        "|".join(rf"here ({n}, PyTorch {n + 1}|{n + 1}, PyTorch {n})\b" for n in range(9)),
        "whether a gradient is copied once, both decide by who else holds it and how it lies; "
        "sums, views, hooks and functions of the program hold it here and there otherwise",
    ),
    Known(
        "output|error",
        r"here .{0,20}Trying to backward through.*PyTorch.*more than one element of the written",
        "a pass that fails in two ways: PyTorch first writes into an expanded gradient",
        r"expand",
    ),
    Known(
        "output",
        r"here '(\(?tensor| +\[).*PyTorch '(\(?tensor| +\[)",
        "what a node gives that a program calls is summed to the shapes of its inputs already; in "
        "PyTorch the pass sums",
        r"\.grad_fn\(",
    ),
    Known(
        "output",
        "tangent",
        "what is detached from a tensor of inference mode takes no tangent in PyTorch",
        r"inference_mode(.|\n)*make_dual",
    ),
    Known("version", r"version of g\d", "the same, of what torch.autograd.grad returns"),
    Known("version", "PyTorch 2", "PyTorch makes one_hot of writes that it counts", "one_hot"),
    Known(
        "grad value",
        "",
        "what a pack hook keeps of a result is the result itself in PyTorch, also when `.data` of "
        "it is set; here it is another tensor of the same memory",
        r"(save_on_cpu|saved_tensors_hooks)(.|\n)*\.data = ",
    ),
    Known(
        "grad",
        "PyTorch None$",
        "where nobody looks on, gradients are added to leaves behind all nodes here: a leaf that "
        "refuses its gradient finds others done",
        r"inference_mode(.|\n)*\.grad = ",
    ),
    Known(
        "warnings",
        "PyTorch .'Use of masked_fill_ on expanded tensors",
        "a tensor of inference mode, whose change outside of it is refused after the kernel wrote",
        "inference_mode",
    ),
    Known(
        "version|output",
        "|".join(rf"here '?{n}'?, PyTorch '?[{n + 1}{n + 2}]" for n in range(8)),
        "PyTorch makes the state of a cell by writes that it counts",
        r"nn\.(GRU|LSTM|RNN)",
    ),
    Known(
        "(grad )?(value|graph)|node|output|plain|names|type|strides",
        "",
        "a group of one number, and its gradient, is what its roundings leave; Adam divides by it",
        r"(Group|Layer|RMS)Norm\((1, )?1\)",
    ),
    Known(
        "error|output",
        r"modified by an inplace operation(.|\n)*PyTorch.*modified by an inplace",
        "of several saved tensors that were changed, the one that is asked for first is told",
    ),
    Known(
        "(grad )?graph|node|output",
        "graph|node|PyTorch .*grad_fn=<(CopySlices|(View|Add)Backward0)>",
        "a batched pass that is differentiated shows the views that vmap makes of its samples, and "
        "sums of all samples at once",
        r"is_grads_batched=True, (allow_unused=True, )?create_graph",
    ),
    Known(
        "grad value",
        r"PyTorch (0\.0|\[+0\.0)",
        "PyTorch keeps the gradient of sgn as a symbolic zero and can't add to it afterwards",
        r"(abs|sign|sgn|norm)\(\)(.|\n)*create_graph(.|\n)*except",
    ),
    Known(
        "error|output",
        "self indexing axis dim should be positive",
        "PyTorch complains about its own view of no memory; here the index is out of range",
    ),
    Known(
        "error|output",
        "Inplace update to inference tensor",
        "PyTorch lets detach() of a tensor of inference mode be changed outside of it",
        "inference_mode",
    ),
    Known(
        "error|output",
        "element 0 of tensors does not",
        "a tensor of inference mode lacks the keys by which PyTorch records, requires_grad or not",
        "inference_mode",
    ),
    Known(
        "error",
        "PyTorch .*'NoneType' object has no attribute",
        "a view of a leaf that is made in inference mode has no node in PyTorch",
        INFERENCE_LEAF,
    ),
    Known(
        "warnings",
        "degrees of freedom",
        "a view of what no_grad changed is refused before the kernel warns, and here after",
        r"no_grad\(\):(.|\n)*\w_\(",
    ),
    Known(
        "flags|graph|node|output|grad.*|value|names|line of the error",
        "",
        "leaves that are made in inference mode record nothing outside of it, alone",
        INFERENCE_LEAF,
    ),
    Known(
        "line of the error",
        "",
        "the same: the program goes on to its next error",
        r"inference_mode(.|\n)*detach\(\)\.\w+_\(",
    ),
    Known(
        "error|output|broken",
        "view of a view which was created in inference mode",
        "a change that is refused for two reasons: PyTorch tells how the view was made first",
        "inference_mode",
    ),
    Known("view", r"view of g\d", "PyTorch returns an expanded number as it is, a view of it"),
    Known(
        "output|error",
        r"got \((\w+, )?!\w+!",
        "PyTorch marks which arguments are wrong, for old overloads that it lists nowhere",
    ),
    Known(
        "output|error",
        r"setStorage: sizes",
        "PyTorch complains about its own view of no memory; here the index is out of range",
    ),
    Known(
        "output|error",
        r"derivative for aten::(floor_divide|heaviside)",
        "operators without a derivative are called by one name, in place or not",
    ),
    Known(
        "grad.*",
        "",
        "PyTorch runs a node that can only fail before all others",
        "//|heaviside|floor_divide",
    ),
    Known(
        "strides|grad strides",
        r"strides of (g\d|t\d|box\d|p\d|v\d|acc\d|loss\d|rest)",
        "a gradient that no leaf keeps lies as the operators of this library left it",
        r"autograd\.grad|inputs=|retain_grad|functional",
    ),
    Known(
        "grad strides",
        r"strides of [axw]\d",
        "the same, of a result that has a leaf's name",
        r"inputs=\[?[axw]\d|\b[axw]\d\.retain_grad",
    ),
    Known(
        "output|error",
        "ZeroTensors are immutable",
        "PyTorch keeps the gradient of sgn as a symbolic zero and can't add to it afterwards",
    ),
    Known(
        ".*",
        "",
        "a batched pass with hooks in its way runs once for each gradient here",
        r"is_grads_batched=True(.|\n)*(hook|autograd\.Function)"
        r"|(hook|autograd\.Function)(.|\n)*is_grads_batched=True",
    ),
    Known(
        "output|error",
        "Inference tensors cannot be saved",
        "where all operands are of inference mode PyTorch records nothing, requires_grad or not",
    ),
    Known(
        "view|version",
        "",
        "version counters of tensors of inference mode outside of it",
        "inference_mode",
    ),
    Known(
        "output|error",
        "but tensor has no dimensions",
        "two wordings for a dimension that a number does not have",
    ),
    Known(
        "output|error",
        r"here .*second time .or directly access saved tensors",
        "PyTorch's nodes keep the numbers that they saved when their tensors are freed",
        r"grad_fn\._saved_(?!self\b|other\b|result\b)",
    ),
    Known(
        "line of the error",
        "",
        "the same: what goes on ends on a later line with the same words",
        r"grad_fn\._saved_",
    ),
    Known(
        "output|error",
        "here .{0,20}Trying to backward through the graph a second time",
        "PyTorch's node asks for what was freed only where the gradient that is wanted needs it",
        "%|remainder|fmod",
    ),
    Known(
        "graph|grad graph",
        "CopySlices",
        "a change in place without a derivative lists its number",
        "//=",
    ),
    Known(
        "error|output|grad",
        "index .* is out of bounds|shape mismatch|PyTorch None$|to be a boolean tensor|"
        "supports boolean masks",
        "hooks that pack a mask as numbers make indices of it, or no mask",
        r"saved_tensors_hooks\(lambda t: t \* 1",
    ),
    Known(
        "output",
        r"materialize",
        "zeros for what no gradient came to, in a batched pass",
        "is_grads_batched=True, allow_unused=True, materialize_grads",
    ),
    Known(
        "output",
        r"StackBackward0.*SumBackward1",
        "vmap of a sum over samples without a dimension runs sample by sample here",
    ),
    Known(
        "warnings",
        "non-tuple sequence",
        "PyTorch takes a text for a sequence of indices",
        r"\['x'\]",
    ),
    Known(
        "warnings",
        r"var\(\): degrees of freedom is <= 0",
        "a warning that is told once a process: an earlier program may have had it",
    ),
    Known(
        "(grad )?value|output",
        "",
        "PyTorch reads on in memory behind a source that has fewer numbers than places",
        r"masked_scatter_\(",
    ),
    Known(
        "grad type",
        "",
        "a module takes another element type between the passes: PyTorch's gradient keeps that of "
        "the graph, here it takes the leaf's",
        r"\.(double|float|half|bfloat16)\(\)",
    ),
    Known(
        "output",
        r"here '0', PyTorch '\d+'",
        "a view of no elements lies nowhere: NumPy has the beginning of the memory for it",
        "storage_offset",
    ),
    Known(
        "output|error",
        r"\bt_\(\) expects",
        "the check of a view says the name of the view that is none",
    ),
    Known(
        ".*",
        "",
        "how a view that a Function says it changed is refused, and what its graph is",
        "mark_dirty",
    ),
    Known(
        "value|output",
        "",
        "PyTorch's median of an expanded tensor moves numbers in memory that they share",
        r"expand(.|\n)*median",
    ),
    Known(
        "output|error|line of the error",
        r"PyTorch.*select\(\): index 0 out of range for tensor of size \[0\]",
        "PyTorch's vmap of a number and a scalar takes its type from the first sample",
        "vmap",
    ),
    Known(
        "(grad )?(type|strides)|grad value",
        r"\[[01], .*PyTorch",
        "what a hook packed took another shape since: PyTorch sums the gradient to the leaf",
        r"(save_on_cpu|saved_tensors_hooks)(.|\n)*unsqueeze_",
    ),
    Known(
        "output|grad_fn",
        r"(Slice|Stack)Backward(.|\n)*PyTorch(.|\n)*(Sum|Mean)Backward",
        "vmap reduces numbers without dimensions all at once in PyTorch, one after another here",
        r"vmap\(",
    ),
    Known(
        "error",
        r"expected shape compatible with.*PyTorch None",
        "a leaf took another shape since: PyTorch sums a broadcast gradient to its first one",
        r"no_grad\(\)(.|\n)*\.(transpose_|t_|swapaxes_|swapdims_|squeeze_|unsqueeze_)\(",
    ),
    Known(
        "(grad )?(value|type|strides)|output",
        "",
        "a logarithm of a negative number is a NaN, whose sign is the processor's own",
        r"(log|sqrt|acos|asin|atanh|pow|\*\*)(.|\n)*copysign",
    ),
    Known(
        "error|output",
        "functions with out=... arguments",
        "where all operands are of inference mode PyTorch records nothing, requires_grad or not",
        r"inference_mode(.|\n)*median",
    ),
    Known(
        "view|version",
        "",
        "a tensor of inference mode and one of another kind trade their memory through .data",
        r"inference_mode(.|\n)*\.data",
    ),
    Known(
        "error|output",
        "Setting requires_grad=True on inference tensor|Inference tensors do not track version",
        "the same: what it may do is asked of the one or of the other",
        r"inference_mode(.|\n)*\.data",
    ),
    Known(
        "error|output",
        "INTERNAL ASSERT FAILED",
        "PyTorch complains about a state of its own that it takes for impossible",
    ),
    Known(
        "(grad )?graph|node",
        "CopySlices|#",
        "what hooks packed of a view that is changed in place: PyTorch's node leads to the view "
        "itself, here it leads to what changed it",
        r"saved_tensors_hooks(.|\n)*create_graph",
    ),
    Known(
        "(grad )?value|output",
        r"-?(0\.0|inf)",
        "the zeros of softshrink: PyTorch's vectors make 0, and what is left behind them -0",
        "softshrink",
    ),
    Known(
        "error|output",
        r"PyTorch.*modified by an inplace operation",
        "a tensor is given as its own gradient: PyTorch takes its memory for .grad, and later "
        "gradients are written into the tensor",
        OWN_GRADIENT,
    ),
    Known(
        "(grad )?(value|version|graph|strides)|node|output|warnings|plain|broken|type|flags|view",
        "",
        "the same: its numbers, the counter of its memory, how it lies, views of it",
        OWN_GRADIENT,
    ),
    Known(
        "grad type",
        r"\[0\]\], .*\[1, 0\]\]",
        "PyTorch compares the strides of a gradient and its leaf, and NumPy has its own for a "
        "tensor of no elements",
        "unsqueeze_",
    ),
    Known(
        "warnings",
        "gradient layout contract",
        "PyTorch warns of a gradient that lies otherwise than its leaf, which was relaid in place",
    ),
    Known(
        "error|output",
        r"here .{0,20}Trying to backward through the graph a second time",
        "PyTorch saves nothing of a product for the gradient of what it is added to alone",
        r"addcmul|addmm|addmv|addr|baddbmm|addbmm",
    ),
    Known(
        "graph",
        r"NotImplemented', \[None",
        "an operator without a derivative lists a view of no_grad, which requires grad and has no "
        "node; here nodes are listed",
        r"//|heaviside|floor_divide",
    ),
    Known(
        "grad .*|error|output",
        "Batching rule not implemented for aten::(detach|is_nonzero)|PyTorch None$",
        "PyTorch's vmap can't retain the gradient of a batched pass",
        r"(inputs=|retain_grad\(\))(.|\n)*is_grads_batched=True",
    ),
    Known(
        "error|output",
        r"here .*for dimension 0 with size 0.*PyTorch.*(select\(\) can|dimension 0 with)",
        "PyTorch reads a size that a number doesn't have: what lies there depends on what made it",
    ),
    Known(
        "error|output",
        r"here .*(must match|must be|out of range|doesn't match|needs at least|stack expects|"
        r"expected dtype|can be inferred|must not be None).*"
        "PyTorch.*(is a view and its base|view was created in no_grad mode)",
        "a call that is wrong in two ways: PyTorch looks at the history of its operands first",
    ),
)


def reason_of(difference: Difference, text: str) -> str | None:
    """Why a difference looks correct; None where it is a finding."""
    told = str(difference)
    for known in KNOWN:
        if (
            re.fullmatch(known.aspect, difference.aspect)
            and re.search(known.pattern, told, re.S)
            and re.search(known.program, text)
        ):
            return known.reason
    return None
