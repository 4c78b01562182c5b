"""Base class of the maps from matrix elements to registers, shared memory and tensor memory."""

from typing import Any, ClassVar

from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.display import Displayed
from warploom.lazy_dataclass import dataclass


def read_only(*arrays: NDArray[Any]) -> None:
    """Make NumPy arrays read-only, in place."""
    for array in arrays:
        array.flags.writeable = False


@dataclass(frozen=True, eq=False, repr=False)
class ElementMap(Displayed):
    """Map from the elements of a matrix to their positions.

    `name` identifies the operand in messages. `legend` describes the map as in CuTe, `(T32,V4) -> (M16,N8)`.

    Units: `bits` is the width of an element with its padding.
    """

    display_kind: ClassVar[str] = "layout"

    name: str
    legend: str
    rows: int
    cols: int
    bits: int

    def check_element(self, row: int, col: int) -> None:
        """Raise UsageError if the matrix has no element (row, col)."""
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            raise UsageError(
                f"{self.name}: there is no element ({row}, {col}) in a matrix of {self.rows} by {self.cols}"
            )

    def cells(self) -> list[list[str]]:
        """Return one text for each element, by row and column, for the printed table."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.legend}>"

    def __str__(self) -> str:
        cells = self.cells()
        width = max((len(cell) for line in cells for cell in line), default=1)
        margin = len(str(self.rows - 1))
        header = " " * margin + "".join(f" {col:>{width}}" for col in range(self.cols))
        lines = [f"{row:>{margin}}" + "".join(f" {cell:>{width}}" for cell in line) for row, line in enumerate(cells)]
        return "\n".join([f"{self.name}  {self.legend}", *(line.rstrip() for line in [header, *lines])])
