"""The reference text's tables of wgmma, read row by row against the dialect and the Forms."""

from __future__ import annotations

import pytest

pytest.importorskip("xdsl")

from xdsl.irdl import IRDLOperation

from warploom.isa.binding.compose import form_named
from warploom.nvvm.dialect import OPERATIONS
from warploom.nvvm.dialect.vocabulary import WgmmaType
from warploom.nvvm.pages import pages
from warploom.nvvm.wgmma_text import TABLES, Row

BY_NAME = {operation.name: operation for operation in OPERATIONS}
BY_TITLE = {table.title: {row.about: row for row in table.rows} for table in TABLES}
MULTIPLY = "nvvm.wgmma.mma_async"
FORMS = [form_named(f"wgmma.{name}") for name in ("half", "float", "integer", "bit")]


def held(row: Row) -> str:
    return row.holds or row.says


@pytest.mark.parametrize("name", BY_TITLE["Operations and their properties"])
def test_properties(name: str) -> None:
    definition = BY_NAME[name].get_irdl_definition()
    row = BY_TITLE["Operations and their properties"][name]
    assert held(row) == (", ".join(definition.properties) or "none")


def definition_of(name: str) -> dict[str, str]:
    definition = BY_NAME[name].get_irdl_definition()
    operands = {operand: f"operand {k}" for k, (operand, _) in enumerate(definition.operands)}
    results = {result.rstrip("_"): f"result {k}" for k, (result, _) in enumerate(definition.results)}
    return {**operands, **results, **dict.fromkeys(definition.properties, "property")}


@pytest.mark.parametrize(("about", "place"), [("descA", 1), ("descB", 2), ("accumIn", 0)])
def test_operands(about: str, place: int) -> None:
    name, _, position = held(BY_TITLE[f"Operands, properties and result of {MULTIPLY}"][about]).partition(
        ", "
    )
    assert definition_of(MULTIPLY)[name] == position == f"operand {place}"


def test_types_of_a() -> None:
    row = BY_TITLE[f"Operands, properties and result of {MULTIPLY}"]["typeA"]
    legal = {word for form in FORMS for word in form.vocabulary["atype"]}
    assert set(held(row).split()) == legal
    assert legal < set(WgmmaType.words)


def test_types_of_d() -> None:
    row = BY_TITLE[f"Operands, properties and result of {MULTIPLY}"]["typeC"]
    assert all(word in held(row) for form in FORMS for word in form.vocabulary["dtype"])


def test_n() -> None:
    floats, integers = (
        form_named("wgmma.float").rows[0].cells["n"],
        form_named("wgmma.integer").rows[0].cells["n"],
    )
    assert floats == tuple(map(str, range(8, 257, 8)))
    assert integers == ("8", "16", "24", *map(str, range(32, 257, 16)))


@pytest.mark.parametrize(
    ("word", "k"), [("f16", 16), ("bf16", 16), ("tf32", 8), ("e4m3", 32), ("s8", 32), ("b1", 256)]
)
def test_k(word: str, k: int) -> None:
    rows = [row for form in FORMS for row in form.rows if row.allows("atype", word)]
    assert {row.cells["k"] for row in rows} == {(str(k),)}


@pytest.mark.parametrize(
    ("n", "d", "k", "registers"), [(128, "f32", 16, 64), (64, "f32", 16, 32), (64, "f16", 16, 16)]
)
def test_accumulator(n: int, d: str, k: int, registers: int) -> None:
    slots = {"shape": f"m64n{n}k{k}", "n": str(n), "k": str(k), "dtype": d, "atype": "f16", "btype": "f16"}
    assert form_named("wgmma.half").operands["d"].registers(slots) == registers == n * int(d[1:]) // 64


@pytest.mark.parametrize(
    "title", ["nvvm.wgmma.commit.group.sync.aligned", "nvvm.wgmma.wait.group.sync.aligned"]
)
def test_groups(title: str) -> None:
    found = definition_of(title)
    assert found == ({"group": "property"} if "wait" in title else {})
    assert set(BY_TITLE[title]) == (
        {"groupDepth", "wgmma_type / wgmma_layout / shape-N"} if found else {"wgmma_type", "wgmma_layout"}
    )


@pytest.mark.parametrize("name", BY_TITLE["Availability"])
def test_availability(name: str) -> None:
    target, version = BY_TITLE["Availability"][name].says.split(", PTX ")
    for row in form_named(name).rows:
        assert row.targets == (target,)
        assert ".".join(map(str, row.ptx)) == version


def test_what_the_verifier_holds_is_told() -> None:
    assert [row.about for row in TABLES[-1].rows] == [
        "K", "N", "descA", "descB", "accumulator", "scaleOut", "commit and wait", "wait depth",
    ]  # fmt: skip
    for row in TABLES[-1].rows:
        assert bool(row.holds) == bool(row.known)


def test_every_operation_has_its_page() -> None:
    text = "\n".join(pages().values())
    assert all(
        issubclass(operation, IRDLOperation) and f"## {operation.name}\n" in text for operation in OPERATIONS
    )
