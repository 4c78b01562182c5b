"""Pictures of recorded speeds: GEMMs of random sizes, and attention, compared with NVIDIA's libraries."""

import json
from collections.abc import Iterable
from math import exp, log, log10
from pathlib import Path
from statistics import mean
from typing import Any

from warploom.view.svg import svg_document, svg_text

_RECORDS = Path(__file__).resolve().parents[4] / "tests/evidence/kernels_speed"
_FOLDER = "docs/images"
_WIDTH = 860
_COLORS = {"bf16": "k0", "f16": "k1", "e4m3": "k2", "s8": "k3"}
_STYLE = """\
  .title { font-size: 14px; font-weight: 600; }
  .k0 { fill: #1f77d0; } .k1 { fill: #e07b00; } .k2 { fill: #2c9a3c; } .k3 { fill: #8250df; }
  .ours { fill: #1f77d0; } .theirs { fill: #afb8c1; }
  .line { stroke: #d0d7de; stroke-width: 1; } .one { stroke: #1f2328; stroke-width: 1; }
"""
_DARK_STYLE = """\
  .k0 { fill: #58a6ff; } .k1 { fill: #f0a030; } .k2 { fill: #56d364; } .k3 { fill: #bc8cff; }
  .ours { fill: #58a6ff; } .theirs { fill: #6e7681; }
  .line { stroke: #30363d; } .one { stroke: #f0f6fc; }
"""


def texts() -> dict[str, str]:
    """Return the pictures as SVG, by their path in the repository."""
    return {
        f"{_FOLDER}/gemm_draw_h200.svg": _dots(_read("draw_h200.json")),
        f"{_FOLDER}/attention_h200.svg": _bars(_read("attention_h200.json")),
    }


def _read(name: str) -> dict[str, Any]:
    return json.loads((_RECORDS / name).read_text())


def _line(x1: float, y1: float, x2: float, y2: float, css_class: str = "line") -> str:
    return f'<line class="{css_class}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


def _average(ratios: Iterable[float]) -> float:
    return exp(mean(map(log, ratios)))


def _dots(record: dict[str, Any]) -> str:
    """Return a picture with a dot for each problem: its number of operations and the ratio of the speeds."""
    problems = [dict(zip(record["columns"], row, strict=True)) for row in record["problems"]]
    left, right, top, bottom = 56, _WIDTH - 16, 60, 400
    low, high, first, last = 0.6, 2.4, 6.0, 13.0  # ratios, and powers of ten of the operations

    def x_of(each: dict[str, Any]) -> float:
        count = 2.0 * each["m"] * each["n"] * each["k"] * max(each["batch"], 1)
        return left + (right - left) * (log10(count) - first) / (last - first)

    def y_of(ratio: float) -> float:
        return bottom - (bottom - top) * log(min(max(ratio, low), high) / low) / log(high / low)

    average = _average(each["ratio"] for each in problems)
    body = [svg_text(16, 24, f"Speed relative to cuBLASLt, {len(problems)} random problems on an H200", "title")]
    for number, (name, css_class) in enumerate(_COLORS.items()):
        body.append(f'<circle class="{css_class}" cx="{left + 6 + 70 * number}" cy="42" r="4"/>')
        body.append(svg_text(left + 14 + 70 * number, 46, name))
    body.append(svg_text(right, 46, f"geometric mean {average:.3f}", "", "end"))
    for ratio in (0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0):
        y = y_of(ratio)
        body += [
            _line(left, y, right, y, "one" if ratio == 1 else "line"),
            svg_text(left - 6, y + 4, f"{ratio:g}", "small", "end"),
        ]
    for power in range(int(first), int(last) + 1):
        x = left + (right - left) * (power - first) / (last - first)
        body.append(svg_text(x, bottom + 16, f"1e{power}", "small", "middle"))
    body.append(
        svg_text((left + right) / 2, bottom + 34, "operations (2 M N K for each matrix of a batch)", "", "middle")
    )
    for each in problems:
        css_class = _COLORS[each["kind"]]
        body.append(f'<circle class="{css_class}" cx="{x_of(each):.1f}" cy="{y_of(each["ratio"]):.1f}" r="3.2"/>')
    description = (
        "Each dot is a problem. Its height is the speed of wl.kernels.gemm, relative to the fastest algorithm of"
        f" cuBLASLt. The geometric mean is {average:.3f}."
    )
    return svg_document(
        (_WIDTH, bottom + 48), "Speed of random multiplications", description, _STYLE, _DARK_STYLE, body
    )


def _bars(record: dict[str, Any]) -> str:
    """Return a picture with two bars for each attention problem: the rates of both libraries."""
    results = record["results"]
    left, step, height, most = 250, 22, 8, max(max(each["ours"], each["cudnn"]) for each in results)
    scale = (_WIDTH - left - 120) / most
    body = [svg_text(16, 24, "Attention on an H200 in TFLOP/s, compared with cuDNN", "title")]
    for x, css_class, name in ((left, "ours", "wl.kernels"), (left + 110, "theirs", "cuDNN")):
        body += [f'<rect class="{css_class}" x="{x}" y="34" width="10" height="10"/>', svg_text(x + 14, 43, name)]
    y = 62.0
    for part in ("forward", "backward"):
        rows = [each for each in results if each["pass"] == part]
        average = _average(each["ratio"] for each in rows)
        body.append(svg_text(16, y + 10, f"{part}, geometric mean of the ratios {average:.3f}", "title"))
        y += step
        for each in rows:
            mask = "causal" if each["causal"] else "full"
            body.append(
                svg_text(left - 8, y + 11, f"head size {each['head']}, {mask}, {each['tokens']} tokens", "small", "end")
            )
            for number, (css_class, key) in enumerate((("ours", "ours"), ("theirs", "cudnn"))):
                place = f'x="{left}" y="{y + number * height:g}" width="{each[key] * scale:.1f}" height="{height}"'
                body.append(f'<rect class="{css_class}" {place}/>')
            longest = max(each["ours"], each["cudnn"]) * scale
            body.append(svg_text(left + longest + 6, y + 12, f"{each['ours']:.0f} ({each['ratio']:.2f})", "small"))
            y += step
        y += 10
    description = "For each problem, the rates of both libraries. The number in parentheses is the ratio of the rates."
    return svg_document((_WIDTH, round(y) + 8), "Speed of attention", description, _STYLE, _DARK_STYLE, body)
