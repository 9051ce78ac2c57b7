"""Live: while PyTorch compiles, rewritten functions run the program's own code: what a compiler
reads must not contain what a recording has planted."""

from __future__ import annotations

import ast
import gc
import sys
from types import CodeType, FunctionType
from weakref import WeakSet

from .functions import is_alike, place_of
from .text import Text, codes_of


class OwnCode:
    """Gives the functions of a text their own code, and the rewritten one back."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.functions: WeakSet[FunctionType] = WeakSet()
        self.counts: dict[int, int] = {}  # references to rewritten code at the last search
        self.own: dict[int, CodeType] = {}  # by the identity of the rewritten one
        self.told: dict[int, CodeType] = {}  # by the identity of the program's own

    def give(self) -> None:
        """From here on they run their own."""
        self._find()
        _exchange(self.functions, self.own)

    def take(self) -> None:
        """They run what is rewritten."""
        _exchange(self.functions, self.told)

    def _find(self) -> None:
        """The functions that there are now; nothing where none has come up since the last time."""
        found = {number: sys.getrefcount(code) for number, code in self.text.told.items()}
        more = [self.text.told[number] for number, count in found.items()
                if count > self.counts.get(number, 0)]  # fmt: skip
        self.counts = found
        if not more:
            return
        if len(self.own) < len(found):
            self._pair()
        self.functions.update(
            one for one in gc.get_referrers(*more)
            if type(one) is FunctionType and id(one.__code__) in self.own
        )  # fmt: skip

    def _pair(self) -> None:
        """Rewritten code and the program's own that stands at the same place."""
        tree = ast.Module(list(self.text.tree.body), [])
        whole = compile(tree, self.text.filename, "exec", dont_inherit=True)
        files = (whole, *self.text.plain)
        plain = {(code.co_filename, place_of(code)): code
                 for file in files for code in codes_of(file)}  # fmt: skip
        for number, code in self.text.told.items():
            own = plain.get((code.co_filename, place_of(code)))
            if number not in self.own and own is not None and is_alike(code, own):
                self.own[number], self.told[id(own)] = own, code


def _exchange(functions: WeakSet[FunctionType], codes: dict[int, CodeType]) -> None:
    for function in functions:
        code = codes.get(id(function.__code__))
        if code is not None:
            function.__code__ = code
