"""`why`: the lines of the scenario pages, the terms of matrix products, and the origins of elementwise results."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from debug.scenarios.ampere_gemm import ampere_gemm
from debug.scenarios.generate import FOLDER, SCENARIOS, text_of
from debug.scenarios.hopper_gemm import hopper_gemm
from emulator.tensor_texts import tensor_kernel

import warploom as wl
from warploom.cli import main
from warploom.runtime.launchfile import read_launch_file
from warploom.runtime.replay import Replay
from warploom.runtime.why import Why
from warploom.runtime.wrong_elements import replay
from warploom.view.why import why_html, why_svg

ENGINES = ("interpreter", "compiler")


def questions() -> list[tuple[str, str, list[str]]]:
    """Return the scenario, the element and the wanted lines of each command `why` in the pages."""
    found: list[tuple[str, str, list[str]]] = []
    for scenario in SCENARIOS:
        page = (FOLDER / f"{scenario.name}.md").read_text(encoding="utf-8")
        session = re.search(r"^```session\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        assert session is not None
        for command, *lines in (part.splitlines() for part in session[1].split("(wl) ")[1:]):
            if command.startswith("why "):
                found.append((scenario.name, command.removeprefix("why "), lines))
    return found


def missing_lines(text: str, wanted: list[str]) -> list[str]:
    """Return the wanted lines that are not in a text, in order. A line matches if it has all parts between `…`."""
    lines = iter(text.splitlines())
    return [each for each in wanted if not any(_matches(line, each) for line in lines)]


def _matches(line: str, wanted: str) -> bool:
    pattern = ".*".join(re.escape(part.strip()) for part in wanted.split("…"))
    return re.search(pattern, line) is not None


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("WARPLOOM_ENGINE", request.param)
    return request.param


@pytest.mark.parametrize(
    ("name", "element", "wanted"), questions(), ids=lambda each: each if isinstance(each, str) else ""
)
def test_why_prints_the_lines_of_the_page(
    name: str, element: str, wanted: list[str], engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(FOLDER / f"{name}.toml"), "--why", element]) == 1
    printed = capsys.readouterr().out
    assert not missing_lines(printed, wanted), printed


# Kernels without a fault ----------------------------------------------------------------------------------


def matmul(rng: np.random.Generator, m: int, n: int, k: int, *, transposed: bool) -> tuple[np.ndarray, ...]:
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((n, k) if transposed else (k, n)).astype(np.float16)
    return a, b, np.zeros((m, n), np.float32)


def run_ampere(rng: np.random.Generator) -> tuple[wl.Run, tuple[np.ndarray, ...]]:
    m, n, k = (64 * int(rng.integers(1, 3)), 64, 32 * int(rng.integers(2, 5)))
    a, b, c = matmul(rng, m, n, k, transposed=False)
    run = wl.launch(
        text_of(ampere_gemm.at()), grid=(n // 64, m // 64), block=128, shared=24576, args=[a, b, c, m, n, k, 1.0]
    )
    return run, (a, b, c)


def run_hopper(rng: np.random.Generator) -> tuple[wl.Run, tuple[np.ndarray, ...]]:
    m, n, k = 64 * int(rng.integers(1, 3)), 128 * int(rng.integers(1, 3)), 64 * int(rng.integers(1, 4))
    a, b, c = matmul(rng, m, n, k, transposed=True)
    maps = [wl.TensorMap.tiled(each, (64, 64), swizzle=128) for each in (a, b)]
    run = wl.launch(text_of(hopper_gemm.at()), grid=2, block=160, shared=49184, args=[*maps, c, m, n, k])
    return run, (a, b, c)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("launch", [run_ampere, run_hopper])
def test_the_terms_of_a_right_product_are_a_row_and_a_column(launch, seed: int) -> None:
    rng = np.random.default_rng(seed)
    run, (a, b, c) = launch(rng)
    index = tuple(int(rng.integers(extent)) for extent in c.shape)
    is_transposed = b.shape[1] == a.shape[1] and launch is run_hopper
    why = run.why(c, index, expect={"a": a, "b": b, "transpose_b": is_transposed})
    row, column = index
    expected = {(("a", (row, k)), ("b", (column, k) if is_transposed else (k, column))) for k in range(a.shape[1])}
    found = [((x.array, x.index), (y.array, y.index)) for x, y, _, _ in why.explanation.products]
    assert len(found) == a.shape[1]
    assert set(found) == expected
    assert not why.cause
    assert [k for _, _, k, _ in why.explanation.products] == list(range(a.shape[1]))


ELEMENTWISE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry mix(.param .u64 x, .param .u64 y, .param .u64 z) {
    .reg .b64 %d<8>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b16 %h<8>; .reg .pred %p<4>;
    ld.param.u64 %d0, [x];
    ld.param.u64 %d1, [y];
    ld.param.u64 %d2, [z];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %d3, %r0, 4;
    add.u64 %d4, %d0, %d3;
    add.u64 %d5, %d1, %d3;
    add.u64 %d6, %d2, %d3;
    ld.global.b32 %r1, [%d4];
    ld.global.b32 %r2, [%d5];
BODY
    st.global.b32 [%d6], %r3;
    ret;
}
"""

