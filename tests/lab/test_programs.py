"""A compiled CUDA program runs on the emulator in place of a GPU."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from warploom.diagnostics import UsageError
from warploom_lab.programs.build import build_program, build_runtime
from warploom_lab.programs.cases import Case
from warploom_lab.programs.catalog import PROGRAMS, Program
from warploom_lab.programs.run import ProgramRecord, run

SOURCE = """
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

struct Numbers { float scale; int bias[3]; };

__device__ void read_too_early(const float* in) {
    __shared__ float copied;
    if (threadIdx.x) return;
    copied = 0;
    unsigned address = __cvta_generic_to_shared(&copied);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(address), "l"(in + 1) : "memory");
    if (*(volatile float*)&copied != 1) __trap();
    asm volatile("cp.async.wait_all;");
}

__global__ void reversed(const float* in, float* out, Numbers numbers) {
    __shared__ float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    BARRIER;
    out[threadIdx.x] = tile[63 - threadIdx.x] * numbers.scale + numbers.bias[2];
}

int main(int count, char** words) {
    float values[64], *in, *out;
    for (int i = 0; i < 64; ++i) values[i] = i;
    cudaMalloc(&in, sizeof values), cudaMalloc(&out, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    reversed<<<1, 64>>>(in, out, {2, {0, 0, 5}});
    cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; ++i)
        if (values[i] != 2 * (63 - i) + atoi(words[1])) exit(3);
    return cudaDeviceSynchronize();
}
"""
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


def record(folder: Path, barrier: str, bias: str) -> ProgramRecord:
    (folder / "reversed").mkdir()
    (folder / "reversed/main.cu").write_text(SOURCE)
    program = Program("reversed", "reversed/main.cu", (), ("reversed",), (f"-DBARRIER={barrier}",), (bias,))
    return run(program, build_runtime(folder), build_program(program, folder, folder))


@needs_nvcc
def test_a_program_verifies_the_results_of_the_emulator(tmp_path: Path) -> None:
    found = record(tmp_path, "__syncthreads()", "5")
    assert found.problem == ""
    (launch,) = found.launches
    assert "reversed" in launch.kernel
    assert launch.instructions > 0
    assert launch.findings == ()
    assert launch.same


@needs_nvcc
def test_a_missing_barrier_is_found(tmp_path: Path) -> None:
    (launch,) = record(tmp_path, "", "5").launches
    assert {code for code, *_ in launch.findings} == {"sanitize.race/shared"}
    assert {schedules for _, schedules, _ in launch.findings} == {"eager, lazy, random:0"}


@needs_nvcc
def test_a_trap_under_a_later_schedule_is_a_finding(tmp_path: Path) -> None:
    found = record(tmp_path, "__syncthreads(); read_too_early(in)", "5")
    assert found.problem == ""
    (launch,) = found.launches
    assert launch.same
    assert ("emulator.trap", "lazy, random:0") in [(code, schedules) for code, schedules, _ in launch.findings]


@needs_nvcc
def test_the_exit_status_of_a_program_is_reported(tmp_path: Path) -> None:
    assert record(tmp_path, "__syncthreads()", "6").problem.startswith("exit status 3")


@needs_nvcc
def test_errors_of_the_compiler_are_reported(tmp_path: Path) -> None:
    program = Program("empty", "missing/main.cu", (), ())
    with pytest.raises(UsageError, match=r"nvcc failed: .*main\.cu"):
        build_program(program, tmp_path, tmp_path)


def test_wrong_and_missing_results_are_described() -> None:
    case = Case((), {1: np.ones(4)})
    assert case.problem({1: np.ones(4, np.float32)}) == ""
    assert case.problem({1: np.array([1, 1, 2, 1], np.float32)}) == "array 1 has an error of 1"
    assert case.problem({1: np.full(4, np.nan, np.float32)}) == "array 1 has an error of nan"


def test_programs_have_different_names_and_drivers_have_cases() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert all((program.case is None) == bool(program.options) for program in PROGRAMS)
