"""Measure the parts of three launches of two kernels, and draw their shares.

    python docs/images/times.py docs/images/times.svg

The first launch starts with an empty cache, the second one is in a new process with the cache of the first one, and the
third one follows in the same process. The measured times are printed as a table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import warploom as wl
from warploom.runtime.launchfile import read_launch_file
from warploom.view.svg import svg_document, svg_text

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNELS = {"gemm_mma_sync.toml": "GEMM with mma.sync", "gemm_warp_specialised.toml": "GEMM with TMA and wgmma"}
LAUNCHES = ("first launch, empty cache", "first launch, filled cache", "second launch")
GROUPS = {
    "read and check": ("read and check",),
    "link": ("link",),
    "load native functions": ("load native functions",),
    "compile native functions": ("compile native functions",),
    "prepare arithmetic": ("prepare arithmetic",),
    "native code": ("native code",),
    "interpreter": ("interpreter",),
    "copies and rest": ("copy arguments", "rest of the launch"),
}
COLOURS = {
    "read and check": ("#4c8dd9", "#5b9be6"),
    "link": ("#9cc3ee", "#2f5f96"),
    "load native functions": ("#e8b95c", "#b98a2c"),
    "compile native functions": ("#d07c2e", "#d98b3f"),
    "prepare arithmetic": ("#b5524a", "#c4635b"),
    "native code": ("#3a9d5d", "#46ad6a"),
    "interpreter": ("#8b6fc0", "#9c82cf"),
    "copies and rest": ("#c4cad1", "#545c66"),
}
WIDTH, LEFT, TOP, ROW, BAR, HEADING, MARGIN = 960, 280, 84, 30, 18, 30, 16

Parts = dict[str, float]


def measure(name: str) -> None:
    """Print the parts of a launch and of its repetition in this process as JSON. Units: seconds."""
    plan = read_launch_file(EXAMPLES / name)
    found: list[Parts] = []
    for _ in range(2):
        arguments = plan.prepare().args
        began = time.perf_counter()
        run = wl.launch(plan.ptx, plan.kernel, **plan.keywords | {"workers": 1}, args=arguments)
        seconds = time.perf_counter() - began
        parts = run.stats.times.parts
        found.append(parts | {"rest of the launch": seconds - sum(parts.values())})
    print(json.dumps(found))  # noqa: T201


def launches(name: str) -> list[Parts]:
    """Return the parts of the three launches of a launch file."""
    with tempfile.TemporaryDirectory() as cache:
        settings = os.environ | {"WARPLOOM_CACHE": cache, "NUMBA_CACHE_DIR": cache}
        settings["OPENBLAS_NUM_THREADS"] = "1"  # idle threads of the reference would take time from the launch
        command = [sys.executable, __file__, "--measure", name]
        (first, _), (second, third) = (
            json.loads(subprocess.run(command, check=True, env=settings, stdout=subprocess.PIPE).stdout)  # noqa: S603
            for _ in range(2)
        )
    return [first, second, third]


def picture(measured: dict[str, list[Parts]]) -> str:
    """Return the picture as SVG."""
    y, body = TOP, [svg_text(MARGIN, 26, "Parts of a launch", "title"), *_legend()]
    for name, found in measured.items():
        y += HEADING
        body.append(svg_text(MARGIN, y - 8, KERNELS[name], "strong"))
        for launch, parts in zip(LAUNCHES, found, strict=True):
            body += _bar(y, launch, parts)
            y += ROW
    styles = ["", ""]
    for number, colours in enumerate(COLOURS.values()):
        for theme, colour in enumerate(colours):
            styles[theme] += f"  .part{number} {{ fill: {colour}; }}\n"
    description = " ".join(
        f"{KERNELS[name]}, {launch}: {_time(sum(parts.values()))}."
        for name, found in measured.items()
        for launch, parts in zip(LAUNCHES, found, strict=True)
    )
    title = "  .title { font-size: 16px; font-weight: 600; }\n"
    return svg_document((WIDTH, y + MARGIN), "Parts of a launch", description, title + styles[0], styles[1], body)


def _legend() -> Iterator[str]:
    for number, group in enumerate(GROUPS):
        x, y = MARGIN + 190 * (number % 5), 44 + 20 * (number // 5)
        yield f'<rect class="part{number}" x="{x}" y="{y}" width="12" height="12" rx="2"/>'
        yield svg_text(x + 18, y + 10, group)


def _bar(y: int, launch: str, parts: Parts) -> Iterator[str]:
    whole, x = sum(parts.values()), float(LEFT)
    yield svg_text(MARGIN + 12, y + 13, launch)
    yield svg_text(LEFT - 10, y + 13, _time(whole), "", "end")
    for number, (group, names) in enumerate(GROUPS.items()):
        seconds = sum(parts[name] for name in names)
        width = seconds / whole * (WIDTH - MARGIN - LEFT)
        title = f"<title>{group}: {_time(seconds)}</title>"
        yield f'<rect class="part{number}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}">{title}</rect>'
        x += width


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _table(measured: dict[str, list[Parts]]) -> Iterator[str]:
    for name, found in measured.items():
        yield f"{name}: {', '.join(LAUNCHES)} (ms)"
        for part in found[0]:
            yield f"  {part:<26}" + "".join(f"{1000 * each[part]:>10.1f}" for each in found)
        yield f"  {'all':<26}" + "".join(f"{1000 * sum(each.values()):>10.1f}" for each in found)


def main(arguments: Sequence[str]) -> None:
    """Measure the launches and write the picture, or measure one launch file in a child process."""
    if arguments[0] == "--measure":
        measure(arguments[1])
        return
    measured = {name: launches(name) for name in KERNELS}
    print(*_table(measured), sep="\n")  # noqa: T201
    Path(arguments[0]).write_text(picture(measured), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