BODIES = {
    "fma": "mov.b32 %f0, %r1; mov.b32 %f1, %r2; fma.rn.f32 %f2, %f0, %f1, %f0; mov.b32 %r3, %f2;",
    "prmt": "prmt.b32 %r3, %r1, %r2, 0x5410;",
    "halves": "mov.b32 {%h0, %h1}, %r1; mov.b32 {%h2, %h3}, %r2; mov.b32 %r3, {%h3, %h0};",
    "half sum": "add.rn.f16x2 %r3, %r1, %r2;",
    "shuffle": "shfl.sync.bfly.b32 %r4, %r1, 5, 31, -1; mov.b32 %f0, %r4; mov.b32 %f1, %r2; "
    "mul.f32 %f2, %f0, %f1; mov.b32 %r3, %f2;",
    "transpose": "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r1;",
    "select": "and.b32 %r4, %r0, 1; setp.eq.u32 %p0, %r4, 0; selp.b32 %r3, %r1, %r2, %p0;",
    "pack": "mov.b32 %f0, %r1; mov.b32 %f1, %r2; cvt.rn.f16x2.f32 %r3, %f0, %f1;",
}  # fmt: skip


def launch_mix(ptx: str, x: np.ndarray, y: np.ndarray) -> tuple[wl.Run, np.ndarray]:
    z = np.zeros(64, np.uint16)
    run = wl.launch(ptx, grid=1, block=32, args=[x, y, z])
    return run, z


