"""Names of intrinsics in both directions, compared with LLVM's names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from warploom.diagnostics import UsageError
from warploom.isa.binding.compose import slots_of
from warploom.isa.model.form import Form
from warploom.nvvm.intrinsics import Pattern, name_of, patterns, read_name

SAME = {
    "llvm.nvvm.mbarrier.test.wait.shared": "llvm.nvvm.mbarrier.test.wait.scope.cta.space.cta",
    **{
        f"llvm.nvvm.shfl.sync.{mode}.f32{end}": f"llvm.nvvm.shfl.sync.{mode}.i32{end}"
        for mode in ("bfly", "down", "idx", "up")
        for end in ("", "p")
    },
}
"""Intrinsics with the instruction of another one."""
_SINCE_FIRST = {"approximate", "async_copy", "barrier", "bits", "control"}
"""Families of instructions that all targets have."""
NAMES = (Path(__file__).parents[1] / "evidence" / "llvm" / "names.txt").read_text().split()


def all_names() -> Iterator[str]:
    """Yield the name of every intrinsic, including those of NVIDIA's compiler."""
    for pattern in patterns():
        form = pattern.form
        for row in form.rows:
            cells = dict(row.cells)
            for word in form.syntax.words:
                if word.slot and word.slot == word.literal:
                    cells.setdefault(word.slot, ("", word.literal))
            for chosen in product(*cells.values()):
                slots = slots_of(form, {slot: word for slot, word in zip(cells, chosen, strict=True) if word})
                if pattern.fits(slots):
                    for operands in operands_of(pattern, slots):
                        yield pattern.written(slots, operands)


def operands_of(pattern: Pattern, slots: dict[str, str]) -> Iterator[dict[str, object]]:
    """Yield the sets of operands that the name of an intrinsic distinguishes, with the values of constants."""
    pieces = [(kind, text.rpartition("=")[2]) for kind, text in pattern.pieces if kind in {"given", "number"}]
    values = [
        sorted(pattern.form.operands[name].constants(slots) or ()) if kind == "number" else (None, True)
        for kind, name in pieces
    ]
    for chosen in product(*values):
        yield {name: value for (_, name), value in zip(pieces, chosen, strict=True) if value is not None}


def test_patterns_generate_exactly_the_names_of_llvm() -> None:
    made = set(all_names())
    origins = {name: read_name(name).origin for name in made}
    assert {name for name, origin in origins.items() if origin == "llvm"} == set(NAMES)
    assert {".wgmma.mma_async." in name for name, origin in origins.items() if origin == "nvidia"} == {True}
    assert {name.rpartition(".")[2] for name, origin in origins.items() if origin == "later"} == {"ue8m0"}


def test_names_round_trip() -> None:
    for name in NAMES:
        found = read_name(name)
        assert found.origin == "llvm"
        words = {slot: word for slot, word in found.words.items() if slot not in found.form.parts}
        assert name_of(found.form, words, found.operands) == SAME.get(name, name)
        assert found.targets or found.form.family in _SINCE_FIRST


