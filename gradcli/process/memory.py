"""process: how much memory a run may take, and the system limit beneath that count.

The budget of the language asks for memory before it takes it. What slips through (a host library,
Python's parser) meets a limit of the system and becomes a MemoryError.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..diagnostics import LimitReached

STANDARD = 4 << 30
SPARE = 112 << 20  # bytes for NumPy and for what is not yet given back, beyond values
MAPPED = 1 << 30  # address space beyond that: libraries, stacks, mapped files
DRIVER = 1 << 30  # bytes of data that a GPU's driver takes, and the compiler of its kernels
KEPT = 32 << 20  # bytes of an array up to which its memory is used again
UNUSED = 256 << 20  # bytes that may lie unused for the next arrays where memory has no limit
NUMPY_MAPPED, NUMPY_DATA = 100 << 20, 52 << 20  # bytes without which NumPy does not start
FEW = 256 << 20  # bytes of addresses that NumPy may need before a program has any
MAPPINGS = 1 << 16  # of their own, that large arrays may have: glibc's standard
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4  # <malloc.h> of glibc


class Standard(int):
    """The default limit of memory, which jobs share."""


def standard(sharing: int = 1) -> int:
    """4 GiB, and at most half of what this process may have, shared by that many processes."""
    return max(1, min(STANDARD, *(have // 2 // max(sharing, 1) for have in _there())))


def _there() -> Iterator[int]:
    """Bytes of the machine, and of every control group around this process that has a limit."""
    try:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        yield 2 * STANDARD
    for line in _text("/proc/self/cgroup").splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if number == "0":
            yield from _group("/sys/fs/cgroup", path, "memory.max")
        elif "memory" in controllers.split(","):
            yield from _group("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes")


def _group(root: str, path: str, name: str) -> Iterator[int]:
    """The limits of a control group and of those around it; a container may see its own as /."""
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for depth in range(len(parts), -1, -1):
        found = _text("/".join([root, *parts[:depth], name])).strip()
        if found.isdigit():
            yield int(found)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 16)
    except OSError:
        return ""


@contextmanager
def bounded(limit: int, *, foreign: bool = False, trusted: bool = False) -> Iterator[None]:
    """Within it the process can hold so much more memory than now, and hardly more.

    A foreign library (PyTorch) has stores of its own, and addresses that hold nothing, for a GPU
    many: only data is limited then. A program that is trusted meets no limit that nobody set.
    """
    if trusted and isinstance(limit, Standard):
        yield
        return
    try:
        import resource
    except ImportError:
        yield
        return
    mapped, data = _now()
    if not (foreign or trusted or "numpy" in sys.modules):
        _look_at_start(mapped, data)
    wishes = [(resource.RLIMIT_DATA, data + limit + (MAPPED if foreign else SPARE))]
    if not foreign:
        wishes.append((resource.RLIMIT_AS, mapped + limit + MAPPED))
    before = [(kind, resource.getrlimit(kind)) for kind, _ in wishes]
    for (kind, wanted), (_, (_, hard)) in zip(wishes, before, strict=True):
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        try:
            resource.setrlimit(kind, (most, hard))
        except (ValueError, OSError, OverflowError):  # more than any machine has
            pass
    keep_freed()
    try:
        yield
    finally:
        for kind, limits in before:
            resource.setrlimit(kind, limits)


def _look_at_start(mapped: int, data: int) -> None:
    """NumPy's libraries end the process where they get too little, in words of their own."""
    import resource

    here = (resource.RLIMIT_AS, mapped, NUMPY_MAPPED), (resource.RLIMIT_DATA, data, NUMPY_DATA)
    for kind, has, needs in here:
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY and most - has < needs:
            raise reached(FEW)


def reached(limit: int) -> LimitReached:
    """The system gives no more memory: our limit, or its own where that is smaller."""
    for most, flag in _systems():
        if most < limit:
            return LimitReached(f"limit of {most:,} bytes", f"ulimit {flag}")
    return LimitReached(f"limit of {limit:,} bytes", "--max-memory")


def too_little() -> LimitReached | None:
    """The system's limit where libraries may fail for it, each with an error of its own."""
    return reached(FEW) if any(most < FEW for most, _ in _systems()) else None


def _systems() -> Iterator[tuple[int, str]]:
    """What this process was started with, and the flag that sets it."""
    try:
        import resource
    except ImportError:
        return
    for kind, flag in ((resource.RLIMIT_AS, "-v"), (resource.RLIMIT_DATA, "-d")):
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            yield most, flag


def allow_driver() -> None:
    """A GPU's driver gets what it needs: it reserves more addresses than any machine has memory,
    and does not start where they are limited. What holds data stays limited."""
    try:
        import resource
    except ImportError:
        return
    most, hard = resource.getrlimit(resource.RLIMIT_AS)
    if most == hard:
        return  # nothing limits addresses here, or a second call
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    most, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if most != hard:
        more = most + DRIVER if hard == resource.RLIM_INFINITY else min(most + DRIVER, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (more, hard))


def data_size() -> int:
    """Bytes of data that this process has now; 0 where the system does not say."""
    return _now()[1]


def left() -> int:
    """Bytes of data that the system still lets this process take; many where it sets no limit."""
    try:
        import resource
    except ImportError:
        return sys.maxsize
    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return sys.maxsize if most == resource.RLIM_INFINITY else most - _now()[1]


def peak() -> int:
    """The most bytes that lay in memory at once. What `getrusage` says begins with the process
    that started this one."""
    found = _text("/proc/self/status").partition("VmHWM:")[2].partition("kB")[0].strip()
    if found.isdigit():
        return int(found) << 10
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10


def _now() -> tuple[int, int]:
    """Bytes that are mapped, and those of them that hold data; 0 where the system does not say."""
    words = _text("/proc/self/statm").split()
    page = os.sysconf("SC_PAGE_SIZE") if words else 0
    return (int(words[0]) * page, int(words[5]) * page) if len(words) > 5 else (0, 0)


def _allocator(function: str, *numbers: int) -> None:
    """Calls a function of glibc's allocator, where the C library is glibc."""
    import ctypes  # NumPy has loaded it

    try:
        getattr(ctypes.CDLL(None), function)(*numbers)
    except (AttributeError, OSError, TypeError):
        pass


def keep_freed() -> None:
    """Memory of arrays is used again. By default glibc returns that of large ones to the system at
    once, and every page of the next one costs a fault: a sixth of a step of two residual blocks,
    a third of one of ten million numbers, nothing where arrays are small (LeNet).

    Where memory is limited those beyond KEPT go back all the same: what is free would count.
    """
    limited = _is_limited()
    _allocator("mallopt", M_MMAP_MAX, MAPPINGS if limited else 0)
    _allocator("mallopt", M_MMAP_THRESHOLD, KEPT)
    _allocator("mallopt", M_TRIM_THRESHOLD, KEPT if limited else UNUSED)


def _is_limited() -> bool:
    try:
        import resource
    except ImportError:
        return False
    kinds = resource.RLIMIT_AS, resource.RLIMIT_DATA
    return any(resource.getrlimit(kind)[0] != resource.RLIM_INFINITY for kind in kinds)


def give_back() -> None:
    """What is kept for later goes back to the system."""
    _allocator("malloc_trim", 0)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Nothing is collected: millions of objects grow that are no garbage, a tree or a list."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
