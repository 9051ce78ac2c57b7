"""Library: torch.nn.utils: gradients clipped, weights computed of others, sequences packed."""

from __future__ import annotations

from ...lazy import lazy

_PLACES = {
    "gradients": (
        "clip_grad_norm_ clip_grad_norm clip_grad_value_ get_total_norm clip_grads_with_norm_ "
        "parameters_to_vector vector_to_parameters"
    ),
    "weight_normalised": "weight_norm remove_weight_norm",
    "spectral_normalised": "spectral_norm remove_spectral_norm",
}
__all__, __getattr__ = lazy(__name__, _PLACES, ("rnn", "parametrize", "parametrizations", "prune"))