@pytest.mark.parametrize("name", BODIES)
def test_the_origins_of_a_result_are_the_elements_that_change_it(name: str) -> None:
    """Change one 16-bit input at a time, and see which half of the result changes."""
    rng = np.random.default_rng(5)
    ptx = ELEMENTWISE.replace("BODY", BODIES[name])
    x, y = (rng.uniform(1, 2, 32).astype(np.float32).view(np.uint16).copy() for _ in range(2))
    if "half" in name:
        x, y = (rng.uniform(1, 2, 64).astype(np.float16).view(np.uint16).copy() for _ in range(2))
    run, z = launch_mix(ptx, x, y)
    for index in (6, 13):
        why = run.why(z, index)
        named = set(re.findall(r"\b([xy]\[\d+(?::\d+)?\])", why.text()))
        found = {f"{each[0]}[{at}]" for each in named for at in _indices(each)}
        changed: set[str] = set()
        for label, array in (("x", x), ("y", y)):
            for at in range(64):
                array[at] ^= np.uint16(0x8200)
                if launch_mix(ptx, x, y)[1][index] != z[index]:
                    changed.add(f"{label}[{at}]")
                array[at] ^= np.uint16(0x8200)
        run, z = launch_mix(ptx, x, y)
        assert changed <= found
        whole = {
            f"{each[0]}[{at}]" for each in changed for at in (int(each[2:-1]) // 2 * 2, int(each[2:-1]) // 2 * 2 + 1)
        }
        assert found <= whole  # an element of 32 bits counts as a whole


def _indices(named: str) -> range:
    first, _, last = named[2:-1].partition(":")
    return range(int(first), int(last or int(first) + 1))


# Results and errors ---------------------------------------------------------------------------------------


def explained(name: str, array: str, index: tuple[int, ...]) -> Why:
    plan = read_launch_file(FOLDER / f"{name}.toml")
    again: Replay = replay(plan, plan.geometry.schedule or "eager")
    return again.why(array, index)


def test_an_explanation_has_data_and_a_picture() -> None:
    why = explained("wrong_box", "c", (0, 64))
    data = why.data()
    assert (
        data["cause"] == "wrong box: the copy of line 121 (hopper_gemm.py:57) starts at row 32 of b; row 64 would agree"
    )
    assert data["products"][0] == {"a": "a[0, 0]", "b": "b[32, 0]", "k": 0, "right": False}  # type: ignore[index]
    picture = why_svg(why)
    assert picture.count('class="right"') == 1
    assert picture.count('class="other"') == 1
    assert picture.count('class="missing"') == 1
    assert "first wrong step" in why_html(why)
    assert "<svg" in why_html(why)


def test_a_later_launch_drops_the_inputs_unless_they_are_kept() -> None:
    rng = np.random.default_rng(0)
    first, (_, _, c) = run_ampere(rng)
    value = float(c[0, 0])
    run_ampere(rng)
    with pytest.raises(wl.UsageError, match="its inputs are no longer kept"):
        first.why(c, (0, 0))
    x = np.arange(64, dtype=np.uint16)
    z = np.zeros(64, np.uint16)
    ptx = ELEMENTWISE.replace("BODY", BODIES["prmt"])
    kept = wl.launch(ptx, grid=1, block=32, args=[x, x.copy(), z], keep=True)
    run_ampere(rng)
    z[:] = 0
    assert kept.why("z", 2).value == 2
    assert np.isfinite(value)


def test_the_tree_says_where_the_walk_ends() -> None:
    body = (
        "mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd1, %rd2; ld.global.b32 %v0, [%rd0];"
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%w], {%v0}; tcgen05.wait::st.sync.aligned;"
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v1}, [%w]; tcgen05.wait::ld.sync.aligned;"
        "st.global.b32 [%rd3], %v1;"
    )
    out = np.zeros(128, np.float32)
    run = wl.launch(tensor_kernel(body, columns=32), grid=1, block=128, args=[np.ones(4, np.float32), out])
    text = run.why(out, 7, expect=np.full(128, 2.0)).text()
    assert "tcgen05.ld" in text
    assert "value that is not followed" in text
    assert text.endswith("cause: not found")


@pytest.mark.parametrize(
    ("array", "index", "code"), [("d", (0, 0), "why.array"), ("c", (0,), "why.index"), ("c", (0, 1000), "why.index")]
)
def test_a_wrong_element_is_refused(array: str, index: tuple[int, ...], code: str) -> None:
    with pytest.raises(wl.UsageError) as refused:
        explained("wrong_box", array, index)
    assert refused.value.diagnostics[0].code == code


def test_the_command_refuses_a_wrong_element(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    launch = str(FOLDER / "wrong_box.toml")
    assert main(["run", launch, "--why", "c"]) == 2
    assert "expected an element such as c[5, 7]" in capsys.readouterr().err
    assert main(["run", launch, "--svg", str(tmp_path / "why.svg")]) == 2
    assert "--svg needs --why" in capsys.readouterr().err
