"""commands: the options that trace, grad and their relatives have in common."""

from __future__ import annotations

from ..options import Option, count, flag, names, several

OF = names(
    "of", "--of", metavar="NAME", help="The result; left out, the last tensor that requires grad "
    "and that nothing else uses.",
)  # fmt: skip
WRT = names(
    "wrt", "--wrt", help="With respect to these, leaf or not. A name that the program sets to a "
    "number becomes a leaf with that value.",
)  # fmt: skip
DRAWN = names("of", "--of", help="Draw the graphs of these results; left out, of all.")
ONE = names(
    "wrt", "--wrt", metavar="NAME", help="With respect to this, leaf or not. A name that the "
    "program sets to a number becomes a leaf with that value.",
)  # fmt: skip
GRAD_OUTPUT = Option(
    "grad_output", ("--grad-output",), "The gradient to start from, for a result that is not a "
    "single number.", metavar="VALUE",
)  # fmt: skip
PASS = Option("chosen", ("--pass",), "Which backward pass of the program; left out, the last.",
              None, count, metavar="N")  # fmt: skip
GRAPH: tuple[Option, ...] = (
    flag("retain_graph", "--retain-graph", help="The program's backward calls keep their buffers, "
         "as with retain_graph=True."),
    flag("create_graph", "--create-graph",
         help="Gradients get a graph of their own: second derivatives."),
    names("retain_grad", "--retain-grad", metavar="NAMES|all",
          help="retain_grad() for these intermediate tensors."),
    several("hooks", "--hook", metavar="NAME=EXPR", help="A hook on a tensor: print, norm, or a "
            "function of the gradient such as 'b=lambda g: g * 2'."),
    flag("all", "--all", help="Gradients of intermediate values too, without retain_grad."),
)  # fmt: skip
