"""Tables of the reference text on wgmma, compared with the dialect and the forms."""

from __future__ import annotations

import pytest

pytest.importorskip("xdsl")

from xdsl.irdl import IRDLOperation

from warploom.isa.model.table import Row as FormRow
from warploom.nvvm.dialect import OPERATIONS
from warploom.nvvm.dialect.attributes import WgmmaType
from warploom.nvvm.forms import WGMMA_DESCRIPTORS
from warploom_lab.pages.nvvm import pages
from warploom_lab.pages.wgmma_text import TABLES, Row

BY_NAME = {operation.name: operation for operation in OPERATIONS}
BY_TITLE = {table.title: {row.subject: row for row in table.rows} for table in TABLES}
MULTIPLY = "nvvm.wgmma.mma_async"


def correct(row: Row) -> str:
    return row.correction or row.statement


def rows_of(element: str) -> list[FormRow]:
    return [row for form in WGMMA_DESCRIPTORS for row in form.rows if row.allows("atype", element)]


@pytest.mark.parametrize("name", BY_TITLE["Operations and their properties"])
def test_properties(name: str) -> None:
    definition = BY_NAME[name].get_irdl_definition()
    row = BY_TITLE["Operations and their properties"][name]
    assert correct(row) == (", ".join(definition.properties) or "none")


def definition_of(name: str) -> dict[str, str]:
    definition = BY_NAME[name].get_irdl_definition()
    operands = {operand: f"operand {k}" for k, (operand, _) in enumerate(definition.operands)}
    results = {result.rstrip("_"): f"result {k}" for k, (result, _) in enumerate(definition.results)}
    return {**operands, **results, **dict.fromkeys(definition.properties, "property")}


@pytest.mark.parametrize(("about", "place"), [("descA", 1), ("descB", 2), ("accumIn", 0)])
def test_operands(about: str, place: int) -> None:
    name, _, position = correct(BY_TITLE[f"Operands, properties and result of {MULTIPLY}"][about]).partition(", ")
    assert definition_of(MULTIPLY)[name] == position == f"operand {place}"


def test_types_of_a() -> None:
    row = BY_TITLE[f"Operands, properties and result of {MULTIPLY}"]["typeA"]
    legal = {word for form in WGMMA_DESCRIPTORS for word in form.vocabulary["atype"]}
    assert set(correct(row).split()) == legal
    assert legal < set(WgmmaType.cases)


def test_types_of_d() -> None:
    row = BY_TITLE[f"Operands, properties and result of {MULTIPLY}"]["typeC"]
    assert all(word in correct(row) for form in WGMMA_DESCRIPTORS for word in form.vocabulary["dtype"])


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


@pytest.mark.parametrize("title", ["nvvm.wgmma.commit.group.sync.aligned", "nvvm.wgmma.wait.group.sync.aligned"])
def test_groups(title: str) -> None:
    found = definition_of(title)
    assert found == ({"group": "property"} if "wait" in title else {})
    assert set(BY_TITLE[title]) == (
        {"groupDepth", "wgmma_type / wgmma_layout / shape-N"} if found else {"wgmma_type", "wgmma_layout"}
    )


@pytest.mark.parametrize("name", BY_TITLE["Availability"])
def test_availability(name: str) -> None:
    target, version = BY_TITLE["Availability"][name].statement.split(", PTX ")
    rows = [row for form in BY_NAME[name].FORMS for row in form.rows]
    assert {row.targets for row in rows} == {(target,)}
    assert ".".join(map(str, min(row.ptx for row in rows))) == version


def test_verifier_corrections_have_evidence() -> None:
    assert [row.subject for row in TABLES[-1].rows] == [
        "K", "N", "descA", "descB", "accumulator", "scaleOut", "commit and wait", "wait depth",
    ]  # fmt: skip
    for row in TABLES[-1].rows:
        assert bool(row.correction) == bool(row.evidence)


def test_every_operation_has_its_page() -> None:
    text = "\n".join(pages().values())
    assert all(issubclass(operation, IRDLOperation) and f"## {operation.name}\n" in text for operation in OPERATIONS)
