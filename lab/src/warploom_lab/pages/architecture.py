"""Pictures in `docs/architecture.md`: the layers of Warploom, and the path of a launch."""

import inspect
import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from warploom.view.svg import svg_document, svg_text

REPOSITORY = Path(__file__).resolve().parents[4]
LAYERS_PICTURE = "docs/images/layers.svg"
LAUNCH_PICTURE = "docs/images/launch.svg"


def texts() -> dict[str, str]:
    """Return both pictures as SVG, by their path in the repository."""
    return {LAYERS_PICTURE: _layers_picture(), LAUNCH_PICTURE: _launch_picture()}


# Layers -----------------------------------------------------------------------------------------------------

_WIDTH, _MARGIN, _GAP, _INSET = 960, 16, 8, 10
_TOP, _LEFT, _HEADING = 60, 44, 24
_LETTER, _LINE = 5.7, 15  # width of a small letter and height of a line, in pixels

_LAYERS_STYLE = """\
  .title { font-size: 16px; font-weight: 600; }
  .name { font: 600 13px ui-monospace, monospace; }
  .summary { font-size: 11px; fill: #59636e; }
  .arrow { stroke: #59636e; stroke-width: 1.5; fill: none; }
  .head { fill: #59636e; }
  .package, .part { stroke-width: 1; }
  .part { fill: #ffffff; stroke: #c4cdd6; }
"""
_LAYERS_DARK_STYLE = """\
  .summary { fill: #a5afba; }
  .arrow { stroke: #9198a1; }
  .head { fill: #9198a1; }
  .part { fill: #0d1117; stroke: #3d444d; }
"""


def layers(container: str = "warploom") -> list[list[str]]:
    """Return the packages of each layer, as lists of names from the highest layer to the lowest.

    The list is empty if pyproject.toml does not order the modules of the package `container`.
    """
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in project["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers" and container in contract["containers"]:
            return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]
    return []


def _layers_picture() -> str:
    y, body = _TOP, [svg_text(_LEFT, 28, "Packages of warploom", "title")]
    body.append(svg_text(_LEFT, 46, "A module imports from lower layers only.", "summary"))
    found = layers()
    for number, names in enumerate(found):
        each = (_WIDTH - _LEFT - _MARGIN - _GAP * (len(names) - 1)) / len(names)
        boxes = [_Package(f"warploom.{name}", each) for name in names]
        height = max(box.height for box in boxes)
        for position, box in enumerate(boxes):
            body += box.draw(_LEFT + position * (each + _GAP), y, height, f"layer{number}")
        y += height + _GAP
    bottom, x = y - _GAP, _LEFT - 18
    body.append(f'<path class="arrow" d="M{x} {_TOP + 2}V{bottom - 8}"/>')
    body.append(f'<path class="head" d="M{x - 5} {bottom - 9}h10l-5 9z"/>')
    body.append(
        f'<text class="summary" transform="translate({x - 8} {(_TOP + bottom) // 2}) rotate(-90)" '
        'text-anchor="middle">imports</text>'
    )
    hues = [round(215 + 150 * number / len(found)) % 360 for number in range(len(found))]
    light, dark = (
        "\n".join(
            f"  .layer{number} {{ fill: hsl({hue} {fill}); stroke: hsl({hue} {stroke}); }}"
            for number, hue in enumerate(hues)
        )
        for fill, stroke in (("70% 96%", "40% 78%"), ("28% 15%", "26% 32%"))
    )
    description = "From the highest layer to the lowest: " + "; ".join(", ".join(names) for names in found) + "."
    return svg_document(
        (_WIDTH, bottom + _MARGIN),
        "Layers of warploom",
        description,
        _LAYERS_STYLE + light,
        _LAYERS_DARK_STYLE + dark,
        body,
    )


class _Package:
    """Box of one package in the picture. Units: pixels."""

    def __init__(self, module: str, width: float) -> None:
        self.width = width
        self.name = module.rpartition(".")[2] + ("/" if _is_package(module) else ".py")
        self.summary = textwrap.wrap(summary(module), int((width - 2 * _INSET) / _LETTER))
        self.heading = _HEADING + _LINE * len(self.summary) + 6
        # The box contains the boxes of the package's own layers.
        self.parts = [[_Package(f"{module}.{name}", width - 2 * _INSET) for name in names] for names in layers(module)]
        inner = sum(parts[0].height + _GAP for parts in self.parts)
        self.height = self.heading + (inner + 2 if inner else 0)

    def draw(self, x: float, y: float, height: float, css_class: str) -> Iterator[str]:
        """Yield the SVG elements of the box with its corner at (x, y)."""
        kind = "part" if css_class == "part" else f"package {css_class}"
        yield f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{self.width:g}" height="{height:g}" rx="6"/>'
        yield svg_text(x + _INSET, y + 19, self.name, "name")
        for number, line in enumerate(self.summary):
            yield svg_text(x + _INSET, y + 36 + _LINE * number, line, "summary")
        y += self.heading
        for (part,) in self.parts:
            yield from part.draw(x + _INSET, y, part.height, "part")
            y += part.height + _GAP


