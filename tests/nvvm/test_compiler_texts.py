"""Facts of the two reference texts on NVIDIA's compiler that `warploom explain` answers."""

from __future__ import annotations

import pytest

from warploom.cli import main
from warploom.diagnostics import UsageError
from warploom.nvvm.reference import Table, search, tables
from warploom.view.explain import explain

FACTS = [
    ("678-707", "HMMA, 678-707, 30 builtins"),
    ("678–709", "dword_42810C0 (text: 678-709)"),
    ("0x2C4", "name: __imma_m16n16k16_ld_a_s8"),
    ("__hmma_m8n32k16_*", "698: `__hmma_m8n32k16_ld_a`"),
    ("741", "`__bmma_m8n8k128_ld_b_b1`: builtin 741 (0x2e5)"),
    ("746", "A type: i32; B type: i32; C type: i32x2"),
    ("750", "A type: i64; B type: i32x2; C type: i32x8"),
    ("755", "A type: fragment i16x2"),
    ("764", "A type: fragment i32x2/i64"),
    ("752-754", "753-755; 752 is the store __mma_m16n16k8_st_c_f32"),
    ("0x300", "minimal, simplest: 2 matrix descriptors"),
    ("769", "barrier of a warpgroup, without a name; inline IR; EDG side: sub_127FC40"),
    ("5380", "f16 (765), sizes 16, 32, 64, 128"),
    ("~5352", "correct: 5376"),
    ("10683", "N: 160; integer: 10682; float: 10683"),
    ("N=104", "N: 104; integer: 10654; float: 10655"),
    ("33-entry switch", "It has 32 entries"),
    ("9062", "4-argument call, overloaded for 3 types"),
    ("9067", "{constant, B_fragment, rowcol_value, zero_constant}"),
    ("llvm.nvvm.wgmma.store", "{constant, B_fragment, descriptor, rowcol, zero}: 5-argument call"),
    ("4917", "36 ISD opcodes, 10-way switch by shape"),
    ("8914", "stores of m8n8k32 and of bits"),
    ("8904-8905", "family: IMMA 0x22C8-0x22C9; v95 (B): 4; v100 (A): 1"),
    ("0x22BE", "registers: 1"),
    ("8279", "has no satf"),
    ("0x300C003", "The correct mask is 0x300C030"),
    ("dword_3F147A0", "dword_4281020; entries: 0-12; numbers: 732-744"),
    ("sub_12AC1A0", "reads the tables of intrinsics of the EDG side"),
    ("sub_94E0D0", "EDG side: sub_12AC5F0; purpose: translates the multiplications of the first generation"),
    ("sub_90AEE0", "EDG side: sub_126A910; purpose: registers the warpgroup builtins"),
    ("sub_955A70", "(24 KB)"),
    ("lines 2270-3138", "sub_12B3FD0 (22 KB)"),
    ("0x620FD0", "extracts a constant integer and sets a flag on overflow"),
    ("mmafrag", "sub_921880; EDG side: sub_1285290"),
    ("sub_1280F50", "the size 4 means float elements"),
    ("sub_36E8BD0", "function: bmmamma; printer: sub_21E2280"),
    ("immaldab", "rejects v8 == 72 && variant > 1"),
    ("0x3E8", "backend: sub_36E9630"),
    ("target_info", "stores the number of the SM here, as a DWORD"),
    ("sub_16BD130", "sub_C64ED0 (backend); purpose: reports errors"),
    ("sub_35F38B0", "writes the collector mode"),
    ("*(entry+64)", "register count of A (incorrect; correct: aty (15-8))"),
    ("0x2000000", "al (25-24): row 1, col 2; the two results must be exchanged"),
    ("ctx + 656", "the tree with the 12 entries of 753 to 764"),
    ("red-black tree 7", "sub_953BA0"),
    ("v540", "integer type tag of the element"),
    ("LABEL_56", "_bf16 (766, 0x2FE)"),
    (".asvecptr", "converts the accumulator pointer to a vector pointer"),
    ("v427", "sign bit of B, reserved"),
    ("'rowcol' operand can be 0 or 1 only", "rowcol > 1 of a load or store"),
    ("error: N only supported for powers of two (call 3)", "legal N that is not 8, 16, 32, 64, 128, 256"),
    ("unexpected constant overflow", "checked 5 times"),
    ("The shape m64n8k3 is not supported for __wgmma_mma_async builtin", "N or K is illegal for the type"),
    ("immastc", "printer: sub_21E1830"),
    ("Wrong MMA element type", "a type code in the packed word is not 1 to 11"),
    ("0x36316B386E36316D", "writes m16n8k16 as one 8-byte write"),
    ("0x19", "m16n16k8; first SM: 70 (incorrect; correct: 80)"),
    ("m16n8k4 f64", "first SM: 80 (incorrect; correct: 90)"),
    ("satf bit", "field: satf; bits: 28"),
    ("mxf4nvf4", "code: kind of a tcgen05 multiplication; value: 0"),
    ("negA", "values: 0 (1), 1 (-1)"),
    ("scale input accumulator", "not on sm_110a"),
    ("collector::a::fill", "collector mode; value: 2"),
    ("nvvm.wgmma.mma_async", "inline PTX"),
    ("shape-N", "no property, no PTX modifier"),
    ("b1Op", "wgmma has only and.popc"),
    ("swizzle_mode", "0 none, 1 128-byte (128B, canonical), 2 64-byte, 3 32-byte"),
    ("sbo", "correct bits: 45-32"),
    ("%scale_a", "constants +1 or -1 of scaleIn"),
    ("wait depth", "fits in 6 bits, 0 to 63 (incorrect; correct: 0 to 2^63 - 1)"),
    ("nvgpu.warpgroup.descriptor", "builds the descriptor as a plain i64"),
    ("nvvm.tcgen05.mma.sync", "correct: nvvm.tcgen05.mma"),
]
"""Queries, and words of the answer. Half of the queries were drawn at random from the texts."""


@pytest.mark.parametrize(("query", "said"), FACTS)
def test_facts(query: str, said: str) -> None:
    assert said in explain(query)


@pytest.mark.parametrize("table", tables().values(), ids=lambda table: table.name)
def test_every_row_is_found_by_its_name(table: Table) -> None:
    for row, entry in zip(table.rows, table.entries, strict=False):
        key = next(cell for cell in row if cell != "-")
        found = search(key)
        assert entry.line in found or "other facts match" in found, key


def test_more_words_narrow_the_search() -> None:
    assert len(search("rowcol").splitlines()) > len(search("rowcol 9145").splitlines()) > 1
    assert search("the of a") == search("zyx") == ""


def test_phrase_without_one_of_its_words_is_found() -> None:
    assert "sub_21DFBF0" in search("first SM of hmmastc, please")


@pytest.mark.parametrize("query", ["sub_94B5", "sub_94B511"])
def test_wrong_address_leads_to_the_right_one(query: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", query])
    assert "sub_94B510" in "".join(capsys.readouterr())


@pytest.mark.parametrize("query", ["zyx", "nvvm.zyx", "llvm.nvvm.zyx", "__zyx", "colour:5"])
def test_unknown_words_are_errors(query: str) -> None:
    with pytest.raises(UsageError):
        explain(query)
