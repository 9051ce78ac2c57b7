"""library: torch.nn.parallel: a module over several devices."""

from .data_parallel import DataParallel

__all__ = ["DataParallel"]
