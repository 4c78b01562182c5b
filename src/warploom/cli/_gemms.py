"""Options and texts that `warploom bench` and `warploom tune` share."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warploom.cli._options import at_least
from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from warploom.kernels import Tile
    from warploom.kernels.timing.cases import Case, Kind, Size

_SIZE = re.compile(r"([1-9]\d{0,6})x([1-9]\d{0,6})x([1-9]\d{0,6})", re.ASCII)


def declare_gemms(parser: argparse.ArgumentParser, peers: Sequence[str]) -> None:
    """Add the options that select matrix multiplications and a library, one of `peers`."""
    parser.add_argument(
        "--types",
        metavar="TYPE,…",
        type=lambda text: list(dict.fromkeys(text.split(","))),
        help="types of A and B: bf16, f16, tf32, e4m3 (fast sums), e4m3-accurate, s8, or f16-sparse (a 2:4 sparse A, "
        "compared with Warploom's kernel for a dense A)",
    )
    parser.add_argument(
        "--shapes", metavar="MxNxK,…", type=_sizes, help="sizes, such as 4096x2112x7168 (default: model sizes)"
    )
    parser.add_argument("--repetitions", type=at_least(1), default=20, metavar="N", help="repetitions (20)")
    parser.add_argument("--peer", choices=peers, default="torch", help="the library to compare with (torch)")


def selected_cases(options: argparse.Namespace, known: Sequence[str]) -> list[Case]:
    """Return the matrix multiplications that --types and --shapes select. Errors: UsageError.

    `known` has the types that --types accepts. An absent option selects everything.
    """
    from warploom.kernels.timing.cases import SIZES, Case

    kinds = selected_kinds(options, known)
    return [Case(kind, m, n, k) for kind in kinds for m, n, k in options.shapes or SIZES]


def selected_kinds(options: argparse.Namespace, known: Sequence[str]) -> list[Kind]:
    """Return the kinds that --types selects among `known`. Errors: UsageError."""
    from warploom.kernels.timing.cases import KINDS, default_kinds

    names = options.types or default_kinds(known)
    for name in names:
        if name not in known:
            raise UsageError(f"--types: found {name!r}; expected some of {', '.join(known)}")
    return [KINDS[name] for name in names]


def _sizes(text: str) -> list[Size]:
    found: list[Size] = []
    for part in dict.fromkeys(text.split(",")):
        read = _SIZE.fullmatch(part)
        if read is None:
            raise argparse.ArgumentTypeError(f"found {part!r}; expected M, N and K such as 4096x2112x7168")
        found.append((int(read[1]), int(read[2]), int(read[3])))
    return found


def tile_text(tile: Tile, split: int) -> str:
    """Describe a tile as text, such as `128x256, cluster 2, 124 split`.

    `split` is the number of tiles that are split along K.
    """
    parts = [f"{tile.rows}x{tile.columns}"]
    if tile.blocks > 1:
        parts.append(f"{tile.blocks} blocks")
    if tile.exchanged:
        parts.append("exchanged")
    if tile.pingpong:
        parts.append("pingpong")
    if tile.cluster > 1:
        parts.append(f"cluster {tile.cluster}")
    if split:
        parts.append(f"{split} split")
    return ", ".join(parts)
