"""Tasks of a comparison, and their outcomes."""

from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from warploom.kernels.hopper.plan import HOPPER

Device = Literal["cpu", "cuda"]


class AnyCase(Protocol):
    """Protocol of a random case, which the class `Case` of each kernel family satisfies."""

    @property
    def seed(self) -> int:
        """Seed of the case."""
        ...

    @property
    def number(self) -> int:
        """Number of the case among those of its seed."""
        ...

    @property
    def target(self) -> str:
        """Target of the kernel."""
        ...

    @property
    def kind(self) -> str:
        """Group of cases that a report counts together, such as `bf16 by bf16, sums f32`."""
        ...

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that the case uses."""
        ...

    @property
    def small(self) -> bool:
        """True if the emulator runs the case in a few seconds."""
        ...


C = TypeVar("C", bound=AnyCase)


@dataclass(frozen=True, slots=True)
class Task:
    """Case by seed and number, and the device to run it on."""

    seed: int
    number: int
    device: Device = "cuda"
    bits: bool = False  # also compare with the emulator, bit for bit
    target: str = HOPPER  # of the kernel, if the subject does not draw the target
    sanitize: bool = False  # the sanitizer watches the kernels on the emulator


@dataclass(frozen=True, slots=True)
class Outcome(Generic[C]):
    """Result of the comparison of one case."""

    case: C
    ratio: float = 0.0  # largest error of an element relative to float64, divided by the allowed error
    bits: bool = False
    inputs: str = ""  # SHA-256 of the inputs
    result: str = ""  # SHA-256 of the result
    wrong: str = ""  # message, or "" for a right result
    lost: bool = False  # True if the case gave no result

    def __str__(self) -> str:
        return f"{self.case}: {self.wrong or 'right'}"
