"""Tables of the reference text on cicc's builtins, compared with the code."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest

from warploom.diagnostics import UsageError
from warploom.isa.model.availability import read_target
from warploom.layout import tiled_fragment
from warploom.nvvm.builtins import BUILTINS, builtin_named, builtin_numbered
from warploom.nvvm.builtins.lowering import translate
from warploom.nvvm.builtins.selection import RefusedCall, gate_message, select
from warploom.nvvm.builtins.source import BuiltinError
from warploom.nvvm.forms import MMA_DENSE, WMMA
from warploom.nvvm.intrinsic_numbers import describe
from warploom.nvvm.packed import WORDS
from warploom.nvvm.packed.matrix import MMA, MOVE, SHAPES, TYPES
from warploom.nvvm.packed.tcgen05 import COLLECTORS, KINDS, SCALED
from warploom.nvvm.reference import CORRECTION, _read, tables
from warploom_lab.pages.cicc import pages

CICC = tables()
SM_90A = read_target("sm_90a")

# Tables of the reference text, with corrections, that the code derives.
HMMA = {"m16n16k16": "678-687", "m32n8k16": "688-697", "m8n32k16": "698-707"}
HMMA_OPERATIONS = {
    "ld_a": "load A", "ld_b": "load B", "ld_c_f16": "load C of f16", "ld_c_f32": "load C of f32",
    "st_c_f16": "store D of f16", "st_c_f32": "store D of f32", "mma_f16f16": "D f16, C f16",
    "mma_f32f16": "D f32, C f16", "mma_f16f32": "D f16, C f32", "mma_f32f32": "D f32, C f32",
}  # fmt: skip
IMMA_OPERATIONS = ["ld_a_s8", "ld_a_u8", "ld_b_s8", "ld_b_u8", "ld_c", "st_c_i32", "mma_s8", "mma_u8"]
NAMES = {
    740: "__bmma_m8n8k128_ld_a_b1", 741: "__bmma_m8n8k128_ld_b_b1", 742: "__bmma_m8n8k128_ld_c",
    743: "__bmma_m8n8k128_st_c_i32", 744: "__bmma_m8n8k128_mma_xor_popc_b1", 745: "__bmma_m8n8k128_mma_and_popc_b1",
    746: "__dmma_m8n8k4_mma_f64", 747: "__mma_tf32_m16n16k8_mma_f32", 748: "__mma_bf16_m16n16k16_mma_f32",
    749: "__mma_bf16_m32n8k16_mma_f32", 750: "__mma_bf16_m8n32k16_mma_f32", 751: "__dmma_m8n8k4_st_c_f64",
    752: "__mma_m16n16k8_st_c_f32", 753: "__dmma_m8n8k4_ld_a", 754: "__dmma_m8n8k4_ld_b", 755: "__dmma_m8n8k4_ld_c",
    756: "__mma_tf32_m16n16k8_ld_a", 757: "__mma_tf32_m16n16k8_ld_b", 758: "__mma_tf32_m16n16k8_ld_c",
    759: "__mma_bf16_m16n16k16_ld_a", 760: "__mma_bf16_m16n16k16_ld_b", 761: "__mma_bf16_m32n8k16_ld_a",
    762: "__mma_bf16_m32n8k16_ld_b", 763: "__mma_bf16_m8n32k16_ld_a", 764: "__mma_bf16_m8n32k16_ld_b",
    765: "__wgmma_mma_async_f16", 766: "__wgmma_mma_async_bf16", 767: "__wgmma_mma_async_tf32",
    768: "__wgmma_mma_async_f8",
}  # fmt: skip
INTEGER_INTRINSICS = (
    "10774 10690 10734 10742 10746 10750 10754 10758 10762 10766 10770 10778 10654 10658 10662 10666 "
    "10670 10674 10678 10682 10686 10694 10698 10702 10706 10710 10714 10718 10722 10726 10730 10738"
)
"""Intrinsics of N = 8, 16, … 256. The intrinsic of a float has the next number."""


def rows(name: str) -> list[dict[str, str]]:
    return CICC[name].corrected()


def span(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def choice_of(text: str):
    return translate(text, SM_90A).calls[0].selection


# Pages --------------------------------------------------------------------------------------------------------------


def test_corrections_are_shown() -> None:
    page = "\n".join(pages().values())
    cells = [cell for table in CICC.values() for row in table.rows for cell in row if CORRECTION in cell]
    assert len(cells) > 80
    for cell in cells:
        wrong, _, right = (part.strip().replace("*", "\\*") for part in cell.partition(CORRECTION))
        assert wrong != right
        assert f"**{right}**" in page
        assert f"~~{wrong}~~" in page or not wrong


def test_row_with_too_few_cells_is_an_error() -> None:
    with pytest.raises(ValueError, match="table t: row 'c' has 3 cells; expected 2"):
        _read("t", ["Title", "a | b", "c | d | e"], "cicc")


# The registry -------------------------------------------------------------------------------------------------------


def test_numbers_and_targets() -> None:
    assert [each.number for each in BUILTINS] == list(range(678, 769))
    for number in (769, 770):
        with pytest.raises(UsageError, match="is a warpgroup barrier"):
            builtin_numbered(number)
    assert {each.number for each in BUILTINS if each.kind == "warpgroup"} == set(range(765, 769))
    first = {"hmma": "70", "imma": "72", "bmma": "75", "dmma": "80", "tf32": "80", "bf16": "80", "wgmma": "90a"}
    for each in BUILTINS:
        if each.shape != "m8n8k32" and each.bits != "and":
            assert each.target == f"sm_{first[each.unit]}"


@pytest.mark.parametrize("builtin", [each for each in BUILTINS if each.kind != "warpgroup"], ids=lambda each: each.name)
def test_first_target_is_the_first_that_lower_accepts(builtin) -> None:
    values = [value for value, _ in translate(_some_call(builtin), SM_90A).calls[0].arguments]
    accepted = []
    for name in ("sm_70", "sm_72", "sm_75", "sm_80", "sm_90a"):
        with suppress(RefusedCall):
            select(builtin, values, read_target(name))
            accepted.append(name)
    assert accepted[0] == builtin.target


@pytest.mark.parametrize(("numbers", "units", "count"), [
    ("678-707", {"hmma"}, 30), ("708-745", {"imma", "bmma"}, 38), ("746-764", {"dmma", "tf32", "bf16"}, 19),
    ("765-768", {"wgmma"}, 4),
])  # fmt: skip
def test_generations(numbers: str, units: set[str], count: int) -> None:
    found = [builtin_numbered(number) for number in span(numbers)]
    assert len(found) == count
    assert {each.unit for each in found} == units


@pytest.mark.parametrize("shape", HMMA)
def test_hmma_shapes_and_operations(shape: str) -> None:
    names = [builtin_numbered(number).name for number in span(HMMA[shape])]
    assert names == [f"__hmma_{shape}_{suffix}" for suffix in HMMA_OPERATIONS]
    assert builtin_named(names[0]).shape == shape


@pytest.mark.parametrize("suffix", HMMA_OPERATIONS)
def test_hmma_operations_have_these_types(suffix: str) -> None:
    builtin = builtin_named(f"__hmma_m16n16k16_{suffix}")
    said = HMMA_OPERATIONS[suffix]
    if builtin.kind == "multiply":
        assert said == f"D {builtin.types['d']}, C {builtin.types['c']}"
    else:
        assert said.startswith(f"{builtin.kind} {builtin.matrix.upper()}")
        assert said.endswith(builtin.types[builtin.matrix]) or builtin.matrix in "ab"


def test_imma_operations() -> None:
    for first, shape in ((708, "m16n16k16"), (716, "m32n8k16"), (724, "m8n32k16")):
        found = [builtin_numbered(first + at).name for at in range(8)]
        assert found == [f"__imma_{shape}_{suffix}" for suffix in IMMA_OPERATIONS]
    found = [builtin_numbered(number) for number in range(732, 740)]
    assert [each.operation for each in found] == [word.replace("8", "4") for word in IMMA_OPERATIONS]
    assert {each.shape for each in found} == {"m8n8k32"}


def test_numbers_by_name() -> None:
    assert {number: builtin_numbered(number).name for number in NAMES} == NAMES


@pytest.mark.parametrize("row", rows("tables"), ids=lambda row: row["table"])
def test_three_tables(row: dict[str, str]) -> None:
    builtins = [builtin_numbered(number) for number in span(row["numbers"])]
    assert len(builtins) == len(span(row["entries"]))
    assert {each.target for each in builtins} == {{678: "sm_70", 708: "sm_72", 732: "sm_75"}[builtins[0].number]}


# Fragments ----------------------------------------------------------------------------------------------------------


def registers(builtin_name: str) -> list[int]:
    """Return the registers of the moved matrix, or of A, B, C and D."""
    builtin = builtin_named(builtin_name)
    names = "abcd" if builtin.kind == "multiply" else builtin.matrix
    return [tiled_fragment("wmma", name.upper(), builtin.shape, builtin.types[name]).registers for name in names]


@pytest.mark.parametrize("row", rows("fragments")[4:], ids=lambda row: row["condition"])
def test_registers_of_numbered_intrinsics(row: dict[str, str]) -> None:
    for word in row["condition"].split():
        first, _, last = word.partition("-")
        for number in range(int(first, 16), int(last or first, 16) + 1):
            words = dict(describe(number).words)
            assert registers(f"__imma_{words['shape']}_{words['operation']}") == [int(row["registers"])]


def test_registers_of_other_intrinsics() -> None:
    by = {row["condition"]: int(row["registers"]) for row in rows("fragments")}
    assert registers("__hmma_m16n16k16_st_c_f16") == [by["first generation, BF16, store"]]
    assert registers("__hmma_m16n16k16_mma_f32f32") == [by["first generation"]] * 4
    for number in (8914, 8280):
        words = dict(describe(number).words)
        unit = "imma" if number == 8914 else "bmma"
        assert registers(f"__{unit}_{words['shape']}_{words['operation']}") == [by["8914, 8280"]]
    assert registers("__bmma_m8n8k128_ld_c") == [by["BMMA"]]


@pytest.mark.parametrize("row", rows("iterations"), ids=lambda row: row["family"])
def test_registers_of_multiplications(row: dict[str, str]) -> None:
    if row["family"] == "HMMA":
        names = [each.name for each in BUILTINS if each.unit == "hmma" and each.kind == "multiply"]
    elif row["family"] == "BMMA":
        names = ["__bmma_m8n8k128_mma_xor_popc_b1", "__bmma_m8n8k128_mma_and_popc_b1"]
    else:
        first, last = (int(word, 16) for word in row["family"].split()[1].split("-"))
        words = [dict(describe(number).words) for number in range(first, last + 1)]
        names = [f"__imma_{each['shape']}_{each['operation']}" for each in words]
    for name in names:
        a, b, c, d = registers(name)
        for count, said in ((b, row["v95 (B)"]), (a, row["v100 (A)"]), (c, row["v101 (C)"]), (d, row["v103 (D)"])):
            assert str(count) in said.split(" or ")


def test_hmma_results_of_four_registers() -> None:
    shapes = ("m16n16k16", "m32n8k16", "m8n32k16")
    names = ["ld_a", "ld_b", "ld_c_f16", "ld_c_f32", "mma_f16f16", "mma_f16f32", "mma_f32f16", "mma_f32f32"]
    every = [f"__hmma_{shape}_{name}" for shape in shapes for name in [*names, "st_c_f16", "st_c_f32"]]
    mask = sum(1 << at for at, name in enumerate(every) if "_mma_" in name and registers(name)[3] == 4)
    assert mask == 0x300C030


@pytest.mark.parametrize(
    "row", [row for row in rows("gates") if row["expression"].startswith("v8")], ids=lambda row: row["function"]
)
def test_gates(row: dict[str, str]) -> None:
    first = int(row["first SM"])
    gated = [each for each in BUILTINS if each.kind != "warpgroup" and gate_message(each).startswith(row["function"])]
    assert gated
    below = {70: "sm_62", 72: "sm_70", 75: "sm_72"}[first]
    for builtin in gated:
        values = [value for value, _ in translate(_some_call(builtin), SM_90A).calls[0].arguments]
        with pytest.raises(RefusedCall) as refused:
            select(builtin, values, read_target(below))
        assert refused.value.errors[0][1] == f"{row['function']} is not supported on this architecture"
        lowest = "sm_75" if builtin.shape in ("m8n8k32", "m8n8k128") else f"sm_{first}"
        if "and" not in builtin.operation:
            assert select(builtin, values, read_target(lowest))


def test_sm_72_has_only_8_bit_integers() -> None:
    for builtin in BUILTINS:
        if builtin.unit != "imma":
            continue
        values = [value for value, _ in translate(_some_call(builtin), SM_90A).calls[0].arguments]
        if builtin.shape == "m8n8k32":
            with pytest.raises(RefusedCall, match="not supported on this architecture"):
                select(builtin, values, read_target("sm_72"))
        else:
            assert select(builtin, values, read_target("sm_72"))


def _some_call(builtin) -> str:
    if builtin.kind == "multiply":
        return f"{builtin.name}(d, a, b, c, 1{'' if builtin.unit == 'bmma' else ', 0'});"
    return f"{builtin.name}(d, s, 16, {int(builtin.matrix == 'b')});"


# Warpgroups ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", rows("operands")[-4:], ids=lambda row: row["variable"])
def test_warpgroup_builtins(row: dict[str, str]) -> None:
    suffix, _, number = row["variable"].partition(" (")
    builtin = builtin_numbered(int(number[:3]))
    assert builtin.name == f"__wgmma_mma_async{suffix}"
    assert hex(builtin.number) == number[5:-1].lower()
    names = row["operand"].split(", ")
    assert [parameter.name for parameter in builtin.parameters] == ["m", "n", "k", *names, "d"]
    depth = {"tf32": 8, "f8": 32}.get(builtin.operation, 16)
    effects = {
        "trans_a": {"imm_trans_a": 1}, "trans_b": {"imm_trans_b": 1}, "neg_a": {"imm_scale_a": -1},
        "neg_b": {"imm_scale_b": -1}, "scale_d": {"scale_d": 1},
    }  # fmt: skip
    words = {"d_f16": ("dtype", "f16"), "a_e4m3": ("atype", "e4m3"), "b_e4m3": ("btype", "e4m3")}
    plain = choice_of(f"{builtin.name}(64, 8, {depth}, {', '.join('0' * len(names))}, d, a, b);")
    for at, name in enumerate(names):
        flags = ", ".join("1" if place == at else "0" for place in range(len(names)))
        found = choice_of(f"{builtin.name}(64, 8, {depth}, {flags}, d, a, b);")
        if name in effects:
            assert found.constants == plain.constants | effects[name]
            assert found.words == plain.words
        else:
            assert found.words == plain.words | dict([words[name]])


@pytest.mark.parametrize("row", rows("handlers")[1:5], ids=lambda row: row["numbers"])
def test_kinds_by_number(row: dict[str, str]) -> None:
    found = [builtin_numbered(number) for number in span(row["numbers"])]
    kinds = {"multiplication": "warpgroup", "multiplications": "multiply", "stores": "store", "loads": "load"}
    assert {each.kind for each in found} == {kinds[row["text"].split(",")[0].split()[0]]}


@pytest.mark.parametrize("row", rows("entries")[:6], ids=lambda row: row["number"])
def test_multiplication_entries_are_descriptor_words(row: dict[str, str]) -> None:
    builtin = builtin_numbered(int(row["number"]))
    word = MMA.encode(
        rnd=int(row["rnd (trans_a), mid (variant)"]),
        opc=int(row["opc (shape)"]),
        shape=int(row["shape (trans_b, shape)"]),
        aty=int(row["aty (a_nregs, nregs)"]),
        bty=int(row["bty (b_nregs)"]),
    )
    found = MMA.decode(word)
    assert found["shape"] == builtin.shape
    assert (found["aty"], found["bty"]) == (builtin.types["a"], builtin.types["b"])
    assert found["opc"] == (f"{builtin.bits}.popc" if builtin.bits else "")
    choice = choice_of(_some_call(builtin))
    assert choice.words.get("rnd", "") == found["rnd"]


def _places(word: str) -> dict[str, tuple[int, int]]:
    return {each.name: (each.low, each.low + each.bits - 1) for each in WORDS[word].fields}


def _stated(text: str) -> dict[str, tuple[int, int]]:
    """Return {"aty": (8, 15)} for `register count => aty (15-8)`."""
    found = re.findall(r"(\w+) \((\d+)(?:-(\d+))?\)", text)
    return {name: (int(low or high), int(high)) for name, high, low in found}


@pytest.mark.parametrize(("word", "fields", "bits"), [
    ("mma", ("trans_a", "trans_b", "a_nregs", "b_nregs", "padding", "rowcol bit 1"), "rnd shape aty bty satf al"),
    ("move", ("shape of a load", "nregs of a load", "variant of a load"), "shape type mid"),
])  # fmt: skip
def test_entries_have_the_fields_of_the_word(word: str, fields: tuple[str, ...], bits: str) -> None:
    places = _places(word)
    stated: dict[str, tuple[int, int]] = {}
    for row in rows("fields"):
        if row["field"] in fields:
            stated |= _stated(row["description"])
    assert stated == {name: places[name] for name in bits.split()}


def test_rowcol_has_the_layouts_of_a_and_b() -> None:
    for rowcol in range(4):
        words = choice_of(f"__dmma_m8n8k4_mma_f64(d, a, b, c, {rowcol}, 0);").words
        assert (words["alayout"], words["blayout"]) == (("row", "col")[rowcol >> 1], ("row", "col")[rowcol & 1])


@pytest.mark.parametrize("row", rows("entries")[6:], ids=lambda row: row["number"])
def test_load_entries_are_descriptor_words(row: dict[str, str]) -> None:
    builtin = builtin_numbered(int(row["number"]))
    word = MOVE.encode(
        type=int(row["aty (a_nregs, nregs)"]),
        mid=int(row["rnd (trans_a), mid (variant)"]),
        shape=int(row["shape (trans_b, shape)"]),
    )
    found = MOVE.decode(word)
    assert found["shape"] == builtin.shape
    assert found["mid"] == builtin.matrix
    assert found["type"] == builtin.types[builtin.matrix]


def test_numbers_by_n() -> None:
    stated = list(map(int, INTEGER_INTRINSICS.split()))
    found = {int(row["N"]): (int(row["integer"]), int(row["float"])) for row in rows("n")}
    assert found == {n: (number, number + 1) for n, number in zip(range(8, 257, 8), stated, strict=True)}
    for n, number in zip(range(8, 257, 8), stated, strict=True):
        for variant, element in enumerate(("integer", "float")):
            assert dict(describe(number + variant).words) == {"n": str(n), "element": element}


def test_unnamed_numbers_of_n_are_errors() -> None:
    with pytest.raises(UsageError, match="only the first two intrinsics of each N"):
        describe(10656)
    with pytest.raises(UsageError, match="unknown intrinsic 1"):
        describe(1)


def test_grid() -> None:
    bases = {}
    for row in rows("grid"):
        if row["subject"].startswith("N ="):
            bases[int(row["subject"].removeprefix("N = "))] = int(row["text and correction"].removeprefix("base "))
            assert row["stride"] == "24"
    for n, base in bases.items():
        assert [dict(describe(base + at).words)["n"] for at in range(24)] == [str(n)] * 24
    assert sorted(bases.values()) == list(range(5304, 5448, 24))
    stated = {row["subject"]: row["text and correction"] for row in rows("grid")}
    assert {int(n) for n in stated["dimension 1, N"].split(", ")} == set(bases)


@pytest.mark.parametrize(("n", "descriptor"), [(16, 5332), (32, 5380), (64, 5404), (128, 5308), (256, 5356), (8, 5428)])
def test_numbers_of_f16_by_size(n: int, descriptor: int) -> None:
    for where, number in (("descriptor", descriptor), ("registers", descriptor + 1)):
        assert dict(describe(number).words) == {"n": str(n), "d": "f32", "a": "f16", "b": "f16", "where": where}
        assert any(str(number) in row["text and correction"] for row in rows("grid"))


@pytest.mark.parametrize("row", rows("config"), ids=lambda row: row["bit"])
def test_configuration_word(row: dict[str, str]) -> None:
    name = re.split("[:;]", row["description"])[0]
    assert WORDS["config"].decode(1 << int(row["bit"]))[name] == 1
    assert any(name in each.booleans for each in BUILTINS)


@pytest.mark.parametrize(("message", "call"), [
    ("N only supported for powers of two", "__wgmma_mma_async_tf32(64, 24, 8, 0, 0, 0, d, a, b);"),
    ("'rowcol' operand can be 0 or 1 only", "__hmma_m16n16k16_ld_a(d, s, 16, 2);"),
    ("'rowcol' operand can be 0, 1, 2, or 3 only", "__hmma_m16n16k16_mma_f32f32(d, a, b, c, 4, 0);"),
    ("unexpected 'rowcol' operand", "__hmma_m16n16k16_mma_f32f32(d, a, b, c, x, 0);"),
    ("'satf' operand can be 0, or 1 only", "__hmma_m16n16k16_mma_f32f32(d, a, b, c, 0, 2);"),
    ("unexpected 'satf' operand", "__hmma_m16n16k16_mma_f32f32(d, a, b, c, 0, x);"),
    ("The shape m128n16k16 is not supported for __wgmma_mma_async builtin",
     "__wgmma_mma_async_bf16(128, 16, 16, 0, 0, 0, 0, 0, d, a, b);"),
    ("Non-constant argument to __wgmma_mma_async call", "__wgmma_mma_async_tf32(64, x, 8, 0, 0, 0, d, a, b);"),
    ("The 'A' or 'B' argument to __wgmma_mma_async call is missing", "__wgmma_mma_async_tf32(64, 8, 8, 0, 0, 0, d);"),
])  # fmt: skip
def test_messages_of_the_table_are_those_of_lower(message: str, call: str) -> None:
    assert message in {row["message"] for row in rows("messages")}
    with pytest.raises(BuiltinError) as refused:
        choice_of(call)
    assert message in [each.message for each in refused.value.diagnostics]


# Words and enumerations ---------------------------------------------------------------------------------------------


def test_fields_of_the_packed_word() -> None:
    places = _places("mma") | _places("move")
    for row in rows("word"):
        high, _, low = row["bits"].partition("-")
        assert places[row["query"]] == (int(low or high), int(high))


def first_targets(shape: str) -> dict[str, int]:
    """Return the first target whose warps multiply a shape, by the type of A."""
    found: dict[str, int] = {}
    for form in (*MMA_DENSE, *WMMA):
        for row in form.rows:
            for element in row.cells.get("atype", ("f16",)) if row.allows("shape", shape) else ():
                numbers = [read_target(target).number for target in row.targets]
                found[element] = min(*numbers, found.get(element, 1000))
    return found


@pytest.mark.parametrize("row", rows("shapes"), ids=lambda row: row["shape"])
def test_shapes(row: dict[str, str]) -> None:
    assert SHAPES[int(row["number"], 16)] == row["shape"]
    assert str(min(first_targets(row["shape"]).values(), default="none")) == row["first SM"]


def test_types() -> None:
    stated = {"b1": 1, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "f16": 16, "bf16": 16, "tf32": 19, "f64": 64, "f32": 32}
    stated["s32"] = 32
    assert dict(enumerate(stated, 1)) == TYPES
    found = {row["word"]: row["bits"] for row in rows("codes") if row["bits"] != "-"}
    assert found == {word: str(bits) for word, bits in stated.items()}


@pytest.mark.parametrize("row", rows("availability")[:-2], ids=lambda row: row["shape and types"])
def test_availability(row: dict[str, str]) -> None:
    shape, *elements = row["shape and types"].replace(",", "").split()
    for element in elements:
        assert str(first_targets(shape).get(element, "none")) == row["first SM"].partition(" ")[0]


def test_tcgen05_tables() -> None:
    assert KINDS == {0: "mxf4nvf4", 1: "f8f6f4", 2: "mxf8f6f4", 3: "f16", 4: "i8", 5: "tf32", 7: "mxf4"}
    assert [COLLECTORS[value] for value in (1, 2, 3)] == [
        f"collector::a::{word}" for word in ("lastuse", "fill", "use")
    ]
    names = ("ws", "cta_group", "scale_vec", "scale_input_d", "sparse", "kind", "block")
    places = _places("tcgen05")
    for row, name in zip(rows("modifiers")[:-1], names, strict=True):
        high, _, low = row["bits"].partition("-")
        assert places[name] == (int(low or high), int(high))
    scaled = [(each.name, each.low, each.names[0], each.names[1]) for each in SCALED.fields]
    assert scaled == [
        ("scaleD", 0, "0", "1"), ("negA", 1, "1", "-1"), ("negB", 2, "1", "-1"), ("transA", 3, "0", "1"),
        ("transB", 4, "0", "1"),
    ]  # fmt: skip


def test_intrinsics() -> None:
    kinds = {int(row["number"]): row["name"] for row in rows("intrinsics")[:3]}
    for number, name in kinds.items():
        family = describe(number).family
        assert name == f"a {'multiplication' if family == 'multiply' else family} of the second generation"
    with pytest.raises(UsageError, match="one of the 36 tcgen05 multiplications"):
        describe(4905)
    with pytest.raises(UsageError):
        describe(4941)


def test_functions_of_the_compiler() -> None:
    functions = {row["function"] for row in rows("gates")}
    gated = {gate_message(each).split(" is")[0].split(" not")[0] for each in BUILTINS if each.kind != "warpgroup"}
    assert {name.replace(" ", "") for name in gated if not name.startswith("__")} <= functions
