"""Public CUDA programs: compilation, runs under `warploom exec`, and the table of the documentation."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from warploom.diagnostics import UsageError
from warploom_lab.cli import main
from warploom_lab.programs import table
from warploom_lab.programs.build import build, fetch
from warploom_lab.programs.catalog import PROGRAMS, REPOSITORIES, Program, Repository
from warploom_lab.programs.run import SUCCESS, Finding, Record, Run, read, run, unassessed

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "tests/evidence/programs/results.json"
SOURCE = """
#include <cstdio>
#include <cstdlib>

__global__ void reversed(const float* in, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    BARRIER;
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

int main(int count, char** words) {
    float values[64], *in, *out;
    for (int i = 0; i < 64; ++i) values[i] = i;
    cudaMalloc(&in, sizeof values), cudaMalloc(&out, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    reversed<<<1, 64>>>(in, out);
    cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; ++i)
        if (values[i] != 63 - i + atoi(words[1])) exit(3);
    while (atoi(words[2])) continue;
    puts("all right");
    return cudaDeviceSynchronize();
}
"""
PROGRAM = Program("reversed", "some", ("main.cu",), (), ("-DBARRIER=__syncthreads()",), ("0", "0"), "all right")
ERR = """\
module1.ptx:9:1: error[sanitize.race/shared]: this writes shared memory
   9 | st.shared.u32 [%r1], %r2;
module1.ptx:9:1: error[sanitize.race/shared]: this writes shared memory
module1.ptx:11:1: warning[sanitize.copy/exit]: this copy may still read
launches    instructions    seconds  kernel
   1,002           1,300      0.408  first<float>
       1          40,000      0.313  second
warploom exec: 1,003 launches; 2 findings
"""
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


def built(folder: Path, program: Program = PROGRAM) -> Path:
    (folder / "some").mkdir(exist_ok=True)
    (folder / "some/main.cu").write_text(SOURCE)
    return build(program, folder, folder / "build")


@needs_nvcc
def test_a_program_is_compiled_and_runs(tmp_path: Path) -> None:
    binary = built(tmp_path)
    found = run(PROGRAM, binary, sanitize=True, limit=300)
    assert (found.verdict, found.launches, found.findings) == (SUCCESS, 1, ())
    assert found.instructions > 0
    assert run(replace(PROGRAM, arguments=("1", "0")), binary, False, 300).verdict.startswith("exit status 3")
    assert run(replace(PROGRAM, success="never"), binary, False, 300).verdict == "no text of success: all right"
    assert run(replace(PROGRAM, arguments=("0", "1")), binary, False, 8).verdict.startswith("stopped after")


@needs_nvcc
def test_a_missing_barrier_is_found(tmp_path: Path) -> None:
    program = replace(PROGRAM, flags=("-DBARRIER=",))
    found = run(program, built(tmp_path, program), sanitize=True, limit=300)
    assert {each.code for each in found.findings} == {"sanitize.race/shared"}
    record = Record("reversed", found, found)
    assert unassessed(program, record) == list(found.findings)
    assert unassessed(replace(program, assessments={"sanitize.race/shared": "A"}), record) == []


@needs_nvcc
def test_errors_of_the_compiler_are_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nvcc cannot compile reversed: .*BARRIER"):
        built(tmp_path, replace(PROGRAM, flags=()))


def test_missing_sources_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"main\.cu is missing; expected the sources of some"):
        build(PROGRAM, tmp_path, tmp_path)


def test_a_repository_is_fetched_once(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    git = ("git", "-C", str(origin), "-c", "user.name=n", "-c", "user.email=e")
    origin.mkdir()
    (origin / "main.cu").write_text(SOURCE)
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    class Local(Repository):
        @property
        def url(self) -> str:
            return str(origin)

    fetch(Local("owner", "some", commit), tmp_path)
    assert (tmp_path / "some/main.cu").read_text() == SOURCE
    (tmp_path / "some/main.cu").write_text("kept")
    fetch(Local("owner", "some", commit), tmp_path)
    assert (tmp_path / "some/main.cu").read_text() == "kept"
    with pytest.raises(UsageError, match="git cannot fetch"):
        fetch(Local("owner", "other", "0" * 40), tmp_path)


def test_the_output_of_exec_is_read() -> None:
    found = read(PROGRAM, 1, "all right\n", ERR, 1.25)
    codes = [each.code for each in found.findings]
    assert (found.verdict, found.launches, found.instructions) == (SUCCESS, 1003, 41_300)
    assert codes == ["sanitize.race/shared", "sanitize.copy/exit"]
    assert read(PROGRAM, 2, "all right", "", 1).verdict.startswith("exit status 2")
    refused = "error[launch.sanitize]: the sanitizer can follow 2048 warps"
    assert read(PROGRAM, 1, "", refused + "\n", 1) == Run(f"refused: {refused}", 0, 0, 1, ())
    assert read(PROGRAM, None, "all right", "", 1).verdict == "stopped after 1 s"


def test_records_are_replaced_in_the_order_of_the_catalog(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    first, second = (each.name for each in PROGRAMS[:2])
    done = Run(SUCCESS, 1, 2, 3.0, (Finding("sanitize.copy/exit", "text"),))
    table.save(path, [Record(second, done, None)])
    table.save(path, [Record(first, None, None, "missing"), Record(second, done, done)])
    assert table.load(path) == [Record(first, None, None, "missing"), Record(second, done, done)]


def test_a_wrong_use_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["programs", "--run"]) == 2
    assert "--fetch, --build and --run need --sources FOLDER" in capsys.readouterr().err


def test_the_catalog_is_consistent() -> None:
    assert len({each.name for each in PROGRAMS}) == len(PROGRAMS)
    assert {each.repository for each in PROGRAMS} == {each.name for each in REPOSITORIES}
    drivers = ROOT / "lab/src/warploom_lab/programs/drivers"
    used = {source for each in PROGRAMS if each.driver for source in each.sources}
    assert used == {each.name for each in drivers.glob("*.cu")}


def test_the_page_shows_the_recorded_results_and_assesses_each_finding(tmp_path: Path) -> None:
    records = table.load(RESULTS)
    page = tmp_path / "programs.md"
    page.write_text((ROOT / "docs/programs.md").read_text())
    table.write(page, records)
    assert page.read_text() == (ROOT / "docs/programs.md").read_text()
    assert [each.name for each in records] == [each.name for each in PROGRAMS]
    known = {each.name: each for each in PROGRAMS}
    assert [each for record in records for each in unassessed(known[record.name], record)] == []
    explained = set(re.findall(r"^- \*\*([A-Z])\. ", page.read_text(), re.MULTILINE))
    assert {letter for each in PROGRAMS for letter in each.assessments.values()} == explained
    succeeded = [each for each in records if each.plain and each.plain.verdict == SUCCESS]
    assert len(succeeded) >= 40
    assert len({known[each.name].repository for each in succeeded}) >= 8
