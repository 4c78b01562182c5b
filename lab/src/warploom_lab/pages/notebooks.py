"""Execution of the notebooks in examples/notebooks, to write or to compare their outputs."""

# nbformat and jupyter_client have no complete type information.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportOptionalMemberAccess=false

import asyncio
import difflib
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

REPOSITORY = Path(__file__).resolve().parents[4]
FOLDER = REPOSITORY / "examples" / "notebooks"
TIMEOUT = 300  # seconds for each cell
_KEPT = ("text/html", "image/svg+xml", "text/markdown", "text/plain")
# Pictures are not compared.
_COMPARED = ("text/plain", "text/markdown", "text/html")
_VERSION = 4


async def execute(path: Path, kernel: AsyncKernelManager) -> Any:
    """Return the notebook at a path after executing it in an empty namespace.

    Errors: CellExecutionError.
    """
    notebook = nbformat.read(path, as_version=_VERSION)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    client = NotebookClient(notebook, km=kernel, timeout=TIMEOUT)
    await client.async_execute()
    client.kc.stop_channels()
    notebook.cells.pop(0)
    for cell in notebook.cells:
        _tidy(cell)
    return notebook


def _tidy(cell: Any) -> None:
    """Remove the parts of a cell that vary between runs. Keep only the richest format of each output."""
    cell.metadata.clear()
    if cell.cell_type != "code":
        return
    cell.execution_count = None
    cell.outputs = list(_joined(cell.outputs))
    for output in cell.outputs:
        if "execution_count" in output:
            output.execution_count = None
        if "data" in output:
            best = next(kind for kind in _KEPT if kind in output.data)
            output.data = {best: output.data[best]}


def _joined(outputs: list[Any]) -> Iterator[Any]:
    """Yield outputs. Consecutive outputs to one stream are joined."""
    before = None
    for output in outputs:
        if before is not None and output.output_type == "stream" and output.name == before.name:
            before.text += output.text
            continue
        before = output if output.output_type == "stream" else None
        yield output


def texts(notebook: Any) -> Iterator[str]:
    """Yield the text of each output of a notebook."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            yield output.get("text") or next((data[kind] for kind in _COMPARED if kind in data), "a picture")


async def _execute_all(paths: list[Path]) -> list[Any]:
    with TemporaryDirectory() as sockets:
        kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(Path(sockets, "kernel")))
        await kernel.start_kernel(cwd=str(FOLDER), env=os.environ | {"PYTHONPATH": str(REPOSITORY / "src")})
        try:
            return [await execute(path, kernel) for path in paths]
        finally:
            await kernel.shutdown_kernel(now=True)


def run_all() -> dict[Path, Any]:
    """Execute all notebooks. Return the executed notebooks by their paths. Errors: CellExecutionError."""
    paths = sorted(FOLDER.glob("*.ipynb"))
    return dict(zip(paths, asyncio.run(_execute_all(paths)), strict=True))


def write(notebooks: dict[Path, Any]) -> None:
    """Write executed notebooks to their paths."""
    for path, notebook in notebooks.items():
        nbformat.write(notebook, path)


def differences(notebooks: dict[Path, Any]) -> Iterator[str]:
    """Yield the lines of a diff between the outputs in the files and those of executed notebooks."""
    for path, notebook in notebooks.items():
        recorded = nbformat.read(path, as_version=_VERSION)
        for before, after in zip(texts(recorded), texts(notebook), strict=True):
            yield from difflib.unified_diff(
                before.splitlines(), after.splitlines(), path.name, "this run", lineterm="", n=1
            )
