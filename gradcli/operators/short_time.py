"""Operators: the spectra of a signal's pieces."""

from __future__ import annotations

from typing import Any

from ..engine.operator import catalogue, composite, warn
from .conventions import native
from .fourier import BY_ROOT, NONE, complex_transform, from_real

_UNSAID = (
    "stft requires the return_complex parameter be given for real inputs, and will further require "
    "that return_complex=True in a future PyTorch release."
)
_PAIRS = (
    "stft with return_complex=False is deprecated. In a future pytorch release, stft will return "
    "complex tensors for all inputs, and return_complex=False will raise an error.\nNote: you can "
    "still call torch.view_as_real on the complex output to recover the old return format."
)


def _fitted(window: Any, input: Any, n_fft: int, win_length: int) -> Any:
    """The window in the middle of as many points as are transformed."""
    if win_length >= n_fft:
        return window
    call = catalogue.functions
    kind = input.dtype if window is None else window.dtype
    wide = call["zeros"](n_fft, dtype=kind, device=input.device)
    middle = wide.narrow(0, (n_fft - win_length) // 2, win_length)
    if window is None:
        middle.fill_(1)
    else:
        middle.copy_(window)
    return wide


def _check(shown: str, input: Any, n_fft: int, hop: int, win: int, window: Any) -> None:
    if input.ndim not in (1, 2):
        raise RuntimeError(f"{shown}: expected a 1D or 2D tensor")
    length = input.shape[-1]
    if n_fft <= 0 or n_fft > length:
        raise RuntimeError(f"{shown}: expected 0 < n_fft < {length}, but got n_fft={win}")
    if hop <= 0:
        raise RuntimeError(f"{shown}: expected hop_length > 0, but got hop_length={hop}")
    if win <= 0 or win > n_fft:
        raise RuntimeError(f"{shown}: expected 0 < win_length <= n_fft, but got win_length={win}")
    if window is not None and (window.ndim != 1 or window.shape[0] != win):
        raise RuntimeError(
            f"{shown}: expected a 1D window tensor of size equal to win_length={win}, but got "
            f"window with size {list(window.shape)}"
        )


def _spectra(
    input: Any, n_fft: int, hop: int, win: int, window: Any, normalized: bool,
    onesided: bool | None, return_complex: bool,
) -> Any:  # fmt: skip
    single = input.ndim == 1
    lines = input.unsqueeze(0) if single else input
    window = _fitted(window, lines, n_fft, win)
    count = 1 + (lines.shape[1] - n_fft) // hop
    row, step = lines.stride()
    pieces = lines.as_strided((lines.shape[0], count, n_fft), (row, hop * step, step))
    if window is not None:
        pieces = pieces.mul(window)
    scale = BY_ROOT if normalized else NONE
    if pieces.dtype.is_complex:
        out = complex_transform.run(pieces, (2,), scale, True)
    else:
        out = from_real.run(pieces, (2,), scale, onesided is not False)
    out.transpose_(1, 2)
    if single:
        out.squeeze_(0)
    return out if return_complex else catalogue.functions["view_as_real"](out)


def _stft(
    input: Any, n_fft: int, hop_length: int | None, win_length: int | None, window: Any,
    center: bool, pad_mode: str, normalized: bool, onesided: bool | None,
    return_complex: bool | None, align_to_window: bool | None,
) -> Any:  # fmt: skip
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        widened = [1] * (3 - input.ndim) + list(input.shape)
        sides = [n_fft // 2, n_fft // 2]
        padded = catalogue.functions["nn.functional.pad"](input.view(widened), sides, pad_mode)
        input = padded.view(padded.shape[-input.ndim :])
    if return_complex is None:
        complex_given = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
        if not complex_given:
            raise RuntimeError(_UNSAID)
        return_complex = True
    elif not return_complex:
        warn(_PAIRS)
    hop = n_fft >> 2 if hop_length is None else hop_length
    win = n_fft if win_length is None else win_length
    shown = f"stft({input.type()}{list(input.shape)}, n_fft={n_fft}, hop_length={hop}, " + (
        f"win_length={win}, window="
        + ("None" if window is None else f"{window.type()}{{{list(window.shape)}}}")
        + f", normalized={int(normalized)}, onesided="
        + ("None" if onesided is None else str(int(onesided)))
        + f", return_complex={int(return_complex)}) "
    )
    _check(shown, input, n_fft, hop, win, window)
    return _spectra(input, n_fft, hop, win, window, normalized, onesided, return_complex)


stft = composite(
    "stft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool center=True, str pad_mode='reflect', bool normalized=False, "
    "bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    native(_stft),
    where="torch method",
    doc="The discrete Fourier transforms of overlapping pieces of a signal.",
    samples=(
        "torch.stft(x.flatten(), 4, return_complex=True)",
        "torch.stft(x, 2, 1, window=v[:2], return_complex=True)",
        "torch.stft(x.flatten(), 4, 2, 2, center=False, normalized=True, return_complex=True)",
        "torch.stft(x.flatten(), 4, 2, 2, w[:2], onesided=False, return_complex=False)",
    ),
    errors=("torch.stft(x.flatten(), 4)", "torch.stft(x, 2, align_to_window=True)"),
)
