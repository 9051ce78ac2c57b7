"""Operators: the spectra of a signal's pieces, and the signal of its spectra."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import catalogue, composite, warn
from ..conventions import native
from ..nn.padding import constant_pad_nd
from ..shape.select import slice_, unfold_backward
from .fourier import BY_COUNT, BY_ROOT, NONE, complex_transform, from_real, to_real

_UNSAID = (
    "stft requires the return_complex parameter be given for real inputs, and will further require "
    "that return_complex=True in a future PyTorch release."
)
_PAIRS = (
    "stft with return_complex=False is deprecated. In a future pytorch release, stft will return "
    "complex tensors for all inputs, and return_complex=False will raise an error.\nNote: you can "
    "still call torch.view_as_real on the complex output to recover the old return format."
)


_NO_WINDOW = (
    "A window was not provided. A rectangular window will be applied,{}To suppress this warning "
    "and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
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


def _kind_of(tensor: Any) -> str:
    """What C++ calls a tensor's type."""
    if tensor.device.type == "cpu":
        return str(tensor.dtype.type_word)
    return f"{tensor.device.type.upper()}{tensor.dtype.word}Type"


def _check(shown: str, input: Any, n_fft: int, hop: int, win: int, window: Any) -> None:
    if input.ndim not in (1, 2):
        raise RuntimeError(f"{shown}: expected a 1D or 2D tensor")
    if input.dtype.category < 2:
        raise RuntimeError(f"{shown}: expected a tensor of floating point or complex values")
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
    if window is None:
        warn(_NO_WINDOW.format(
            "which is known to cause spectral leakage. Other windows such as torch.hann_window or "
            "torch.hamming_window are recommended to reduce spectral leakage."
        ))  # fmt: skip
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
    shown = f"stft({_kind_of(input)}{list(input.shape)}, n_fft={n_fft}, hop_length={hop}, " + (
        f"win_length={win}, window="
        + ("None" if window is None else f"{_kind_of(window)}{{{list(window.shape)}}}")
        + f", normalized={int(normalized)}, onesided="
        + ("None" if onesided is None else str(int(onesided)))
        + f", return_complex={int(return_complex)}, align_to_window="
        + ("None" if align_to_window is None else str(int(align_to_window)))
        + ") "
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

# ---- back from spectra


def _check_spectra(
    shown: str, input: Any, n_fft: int, hop: int, win: int, window: Any, onesided: bool
) -> None:
    if not input.numel():
        raise RuntimeError(f"{shown}: input tensor cannot be empty.")
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"{shown}: expected a tensor with 3 or 4 dimensions, but got {input.ndim + 1}"
        )
    have = input.shape[-2]
    if have != (n_fft // 2 + 1 if onesided else n_fft):
        raise RuntimeError(
            f"{shown}: expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match n_fft{' / 2 + 1' if onesided else ''} when onesided={onesided}, but got {have}"
        )
    if not 0 < hop <= win:
        raise RuntimeError(f"{shown}: expected 0 < hop_length <= win_length")
    if not 0 < win <= n_fft:
        raise RuntimeError(f"{shown}: expected 0 < win_length <= n_fft")
    if window is not None and (window.ndim != 1 or window.shape[0] != win):
        raise RuntimeError(
            f"{shown}: Invalid window shape. window has to be 1D and length of `win_length`"
        )


def _pieces(input: Any, n_fft: int, normalized: bool, onesided: bool, return_complex: bool) -> Any:
    """The piece behind each spectrum."""
    scale, last = BY_ROOT if normalized else BY_COUNT, input.ndim - 1
    if return_complex:
        if onesided:
            raise RuntimeError(
                "Expected !onesided to be true, but got false.  (Could this error message be "
                "improved?  If so, please report an enhancement request to PyTorch.)"
            )
        return complex_transform.run(input, (last,), scale, False)
    if not onesided:
        input = slice_.run(input, -1, 0, n_fft // 2 + 1, 1)
    return to_real.run(input, (last,), scale, n_fft)


def _overlapped(pieces: Any, length: int, n_fft: int, hop: int) -> Any:
    return unfold_backward.run(pieces, (pieces.shape[0], length), 1, n_fft, hop)


def _istft(
    input: Any, n_fft: int, hop_length: int | None, win_length: int | None, window: Any,
    center: bool, normalized: bool, onesided: bool | None, length: int | None,
    return_complex: bool,
) -> Any:  # fmt: skip
    if window is None:
        warn(_NO_WINDOW.replace(",{}", ".{}").format(
            "Please provide the same window used by stft to make the inversion lossless."
        ))  # fmt: skip
    hop = n_fft >> 2 if hop_length is None else hop_length
    win = n_fft if win_length is None else win_length
    shown = _istft_call(input, n_fft, hop, win, window, center, normalized, onesided, length)
    if not input.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    call = catalogue.functions
    pairs = call["view_as_real"](input)
    onesided = (input.shape[-2] != n_fft) if onesided is None else onesided
    _check_spectra(shown, input, n_fft, hop, win, window, onesided)
    whole = n_fft + hop * (input.shape[-1] - 1)
    if window is None:
        window = call["ones"]((win,), dtype=pairs.dtype, device=input.device)
    if win != n_fft:
        left = (n_fft - win) // 2
        window = constant_pad_nd.run(window, (left, n_fft - win - left), 0)
    if input.ndim == 2:
        pairs = pairs.unsqueeze(0)
    spectra = _as_complex(pairs.transpose(1, 2))
    pieces = _pieces(spectra, n_fft, normalized, onesided, return_complex)
    signal = _overlapped(pieces * window.view([1, 1, n_fft]), whole, n_fft, hop)
    squares = window.pow(2).expand([1, pieces.shape[1], n_fft])
    envelope = _overlapped(squares, whole, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else -(n_fft // 2) if center else whole
    signal = slice_.run(signal, 1, start, end, 1)
    envelope = slice_.run(envelope, 1, start, end, 1)
    lowest = envelope.abs().min().lt(1e-11)
    if lowest.item():
        raise RuntimeError(f"{shown}window overlap add min: {int(lowest.item())}")
    signal = signal / envelope
    if input.ndim == 2:
        signal = signal.squeeze(0)
    if end > whole:
        warn(
            "The length of signal is shorter than the length parameter. Result is being padded "
            "with zeros in the tail. Please check your center and hop_length settings."
        )
        signal = constant_pad_nd.run(signal, (0, end - whole), 0)
    return signal


def _as_complex(pairs: Any) -> Any:
    """The same memory read as complex numbers where the parts lie side by side."""
    strides = pairs.stride()
    if strides[-1] != 1 or any(step % 2 for step in strides[:-1]):
        pairs = pairs.clone(memory_format=None)
    return catalogue.functions["view_as_complex"](pairs)


def _istft_call(
    input: Any, n_fft: int, hop: int, win: int, window: Any, center: bool, normalized: bool,
    onesided: bool | None, length: int | None,
) -> str:  # fmt: skip
    """The call as its errors begin."""
    sided = "None" if onesided is None else str(int(onesided))
    kind = "None" if window is None else f"{_kind_of(window)}{{{list(window.shape)}}}"
    return (
        f"istft({_kind_of(input)}{list(input.shape)}, n_fft={n_fft}, hop_length={hop}, "
        f"win_length={win}, window={kind}, center={int(center)}, normalized={int(normalized)}, "
        f"onesided={sided}, length={'None' if length is None else length}, return_complex=0) "
    )


istft = composite(
    "istft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, "
    "int? length=None, bool return_complex=False) -> Tensor",
    native(_istft),
    where="torch method",
    doc="The signal whose overlapping pieces have these discrete Fourier transforms.",
    samples=(
        "torch.istft(torch.stft(x.flatten(), 4, return_complex=True), 4)",
        "torch.istft(torch.stft(x, 2, 1, return_complex=True), 2, 1, window=p[0, :2])",
        "torch.istft(torch.complex(x, y).T, 4, length=7)",
    ),
    errors=(
        "torch.istft(x, 4)", "torch.istft(torch.complex(x, y), 7)",
        "torch.istft(torch.complex(x, y).T, 4, 5)",
    ),
)  # fmt: skip
