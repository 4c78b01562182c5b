"""The notebooks of examples/notebooks, run: their outputs are written into them, or compared with what is in them.

    python tools/make_notebooks.py            runs them and writes their outputs
    python tools/make_notebooks.py --check    runs them and says where their text is another; 1 where it is

Pictures are kept and not compared. One kernel runs the notebooks, which are quick once it is warm, one after another.
"""

# This script prints.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import asyncio
import difflib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "notebooks"
SECONDS = 300
_KEPT = ("text/html", "image/svg+xml", "text/markdown", "text/plain")
_COMPARED = ("text/plain", "text/markdown", "text/html")
_VERSION = 4


async def executed(path: Path, kernel: AsyncKernelManager) -> Any:
    """A notebook with the outputs of a run without the names of others. Errors: CellExecutionError."""
    notebook = nbformat.read(path, as_version=_VERSION)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    client = NotebookClient(notebook, km=kernel, timeout=SECONDS)
    await client.async_execute()
    client.kc.stop_channels()
    notebook.cells.pop(0)
    for cell in notebook.cells:
        _tidy(cell)
    return notebook


def _tidy(cell: Any) -> None:
    """Leave of a cell's outputs what is the same in every run, and of each the richest text."""
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
    """Outputs, with what was printed piece by piece as one."""
    before = None
    for output in outputs:
        if before is not None and output.output_type == "stream" and output.name == before.name:
            before.text += output.text
            continue
        before = output if output.output_type == "stream" else None
        yield output


def texts(notebook: Any) -> Iterator[str]:
    """What each output of a notebook says."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            yield output.get("text") or next((data[kind] for kind in _COMPARED if kind in data), "a picture")


async def _all(paths: list[Path]) -> list[Any]:
    with TemporaryDirectory() as sockets:
        kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(Path(sockets, "kernel")))
        await kernel.start_kernel(cwd=str(FOLDER), env=os.environ | {"PYTHONPATH": str(ROOT / "src")})
        try:
            return [await executed(path, kernel) for path in paths]
        finally:
            await kernel.shutdown_kernel(now=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the notebooks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args(arguments)
    paths = sorted(FOLDER.glob("*.ipynb"))
    try:
        fresh = asyncio.run(_all(paths))
    except CellExecutionError as error:
        print(error, file=sys.stderr)
        return 1
    differ = False
    for path, notebook in zip(paths, fresh, strict=True):
        if not options.check:
            nbformat.write(notebook, path)
            print(f"{path.name}: {path.stat().st_size >> 10} KiB")
            continue
        kept = nbformat.read(path, as_version=_VERSION)
        for before, after in zip(texts(kept), texts(notebook), strict=True):
            lines = difflib.unified_diff(
                before.splitlines(), after.splitlines(), path.name, "this run", lineterm="", n=1
            )
            for line in lines:
                differ = True
                print(line)
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
