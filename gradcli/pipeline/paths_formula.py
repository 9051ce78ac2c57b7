"""pipeline: the gradient as a formula in the names of the program."""
from typing import Any
def formula_of(*args: Any) -> Any:
    return None, ""
