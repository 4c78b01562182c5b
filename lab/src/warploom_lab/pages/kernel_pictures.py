"""Pictures of the Hopper kernels in the documentation: tiles, roles, waves and masks.

The sizes are those of plans. The positions of tiles and blocks are results of the kernels' own code on the emulator.
"""

# Annotations of a kernel's parameters are PTX types.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from warploom.author import bounds, kernel, new, pointer, special, u32
from warploom.kernels.attention_tiles import Sizes, TilePosition
from warploom.kernels.hopper.attention_plan import AttentionPlan, plan_for
from warploom.kernels.hopper.plan import HOPPER, SPAN, Plan, Tile
from warploom.kernels.plan import position_in_plane
from warploom.view.svg import svg_document, svg_text

FOLDER = "docs/images"
_MULTIPROCESSORS = 132  # of an H200
_WIDTH = 860
_STYLE = """\
  .title { font-size: 14px; font-weight: 600; }
  .box { stroke: #57606a; stroke-width: 1; }
  .k0 { fill: #cfe3ff; } .k1 { fill: #ffdfb8; } .k2 { fill: #cdeccf; } .k3 { fill: #e6d5fa; }
  .plain { fill: #eaeef2; } .none { fill: none; }
  .frame { fill: none; stroke: #1f2328; stroke-width: 2; }
"""
_DARK_STYLE = """\
  .box { stroke: #9198a1; }
  .k0 { fill: #1d3f6e; } .k1 { fill: #6b4210; } .k2 { fill: #1e4d27; } .k3 { fill: #493169; }
  .plain { fill: #262c33; }
  .frame { stroke: #f0f6fc; }
"""


def texts() -> dict[str, str]:
    """Return the pictures as SVG, by their path in the repository."""
    return {
        f"{FOLDER}/gemm_tile.svg": _tile_picture(Plan(tile=Tile(128, 256, 4, cluster=2))),
        f"{FOLDER}/gemm_roles.svg": _roles_picture(),
        f"{FOLDER}/gemm_waves.svg": _waves_picture(),
        f"{FOLDER}/attention_blocks.svg": _blocks_picture(),
    }


def _box(x: float, y: float, width: float, height: float, css_class: str, text: object = "", small: str = "") -> str:
    """Return a rectangle with a centred text, and a small text below it. Units: pixels."""
    found = f'<rect class="box {css_class}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>'
    middle = y + height / 2 + (-2 if small else 4)
    if text != "":
        found += svg_text(x + width / 2, middle, text, "", "middle")
    return found + (svg_text(x + width / 2, middle + 13, small, "small", "middle") if small else "")


def _cells(corners: Iterable[tuple[float, float]], width: float, height: float, css_class: str) -> str:
    """Return rectangles of one size as one element. Units: pixels."""
    data = "".join(f"M{x:g} {y:g}h{width:g}v{height:g}h-{width:g}z" for x, y in corners)
    return f'<path class="box {css_class}" d="{data}"/>'


def _document(height: int, title: str, description: str, body: Sequence[str]) -> str:
    return svg_document((_WIDTH, height), title, description, _STYLE, _DARK_STYLE, body)


# Tile of the GEMM -------------------------------------------------------------------------------------------


def _tile_picture(plan: Plan) -> str:
    tile = plan.tile
    left, top, scale, slot = 196, 168, 0.9, 30
    width, part = tile.columns * scale, 64 * scale
    height = tile.rows * scale
    share = width / tile.cluster
    body = [svg_text(16, 26, f"Cluster of {tile.cluster} CTAs", "title")]
    body.append(svg_text(left, 48, f"B: {plan.stage_k} x {tile.columns} elements of {plan.b} in each stage"))
    for stage in range(tile.stages):
        y = top - 12 - (tile.stages - stage) * 24
        body.append(svg_text(left - 8, y + 16, f"stage {stage}", "small", "end"))
        for rank in range(tile.cluster):
            body.append(_box(left + rank * share, y, share, 22, f"k{rank}"))
            body.append(svg_text(left + (rank + 0.5) * share, y + 15, f"CTA {rank}, multicast", "small", "middle"))
    for rank in range(tile.cluster):
        y = top + rank * (height + 14)
        start = left - 12 - tile.stages * slot
        body += [_box(start + k * slot, y, slot - 2, height, f"k{rank}", k) for k in range(tile.stages)]
        for number in range(tile.tile_consumers):
            name = f"consumer {number}"
            body.append(_box(left, y + number * part, width, part, "plain", name, "64 rows of D"))
        body.append(f'<rect class="frame" x="{left}" y="{y:g}" width="{width:g}" height="{height:g}"/>')
        body.append(svg_text(16, y + 14, f"CTA {rank}"))
    bottom = top + tile.cluster * (height + 14) + 6
    body.append(svg_text(left - 12 - tile.stages * slot, bottom, f"A: {tile.rows} x {plan.stage_k} in each stage"))
    body.append(svg_text(left + width, bottom, f"D: {tile.rows} x {tile.columns} for each CTA", "", "end"))
    body += _memory(plan, left + width + 90, bottom)
    description = (
        f"Each CTA of a cluster of {tile.cluster} computes a tile of {tile.rows} rows and {tile.columns} columns. Each"
        f" consumer multiplies 64 rows. Shared memory has {tile.stages} stages with {plan.stage_k} elements of K."
        " Each CTA copies its own rows of A, and sends its part of B to all CTAs of the cluster."
    )
    return _document(round(bottom) + 14, "Tile of the Hopper GEMM", description, body)


