"""Engine: PyTorch's module of each class of the library, as `print(type(x))` shows it."""

from __future__ import annotations

# Of our rooms, where one room is one of PyTorch's modules.
ROOMS = {
    "convolution": "conv", "sequences": "rnn", "recurrent": "rnn", "multihead": "activation",
    "resampling": "padding", "unpooling": "pooling",
}  # fmt: skip
# Classes that PyTorch keeps in a module of their own.
OWN = {
    "Embedding": "sparse", "EmbeddingBag": "sparse", "Flatten": "flatten", "Unflatten": "flatten",
    "Fold": "fold", "Unfold": "fold", "PixelShuffle": "pixelshuffle",
    "PixelUnshuffle": "pixelshuffle", "ChannelShuffle": "channelshuffle",
    "CosineSimilarity": "distance", "PairwiseDistance": "distance",
}  # fmt: skip
STARTS = {
    "LazyLinear": "linear",
    "LazyConv": "conv",
    "LazyBatchNorm": "batchnorm",
    "BatchNorm": "batchnorm",
    "SyncBatchNorm": "batchnorm",
    "NormBase": "batchnorm",
    "InstanceNorm": "instancenorm",
    "Upsampl": "upsampling",
}
ROOMS_OF_THEIR_OWN = frozenset("utils init parameter parallel attention".split())  # of torch.nn
SCHEDULES = frozenset({"schedule", "cyclic", "one_cycle", "lr_scheduler"})


def torch_module_of(room: str, name: str) -> str:
    """PyTorch's module for a class of a room such as `nn.linear`."""
    package, _, inner = room.partition(".")
    if package == "nn" and inner.partition(".")[0] not in ROOMS_OF_THEIR_OWN:
        bare = name.lstrip("_")
        own = next((home for start, home in STARTS.items() if bare.startswith(start)), None)
        return f"torch.nn.modules.{OWN.get(name) or own or ROOMS.get(inner, inner)}"
    if package == "optim":
        if inner == "swa_utils":
            return "torch.optim.swa_utils"
        if inner in SCHEDULES:
            return "torch.optim.lr_scheduler"
        if inner == "factored":
            return "torch.optim"
        if inner == "sparse_adam":
            return "torch.optim.sparse_adam"
        return f"torch.optim.{'optimizer' if inner == 'optimizer' else name.lower()}"
    if room == "engine.schema.mode":
        return f"torch.autograd.{'anomaly_mode' if 'anomaly' in name else 'grad_mode'}"
    return f"torch.{room}"
