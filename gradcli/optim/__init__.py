"""Library: torch.optim: optimisers and learning-rate schedules. Loaded when a name is used."""

from __future__ import annotations

from ..lazy import lazy

_PLACES = {
    "optimizer": "Optimizer",
    "sgd": "SGD",
    "adam": "Adam AdamW Adamax NAdam RAdam",
    "scaled": "RMSprop Adagrad Adadelta",
    "rprop": "Rprop ASGD",
    "lbfgs": "LBFGS",
    "factored": "Adafactor Muon",
    "sparse_adam": "SparseAdam",
}
__all__, __getattr__ = lazy(__name__, _PLACES, ("lr_scheduler", "swa_utils"))
