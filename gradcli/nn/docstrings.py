"""Library: docstrings of the classes of torch.nn, assembled when one is read."""

from __future__ import annotations

from typing import Any

DIMENSIONS = {
    "1": {"n": "1", "sizes": "L", "out": "L_out", "kernel": "K"},
    "2": {"n": "2", "sizes": "H, W", "out": "H_out, W_out", "kernel": "K_h, K_w"},
    "3": {"n": "3", "sizes": "D, H, W", "out": "D_out, H_out, W_out", "kernel": "K_d, K_h, K_w"},
}
RECURRENT = ("input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, "
             "bidirectional=False")  # fmt: skip
CALLS = {
    "RNN": f"{RECURRENT}, nonlinearity='tanh'", "GRU": RECURRENT,
    "LSTM": f"{RECURRENT}, proj_size=0", "Module": "", "Parameter": "data=None, requires_grad=True",
}  # fmt: skip


class Description:
    """The docstring of a class, made when it is read."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def __get__(self, instance: Any, owner: type) -> str:
        return described(self.cls)


def describe(found: Any) -> None:
    """Gives a class of torch.nn its docstring."""
    if isinstance(found, type):
        found.__doc__ = Description(found)


def described(cls: type) -> str:
    """Call, sentence, shapes and arguments of a class."""
    from .argument_texts import ARGUMENTS
    from .descriptions import CLASSES

    name = cls.__name__
    words = {}
    if name not in CLASSES:
        words = DIMENSIONS[name[-2]]
        name = f"{name[:-2]}{{n}}d"
    sentence, shapes = (_filled(text, words) for text in CLASSES[name])
    call = CALLS.get(cls.__name__)
    if call is None:
        call = _call(cls)
    lines = [f"{cls.__name__}({call})", "", sentence, "", f"Shapes: {shapes}."]
    names = [one.partition("=")[0].strip() for one in _split(call)]
    rows = [(one, ARGUMENTS[one]) for one in names if one in ARGUMENTS]
    if rows:
        width = max(len(one) for one, _ in rows)
        lines += ["", "Arguments:", *(f"    {one:{width}}  {text}" for one, text in rows)]
    return "\n".join(lines)


def _filled(text: str, words: dict[str, str]) -> str:
    for word, filled in words.items():
        text = text.replace(f"{{{word}}}", filled)
    return text


def _call(cls: Any) -> str:
    """The arguments as a call has them, without types."""
    settings = getattr(cls, "SETTINGS", None)
    if settings is not None:
        from .configured import REQUIRED

        return ", ".join(n if v is REQUIRED else f"{n}={v!r}" for n, v in settings)
    import inspect

    found = inspect.signature(cls.__init__).parameters.values()
    every = [one.replace(annotation=one.empty) for one in found if one.name != "self"]
    if all(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in every):
        return "*modules" if cls.__name__ == "Sequential" else ""
    return ", ".join(map(str, every))


def _split(call: str) -> list[str]:
    """The arguments of a call; a tuple has commas of its own."""
    parts, depth = [""], 0
    for character in call:
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts
