"""language: modules that need a network or processes: they import, and refuse when called.

Many programs import it for a branch that does not run. What only asks has its answer.
"""

from __future__ import annotations

from typing import Any

import numpy

from ...namespace.table import CONSTANTS
from ..builtins.types import host_type
from .publishing import functions


def _refusing(name: str, why: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{name} {why}; --engine torch runs the file by real Python, and trusts it"
        )

    return refuse


def _refusals(home: str, names: str, why: str) -> dict[str, Any]:
    return functions({name: _refusing(f"{home}.{name}", why) for name in names.split()})


class PackageNotFoundError(ImportError):
    _torch_name = "importlib.metadata.PackageNotFoundError"


def _version(distribution_name: str) -> str:
    """Of what a program has here."""
    if distribution_name == "torch":
        return str(CONSTANTS["__version__"])
    if distribution_name == "numpy":
        return numpy.__version__
    raise PackageNotFoundError(f"No package metadata was found for {distribution_name}")


def _no_group(*args: Any, **kwargs: Any) -> Any:
    """What needs a group of processes, which init_process_group makes."""
    raise ValueError(
        "Default process group has not been initialized, please make sure to call "
        "init_process_group."
    )


def _no_group_to_end(group: Any = None) -> None:
    raise AssertionError("Process group cannot be None")


_PROCESSES = "needs other processes, and a program here has one"
_NETWORK = "needs a network, and a program here has none"
MODULES: dict[str, Any] = {
    "torch.distributed": {
        **functions({
            "is_available": lambda: True, "is_initialized": lambda: False,
            "is_nccl_available": lambda: False, "is_gloo_available": lambda: True,
            "is_mpi_available": lambda: False, "is_torchelastic_launched": lambda: False,
        }),
        **_refusals("torch.distributed", "init_process_group", _PROCESSES),
        **functions({"destroy_process_group": _no_group_to_end}),
        **functions(dict.fromkeys(
            "barrier all_reduce all_gather broadcast reduce scatter gather send recv new_group "
            "get_rank get_world_size".split(), _no_group)),
    },
    "torch.nn.parallel": functions({"DistributedDataParallel": _no_group}),
    "torch.utils.data.distributed": functions({"DistributedSampler": _no_group}),
    "torch.multiprocessing": {
        **functions({"set_start_method": lambda method, force=False: None}),
        **_refusals("torch.multiprocessing", "spawn Process Pool Queue", _PROCESSES),
    },
    "multiprocessing": {
        **functions({
            "cpu_count": lambda: 1, "set_start_method": lambda method=None, force=False: None,
            "freeze_support": lambda: None,
        }),
        **_refusals("multiprocessing", "Process Pool Queue Manager Pipe", _PROCESSES),
    },
    "torch.hub": _refusals(
        "torch.hub", "load list help load_state_dict_from_url download_url_to_file", _NETWORK
    ),
    "importlib.metadata": {
        **functions({"version": _version}),
        "PackageNotFoundError": host_type(PackageNotFoundError),
    },
    "torch.utils.model_zoo": _refusals("torch.utils.model_zoo", "load_url", _NETWORK),
}  # fmt: skip