def _memory(plan: Plan, x: float, bottom: float) -> Iterator[str]:
    """Yield the elements of a bar with the shared memory of a CTA, in proportion. Units: pixels."""
    tile, y, width = plan.tile, 44.0, 210
    size_a, size_b = tile.rows * plan.span_a, tile.columns * SPAN
    parts = [(f"A, stage {k}", size_a, "k2") for k in range(tile.stages)]
    parts += [(f"B, stage {k}", size_b, "k3") for k in range(tile.stages)]
    buffers = tile.consumers * tile.buffers
    parts.append((f"{buffers} store buffers", buffers * plan.buffer_bytes, "plain"))
    rest = plan.shared_bytes - sum(size for _, size, _ in parts)
    scale = (bottom - 20 - y) / plan.shared_bytes
    yield svg_text(x, 26, f"Shared memory of a CTA: {plan.shared_bytes} bytes", "title")
    for name, size, css_class in parts:
        yield _box(x, y, width, size * scale, css_class, f"{name}: {size // 1024} KiB")
        y += size * scale
    yield svg_text(x, bottom, f"and {rest} bytes for mbarriers")


# Roles ------------------------------------------------------------------------------------------------------

_STEPS, _STORE = 6, 3  # steps of a tile along K, and duration of a store in steps
Event = tuple[int, float, float, int, object]
"""Row (0 is the producer), start, end, tile, and stage or "store"."""


def _roles_picture() -> str:
    body, y = list[str](), 0
    pingpong = Plan(tile=Tile(64, 256, 4, pingpong=True))
    for name, plan in (("Cooperative", Plan(tile=Tile(128, 256, 4))), ("Pingpong", pingpong)):
        tile = plan.tile
        title = f"{name}: tiles of {tile.rows} x {tile.columns}, {tile.stages} stages"
        body.append(svg_text(16, y + 26, title, "title"))
        rows = ["producer", *(f"consumer {number}" for number in range(tile.consumers))]
        body += [svg_text(16, y + 56 + 34 * k, row) for k, row in enumerate(rows)]
        for row, start, end, number, text in schedule(tile, 4):
            x, unit = 96, 24
            css_class = "plain" if text == "store" else f"k{number % 4}"
            if x + end * unit <= _WIDTH - 12:
                body.append(_box(x + start * unit, y + 38 + 34 * row, (end - start) * unit, 28, css_class, text))
        y += 38 + 34 * len(rows) + 4
    body.append(svg_text(16, y + 20, "Each tile of D has a colour. The numbers are stages in shared memory."))
    description = (
        "Times at which the producer copies a stage, and at which each consumer multiplies it or stores D. Each tile of"
        " D has a colour. Stores of D are grey."
    )
    return _document(y + 34, "Producer and consumers over time", description, body)


def schedule(tile: Tile, tiles: int) -> Iterator[Event]:
    """Yield the events of a CTA if a copy takes as long as the multiplication of a stage."""
    free, busy = [0.0] * tile.stages, [0.0] * tile.consumers
    copied = cores = 0.0
    for number in range(tiles):
        consumers = [number % 2] if tile.pingpong else range(tile.consumers)
        end = 0.0
        for step in range(_STEPS):
            stage = (number * _STEPS + step) % tile.stages
            start = max(copied, free[stage])
            copied = start + 1
            yield 0, start, copied, number, stage
            begin = max(copied, cores, *(busy[each] for each in consumers))
            end = free[stage] = cores = begin + 1
            for each in consumers:
                yield 1 + each, begin, end, number, stage
        for each in consumers:
            busy[each] = end + _STORE
            yield 1 + each, end, busy[each], number, "store"


# Waves ------------------------------------------------------------------------------------------------------


@kernel(target=HOPPER)
def positions(found: pointer("u32"), m_tiles: u32, n_tiles: u32, *, group: int) -> None:
    """Store the tile row and the tile column of the tile that has the number of this CTA."""
    bounds(threads=1)
    number = special("ctaid.x")
    for k, value in enumerate(position_in_plane(number, m_tiles, n_tiles, group)):
        found[number * 2 + k] = value


