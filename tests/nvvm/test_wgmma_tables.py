"""Tables of the reference text on wgmma, compared with the dialect and the forms."""

from __future__ import annotations

import pytest

pytest.importorskip("xdsl")

from xdsl.irdl import IRDLOperation

from warploom.isa.model.table import Row as FormRow
from warploom.layout import Descriptor
from warploom.nvvm.dialect import OPERATIONS
from warploom.nvvm.dialect.attributes import WgmmaType
from warploom.nvvm.forms import WGMMA_DESCRIPTORS
from warploom.nvvm.reference import tables
from warploom_lab.pages.nvvm import pages

BY_NAME = {operation.name: operation for operation in OPERATIONS}
MULTIPLY = "nvvm.wgmma.mma_async"


def table(name: str) -> dict[str, dict[str, str]]:
    """Return the corrected rows by their first cell."""
    return {next(iter(row.values())): row for row in tables()[name].corrected()}


ROSTER, PROPERTIES, UNION = (table(name) for name in ("roster", "properties", "union"))
STATED = "text and correction"


def rows_of(element: str) -> list[FormRow]:
    return [row for form in WGMMA_DESCRIPTORS for row in form.rows if row.allows("atype", element)]


@pytest.mark.parametrize("name", ROSTER)
def test_properties(name: str) -> None:
    definition = BY_NAME[name].get_irdl_definition()
    assert ROSTER[name]["properties"] == (", ".join(definition.properties) or "none")


def definition_of(name: str) -> dict[str, str]:
    definition = BY_NAME[name].get_irdl_definition()
    operands = {operand: f"operand {k}" for k, (operand, _) in enumerate(definition.operands)}
    results = {result.rstrip("_"): f"result {k}" for k, (result, _) in enumerate(definition.results)}
    return {**operands, **results, **dict.fromkeys(definition.properties, "property")}


@pytest.mark.parametrize(("about", "place"), [("descA", 1), ("descB", 2), ("accumIn", 0)])
def test_operands(about: str, place: int) -> None:
    name, _, position = PROPERTIES[about][STATED].partition(", ")
    assert definition_of(MULTIPLY)[name] == position == f"operand {place}"


def test_types_of_a() -> None:
    legal = {word for form in WGMMA_DESCRIPTORS for word in form.vocabulary["atype"]}
    assert set(PROPERTIES["typeA"][STATED].split()) == legal
    assert legal < set(WgmmaType.cases)


def test_types_of_d() -> None:
    stated = PROPERTIES["typeC"][STATED]
    assert all(word in stated for form in WGMMA_DESCRIPTORS for word in form.vocabulary["dtype"])


def test_n() -> None:
    floats, integers = (rows_of(element)[0].cells["n"] for element in ("tf32", "s8"))
    assert floats == tuple(map(str, range(8, 257, 8)))
    assert integers == ("8", "16", "24", *map(str, range(32, 257, 16)))


@pytest.mark.parametrize(("word", "k"), [("f16", 16), ("bf16", 16), ("tf32", 8), ("e4m3", 32), ("s8", 32), ("b1", 256)])
def test_k(word: str, k: int) -> None:
    assert {row.cells["k"] for row in rows_of(word)} == {(str(k),)}


@pytest.mark.parametrize(("n", "d", "k", "registers"), [(128, "f32", 16, 64), (64, "f32", 16, 32), (64, "f16", 16, 16)])
def test_accumulator(n: int, d: str, k: int, registers: int) -> None:
    slots = {"shape": f"m64n{n}k{k}", "n": str(n), "k": str(k), "dtype": d, "atype": "f16", "btype": "f16"}
    counts = {form.operands["d"].registers(slots) for form in WGMMA_DESCRIPTORS}
    assert counts == {registers} == {n * int(d[1:]) // 64}


@pytest.mark.parametrize("name", ["nvvm.wgmma.commit.group.sync.aligned", "nvvm.wgmma.wait.group.sync.aligned"])
def test_groups(name: str) -> None:
    assert definition_of(name) == ({"group": "property"} if "wait" in name else {})
    assert PROPERTIES["wgmma_type, wgmma_layout"][STATED] == "no property, no PTX modifier"


@pytest.mark.parametrize("name", ROSTER)
def test_availability(name: str) -> None:
    target, version = ROSTER[name]["SM floor and ptx_min"].split(", PTX ")
    rows = [row for form in BY_NAME[name].FORMS for row in form.rows]
    assert {row.targets for row in rows} == {(target,)}
    assert ".".join(map(str, min(row.ptx for row in rows))) == version


@pytest.mark.parametrize(("field", "name"), [
    ("start_addr", "start_address"), ("lbo", "leading_byte_offset"), ("sbo", "stride_byte_offset"),
    ("base_offset", "base_offset"), ("swizzle_mode", "swizzle"),
])  # fmt: skip
def test_bits_of_a_descriptor(field: str, name: str) -> None:
    def value(bit: int) -> int:
        return getattr(Descriptor.decode(1 << bit), name)

    high, low = map(int, UNION[field]["correct bits"].split("-"))
    empty = getattr(Descriptor.decode(0), name)
    assert [bit for bit in range(64) if value(bit) != empty] == list(range(low, high + 1))


def test_corrections_have_a_source() -> None:
    for name in ("properties", "verifier", "notes"):
        assert all(row[-1] != "-" for row in tables()[name].rows if "=>" in row[1])


def test_every_operation_has_its_page() -> None:
    text = "\n".join(pages().values())
    assert all(issubclass(operation, IRDLOperation) and f"## {operation.name}\n" in text for operation in OPERATIONS)
