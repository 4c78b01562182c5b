"""Launches of corpus kernels and of compiled kernels, which the benchmark `engines.py` measures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from corpus_attention import Attention, corpus_attention
from corpus_gemms import CORPUS, TYPES, Gemm, corpus_gemms

import warploom as wl
from warploom_lab.compiled.run import arguments

CTAS = range(4, 9)
"""Number of CTAs of a launch, as in a unit test of a kernel."""

DEPTH = 512
"""K of the GEMMs."""

FAMILIES = {
    "attention": ("attention",),
    "softmax": ("softmax",),
    "layer norm": ("layernorm", "rmsnorm", "group_norm"),
    "sort": ("sort", "topk"),
    "scan": ("_scan", "scan_cum", "scan_linear", "scan_reverse", "look_back"),
    "atomics": ("atomic", "histogram"),
    "GEMM": ("gemm", "split_k", "stream_k", "grouped"),
}
"""Families of compiled kernels, and parts of the names of their kernels. The first match counts."""


@dataclass(frozen=True)
class Launch:
    """Launch of a kernel.

    `ptx` is the path of a file or a text. `args` are the arguments of `wl.launch`. `unordered` lists the positions in
    `args` of arrays whose contents depend on the order of atomic operations.
    """

    name: str
    ptx: Path | str
    grid: Sequence[int]
    block: Sequence[int]
    args: Sequence[Any]
    entry: str | None = None
    cluster: Sequence[int] = (1, 1, 1)
    shared: int = 0
    unordered: frozenset[int] = frozenset()

    @property
    def ctas(self) -> int:
        """Number of CTAs."""
        return prod(self.grid)

    @property
    def arrays(self) -> list[Any]:
        """Arrays among the arguments, including those of tensor maps. Each array is listed once."""
        found = [arg.array if isinstance(arg, wl.TensorMap) else arg for arg in self.args]
        return list({id(array): array for array in found if isinstance(array, np.ndarray)}.values())

    def loose_arrays(self) -> set[int]:
        """Return the indices in `arrays` of the arguments at the positions `unordered`."""
        at = {id(array): i for i, array in enumerate(self.arrays)}
        return {at[id(self.args[position])] for position in self.unordered}

    def describe(self) -> dict[str, Any]:
        """Return the launch as JSON data for `engine_child.py`. Arrays are indices into `arrays`."""
        at = {id(array): i for i, array in enumerate(self.arrays)}
        return {
            "path": str(self.ptx) if isinstance(self.ptx, Path) else None,
            "text": self.ptx if isinstance(self.ptx, str) else None,
            "entry": self.entry,
            "grid": list(self.grid),
            "block": list(self.block),
            "cluster": list(self.cluster),
            "shared": self.shared,
            "args": [_describe(arg, at) for arg in self.args],
            "dtypes": [array.dtype.name for array in self.arrays],
        }


def _describe(arg: Any, at: dict[int, int]) -> dict[str, Any]:
    if isinstance(arg, wl.TensorMap):
        fields = arg.template
        box = list(fields.box[: fields.rank])[::-1]
        return {"tensor": at[id(arg.array)], "box": box, "swizzle": fields.swizzle_span}
    if isinstance(arg, np.ndarray):
        return {"array": at[id(arg)]}
    if isinstance(arg, np.generic):
        return {"value": arg.item(), "dtype": arg.dtype.name}
    return {"value": arg}


def gemm_launch(gemm: Gemm, rows: int, columns: int, depth: int) -> Launch:
    """Return the launch of a GEMM of the corpus for a product of M x N x K = `rows` x `columns` x `depth`."""
    a, b = gemm.operands(rows, columns, depth)
    grid, args = gemm.arguments(a, b, np.zeros((rows, columns), TYPES[gemm.types[2]]))
    return Launch(Path(gemm.file).stem, CORPUS / gemm.file, grid, (gemm.threads,), args, shared=gemm.shared)


def attention_launch(attention: Attention, size: int, heads: int) -> Launch:
    """Return the launch of an attention kernel of the corpus for `heads` heads with `size` vectors each."""
    q, k, v = attention.operands(size, heads)
    grid, args = attention.arguments(q, k, v, np.zeros_like(q))
    name = Path(attention.file).stem
    return Launch(name, CORPUS / attention.file, grid, (attention.threads,), args, shared=attention.shared)


def corpus_launches() -> Iterator[Launch]:
    """Yield a launch with 4 to 8 CTAs of each compiled kernel of the corpus."""
    for gemm in corpus_gemms():
        tile = max(gemm.blocks[:2])
        yield gemm_launch(gemm, 2 * tile, 2 * tile, DEPTH)
    for attention in corpus_attention():
        yield attention_launch(attention, 4 * attention.rows, 2)
    for entry in json.loads((CORPUS / "index.json").read_text(encoding="utf-8")):
        args = _other_arguments(entry, np.random.default_rng(1))
        if args is not None:
            ctas = 8 if entry["file"].startswith(("softmax", "vadd")) else 4
            name = Path(entry["file"]).stem
            yield Launch(name, CORPUS / entry["file"], (ctas,), (entry["block"],), args, shared=entry["shared"])


def _other_arguments(entry: dict[str, Any], random: np.random.Generator) -> list[Any] | None:
    """Return the arguments of a kernel that is neither a GEMM nor attention, or None.

    All CTAs of the matrix kernels compute the same tile.
    """
    types = {name: TYPES.get(word.lstrip("*")) for name, word in entry["args"]}
    consts, file = entry["consts"], entry["file"]
    if file.startswith("softmax"):
        x = random.standard_normal((8, consts["B"])).astype(types["x"])
        return [x, np.zeros_like(x), consts["B"] - 24, consts["B"], None, None]
    if file.startswith("vadd"):
        x, y = random.standard_normal((2, 8 * consts["B"])).astype(types["x"])
        return [x, y, np.zeros_like(x), len(x) - 24, None, None]
    if file.startswith("mxfp8"):
        a, b = random.standard_normal((2, consts["BM"], DEPTH)).astype(types["a"])
        scales = random.integers(120, 134, (2, consts["BM"], DEPTH // 32)).astype(np.uint8)
        c = np.zeros((consts["BM"], consts["BN"]), np.float32)
        return [a, scales[0].copy(), b, scales[1].copy(), c, DEPTH, None, None]
    if file.startswith("gluon_wgmma"):
        M, N, K = (int(consts[name]) for name in "MNK")
        a, b = (random.standard_normal(shape).astype(types["a"]) for shape in ((M, K), (K, N)))
        return [a, b, np.zeros((M, N), np.float32), None, None]
    return None


def compiled_attention(folder: Path) -> Iterator[Launch]:
    """Yield launches with 8 CTAs of the forward attention kernels of a folder that use pointers."""
    for case in compiled_cases(folder):
        if _has_heads(case):
            repeat_heads(case, 8 // prod(case["grid"]))
            yield compiled_launch(folder, case)


def compiled_launches(folder: Path, count: int) -> list[Launch]:
    """Return the launches of `count` kernels that `warploom-lab kernels` compiled into a folder.

    Each family has the same share. Within a family, launches with 4 to 8 CTAs come first, then those with the next
    smaller or larger number. If several launches are equally far from this range, the needed ones are taken at equal
    intervals from a list that is sorted by name.
    """
    cases = list(compiled_cases(folder))
    chosen: list[dict[str, Any]] = []
    for done, family in enumerate(FAMILIES):
        members = sorted((case for case in cases if _family(case) == family), key=_excess)
        share = (count - len(chosen)) // (len(FAMILIES) - done)
        for _, group in groupby(members, key=_excess):
            equal = list(group)
            wanted = min(share, len(equal))
            chosen += [equal[i * len(equal) // wanted] for i in range(wanted)]
            share -= wanted
    return [compiled_launch(folder, case) for case in chosen]


def compiled_launch(folder: Path, case: dict[str, Any]) -> Launch:
    """Return the launch of a compiled kernel of a folder; `case` is its description."""
    _, args = arguments(case)
    positions = {name: i for i, name in enumerate(case["args"])}  # kernels with tensor maps have no unordered arrays
    return Launch(
        case["name"], folder / case["file"], case["grid"], case["block"], args, case["entry"], case["cluster"],
        case["shared"], frozenset(positions[name] for name in case["parameters"].get("unordered", ())),
    )  # fmt: skip


def compiled_cases(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the descriptions of the launches in a folder, in the order of their names.

    Kernels that must be refused are left out. Attention has at least 4 CTAs.
    """
    for path in sorted(folder.glob("*.json")):
        case: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if _has_heads(case):
            repeat_heads(case, -(-CTAS.start // prod(case["grid"])))
        if case["kind"] != "refused":
            yield case


def _has_heads(case: dict[str, Any]) -> bool:
    """Return True for attention kernels whose grid has one column for each head."""
    return case["reference"] == "attention" and "q" in case["args"]


def repeat_heads(case: dict[str, Any], times: int) -> None:
    """Multiply the number of heads of an attention kernel."""
    tiles, heads = case["grid"]
    case["grid"] = [tiles, heads * times]
    for spec in case["args"].values():
        if spec["kind"] == "buffer":
            spec["shape"][0] *= times


def _family(case: dict[str, Any]) -> str | None:
    return next((family for family, words in FAMILIES.items() if any(word in case["name"] for word in words)), None)


def _excess(case: dict[str, Any]) -> int:
    """Return by how much the number of CTAs is outside the range `CTAS`."""
    ctas = prod(case["grid"])
    return max(CTAS.start - ctas, ctas - CTAS.stop + 1, 0)
