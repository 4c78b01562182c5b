"""Tables of the reference text on cicc's builtins, compared with the code."""

from __future__ import annotations

import re

import pytest

from warploom.diagnostics import UsageError
from warploom.isa.model.availability import read_target
from warploom.layout import tiled_fragment
from warploom.layout.maps import TYPE_BITS
from warploom.nvvm.builtins import BUILTINS, builtin_named, builtin_numbered
from warploom.nvvm.builtins.lowering import translate
from warploom.nvvm.builtins.selection import RefusedCall, gate_message, select
from warploom.nvvm.builtins.source import BuiltinError
from warploom.nvvm.forms import MMA_DENSE, WMMA
from warploom.nvvm.intrinsic_numbers import describe
from warploom.nvvm.packed import WORDS
from warploom.nvvm.packed.matrix import MMA, MOVE, SHAPES, TYPES
from warploom.nvvm.packed.tcgen05 import COLLECTORS, KINDS, SCALED
from warploom_lab.pages.cicc import Table, tables

CICC = tables()
SM_90A = read_target("sm_90a")


def rows(table: Table) -> list[dict[str, str]]:
    return table.corrected()


def span(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def expand(pattern: str) -> list[str]:
    """Return the names of `__x_{a,b}` in order."""
    found = re.fullmatch(r"(.*)\{(.*)\}(.*)", pattern)
    return [pattern] if found is None else [f"{found[1]}{word}{found[3]}" for word in found[2].split(",")]


def choice_of(text: str):
    return translate(text, SM_90A).calls[0].selection


# Pages --------------------------------------------------------------------------------------------------------------


def test_corrections_are_shown() -> None:
    for table in CICC.values():
        page = table.markdown()
        for (row, head), right in table.corrections.items():
            wrong = next(line for line in table.rows if line[0] == row)[table.heads.index(head)]
            assert wrong != right
            assert f"~~{wrong}~~ **{right}**" in page
        assert not table.corrections or table.why


# The registry -------------------------------------------------------------------------------------------------------


def test_facts() -> None:
    facts = {row["property"]: row["value"] for row in rows(CICC["facts"])}
    assert [each.number for each in BUILTINS] == list(range(678, 769))
    assert facts["builtin numbers"] == "678-770 (93 entries)"
    for number in (769, 770):
        with pytest.raises(UsageError, match="is a warpgroup barrier"):
            builtin_numbered(number)
    assert {each.number for each in BUILTINS if each.kind == "warpgroup"} == set(span(facts["warpgroup handler"]))
    first = {"hmma": "70", "imma": "72", "bmma": "75", "dmma": "80", "tf32": "80", "bf16": "80", "wgmma": "90a"}
    for each in BUILTINS:
        if each.shape != "m8n8k32":
            assert each.target == f"sm_{first[each.unit]}"


@pytest.mark.parametrize("row", rows(CICC["evolution"])[:4], ids=lambda row: row["feature"])
def test_generations(row: dict[str, str]) -> None:
    units = {word.strip().lower() for word in row["feature"].split(",")}
    found = [builtin_numbered(number) for number in span(row["numbers"])]
    assert len(found) == int(row["count"])
    assert {each.unit for each in found} - {"bmma"} <= units


@pytest.mark.parametrize("row", rows(CICC["hmma"]), ids=lambda row: row["shape"])
def test_hmma_shapes_and_operations(row: dict[str, str]) -> None:
    names = [builtin_numbered(number).name for number in span(row["numbers"])]
    assert names == [row["prefix"] + each["suffix"] for each in rows(CICC["hmma_operations"])]
    m, n, k = row["shape"].split("x")
    assert builtin_named(names[0]).shape == f"m{m}n{n}k{k}"


@pytest.mark.parametrize("row", rows(CICC["hmma_operations"]), ids=lambda row: row["suffix"])
def test_hmma_operations_have_these_types(row: dict[str, str]) -> None:
    builtin = builtin_named(f"__hmma_m16n16k16_{row['suffix']}")
    said = row["operation"]
    if builtin.kind == "multiply":
        assert said == f"D {builtin.types['d']}, C {builtin.types['c']}"
    else:
        assert said.startswith(f"{builtin.kind} {builtin.matrix.upper()}")
        assert said.endswith(builtin.types[builtin.matrix]) or builtin.matrix in "ab"


def test_imma_operations() -> None:
    suffixes = [word for row in rows(CICC["imma8"]) for word in row["suffix"].split(" / ")]
    for first, shape in ((708, "m16n16k16"), (716, "m32n8k16"), (724, "m8n32k16")):
        found = [builtin_numbered(first + at).name for at in range(8)]
        assert found == [f"__imma_{shape}_{suffix}" for suffix in suffixes]
    (row,) = rows(CICC["imma4"])
    found = [builtin_numbered(number) for number in span(row["numbers"])]
    assert [each.operation for each in found] == [word.replace("8", "4") for word in suffixes]
    assert {each.shape for each in found} == {"m8n8k32"}


@pytest.mark.parametrize(
    "row", [*rows(CICC["bmma"]), *rows(CICC["dmma"]), *rows(CICC["tf32"])], ids=lambda row: row["name"]
)
def test_numbers_by_name(row: dict[str, str]) -> None:
    numbers = span(row.get("number") or row["numbers"])
    assert [builtin_numbered(number).name for number in numbers] == expand(row["name"])


def test_bf16_and_omissions_of_the_text() -> None:
    *multiplications, loads = rows(CICC["bf16"])
    for row in multiplications:
        assert builtin_numbered(int(row["numbers"])).name == row["name"]
    shapes = ("m16n16k16", "m32n8k16", "m8n32k16")
    expected = [f"__mma_bf16_{shape}_{operation}" for shape in shapes for operation in ("ld_a", "ld_b")]
    assert [builtin_numbered(number).name for number in span(loads["numbers"])] == expected
    assert builtin_numbered(752).name == "__mma_m16n16k8_st_c_f32"


@pytest.mark.parametrize("row", rows(CICC["tables"]), ids=lambda row: row["table"])
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


@pytest.mark.parametrize("row", rows(CICC["fragments"])[4:], ids=lambda row: row["condition"])
def test_registers_of_numbered_intrinsics(row: dict[str, str]) -> None:
    for word in row["condition"].split():
        first, _, last = word.partition("-")
        for number in range(int(first, 16), int(last or first, 16) + 1):
            words = dict(describe(number).words)
            assert registers(f"__imma_{words['shape']}_{words['operation']}") == [int(row["registers"])]


def test_registers_of_other_intrinsics() -> None:
    by = {row["condition"]: int(row["registers"]) for row in rows(CICC["fragments"])}
    assert registers("__hmma_m16n16k16_st_c_f16") == [by["first generation, BF16, store"]]
    assert registers("__hmma_m16n16k16_mma_f32f32") == [by["first generation"]] * 4
    for number in (8914, 8280):
        words = dict(describe(number).words)
        unit = "imma" if number == 8914 else "bmma"
        assert registers(f"__{unit}_{words['shape']}_{words['operation']}") == [by["8914, 8280"]]
    assert registers("__bmma_m8n8k128_ld_c") == [by["bits"]]


@pytest.mark.parametrize("row", rows(CICC["iterations"]), ids=lambda row: row["family"])
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
        for count, said in ((b, row["B"]), (a, row["A"]), (c, row["C"]), (d, row["D"])):
            assert str(count) in said.split(" or ")


def test_hmma_results_of_four_registers() -> None:
    shapes = ("m16n16k16", "m32n8k16", "m8n32k16")
    names = ["ld_a", "ld_b", "ld_c_f16", "ld_c_f32", "mma_f16f16", "mma_f16f32", "mma_f32f16", "mma_f32f32"]
    every = [f"__hmma_{shape}_{name}" for shape in shapes for name in [*names, "st_c_f16", "st_c_f32"]]
    mask = sum(1 << at for at, name in enumerate(every) if "_mma_" in name and registers(name)[3] == 4)
    assert mask == 0x300C030


@pytest.mark.parametrize("row", rows(CICC["gates"])[:6], ids=lambda row: row["function"])
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


@pytest.mark.parametrize("row", rows(CICC["warpgroup"]), ids=lambda row: row["name"])
def test_warpgroup_builtins(row: dict[str, str]) -> None:
    builtin = builtin_numbered(int(row["number"]))
    assert builtin.name == row["name"]
    names = row["operands"].split(", ")
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


@pytest.mark.parametrize("row", rows(CICC["spaces"])[:4], ids=lambda row: row["numbers"])
def test_kinds_by_number(row: dict[str, str]) -> None:
    found = [builtin_numbered(number) for number in span(row["numbers"])]
    kinds = {"multiplication": "warpgroup", "multiplications": "multiply", "stores": "store", "loads": "load"}
    assert {each.kind for each in found} == {kinds[row["function"].split()[0]]}


@pytest.mark.parametrize("row", rows(CICC["multiply_entries"]), ids=lambda row: row["number"])
def test_multiplication_entries_are_descriptor_words(row: dict[str, str]) -> None:
    builtin = builtin_numbered(int(row["number"]))
    word = MMA.encode(
        rnd=int(row["trans_a"]),
        opc=int(row["shape"]),
        shape=int(row["trans_b"]),
        aty=int(row["a_nregs"]),
        bty=int(row["b_nregs"]),
    )
    found = MMA.decode(word)
    assert found["shape"] == builtin.shape
    assert (found["aty"], found["bty"]) == (builtin.types["a"], builtin.types["b"])
    assert found["opc"] == (f"{builtin.bits}.popc" if builtin.bits else "")
    choice = choice_of(_some_call(builtin))
    assert choice.words.get("rnd", "") == found["rnd"]


def _field(text: str) -> tuple[str, int, int]:
    """Return ("aty", 8, 15) for `aty (15-8)`."""
    name, _, bits = text.partition(" (")
    high, _, low = bits.rstrip(")").partition("-")
    return name, int(low or high), int(high)


def _places(word: str) -> dict[str, tuple[int, int]]:
    return {each.name: (each.low, each.low + each.bits - 1) for each in WORDS[word].fields}


def test_multiplication_entries_have_the_fields_of_the_word() -> None:
    places = _places("mma")
    for row in rows(CICC["multiply_word"]):
        text = row["field"].partition(":")[0]
        name, low, high = _field(text if "(" in text else f"{text} ({row['bits']})")
        assert places[name] == (low, high)
    for rowcol in range(4):
        words = choice_of(f"__dmma_m8n8k4_mma_f64(d, a, b, c, {rowcol}, 0);").words
        assert (words["alayout"], words["blayout"]) == (("row", "col")[rowcol >> 1], ("row", "col")[rowcol & 1])


@pytest.mark.parametrize("row", rows(CICC["load_entries"]), ids=lambda row: row["number"])
def test_load_entries_are_descriptor_words(row: dict[str, str]) -> None:
    builtin = builtin_numbered(int(row["number"]))
    word = MOVE.encode(type=int(row["nregs"]), mid=int(row["variant"]), shape=int(row["shape"]))
    found = MOVE.decode(word)
    assert found["shape"] == builtin.shape
    assert found["mid"] == builtin.matrix
    assert found["type"] == builtin.types[builtin.matrix]


def test_load_entries_have_the_fields_of_the_word() -> None:
    places = _places("move")
    shape, kind, matrix = rows(CICC["load_word"])
    assert shape["bits"] == "63-32"
    assert places["shape"][0] == 32
    assert _field(kind["field"].split(";")[0])[1:] == places["type"]
    assert _field(matrix["field"])[1:] == places["mid"]
    assert places["rowcol"] == (0, 0)


@pytest.mark.parametrize("row", rows(CICC["n_table"]), ids=lambda row: row["N"])
def test_numbers_by_n(row: dict[str, str]) -> None:
    for element in ("integer", "float"):
        number = int(row[element])
        assert dict(describe(number).words) == {"n": row["N"], "element": element}
    assert len(rows(CICC["n_table"])) == 32


def test_unnamed_numbers_of_n_are_errors() -> None:
    with pytest.raises(UsageError, match="only the first two intrinsics of each N"):
        describe(10656)
    with pytest.raises(UsageError, match="unknown intrinsic 1"):
        describe(1)


def test_grid() -> None:
    bases = {}
    for row in rows(CICC["grid"]):
        for n, base in zip(row["N"].split(" and "), row["base"].split(" and "), strict=True):
            bases[int(n)] = int(base)
            assert row["stride"] == "24"
    for n, base in bases.items():
        assert [dict(describe(base + at).words)["n"] for at in range(24)] == [str(n)] * 24
    assert sorted(bases.values()) == list(range(5304, 5448, 24))
    values = {row["dimension"]: row["values"] for row in rows(CICC["grid_dimensions"])}
    assert {int(n) for n in values["1. N"].split(", ")} == set(bases)


@pytest.mark.parametrize("row", rows(CICC["sizes"]), ids=lambda row: row["size"])
def test_numbers_of_f16_by_size(row: dict[str, str]) -> None:
    sizes = ("256", "8") if row["size"] == "other" else (row["size"],)
    for head, where in (("integer", "descriptor"), ("float", "registers")):
        for n, number in zip(sizes, row[head].split("/"), strict=True):
            words = {"n": n, "d": "f32", "a": "f16", "b": "f16", "where": where}
            assert dict(describe(int(number)).words) == words


@pytest.mark.parametrize("row", rows(CICC["config"]), ids=lambda row: row["bit"])
def test_configuration_word(row: dict[str, str]) -> None:
    assert WORDS["config"].decode(1 << int(row["bit"]))[row["field"]] == 1
    assert any(row["field"] in each.booleans for each in BUILTINS)


@pytest.mark.parametrize("row", rows(CICC["validation"])[1:], ids=lambda row: row["check"])
def test_checks(row: dict[str, str]) -> None:
    text = {
        "power of two": "__wgmma_mma_async_tf32(64, 24, 8, 0, 0, 0, d, a, b);",
        "rowcol of one matrix": "__hmma_m16n16k16_ld_a(d, s, 16, 2);",
        "rowcol of two matrices": "__hmma_m16n16k16_mma_f32f32(d, a, b, c, 4, 0);",
    }[row["check"]]
    with pytest.raises(BuiltinError) as refused:
        choice_of(text)
    assert refused.value.diagnostics[0].message == row["message"]


# Words and enumerations ---------------------------------------------------------------------------------------------


def test_fields_of_the_packed_word() -> None:
    places = _places("mma") | _places("move")
    for row in rows(CICC["word"]):
        high, _, low = row["bits"].partition("-")
        assert places[row["field"]] == (int(low or high), int(high))


def first_targets(shape: str) -> dict[str, int]:
    """Return the first target whose warps multiply a shape, by the type of A."""
    found: dict[str, int] = {}
    for form in (*MMA_DENSE, *WMMA):
        for row in form.rows:
            for element in row.cells.get("atype", ("f16",)) if row.allows("shape", shape) else ():
                numbers = [read_target(target).number for target in row.targets]
                found[element] = min(*numbers, found.get(element, 1000))
    return found


@pytest.mark.parametrize("row", rows(CICC["shapes"]), ids=lambda row: row["shape"])
def test_shapes(row: dict[str, str]) -> None:
    assert SHAPES[int(row["number"], 16)] == row["shape"]
    assert str(min(first_targets(row["shape"]).values(), default="none")) == row["first SM"]


@pytest.mark.parametrize("row", rows(CICC["types"]), ids=lambda row: row["type"])
def test_types(row: dict[str, str]) -> None:
    assert TYPES[int(row["number"])] == row["type"]
    significant = {"tf32": 19}  # of the 32 bits in memory
    assert significant.get(row["type"], TYPE_BITS[row["type"]]) == int(row["bits"])


@pytest.mark.parametrize("row", rows(CICC["availability"]), ids=lambda row: row["shape and types"])
def test_availability(row: dict[str, str]) -> None:
    shape, element = row["shape and types"].split()
    assert str(first_targets(shape).get(element, "none")) == row["first SM"]


def test_tcgen05_tables() -> None:
    assert {int(row["value"]): row["kind"] for row in rows(CICC["kinds"])} == KINDS
    assert {int(row["value"]): row["modifier"] for row in rows(CICC["collectors"])} == {
        value: word for value, word in COLLECTORS.items() if value
    }
    names = ("ws", "cta_group", "scale_vec", "scale_input_d", "sparse", "block")
    places = _places("tcgen05")
    for row, name in zip(rows(CICC["modifiers"]), names, strict=True):
        high, _, low = row["bits"].partition("-")
        assert places[name] == (int(low or high), int(high))
    for row in rows(CICC["scaled"]):
        each = SCALED.fields[int(row["bit"])]
        assert (each.name, each.names[0], each.names[1]) == (row["query"], row["clear"], row["set"])


def test_intrinsics() -> None:
    kinds = {int(row["number"]): row["name"] for row in rows(CICC["intrinsics"])[:3]}
    for number, name in kinds.items():
        family = describe(number).family
        assert name == f"a {'multiplication' if family == 'multiply' else family} of the second generation"
    with pytest.raises(UsageError, match="one of 36 multiplications of tcgen05"):
        describe(4905)
    with pytest.raises(UsageError):
        describe(4941)


def test_functions_of_the_compiler() -> None:
    functions = {row["function"] for row in rows(CICC["duplicates"])}
    gated = {gate_message(each).split(" is")[0].split(" not")[0] for each in BUILTINS if each.kind != "warpgroup"}
    assert {name.replace(" ", "") for name in gated if not name.startswith("__")} <= functions
    assert len(rows(CICC["functions"])) == 9
