"""Inputs: values that come from the command line, and data from files; nothing here runs code.

Few programs ask for any: the names load their modules when they are used.
"""

from ..lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .assignments import Input, default_of, is_floating, parse_set, parse_value
    from .refused import InputError

    __all__ = ["Input", "InputError", "default_of", "is_floating", "parse_set", "parse_value"]
else:
    _PLACES = {
        "assignments": "Input default_of is_floating parse_set parse_value",
        "refused": "InputError",
    }
    __all__, __getattr__ = lazy(__name__, _PLACES)
