"""Utils: torch.utils.data: data sets, samplers, loaders, batches."""

from __future__ import annotations

from ...lazy import lazy

_PLACES = {
    "collate": "default_collate default_convert",
    "dataloader": "DataLoader get_worker_info",
    "dataset": (
        "ChainDataset ConcatDataset Dataset IterableDataset StackDataset Subset TensorDataset "
        "random_split"
    ),
    "sampler": (
        "BatchSampler RandomSampler Sampler SequentialSampler SubsetRandomSampler "
        "WeightedRandomSampler"
    ),
}
__all__, __getattr__ = lazy(__name__, _PLACES)
