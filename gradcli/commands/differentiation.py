"""commands: the options that trace, grad and their relatives have in common."""

from __future__ import annotations

from typing import Any

from ..options import Misuse, Option, count, flag, folds, names, one_of, pass_number, several, under

# Headings of help.
GRADIENTS, CALLS, SHOWN = "Which gradients", "Backward calls of the program", "What is shown"
MODES = ("forward", "reverse", "both")


def order(text: str) -> int:
    """First or second derivatives."""
    if text not in ("1", "2"):
        raise Misuse(f"{text!r} is not an order: 1 and 2 are")
    return int(text)


OF, WRT, DRAWN, ONE, GRAD_OUTPUT, PASS, ANY_PASS = under(
    GRADIENTS,
    names("of", "--of", metavar="NAME", help="The result; by default the last tensor that requires "
          "grad and that nothing else uses."),
    names("wrt", "--wrt", help="With respect to these, leaf or not. A name that the program sets "
          "to a number becomes a leaf with that value."),
    names("of", "--of", help="Draw the graphs of these results; by default, of all."),
    names("wrt", "--wrt", metavar="NAME", help="With respect to this, leaf or not. A name that the "
          "program sets to a number becomes a leaf with that value."),
    Option("grad_output", ("--grad-output",), "The gradient to start from, for a result that is "
           "not a single number.", metavar="VALUE"),
    Option("chosen", ("--pass",), "Which backward pass of the program; by default the last.",
           None, count, metavar="N"),
    Option("chosen", ("--pass",), "Which backward pass of the program, or all of them; by default "
           "the last.", None, pass_number, metavar="N|all"),
)  # fmt: skip
ORDER: tuple[Option, ...] = under(
    GRADIENTS,
    Option("order", ("--order",), "1: the Jacobian of the result, 2: its Hessian too; rows and "
           "columns are named.", None, order, metavar="1|2"),
    Option("mode", ("--mode",), "How derivatives are computed; both compares them.", None,
           one_of(*MODES), metavar="|".join(MODES), among=MODES),
)  # fmt: skip
GRAPH: tuple[Option, ...] = under(
    CALLS,
    flag("retain_graph", "--retain-graph", help="The program's backward calls keep their buffers, "
         "as with retain_graph=True."),
    flag("create_graph", "--create-graph",
         help="Gradients get their own graph, for second derivatives."),
    names("retain_grad", "--retain-grad", metavar="NAMES|all",
          help="retain_grad() for these intermediate tensors."),
    several("hooks", "--hook", metavar="NAME=EXPR", kind="hook", help="A hook on a tensor, or on "
            "all: print, norm, zero, or a function of the gradient such as "
            "'b=lambda g: g * 2'."),
    flag("all", "--all", help="Show gradients of intermediate values too, without retain_grad."),
)  # fmt: skip


# ---------------------------------------------------------------- what is folded

UNITS = ("module", "call", "line", "none")
HIDDEN = ("constants", "forward-only")
FOLD = Option(
    "fold", ("--fold",), "What one row or box stands for: all that a module computed, that a call "
    "computed, or that a line did; none folds nothing. Without a value it means call; without the "
    "option, only what repeats itself or is very long is folded.",
    None, one_of(*UNITS), metavar="|".join(UNITS), alone="call", among=UNITS,
    panel=SHOWN,
)  # fmt: skip
HIDE = names(
    "hide", "--hide", metavar="|".join(HIDDEN), help="Leave out and count: constants, or nodes "
    "that only the forward computation needs, through which no gradient of the pass goes.",
    among=HIDDEN,
)._replace(panel=SHOWN)  # fmt: skip


def _joined(given: list[Any]) -> frozenset[int]:
    return frozenset[int]().union(*given)


DEPTH = Option("depth", ("--depth",), "Draw N levels of nodes.", None, count, metavar="N",
               panel=SHOWN)  # fmt: skip
EXPAND = Option("expand", ("--expand",), "Open the folds with these numbers; alone, all of them.",
                (), folds, metavar="N|all", many=True, gather=_joined, alone="all",
                panel=SHOWN)  # fmt: skip
