"""Operations of one thread, of warps and of CTAs: their LLVM IR, their results on the emulator, their messages."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

pytest.importorskip("xdsl")

import warploom as wl
from warploom.nvvm import LowerError
from warploom.nvvm.dialect import (
    FAMILIES,
    OPERATIONS,
    arithmetic,
    barriers,
    conversions,
    prefetch,
    special_registers,
    warp,
)
from warploom.nvvm.mlir_text import parse_mlir
from warploom_lab.mlir.cases import Case, declared, inline, module_of

LANES = np.arange(32, dtype=np.uint32)
PARAMETERS = (
    "%i: i32, %j: i32, %l: i64, %f: f32, %p: i1, %g: !llvm.ptr, %n: !llvm.ptr<1>, %c: !llvm.ptr<4>, %h: vector<2xf16>"
)
NEW = (warp, barriers, prefetch, conversions, arithmetic, special_registers)


def function(*lines: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"llvm.func @f({PARAMETERS}) {{\n{body}\n  llvm.return\n}}\n"


def instructions(*lines: str) -> list[str]:
    """Return the instructions of the LLVM IR of some operations."""
    found = wl.lower(function(*lines), to="llvm").partition("{")[2].partition("\n}")[0].splitlines()
    return [line.strip() for line in found if line.startswith("  ")][:-1]


def operation_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if "nvvm." in line]


def refusal(*lines: str) -> str:
    with pytest.raises(LowerError) as caught:
        wl.lower(function(*lines))
    return caught.value.diagnostics[0].message


# Syntax -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "keyword", "word"),
    [
        ("nvvm.tcgen05.ld %t {pack, SHAPE} : i32", "nvvm.tcgen05.ld %t pack {SHAPE} : i32", ".pack::16b"),
        ("nvvm.tcgen05.st %t, %i {unpack, SHAPE} : i32", "nvvm.tcgen05.st %t, %i unpack {SHAPE} : i32", ".unpack::16b"),
        ("nvvm.prefetch %g {tensormap} : !llvm.ptr", "nvvm.prefetch tensormap, %g : !llvm.ptr", ".tensormap"),
    ],
)
def test_the_dictionary_states_properties_that_have_keywords(stated: str, keyword: str, word: str) -> None:
    def ptx(line: str) -> str:
        text = line.replace("SHAPE", "shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>")
        whole = function(text).replace("%i: i32", "%t: !llvm.ptr<6>, %i: i32")
        return str(wl.lower(whole, source="nvvm", to="ptx", target="sm_100a"))

    assert word in ptx(stated)
    assert ptx(stated) == ptx(keyword)


# LLVM IR ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("nvvm.read.ptx.sreg.ctaid.z : i32", "call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()"),
        (
            "nvvm.read.ptx.sreg.tid.x range <i32, 0, 64> : i32",
            "call range(i32 0, 64) i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        ),
        ("nvvm.read.ptx.sreg.aggr.smem.size : i32", "call i32 @llvm.nvvm.read.ptx.sreg.aggr_smem_size()"),
        ("nvvm.read.ptx.sreg.globaltimer : i64", "call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()"),
        (
            "nvvm.shfl.sync idx %i, %f, %j, %i {return_value_and_is_valid} : f32 -> !llvm.struct<(f32, i1)>",
            "call { float, i1 } @llvm.nvvm.shfl.sync.idx.f32p(i32 %i, float %f, i32 %j, i32 %i)",
        ),
        (
            "nvvm.match.sync all %i, %l : i64 -> !llvm.struct<(i32, i1)>",
            "call { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32 %i, i64 %l)",
        ),
        ("nvvm.redux.sync umin %i, %j : i32 -> i32", "call i32 @llvm.nvvm.redux.sync.umin(i32 %i, i32 %j)"),
        (
            "nvvm.redux.sync fmax %f, %j {abs = true, nan = true} : f32 -> f32",
            "call float @llvm.nvvm.redux.sync.fmax.abs.NaN(float %f, i32 %j)",
        ),
        ("nvvm.prmt <default> %i, %j, %i : i32", "call i32 @llvm.nvvm.prmt(i32 %j, i32 %i, i32 %i)"),
        ("nvvm.prmt <rc16> %i, %j : i32", "call i32 @llvm.nvvm.prmt.rc16(i32 %j, i32 %i)"),
        (
            "nvvm.convert.f32x2.to.bf16x2 %f, %f, %i {rnd = #nvvm.fp_rnd_mode<rs>, relu = true} : vector<2xbf16>",
            "call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rs.relu(float %f, float %f, i32 %i)",
        ),
        (
            "nvvm.convert.float.to.tf32 %f {rnd = #nvvm.fp_rnd_mode<rna>, sat = #nvvm.sat_mode<satfinite>}",
            "call i32 @llvm.nvvm.f2tf32.rna.satfinite(float %f)",
        ),
    ],
)
def test_call(operation: str, expected: str) -> None:
    (line,) = instructions(f"%0 = {operation}")
    assert line.partition(" = ")[2] == expected


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("nvvm.barrier0", "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"),
        (
            "nvvm.barrier id = %i number_of_threads = %j",
            "call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 %i, i32 %j)",
        ),
        ("nvvm.barrier.arrive number_of_threads = %j", 'call void asm sideeffect "bar.arrive 0, $0;", "r"(i32 %j)'),
        ("nvvm.breakpoint", "call void @llvm.debugtrap()"),
        ("nvvm.exit", "call void @llvm.nvvm.exit()"),
        ("nvvm.nanosleep %i", "call void @llvm.nvvm.nanosleep(i32 %i)"),
        ("nvvm.pmevent id = 3", "call void @llvm.nvvm.pm.event.mask(i16 8)"),
        ("nvvm.pmevent mask = -1", 'call void asm sideeffect "pmevent.mask 65535;", ""()'),
        ("nvvm.prefetch level = L1 uniform, %g : !llvm.ptr", "call void @llvm.nvvm.prefetchu.L1(ptr %g)"),
        (
            "nvvm.prefetch level = L2, evict_priority = evict_last, %n : !llvm.ptr<1>",
            "call void @llvm.nvvm.prefetch.global.L2.evict.last(ptr addrspace(1) %n)",
        ),
        (
            "nvvm.prefetch tensormap, %g, predicate = %p : !llvm.ptr, i1",
            'call void asm sideeffect "@$1 prefetch.tensormap [$0];", "l,b"(ptr %g, i1 %p)',
        ),
        (
            "nvvm.prefetch tensormap, %c, predicate = %p : !llvm.ptr<4>, i1",
            'call void asm sideeffect "@$1 prefetch.const.tensormap [$0];", "l,b"(ptr addrspace(4) %c, i1 %p)',
        ),
    ],
)
def test_call_without_result(operation: str, expected: str) -> None:
    assert instructions(operation) == [expected]


def test_prefetch_of_a_parameter() -> None:
    cast, call = instructions("nvvm.prefetch tensormap in_param_space, %g : !llvm.ptr")
    assert cast.endswith("addrspacecast ptr %g to ptr addrspace(101)")
    assert "prefetch.tensormap.p101(ptr addrspace(101)" in call


def test_narrow_numbers_are_integers_of_sixteen_bits() -> None:
    lines = instructions(
        "%0 = nvvm.convert.f32x2.to.f4x2 %f, %f : i8 (f4E2M1FN)",
        "%1 = nvvm.convert.f4x2.to.f16x2 %0 : i8 (f4E2M1FN) -> vector<2xf16>",
        "%2 = nvvm.convert.f16x2.to.f8x2 %1 : vector<2xf16> -> vector<2xi8> (f8E5M2)",
        "%3 = nvvm.convert.f8x2.to.f16x2 %2 {relu = true} : vector<2xi8> (f8E5M2) -> vector<2xf16>",
    )
    calls = [re.search(r"(\S+|<.*?>) @llvm\.nvvm\.(\S+)\((\S+)", line) for line in lines]
    assert [found.groups() for found in calls if found] == [
        ("i16", "ff.to.e2m1x2.rn.satfinite", "float"),
        ("<2 x half>", "e2m1x2.to.f16x2.rn", "i16"),
        ("i16", "f16x2.to.e5m2x2.rn", "<2"),
        ("<2 x half>", "e5m2x2.to.f16x2.rn.relu", "i16"),
    ]


# Results on the emulator ------------------------------------------------------------------------------------


def run(*lines: str, target: str = "sm_90a") -> np.ndarray:
    """Return the value %v of each lane of a warp. The lane is %t, its number as f32 is %f, and the full mask is %m."""
    body = "\n".join(lines)
    text = f"""llvm.func @k(%out: !llvm.ptr<1>) attributes {{nvvm.kernel}} {{
  %t = nvvm.read.ptx.sreg.tid.x : i32
  %m = llvm.mlir.constant(-1 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %last = llvm.mlir.constant(31 : i32) : i32
  %f = llvm.uitofp %t : i32 to f32
  {body}
  %a = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store %v, %a : i32, !llvm.ptr<1>
  llvm.return
}}"""
    out = np.zeros(32, np.uint32)
    wl.launch(str(wl.lower(text, target=target)), grid=1, block=32, args=[out], arch=target)
    return out


def test_shuffle_votes_and_matches() -> None:
    assert (run("%v = nvvm.shfl.sync bfly %m, %t, %one, %last : i32 -> i32") == (LANES ^ 1)).all()
    odd = ("%b = llvm.and %t, %one : i32", '%p = llvm.icmp "eq" %b, %one : i32')
    assert (run(*odd, "%v = nvvm.vote.sync ballot %m, %p -> i32") == 0xAAAAAAAA).all()
    mask = np.where(LANES % 2, 0xAAAAAAAA, 0x55555555)
    assert (run(*odd, "%v = nvvm.match.sync any %m, %b : i32 -> i32") == mask).all()
    assert (run("%v = nvvm.redux.sync add %t, %m : i32 -> i32") == LANES.sum()).all()


def test_reduction_at_a_barrier() -> None:
    assert (run("%v = nvvm.barrier #nvvm.reduction<popc> %t -> i32") == 31).all()
    assert (run("%v = nvvm.barrier #nvvm.reduction<and> %t -> i32") == 0).all()
    assert (run("%v = nvvm.barrier #nvvm.reduction<or> %t -> i32") == 1).all()


def test_dot_product_permutation_and_descriptor() -> None:
    assert (
        run(
            "%b = llvm.bitcast %t : i32 to vector<4xi8>",
            "%v = nvvm.dot.accumulate.4way %b <unsigned>, %b <unsigned>, %one : vector<4xi8>, vector<4xi8>",
        )
        == LANES**2 + 1
    ).all()
    assert (run("%v = nvvm.prmt <rc8> %m, %t : i32") == 0).all()
    found = run(
        "%b = llvm.trunc %t : i32 to i8",
        '%q = llvm.icmp "eq" %t, %one : i32',
        "%d = nvvm.tcgen05.mma_smem_desc (%t, %m, %t, %b, %q, %b) : (i32, i32, i32, i8, i1, i8) -> i64",
        "%s = llvm.mlir.constant(32 : i64) : i64",
        "%u = llvm.lshr %d, %s : i64",
        "%v = llvm.trunc %u : i64 to i32",
    )
    expected = LANES | 1 << 14 | (LANES & 7) << 17 | (LANES == 1) << 20 | (LANES & 7) << 29
    assert (found == expected.astype(np.uint32)).all()


def test_conversions_round_as_the_instruction_states() -> None:
    pair = run(
        "%c = nvvm.convert.f32x2.to.f8x2 %f, %f {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>}"
        " : i16 (f8E4M3FN)",
        "%v = llvm.zext %c : i16 to i32",
    )
    ml_dtypes = pytest.importorskip("ml_dtypes")
    one = LANES.astype(np.float32).astype(ml_dtypes.float8_e4m3fn).view(np.uint8).astype(np.uint32)
    assert (pair == (one << 8 | one)).all()


# Inline PTX -------------------------------------------------------------------------------------------------


def test_inline_ptx_changes_a_value_for_its_later_users() -> None:
    changed = run(
        '%p = llvm.icmp "ult" %t, %one : i32',
        "%x = llvm.add %t, %one : i32",
        'nvvm.inline_ptx "add.s32 {$rw0}, {$rw0}, {$r0};" ro(%last : i32) rw(%x : i32), predicate = %p',
        "%v = llvm.add %x, %one : i32",
    )
    assert (changed == np.where(LANES == 0, 33, LANES + 2)).all()


def test_inline_ptx_names_registers_and_symbols_of_ptx() -> None:
    assert (run('%v = nvvm.inline_ptx "mov.u32 {$w0}, %laneid;" -> i32') == LANES).all()
    text = "{ .reg .b32 $tmp; mov.u32 $tmp, {$r1}; sub.s32 {$w0}, $tmp, {$r0}; }"
    assert (run(f'%v = nvvm.inline_ptx "{text}" ro(%t, %last : i32, i32) -> i32') == 31 - LANES).all()


def test_inline_ptx_with_several_results_and_wide_values() -> None:
    found = instructions(
        '%0:2 = nvvm.inline_ptx "{$w0} {$w1} {$r0}" ro(%p : i1) -> i16, f64',
        "%w = llvm.zext %l : i64 to i128",
        '%1 = nvvm.inline_ptx "{$w0} {$r0} %0" ro(%w : i128), predicate = %p -> i128',
    )
    assert 'call { i16, double } asm sideeffect "$0 $1 $2", "=h,=d,b"(i1 %p)' in found[0]
    assert re.search(r'call i128 asm sideeffect "@\$2 \$0 \$1 \$0", "=q,q,b"\(i128 %\S+, i1 %p\)', found[-1])


def test_a_change_after_a_branch_reaches_the_blocks_that_it_dominates() -> None:
    text = """llvm.func @f(%p: i1, %x: i32) -> i32 {
  nvvm.inline_ptx "neg.s32 {$rw0}, {$rw0};" rw(%x : i32)
  llvm.cond_br %p, ^yes, ^no
^yes:
  nvvm.inline_ptx "abs.s32 {$rw0}, {$rw0};" rw(%x : i32)
  llvm.return %x : i32
^no:
  llvm.return %x : i32
}"""
    llvm = wl.lower(text, to="llvm")
    negated, absolute = re.findall(r"(%\S+) = call i32 asm", llvm)
    assert re.findall(r"ret i32 (\S+)", llvm) == [absolute, negated]


# Messages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "%0 = nvvm.read.ptx.sreg.tid.x range <i32, 3, 3> : i32",
            "range is [3, 3); expected an upper end other than 3",
        ),
        ("%0 = nvvm.read.ptx.sreg.tid.x range <i64, 0, 3> : i32", "range has the type i64; expected i32"),
        (
            "%0 = nvvm.shfl.sync up %i, %f, %i, %i : f32 -> i32",
            "returns i32; expected f32 without return_value_and_is_valid",
        ),
        ("%0 = nvvm.vote.sync ballot %i, %p -> i1", "ballot returns i1; expected i32"),
        ("%0 = nvvm.match.sync all %i, %i : i32 -> i32", "all returns i32; expected !llvm.struct<(i32, i1)>"),
        ("%0 = nvvm.redux.sync fmin %i, %i : i32 -> i32", "fmin reduces i32 to i32; expected f32 to f32"),
        (
            "%0 = nvvm.redux.sync add %i, %i {nan = true} : i32 -> i32",
            "nan is true for i32; expected f32, or nan = false",
        ),
        ("nvvm.barrier #nvvm.reduction<or> %i -> i32\n  %1 = nvvm.barrier -> i32", "only a reduction has a result"),
        ("nvvm.pmevent id = 16", "id is 16; expected 0 to 15"),
        ("nvvm.pmevent", "expected id or mask, got neither"),
        (
            "nvvm.fence.proxy.acquire #nvvm.mem_scope<gpu> %g, %i",
            "size is computed at run time; expected the constant 128",
        ),
        ("%0 = llvm.mlir.constant(16 : i32) : i32\n  nvvm.barrier id = %0", "id is 16; expected 0 to 15"),
        ("nvvm.setmaxregister increase 232 {action = #nvvm<action increase>}", "expected action once"),
        ("nvvm.setmaxregister increase 232 {action = 3 : i32}", "expected action once"),
        ("nvvm.prefetch %g : !llvm.ptr", "expected level or tensormap, got neither"),
        ("nvvm.prefetch tensormap, %n : !llvm.ptr<1>", "addr is in the global space; expected generic or const"),
        ("nvvm.prefetch level = L2 uniform, %g : !llvm.ptr", "uniform requires level L1, got L2"),
        ("%0 = nvvm.prmt <f4e> %i, %j : i32", "mode is f4e and hi is absent; expected the operand hi"),
        ("%0 = nvvm.prmt <ecl> %i, %j, %i : i32", "mode is ecl and hi is present; expected no operand hi"),
        ("%0 = nvvm.convert.float.to.tf32 %f", "rnd is none; expected rn or rz or rna"),
        (
            "%0 = nvvm.convert.f32x2.to.f16x2 %f, %f {rnd = #nvvm.fp_rnd_mode<rs>} : vector<2xf16>",
            "rnd is rs; expected the operand random_bits",
        ),
        ("%0 = nvvm.convert.f32x2.to.f4x2 %f, %f : i8 (f8E5M2)", "f8E5M2"),
        (
            'nvvm.inline_ptx "neg.s32 {$rw1}, {$rw0};" rw(%i : i32)',
            "contains '{$rw1}'; expected placeholders up to {$rw0}",
        ),
        ('nvvm.inline_ptx "ex2 {$r0};"', "contains '{$r0}'; expected no placeholder of an operand 'r'"),
    ],
)
def test_message(line: str, message: str) -> None:
    text = refusal(line if line.startswith(("%0", "nvvm.p", "nvvm.i", "nvvm.fence", "nvvm.setmax")) else f"%0 = {line}")
    assert message in text
    assert re.match(r"'nvvm\.[\w.]+'|custom", text) or "f8E5M2" in text
    assert "\n" not in text


# All operations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", NEW, ids=lambda family: family.__name__.rpartition(".")[2])
def test_each_operation_has_a_call_or_inline_ptx(family: object) -> None:
    """Each legal operation prints as it was parsed, and becomes instructions of LLVM IR."""
    kinds = [
        kind
        for kind in OPERATIONS
        if kind in vars(family).values() or (family is special_registers and "sreg" in kind.name)
    ]
    assert kinds
    for kind in random.Random(0).sample(kinds, min(len(kinds), 12)):
        for spec in declared(kind, 2):
            text = Case(module_of(spec), kind.name).text
            assert operation_lines(str(parse_mlir(text).module)) == operation_lines(text)
            assert kind.name not in wl.lower(text, to="llvm").replace("llvm.nvvm", "")


def test_inline_ptx_is_one_instruction_of_llvm_ir() -> None:
    for spec in inline():
        assert wl.lower(str(module_of(spec)), to="llvm").count(" asm sideeffect ") == 1


def test_the_dialect_has_all_operations_of_mlir() -> None:
    assert len(OPERATIONS) + 1 == 185
    assert "special_registers" in FAMILIES