def summary(module: str) -> str:
    """Return the first sentence of a module's docstring."""
    first = (inspect.getdoc(_imported(module)) or "").split("\n\n")[0].replace("\n", " ")
    return first.split(". ")[0].rstrip(".").replace("`", "")


def _imported(module: str) -> ModuleType:
    return import_module(module)


def _is_package(module: str) -> bool:
    return hasattr(_imported(module), "__path__")


# Path of a launch -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """Step of a launch: a module of warploom, its task, and the module that calls it.

    `interface` is the module that declares the called interface, or empty for a direct call. `through` is a module
    between the caller and the called module, or empty.
    """

    module: str
    task: str
    caller: str = ""
    interface: str = ""
    through: str = ""


SHARED_PATH = (
    Step("runtime.api", "Receive the call and check its options."),
    Step("runtime.kernel", "Load the kernel from a text, a file, a module or a Python function.", "runtime.api"),
    Step("ptx.parser", "Parse the text into a tree. Opcodes are plain words here.", "runtime.kernel"),
    Step("isa.model.signature", "Read the entry, its parameters and its directives.", "runtime.kernel"),
    Step("runtime.limits", "Check grid, block, cluster and shared memory.", "runtime.api"),
    Step("runtime.arguments", "Turn Python values into buffers and parameters.", "runtime.api"),
)
CPU_PATH = (
    Step("runtime.cpu", "Put the arguments into the emulator's memory.", "runtime.api"),
    Step("emulator.loader", "List the instructions of all functions.", "runtime.cpu", through="runtime.kernel"),
    Step("isa.binding.bind", "Match each instruction to a row of a Form.", "emulator.loader"),
    Step("emulator.execute", "Initialise memory, and divide the grid among threads.", "runtime.cpu"),
    Step("emulator.wave_run", "Run waves of resident CTAs one after the other.", "emulator.execute"),
    Step("emulator.kept_emulators", "Keep emulators for later launches.", "emulator.wave_run"),
    Step("emulator.executable", "Link the program for the resident CTAs.", "emulator.kept_emulators"),
    Step("emulator.link", "Resolve names to registers and addresses.", "emulator.executable"),
    Step("emulator.native", "Compile and load native functions.", "emulator.executable"),
    Step("emulator.emulator", "Execute basic blocks over batches of warps.", "emulator.wave_run"),
    Step("isa.instructions", "Compute the semantics of one instruction.", "emulator.emulator", "isa.model.form"),
    Step("numerics", "Compute sums and conversions, bit for bit.", "isa.instructions"),
    Step("emulator.warps", "Read and write registers and memory.", "emulator.emulator"),
    Step("emulator.events", "Emit typed events to the observers.", "emulator.emulator"),
    Step("observe", "Sanitize, trace and profile the run.", "emulator.events", "emulator.events"),
    Step("runtime.run", "Return statistics, findings, trace and profile.", "runtime.cpu"),
)
GPU_PATH = (
    Step("runtime.cuda", "Choose the GPU and the stream.", "runtime.api"),
    Step("gpu.device", "Hold the memory and the kernels of the GPU.", "runtime.cuda"),
    Step("gpu.assemble", "Assemble the PTX with the driver or ptxas.", "gpu.device"),
    Step("gpu.prepared", "Pack the arguments; launch with one driver call.", "gpu.device"),
    Step("gpu.tensormap", "Let the driver encode tensor maps.", "gpu.prepared"),
    Step("gpu.driver", "Report a fault of the device.", "gpu.device"),
    Step("runtime.run", "Return the assembler's findings.", "runtime.cuda"),
)

_ROW, _INDENT, _BADGE = 40, 26, 11
_PANEL = (_WIDTH - 2 * _MARGIN - 24) // 2

_LAUNCH_STYLE = """\
  .title { font-size: 14px; font-weight: 600; }
  .name { font: 600 12.5px ui-monospace, monospace; }
  .summary { font-size: 11.5px; fill: #59636e; }
  .panel { stroke-width: 1; }
  .badge { stroke: none; }
  .number { font-size: 11px; font-weight: 600; fill: #ffffff; }
  .call { fill: none; stroke: #8c959f; stroke-width: 1.5; }
  .interface { stroke-dasharray: 4 3; }
  .shared { fill: #f6f8fa; stroke: #c4cdd6; } .shared-badge { fill: #57606a; }
  .cpu { fill: #eef5ff; stroke: #a9c7ef; } .cpu-badge { fill: #2563b8; }
  .gpu { fill: #eefaf0; stroke: #a5d6b0; } .gpu-badge { fill: #1f7a3d; }
"""
_LAUNCH_DARK_STYLE = """\
  .summary { fill: #a5afba; }
  .call { stroke: #6e7681; }
  .number { fill: #ffffff; }
  .shared { fill: #161b22; stroke: #3d444d; }
  .cpu { fill: #10203a; stroke: #2b4a78; }
  .gpu { fill: #10281a; stroke: #2a5c3b; }
"""


def _launch_picture() -> str:
    panel_top = _MARGIN + _panel_height(SHARED_PATH) + 34
    height = panel_top + max(_panel_height(CPU_PATH), _panel_height(GPU_PATH)) + _MARGIN + 22
    right = _WIDTH - _MARGIN - _PANEL
    fork, middle = panel_top - 34, panel_top - 17
    start, ends = _WIDTH // 2, (_MARGIN + _PANEL // 2, right + _PANEL // 2)
    body = [f'<path class="call" d="M{start} {fork}V{middle}H{end}V{panel_top}"/>' for end in ends]
    body += _panel(_MARGIN, _MARGIN, _WIDTH - 2 * _MARGIN, "Every launch", "shared", SHARED_PATH, 1)
    following = len(SHARED_PATH) + 1
    body += _panel(_MARGIN, panel_top, _PANEL, 'device="cpu"', "cpu", CPU_PATH, following)
    body += _panel(right, panel_top, _PANEL, 'device="cuda"', "gpu", GPU_PATH, following)
    legend = height - 12
    body.append(f'<path class="call" d="M{_MARGIN} {legend - 4}h28"/>')
    body.append(svg_text(_MARGIN + 36, legend, "call of an imported module", "summary"))
    body.append(f'<path class="call interface" d="M{_MARGIN + 220} {legend - 4}h28"/>')
    body.append(svg_text(_MARGIN + 256, legend, "call through an interface: nothing is imported upward", "summary"))
    description = " ".join(
        f"{title}: {', '.join(_file(step.module) for step in path)}."
        for title, path in (("Every launch", SHARED_PATH), ("On the CPU", CPU_PATH), ("On a GPU", GPU_PATH))
    )
    return svg_document(
        (_WIDTH, height), "Path of a launch", description, _LAUNCH_STYLE, _LAUNCH_DARK_STYLE, body
    )  # fmt: skip


def _panel_height(steps: Sequence[Step]) -> int:
    return 38 + _ROW * len(steps) + 6


def _panel(
    x: int, y: int, width: int, title: str, css_class: str, steps: Sequence[Step], first: int
) -> Iterator[str]:  # fmt: skip
    """Yield the SVG elements of a panel that lists steps as a tree of calls.

    `first` is the number of the first step. Units: pixels.
    """
    yield f'<rect class="panel {css_class}" x="{x}" y="{y}" width="{width}" height="{_panel_height(steps)}" rx="8"/>'
    yield svg_text(x + 16, y + 24, title, "title")
    places: dict[str, tuple[int, int]] = {}
    dots: list[str] = []
    for row, step in enumerate(steps):
        above = places.get(step.caller)
        left = x + 28 if above is None else above[0] + _INDENT
        centre = y + 38 + _ROW * row + _ROW // 2
        if above is not None:
            dashed = " interface" if step.interface else ""
            yield f'<path class="call{dashed}" d="M{above[0]} {above[1] + _BADGE}V{centre}H{left - _BADGE}"/>'
        places[step.module] = left, centre
        dots.append(f'<circle class="badge {css_class}-badge" cx="{left}" cy="{centre}" r="{_BADGE}"/>')
        dots.append(svg_text(left, centre + 4, first + row, "number", "middle"))
        dots.append(svg_text(left + 20, centre - 3, _file(step.module), "name"))
        dots.append(svg_text(left + 20, centre + 12, step.task, "summary"))
    yield from dots


def _file(module: str) -> str:
    return module.replace(".", "/") + ("/" if _is_package(f"warploom.{module}") else ".py")
