"""Progress and statistics of a run on the emulator."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run. Units: `seconds` since the start; `instructions` counts warp instructions."""

    ctas_done: int
    ctas_total: int
    macs: int
    instructions: int
    seconds: float


@dataclass(slots=True)
class Stats:
    """Statistics of a run. `instructions` counts warp instructions by instruction family."""

    instructions: dict[str, int] = field(default_factory=dict[str, int])
    macs: int = 0
    seconds: float = 0.0
    ctas: int = 0
    batches: int = 0  # executed batches of warps
    spent: int = 0  # used part of the step budget
