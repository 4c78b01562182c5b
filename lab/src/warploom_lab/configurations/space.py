"""Spaces of GEMM plans: warpgroup kernels for Hopper, kernels for few rows of A, and warp-level kernels.

The axes contain every field of a plan that changes the text of a kernel.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from warploom.diagnostics import UsageError
from warploom.kernels.ampere.plan import TILES, WarpPlan
from warploom.kernels.hopper.cost_model import tiled_plans
from warploom.kernels.hopper.plan import PROMOTION_STAGES, SCALE_BLOCK, SPAN, VECTOR_COLUMNS, BlockScales, Plan, Tile
from warploom.kernels.plan import ACCUMULATORS, Epilogue, size_of
from warploom_lab.configurations.covering_array import Space

_TYPES = tuple((a, b, accumulator) for (a, b), each in ACCUMULATORS.items() for accumulator in each)
_RESULTS = ("f32", "bf16", "f16", "e4m3", "e5m2", "s32")
_MAJORS = ("kk", "kn", "mk", "mn")
_EPILOGUE: dict[str, tuple[Any, ...]] = {
    "scaled": (False, True),
    "row_scales": (False, True),
    "column_scales": (False, True),
    "bias": ("", "row", "column"),
    "activation": ("", "relu", "gelu", "silu"),
}
_MAXIMUM_STAGES = 0  # stands for as many stages as shared memory holds


def _refusal(message: str) -> UsageError:
    return UsageError(message, code="kernels.plan")


def _hopper(
    types: tuple[str, str, str], result: str, majors: str, planes: str, unaligned: bool, sparse: bool,
    block_scales: tuple[bool, int], promotion: int, cut: bool, addend: str, rows: tuple[int, int, bool], columns: int,
    cluster: tuple[int, int], buffers: int, stages: int, group: int, **epilogue: Any,
) -> Plan:  # fmt: skip
    """Return the plan of a warpgroup kernel from the values of the axes of HOPPER.

    `majors` names the contiguous axes of A and B. `planes` is "batch", "a" or "b" (a batch that shares this operand),
    "grouped", or "". `addend` is "own", "common" (one C for the whole batch), or "" without C. `promotion` is the
    number of stages between promotions of the sums, or 0. `rows` is (rows of a tile, blocks of a consumer, True for the
    ping-pong schedule). `cluster` has the numbers of tiles along M and N. `stages` 0 stands for as many stages as
    shared memory holds. The other parameters are fields of a plan or a tile.

    Errors: UsageError kernels.plan.
    """
    a, b, accumulator = types
    if promotion and (a not in ("e4m3", "e5m2") or block_scales != (False, 0)):
        raise _refusal("only sums of 8-bit floats without block scales are promoted")
    broadcast = {"a": "a", "b": "b"}.get(planes, "")
    batched = planes in ("batch", "a", "b")
    if addend == "common":
        if not batched:
            raise _refusal("a broadcast C needs a batch")
        broadcast += "c"
    if planes == "grouped" and epilogue["bias"] == "row":
        raise _refusal("groups need a bias along columns")
    tall, blocks, pingpong = rows
    if any(block_scales):
        promotion = SCALE_BLOCK // (SPAN // size_of(a))
    plan = Plan(
        a, b, accumulator, result, majors[0], majors[1], unaligned,
        Epilogue(addend=result if addend else "", **epilogue),
        batched=batched, broadcast=broadcast, grouped=planes == "grouped", promotion_stages=promotion, sparse=sparse,
        block_scales=BlockScales(*block_scales), cut=cut,
        tile=Tile(tall, columns, stages or 2, cluster[0], group, pingpong, buffers, blocks=blocks, across=cluster[1]),
    )  # fmt: skip
    return plan if stages else plan.with_tile(replace(plan.tile, stages=min(9, plan.max_stages)))


HOPPER = Space(
    "hopper",
    {
        "types": _TYPES,
        "result": _RESULTS,
        "majors": _MAJORS,
        "planes": ("", "batch", "a", "b", "grouped"),
        "unaligned": (False, True),
        "sparse": (False, True),
        "block_scales": ((False, 0), (True, 0), (False, 1), (False, 128), (True, 1), (True, 128)),
        "promotion": (0, PROMOTION_STAGES),
        "cut": (False, True),
        "addend": ("", "own", "common"),
        "rows": (
            (64, 1, False),
            (128, 1, False),
            (192, 1, False),
            (64, 1, True),
            (128, 2, False),
            (256, 2, False),
            (384, 2, False),
            (128, 2, True),
        ),
        "columns": (64, 80, 96, 128, 176, 192, 256),  # `chosen_tiles` has the others
        "cluster": ((1, 1), (2, 1), (1, 2), (4, 1), (1, 4), (2, 2), (2, 4)),
        "buffers": (2, 1),
        "stages": (2, 3, _MAXIMUM_STAGES),
        "group": (8, 16, 1),
        **_EPILOGUE,
    },
    _hopper,
    ("types", "result", "planes"),
)


def _few_rows(
    types: tuple[str, str, str], result: str, planes: str, unaligned: bool, addend: str, rows: int, columns: int,
    stages: int, majors: str = "kk", promotion: int = 0, cut: bool = False, cluster: tuple[int, int] = (1, 1),
    **epilogue: Any,
) -> Plan:  # fmt: skip
    """Return the plan of a kernel with an exchanged tile. `_hopper` describes the parameters.

    `cluster` has the numbers of tiles and of parts of K.

    Errors: UsageError kernels.plan.
    """
    neighbors, parts = cluster
    if cut and parts > 1:
        raise _refusal("the CTAs of a cluster share an exchanged tile, which is not cut")
    plan = _hopper(
        types, result, majors, planes, unaligned, sparse=False, block_scales=(False, 0), promotion=promotion,
        cut=cut, addend=addend, rows=(64, 1, False), columns=64, cluster=(1, 1), buffers=2, stages=2, group=8,
        **epilogue,
    )  # fmt: skip
    made = plan.with_tile(Tile(rows, columns, stages or 2, neighbors, exchanged=True, parts=parts))
    return made if stages else made.with_tile(replace(made.tile, stages=min(12, made.max_stages)))


_FEW_ROWS: dict[str, tuple[Any, ...]] = {
    "result": _RESULTS,
    "planes": ("", "batch", "a", "b"),
    "unaligned": (False, True),
    "addend": ("", "own", "common"),
    **_EPILOGUE,
}
EXCHANGED = Space(
    "exchanged",
    {
        # The kernels of the other types differ only in the type of wgmma.
        "types": tuple(
            each
            for each in _TYPES
            if each[:2] in (("bf16", "bf16"), ("f16", "f16"), ("tf32", "tf32"), ("e4m3", "e5m2"), ("s8", "u8"))
        ),
        **_FEW_ROWS,
        "majors": _MAJORS,
        "promotion": (0, PROMOTION_STAGES),
        "cut": (False, True),
        "rows": (64, 128),
        "columns": (64, 8, 24, 176, 256),
        "cluster": ((1, 1), (1, 2), (1, 8), (4, 1), (2, 4)),
        "stages": (2, 3, _MAXIMUM_STAGES),
    },
    _few_rows,
    ("types", "result", "planes"),
)
VECTOR = Space(
    "vector",
    {
        "types": (("bf16", "bf16", "f32"), ("f16", "f16", "f32")),
        **_FEW_ROWS,
        "rows": (4, 8, 16),
        "columns": VECTOR_COLUMNS,
        "stages": (1, 2, 4),
    },
    _few_rows,
    ("types", "result", "planes"),
)


def _warp_level(
    target: str, types: tuple[str, str, str], result: str, majors: str, unaligned: bool, addend: str,
    tile: tuple[int, int, int, int], span: int, stages: int, group: int, **epilogue: Any,
) -> WarpPlan:  # fmt: skip
    """Return the plan of a warp-level kernel from the values of the axes of WARP_LEVEL.

    `majors` names the contiguous axes of A and B. `addend` is "own", or "" without C. `tile` has the rows and columns
    of a tile, and the numbers of warps along both. The other parameters are fields of a plan or a tile.

    Errors: UsageError kernels.plan.
    """
    rows, columns, down, across = tile
    shape = replace(
        TILES[0], rows=rows, columns=columns, down=down, across=across, span=span, stages=stages, group=group
    )
    ending = Epilogue(addend=result if addend else "", **epilogue)
    return WarpPlan(*types, result, majors[0], majors[1], unaligned, ending, tile=shape, target=target)


_WARPS = tuple((extent, extent // each) for extent in (64, 128, 256) for each in (64, 32))
_WARP_TILES = tuple(
    sorted(
        (rows, columns, down, across) for rows, down in _WARPS for columns, across in _WARPS if down * across in (4, 8)
    )
)
_TILES_OF_ARRAY = (  # every extent of a tile and of a warp occurs
    (64, 64, 2, 2), (128, 64, 2, 2), (128, 128, 2, 2), (128, 256, 2, 4), (64, 128, 1, 4), (64, 256, 1, 8),
    (128, 64, 4, 1), (256, 64, 8, 1), (256, 128, 4, 2),
)  # fmt: skip


WARP_LEVEL = Space(
    "warp-level",
    {
        "target": ("sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_120"),
        "types": _TYPES,
        "result": _RESULTS,
        "majors": _MAJORS,
        "unaligned": (False, True),
        "addend": ("", "own"),
        "tile": _TILES_OF_ARRAY,
        "span": (64, 128),
        "stages": (3, 4, 5),
        "group": (8, 1),
        **_EPILOGUE,
    },
    _warp_level,
    ("types", "result", "target"),
)

SPACES = {space.name: space for space in (HOPPER, EXCHANGED, VECTOR, WARP_LEVEL)}
"""Spaces of plans by name."""

AnyPlan = Plan | WarpPlan

_PLAIN = (
    Plan(tile=Tile(64, 64, 2)),
    Plan("f16", "f16", d="f16", tile=Tile(64, 64, 2)),
    Plan("f16", "f16", "f16", "f16", tile=Tile(64, 64, 2)),
    Plan("tf32", "tf32", d="f32", tile=Tile(64, 64, 2)),
    Plan("e4m3", "e4m3", tile=Tile(64, 64, 2)),
    Plan("e4m3", "e4m3", promotion_stages=PROMOTION_STAGES, tile=Tile(64, 64, 2)),
    Plan("s8", "s8", "s32", "s32", tile=Tile(64, 64, 2)),
)


def chosen_tiles() -> Iterator[tuple[bool, Plan]]:
    """Yield (runs, plan) for every tile of the cost model and several operand types.

    Of tiles that differ only in their clusters, the first is tried. `runs` is True if the kernel also runs on the
    emulator.
    """
    for number, plan in enumerate(_PLAIN):
        first: dict[Tile, Plan] = {}
        for tiled in tiled_plans(plan):
            first.setdefault(replace(tiled.tile, cluster=1, across=1), tiled)
        for index, tiled in enumerate(first.values()):
            yield index % len(_PLAIN) == number, tiled


def warp_tiles() -> Iterator[WarpPlan]:
    """Yield plans of warp-level kernels: two for each tile, and one for each type of 8-bit floats."""
    plain = {name: values[0] for name, values in WARP_LEVEL.axes.items()} | {"result": "bf16"}
    for tile in _WARP_TILES:
        for span, stages in ((64, 5), (128, 3)):
            shape = {"tile": tile, "span": span, "stages": stages}
            yield WARP_LEVEL.make(**plain | shape | {"types": ("bf16", "bf16", "f32")})
    for types in _TYPES:
        if types[0] in ("e4m3", "e5m2") and types[2] == "f32":
            yield replace(WARP_LEVEL.make(**plain | {"target": "sm_89", "types": types}), promoted=True)


def describe(plan: AnyPlan) -> str:
    """Return the fields of a plan as text, without fields that are False or empty."""
    parts: list[str] = []
    for holder in (plan, plan.epilogue, plan.tile):
        for each in fields(holder):
            value = getattr(holder, each.name)
            if isinstance(value, BlockScales):
                shared = ("rows" * value.rows, f"{value.columns} columns" * bool(value.columns))
                value = " and ".join(filter(None, shared))
            if value not in (False, "") and each.name not in ("epilogue", "tile"):
                parts.append(each.name if value is True else f"{each.name}={value}")
    return " ".join(parts)
