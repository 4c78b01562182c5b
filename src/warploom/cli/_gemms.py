"""Multiplications as they are written on the command line: types by name, sizes as MxNxK."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from warploom.kernels import Tile
    from warploom.kernels.timing.cublas import Kind
    from warploom.kernels.timing.speed import Size

_SIZE = re.compile(r"([1-9]\d{0,6})x([1-9]\d{0,6})x([1-9]\d{0,6})", re.ASCII)


def kinds(option: str, names: Iterable[str], known: Sequence[str]) -> list[Kind]:
    """The kinds of these names, each once. Errors: UsageError bench.type."""
    from warploom.kernels.timing.cublas import KINDS

    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in known:
            raise UsageError(
                f"{option}: found {name!r}; expected some of {', '.join(known)}", code="bench.type"
            )
    return [KINDS[name] for name in chosen]


def sizes(option: str, texts: Iterable[str]) -> list[Size]:
    """Sizes (M, N, K), each once. Errors: UsageError bench.shape."""
    found: list[Size] = []
    for text in dict.fromkeys(texts):
        read = _SIZE.fullmatch(text)
        if read is None:
            raise UsageError(
                f"{option}: found {text!r}; expected M, N and K with x between them, such as 4096x2112x7168",
                code="bench.shape",
            )
        found.append((int(read[1]), int(read[2]), int(read[3])))
    return found


def in_words(tile: Tile, split: int) -> str:
    """A tile and how many of them are cut, short: `128x256, cluster 2, 124 cut`."""
    parts = [f"{tile.rows}x{tile.columns}"]
    if tile.pingpong:
        parts.append("pingpong")
    if tile.cluster > 1:
        parts.append(f"cluster {tile.cluster}")
    if split:
        parts.append(f"{split} cut")
    return ", ".join(parts)
