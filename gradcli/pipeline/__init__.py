"""pipeline: the corridor from text to facts; the only room that has seen every other.

bytes -> Source -> Program -> values of its inputs -> run -> Report. One function for each arrow.
"""

from .request import Limits, NotThere, Ran, Request, current_line
from .reports import grad_report, run_report, trace_report
from .run import execute

__all__ = [
    "Limits",
    "NotThere",
    "Ran",
    "Request",
    "current_line",
    "execute",
    "grad_report",
    "run_report",
    "trace_report",
]