def tile_places(m_tiles: int, n_tiles: int, group: int) -> Any:
    """Return the tile row and the tile column of each tile number."""
    found = np.zeros((m_tiles * n_tiles, 2), np.uint32)
    positions.at(group=group)[len(found)](found, m_tiles, n_tiles)
    return found


def _waves_picture() -> str:
    size, tile, cell, width = 4096, Tile(), 13, 24
    m_tiles, n_tiles = size // tile.rows, size // tile.columns
    waves = -(-m_tiles * n_tiles // _MULTIPROCESSORS)
    body, below = list[str](), 0.0
    shown = [f"A tile has {tile.rows} rows and {tile.columns} columns. Each colour is a wave of tiles."]
    for panel, group in enumerate((tile.group, m_tiles)):
        x, y = 16 + panel * 430, 62
        places = tile_places(m_tiles, n_tiles, group)
        first = places[:_MULTIPROCESSORS]
        rows, columns = (len(set(first[:, axis].tolist())) for axis in (0, 1))
        shown.append(f"With group {group}, wave 0 reads {rows} tile rows of A and {columns} tile columns of B.")
        body.append(svg_text(x, 26, f"group={group}", "title"))
        body.append(svg_text(x, 46, f"wave 0: {rows} tile rows of A, {columns} tile columns of B"))
        for wave in range(waves):
            mine = places[wave * _MULTIPROCESSORS :][:_MULTIPROCESSORS].tolist()
            corners = [(x + column * width, y + row * cell) for row, column in mine]
            body.append(_cells(corners, width, cell, f"k{wave}"))
        below = y + m_tiles * cell
    for wave in range(waves):
        body.append(_box(16 + wave * 90, below + 14, 18, 14, f"k{wave}"))
        body.append(svg_text(40 + wave * 90, below + 26, f"wave {wave}"))
    title = f"Order of the tiles of a D of {size} x {size}, with {_MULTIPROCESSORS} CTAs"
    return _document(round(below) + 40, title, " ".join(shown), body)


# Masks of attention -----------------------------------------------------------------------------------------

TOKENS, _LEFT = 1536, 400


@kernel(target=HOPPER)
def blocks_of_tiles(
    found: pointer("u32"), tokens: u32, tiles: u32, left: u32, right: u32, *, plan: AttentionPlan
) -> None:
    """Store the row and the limits of the blocks of keys of the tile that has the number of this CTA."""
    bounds(threads=1)
    one = new(u32, 1)
    signed = [each.view("s32") for each in (left, right)]
    sizes = Sizes(None, None, tokens.view("s32"), tokens.view("s32"), one, one, tiles, one, one, *signed)
    position = TilePosition(plan, sizes)
    position.number.set(special("ctaid.x"))
    position.locate()
    for k, value in enumerate((position.row, position.first, position.last, position.lower, position.upper)):
        found[special("ctaid.x") * 5 + k] = value.view("u32")


def blocks(plan: AttentionPlan, left: int, right: int) -> list[list[int]]:
    """Return the row and the limits `first`, `last`, `lower` and `upper` of each tile."""
    tiles = -(-TOKENS // plan.rows)
    found = np.zeros((tiles, 5), np.uint32)
    blocks_of_tiles.at(plan=plan)[tiles](found, TOKENS, tiles, left, right)
    return found.tolist()


def _blocks_picture() -> str:
    body, cell, below = list[str](), 26, 0
    kinds = {"k0": "multiplied without a mask", "k1": "multiplied with a mask", "none": "skipped"}
    counts: list[str] = []
    for panel, (name, left) in enumerate((("causal=True", 0), (f"causal=True, window=({_LEFT}, 0)", _LEFT))):
        plan = plan_for("bf16", 128, 128, TOKENS, right=True, left=left > 0)
        x, y, columns = 76 + panel * 420, 62, -(-TOKENS // plan.keys)
        body += [svg_text(x, 26, name, "title"), svg_text(x, 50, f"blocks of {plan.keys} keys")]
        corners: dict[str, list[tuple[float, float]]] = {css_class: [] for css_class in kinds}
        for row, first, last, lower, upper in blocks(plan, left, 0):
            place = y + row // plan.rows * cell
            below = max(below, place + cell)
            body.append(svg_text(x - 6, place + 17, f"row {row}", "small", "end"))
            for column in range(columns):
                css_class = "none" if not first <= column <= last else "k0" if lower <= column < upper else "k1"
                corners[css_class].append((x + column * cell, place))
        body += [_cells(found, cell, cell, css_class) for css_class, found in corners.items()]
        used = len(corners["k0"]) + len(corners["k1"])
        counts.append(f"With {name}, {used} of {sum(map(len, corners.values()))} blocks are multiplied.")
    for k, (css_class, text) in enumerate(kinds.items()):
        body += [_box(76 + k * 220, below + 14, 18, 14, css_class), svg_text(100 + k * 220, below + 26, text)]
    return _document(below + 40, "Blocks of keys of each tile of rows", " ".join(counts), body)
