"""Source lines of PTX, from `.loc` and `.file`."""

import pickle
from pathlib import Path

import pytest

from warploom.diagnostics import Source, SourceLine
from warploom.ptx import parse

TESTS = Path(__file__).parents[1]
ROTATE = (TESTS / "observe/lines/rotate.ptx").read_text()
HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"


def source_of(text: str) -> Source:
    source = parse(text).source
    assert source is not None
    return source


def at(text: str, words: str, number: int = 0) -> SourceLine | None:
    """Source line of the occurrence `number` of `words`."""
    offset = -1
    for _ in range(number + 1):
        offset = text.index(words, offset + 1)
    return source_of(text).compiled_from(offset)


def test_inlined_functions_of_nvcc() -> None:
    store = at(ROTATE, "st.shared.f32")
    assert store is not None
    assert [(str(line), line.function) for line in store.chain()] == [
        ("rotate.cu:6", "demo::Tile<float, 128>::store"),
        ("rotate.cu:12", "demo::neighbour<float, 128>"),
        ("rotate.cu:21", ""),
    ]
    assert store.place == "/tmp/rotate.cu:6"
    load = at(ROTATE, "ld.shared.f32")
    assert load is not None
    assert [line.line for line in load.chain()] == [7, 14, 21]
    assert at(ROTATE, "st.global.f32") == SourceLine("/tmp/rotate.cu", 21, 3)
    assert at(ROTATE, ".visible .entry") is None
    assert at(ROTATE, "\t.file") is None


def test_lines_of_triton() -> None:
    text = (TESTS / "corpus/vadd_f32_sm90.ptx").read_text()
    comment = "// gen_triton.py:"
    for marked in (line for line in text.splitlines() if comment in line):
        found = source_of(text).compiled_from(text.index(marked) + len(marked))
        line, column = marked.partition(comment)[2].split(":")
        assert found == (SourceLine("gen_triton.py", int(line), int(column)) if int(line) else None)


@pytest.mark.parametrize(
    ("directives", "expected"),
    [
        ("", None),
        (".loc 1 7 3", SourceLine("a.cu", 7, 3)),
        (".loc 3 7 0", SourceLine("file 3", 7)),
        (".loc 1 7 3\n.loc 1 0 3", None),
        (".loc 1 7 3, function_name $L, inlined_at 1 9 5", SourceLine("a.cu", 7, 3, "f", SourceLine("a.cu", 9, 5))),
        (".loc 1 7 3, function_name $L+2, inlined_at 2 9 5", SourceLine("a.cu", 7, 3, "", SourceLine("b.cuh", 9, 5))),
        (".loc 1 7 3\n.loc 1 7 3, function_name $L, inlined_at 1 7 3", SourceLine("a.cu", 7, 3, "f")),
    ],
    ids=["none", "plain", "unknown file", "line 0", "inlined", "offset", "in itself"],
)
def test_directives(directives: str, expected: SourceLine | None) -> None:
    files = '.file 1 "a.cu"\n.file 2 "b.cuh", 12, 34\n.section .debug_str {\n$L:\n.b8 102,0\n.b8 0\n}\n'
    assert at(f"{HEAD}.entry k() {{ {{\n{directives}\nret; }} }}\n{files}", "ret;") == expected


def test_the_last_line_of_a_call_that_is_inlined_twice() -> None:
    body = """
    .loc 1 20 1
    .loc 1 5 1, function_name $L, inlined_at 1 20 1
    .loc 1 3 1, function_name $L, inlined_at 1 5 1
    add.u32 %r1, %r1, 1;
    .loc 1 21 1
    .loc 1 5 1, function_name $L, inlined_at 1 21 1
    .loc 1 3 1, function_name $L, inlined_at 1 5 1
    add.u32 %r1, %r1, 2;
    ret;"""
    text = f'{HEAD}.file 1 "a.cu"\n.entry k() {{ .reg .b32 %r<2>;{body} }}\n.section .debug_str {{ $L: .b8 102,0 }}'
    for number, outermost in enumerate((20, 21)):
        found = at(text, "add.u32", number)
        assert found is not None
        assert [line.line for line in found.chain()] == [3, 5, outermost]


def test_a_pickled_source_keeps_its_lines() -> None:
    source = source_of(ROTATE)
    again = pickle.loads(pickle.dumps(source))
    offset = ROTATE.index("st.shared")
    assert again.compiled_from(offset) == source.compiled_from(offset) is not None
    assert (again.name, again.text, again.first_line) == (source.name, source.text, source.first_line)
