"""Commands of the playground. Each returns an object for JSON."""

import json
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import warploom as wl
from warploom.diagnostics import Diagnostic, UsageError, WarploomError
from warploom.diagnostics.render import render_json
from warploom.isa.binding.layouts import complete, operands_of, select_operands
from warploom.isa.model.operand_layout import LayoutInputs
from warploom.runtime.launchfile import parse_launch_file
from warploom.view.layout_grid import grid_of
from warploom.view.layout_pictures import layout_svg

SHOWN = 8
"""Number of elements at the beginning of a buffer that the page shows."""
MEMORY = 256 << 20
"""Largest size of all buffers of a run. Units: bytes."""


def answer(command: str, *arguments: str) -> str:
    """Return the result of a command as JSON. `diagnostics` are those of the result, or of the refusal."""
    began = perf_counter()
    try:
        found = {"check": check, "layout": layout, "run": run}[command](*arguments)
    except WarploomError as error:
        found = {"refused": True, "diagnostics": error.diagnostics}
    found["seconds"] = perf_counter() - began
    found["diagnostics"] = json.loads(render_json(found.get("diagnostics", ())))
    return json.dumps(found, default=str)


def check(ptx: str) -> dict[str, Any]:
    """Check a PTX text."""
    diagnostics: tuple[Diagnostic, ...] = tuple(wl.check(wl.parse(ptx, "kernel.ptx")))
    return {"diagnostics": diagnostics, "lines": len(ptx.splitlines())}


def layout(instruction: str) -> dict[str, Any]:
    """Return pictures of the layouts of an instruction's operands, as SVG."""
    completed = complete(instruction)
    opcode = completed[0] if completed else instruction
    operands = select_operands(operands_of(opcode), LayoutInputs())
    pictures = [(each.name, layout_svg(grid_of(each.name, each.map(LayoutInputs())))) for each in operands]
    return {"instruction": opcode, "pictures": [{"operand": name, "svg": svg} for name, svg in pictures]}


def run(ptx: str, launch: str) -> dict[str, Any]:
    """Check a PTX text and run it, as a launch file states."""
    report = wl.check(wl.parse(ptx, "kernel.ptx"))
    if not report.ok:
        return {"refused": True, "diagnostics": tuple(report)}
    for name, text in (("kernel.ptx", ptx), ("launch.toml", launch)):
        Path(name).write_text(text, "utf-8")
    plan = parse_launch_file(launch, "launch.toml", Path())
    if plan.ptx != Path("kernel.ptx"):
        raise UsageError(f'kernel.file is {str(plan.ptx)!r}; expected "kernel.ptx", the text on this page')
    prepared = plan.prepare(MEMORY)
    schedule = plan.geometry.schedule or "eager"
    result = wl.launch(plan.ptx, plan.kernel, **plan.keywords, args=prepared.args, schedule=schedule, raises=False)
    comparison = prepared.compare()
    return {
        "diagnostics": (*tuple(report), *result.findings),
        "failed": result.error is not None or (comparison is not None and not comparison.ok),
        "comparison": comparison.sentence if comparison and result.error is None else "",
        "output": result.output,
        "counts": dict(sorted(result.stats.instructions.items(), key=lambda item: -item[1])),
        "ctas": result.stats.ctas,
        "buffers": [
            {"name": name, "dtype": array.dtype.name, "shape": list(array.shape), "first": _first(array)}
            for name, array in prepared.arrays.items()
        ],
    }


def _first(array: np.ndarray[Any, Any]) -> str:
    shown = array.ravel()[:SHOWN]
    text = np.array2string(shown, precision=6, separator=", ", max_line_width=200)
    return text if array.size <= SHOWN else f"{text[:-1]}, …]"
