"""language: the limits of a run; work is charged before it is done, and none is caught."""

from __future__ import annotations

import gc
import sys

from ..diagnostics import LimitReached
from ..engine.schema.mode import sequence_so_far
from ..process.deadline import Clock
from ..process.memory import give_back, reached

REFILL = 20_000  # steps between two looks at the clock and at memory
LOOK = 16 * 1024 * 1024  # bytes asked for between two looks at memory
LEVELS = 64  # of nested calls between two looks at memory: frames of the host are not asked for
GROWTH = 4  # a part of the memory limit: that much more, and garbage in cycles is looked for


def memory_in_use() -> tuple[int, int]:
    """Bytes that this process holds, and bytes it has mapped; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            mapped, held, *_ = file.read().split()
            return int(held) * 4096, int(mapped) * 4096
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return 0, 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    bytes_ = peak if sys.platform == "darwin" else peak * 1024
    return bytes_, bytes_


SPARE = 1 << 20  # bytes that are let go where the system gives no more


class Budget:
    """Steps, seconds, bytes, output, depth. `fuel` counts down and `refill` looks at the rest."""

    __slots__ = (
        "asked", "asked_before", "base_memory", "clock", "collect_at", "depth", "fuel",
        "has_generators", "look_at_depth", "max_asked", "max_depth", "max_memory", "max_nodes",
        "max_output", "max_steps", "missed", "first_node", "output", "steps_left", "spare",
        "taken", "timeout",
    )  # fmt: skip

    def __init__(
        self,
        *,
        max_steps: int = 100_000_000,
        max_memory: int = 4 * 1024**3,
        max_output: int = 16 * 1024**2,
        max_depth: int = 1000,
        max_nodes: int = 10_000_000,
        timeout: float = 60.0,
        max_asked: int = sys.maxsize,
    ) -> None:
        self.max_steps = max_steps
        self.max_memory = max_memory
        self.max_output = max_output
        self.max_depth = max_depth
        self.max_nodes = max_nodes
        self.timeout = timeout
        self.max_asked = max_asked
        self.start()

    def start(self) -> None:
        """Begin to count; a run does this first."""
        self.steps_left = self.max_steps
        self.has_generators = False  # whether one has begun, and may be there when the run is over
        self.fuel = self.taken = 0
        self.output = 0
        self.depth = self.look_at_depth = 0
        self.asked = self.asked_before = 0
        self.missed: BaseException | None = None  # raised where nothing could catch it
        self.spare: bytearray | None = None  # a small program touches none of it
        self.first_node = sequence_so_far()  # every node takes a number: their difference counts
        self.base_memory, mapped = memory_in_use()
        self.collect_at = mapped + self.max_memory // GROWTH
        self.clock = Clock(self.timeout)

    @property
    def steps(self) -> int:
        """How many steps were taken so far."""
        return self.max_steps - self.steps_left - max(self.fuel, 0)

    @property
    def asked_in_all(self) -> int:
        """How many bytes the program has asked for, those included that are free again."""
        return self.asked_before + self.asked

    def refill(self) -> None:
        """Fuel is used up: look at every limit that is not counted one by one."""
        self.look_at_missed()
        if self.fuel < 0:
            self.steps_left += self.fuel
        if self.steps_left <= 0 and self.fuel < 0:
            raise LimitReached(f"limit of {self.max_steps:,} steps", "--max-steps")
        self.clock.look()
        self.look_at_nodes()
        self.look_at_memory(0)
        self.look_at_depth = min(self.depth + LEVELS, self.max_depth)
        nodes_left = self.max_nodes - (sequence_so_far() - self.first_node)
        self.fuel = min(REFILL, self.steps_left, nodes_left // 8 + 1)  # more often towards the end
        self.steps_left -= self.fuel

    def look_at_missed(self) -> None:
        """Also when the program is over."""
        missed, self.missed = self.missed, None
        if missed is not None:
            raise missed

    def look_at_nodes(self) -> None:
        """Also when the program is over: its last statement may have made too many."""
        if sequence_so_far() - self.first_node > self.max_nodes:
            raise LimitReached(f"limit of {self.max_nodes:,} nodes", "--max-nodes")

    def charge(self, steps: int) -> None:
        """Take steps before the work of a builtin."""
        self.fuel -= steps
        if self.fuel < 0:
            self.refill()

    def charge_bytes(self, size: int) -> None:
        """Ask for memory before it is allocated."""
        if size > self.max_memory:
            raise self.memory_reached()
        self.asked += size
        if self.asked > LOOK or size > LOOK:
            self.asked_before += self.asked
            self.asked = 0
            if self.asked_before > self.max_asked:
                raise LimitReached(f"limit of {self.max_asked:,} bytes asked for in all", None)
            self.clock.look()
            self.look_at_memory(size)

    def look_at_memory(self, size: int) -> None:
        """Garbage in cycles is given back before a limit is declared to be reached."""
        held, mapped = memory_in_use()
        limit = self.base_memory + self.max_memory - size
        if held <= limit and mapped + size <= self.collect_at:
            self.spare = self.spare or bytearray(SPARE)
            return
        gc.collect()
        give_back()
        held, mapped = memory_in_use()
        if held > limit:
            raise self.memory_reached()
        self.collect_at = mapped + size + self.max_memory // GROWTH

    def charge_output(self, text: str) -> None:
        """Count what the program prints, in bytes."""
        self.output += len(text)
        if self.output <= self.max_output and not text.isascii():
            self.output += len(text.encode("utf-8", "replace")) - len(text)
        if self.output > self.max_output:
            raise LimitReached(f"limit of {self.max_output:,} bytes of output", "--max-output")

    def enter(self) -> None:
        """One call of a function of the program begins."""
        self.depth += 1
        if self.depth > self.look_at_depth:
            self.look_deeper()

    def look_deeper(self) -> None:
        """Calls are nested deeper than they were at the last look."""
        try:
            if self.depth > self.max_depth:
                raise self.depth_reached()
            self.look_at_memory(0)
        except LimitReached:
            self.depth -= 1
            raise
        self.look_at_depth = min(self.depth + LEVELS, self.max_depth)

    def memory_reached(self) -> LimitReached:
        self.spare = None  # reporting it needs some
        return LimitReached(f"limit of {self.max_memory:,} bytes", "--max-memory")

    def memory_refused(self) -> LimitReached:
        """The system gave less than was asked for."""
        self.spare = None
        return reached(self.max_memory)

    def stack_reached(self) -> LimitReached:
        """Python's own stack is full before so many calls are nested."""
        first = f"before that of {self.max_depth:,} nested calls"
        return LimitReached(f"limit of Python's stack ({first})", None)

    def depth_reached(self) -> LimitReached:
        return LimitReached(f"limit of {self.max_depth:,} nested calls", "--max-depth")