KNOWN = [
    ("wmma.m16n16k16.load.a.row.stride.f16.p3", "wmma.load", {"matrix": "a", "type": "f16"}, "sm_70", (6, 3)),
    ("wmma.m8n8k128.mma.and.popc.row.col.b1", "wmma.bit", {"bitOp": "and", "dtype": "s32"}, "sm_80", (7, 1)),
    ("wmma.m16n16k16.mma.row.col.s8.satfinite", "wmma.integer", {"satfinite": "satfinite"}, "sm_72", (6, 3)),
    ("mma.m16n8k32.row.col.s8.u8", "mma.integer", {"atype": "s8", "btype": "u8"}, "sm_80", (7, 0)),
    ("ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3", "matrix.ldmatrix", {"num": "x4"}, "sm_75", (6, 5)),
    (
        "mbarrier.arrive.expect.tx.relaxed.scope.cluster.space.cta",
        "mbarrier.arrive_expect_tx",
        {"sem": "relaxed", "scope": "cluster", "space": "shared"},
        "sm_90",
        (8, 6),
    ),
    ("mbarrier.try.wait.parity.tl.scope.cta.space.cta", "mbarrier.try_wait", {"parity": "parity"}, "sm_90", (7, 8)),
    ("cp.async.bulk.shared.cta.to.global.bytemask", "bulk.store", {"cp_mask": "cp_mask"}, "sm_100", (8, 6)),
    (
        "cp.async.bulk.tensor.g2s.im2col.4d",
        "tensor.load_im2col",
        {"load_mode": "im2col", "dim": "4d", "dst": "shared::cluster"},
        "sm_90",
        (8, 0),
    ),
    ("cp.async.bulk.tensor.reduce.xor.tile.3d", "tensor.reduce", {"redOp": "xor"}, "sm_90", (8, 0)),
    ("wgmma.fence.sync.aligned", "wgmma.fence", {}, "sm_90a", (8, 0)),
    ("cp.async.ca.shared.global.8.s", "async_copy.cp_async", {"cop": "ca"}, "sm_80", (7, 0)),
    ("mapa.shared.cluster", "memory.mapa", {"space": "shared::cluster"}, "sm_90", (7, 8)),
]


@pytest.mark.parametrize(("name", "form", "words", "targets", "ptx"), KNOWN, ids=str)
def test_name_implies_form_words_and_availability(name, form, words, targets, ptx) -> None:
    found = read_name(f"llvm.nvvm.{name}")
    assert found.form is Form.registry.by_name[form]
    assert words.items() <= found.words.items()
    assert found.targets == (targets,)
    assert found.ptx == ptx


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("tcgen05.mma.sp.tensor.scale_d.disable_output_lane.cg2.ashift", {"scale_input_d", "disable_output_lane"}),
        ("tcgen05.mma.ws.shared.zero_col_mask", {"zero_column_mask_desc"}),
        ("tcgen05.commit.mc.shared.cg1", {"in_shared"}),
        ("tcgen05.commit.mc.cg1", set()),
    ],
)
def test_name_implies_operands(name: str, operands: set[str]) -> None:
    found = read_name(f"llvm.nvvm.{name}")
    assert found.operands.keys() == operands
    assert "kind" not in found.words, "the kind of a multiplication is an argument"


def test_size_of_a_copy_is_in_the_name() -> None:
    assert read_name("llvm.nvvm.cp.async.ca.shared.global.8.s").operands == {"cp_size": 8, "src_size": None}


@pytest.mark.parametrize(
    "name",
    [
        "llvm.nvvm.wmma.m16n16k16.load.d.row.f16",
        "llvm.nvvm.mma.m16n8k16.row.col.tf32",
        "llvm.nvvm.mma.m16n8k8.col.row.f32.f32",
        "llvm.nvvm.wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16",
        "llvm.nvvm.wgmma.commit.group.sync.aligned",
        "llvm.nvvm.mma.m8n8k4.row.col.rn.f64",
        "llvm.nvvm.mbarrier.arrive.scope.gpu.space.cta",
        "llvm.nvvm.cp.async.bulk.tensor.g2s.tile.6d",
        "nvvm.mma",
        "",
    ],
)
def test_unknown_names_are_errors(name: str) -> None:
    with pytest.raises(UsageError, match="unknown intrinsic"):
        read_name(name)


def test_instruction_without_an_intrinsic_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"LLVM 22 has no intrinsic of mma.double with .* rnd=rn"):
        name_of(Form.registry.by_name["mma.double"], {"shape": "m8n8k4", "rnd": "rn", "dtype": "f64", "atype": "f64"})


@pytest.mark.parametrize(
    ("name", "origin"),
    [
        ("fence.sync.aligned", "llvm"),
        ("mma_async.sync.aligned.m64n128k16.f32.f16.f16", "nvidia"),
        ("mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3", "nvidia"),
        ("commit_group.sync.aligned", "llvm"),
        ("wait_group.sync.aligned", "llvm"),
    ],
)
def test_origin_of_warpgroup_intrinsics(name: str, origin: str) -> None:
    assert read_name(f"llvm.nvvm.wgmma.{name}").origin == origin
