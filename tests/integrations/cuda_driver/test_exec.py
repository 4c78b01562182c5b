"""The command `warploom exec`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = str(Path(__file__).parent / "program.py")
NVCC = shutil.which("nvcc")
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")


def command(*options: str, program: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "warploom", "exec", *options, "--", *program]


def run(*options: str, program: tuple[str, ...], **changes: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "WARPLOOM_EXEC"} | changes
    return subprocess.run(
        command(*options, program=program), capture_output=True, text=True, check=False, timeout=300, env=environment
    )


def python(what: str) -> tuple[str, ...]:
    return sys.executable, PROGRAM, what


def test_a_program_runs_and_its_status_is_kept() -> None:
    done = run(program=python("twice"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")
    assert run(program=python("exit")).returncode == 7


def test_the_device_can_be_chosen() -> None:
    assert run("--device", "B200", program=python("name")).stdout == "NVIDIA B200\n"
    done = run("--device", "k80", program=python("name"))
    assert done.returncode == 2
    assert "unknown device 'k80'; expected one of h100, h200" in done.stderr


def test_findings_are_printed_and_set_the_status() -> None:
    done = run("--sanitize", program=python("race"))
    assert done.returncode == 1
    assert "sanitize." in done.stderr
    assert "1 launches; 1 finding" in done.stderr
    assert run("--sanitize", "--kernel", "twice", program=python("race")).returncode == 0
    assert run(program=python("race")).returncode == 0


def test_a_failed_kernel_is_reported_with_its_place() -> None:
    done = run(program=python("beyond"))
    assert done.stdout == "status 0 700\n"
    assert done.returncode == 1
    assert "module1.ptx:13:5: error[emulator.out-of-bounds]" in done.stderr
    assert "allocation 1" in done.stderr


def test_times_and_reports(tmp_path: Path) -> None:
    done = run("--time", "--report", str(tmp_path / "pages"), program=python("twice"))
    assert done.returncode == 0
    assert "kernel\n" in done.stderr
    assert "twice" in done.stderr
    (page,) = (tmp_path / "pages").iterdir()
    assert page.name == "0001-twice.html"


@pytest.mark.parametrize("engine", ["interpreter", "compiler"])
def test_both_engines_run_a_program(engine: str) -> None:
    done = run(program=python("constant"), WARPLOOM_ENGINE=engine)
    assert (done.returncode, done.stdout, done.stderr) == (0, "21\n", "")


def test_threads_of_a_program_share_its_memory() -> None:
    assert run(program=python("threads")).stdout == f"{[168] * 4}\n"


def test_two_processes_have_their_own_memory(tmp_path: Path) -> None:
    script = tmp_path / "two.sh"
    script.write_text(f"{sys.executable} {PROGRAM} twice & {sys.executable} {PROGRAM} twice; wait\n", encoding="utf-8")
    assert run(program=("/bin/sh", str(script))).stdout == "42\n42\n"


def test_a_context_does_not_survive_a_fork() -> None:
    assert run(program=python("fork")).stdout == "child 3\n"


def test_a_process_that_executes_another_program_starts_with_an_unused_device() -> None:
    done = run(program=python("replace"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


@pytest.mark.parametrize("what", ["fault", "fault-arguments", "fault-result"])
def test_an_address_that_cannot_be_accessed_is_a_fault_of_the_program(what: str) -> None:
    done = run(program=python(what))
    sentence = "warploom: the program passed an address that it cannot access to a driver function\n"
    assert done.returncode == 128 + signal.SIGSEGV
    assert done.stderr in ("", sentence)


@pytest.mark.parametrize(("limit", "reason"), [("-v 8000000", "ulimit -v"), ("-n 4", "ulimit -n")])
def test_a_limit_of_the_program_is_named(limit: str, reason: str) -> None:
    done = run(program=("/bin/sh", "-c", f"ulimit {limit}; exec {sys.executable} -S {PROGRAM} name"))
    assert done.stdout == "status 100\n"
    assert reason in done.stderr


def test_a_limit_of_the_server_is_named() -> None:
    limited = ["/bin/sh", "-c", 'ulimit -f 1000; exec "$@"', "sh", *command(program=python("name"))]
    done = subprocess.run(limited, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "status 100\n"
    assert "the device memory of" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_killed_program_leaves_nothing(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        command(program=python("hang")), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(child), signal.SIGKILL)
    assert process.wait(timeout=60) == 128 + signal.SIGKILL
    assert [*tmp_path.iterdir()] == []
    assert process.stderr is not None
    process.stdout.close()
    process.stderr.close()


def test_an_interrupt_ends_the_program() -> None:
    process = subprocess.Popen(
        command(program=python("hang")), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in error
    assert not Path(f"/proc/{child}").exists()


@pytest.mark.parametrize(
    ("options", "program", "message"),
    [
        ((), (), "the program is missing"),
        ((), ("./no-such-program",), "the program ./no-such-program does not exist"),
        (("--kernel", "("), ("true",), "is not a regular expression"),
        (("--schedule", "fast"), ("true",), "schedule"),
        (("--report", "/dev/null/x"), ("true",), "cannot be created"),
    ],
)
def test_wrong_use_ends_with_a_sentence(options: tuple[str, ...], program: tuple[str, ...], message: str) -> None:
    done = run(*options, program=program)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_compiler_is_named(tmp_path: Path) -> None:
    done = run(program=python("name"), WARPLOOM_CACHE=str(tmp_path), CC="no-such-compiler")
    assert done.returncode == 2
    assert "no-such-compiler" in done.stderr
    (tmp_path / "bin").mkdir()
    done = run(program=python("name"), WARPLOOM_CACHE=str(tmp_path), CC="", PATH=str(tmp_path / "bin"))
    assert done.returncode == 2
    assert "needs a C compiler once" in done.stderr


def test_processes_may_compile_the_library_at_the_same_time(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from warploom.integrations.cuda_driver.build import library_folder as f; f()"]
    environment = os.environ | {"WARPLOOM_CACHE": str(tmp_path)}
    started = [subprocess.Popen(command, env=environment) for _ in range(4)]
    assert [each.wait() for each in started] == [0, 0, 0, 0]
    (folder,) = (tmp_path / "driver").iterdir()
    assert (folder / "libcuda.so.1").exists()


def test_the_library_alone_states_what_it_needs() -> None:
    from warploom.integrations.cuda_driver.build import library_folder

    environment = {name: value for name, value in os.environ.items() if name != "WARPLOOM_EXEC"}
    environment["LD_LIBRARY_PATH"] = str(library_folder())
    done = subprocess.run(python("name"), capture_output=True, text=True, check=False, env=environment)
    assert done.stdout == "status 100\n"
    assert "start the program with 'warploom exec'" in done.stderr


SOURCE = """
#include <cstdio>
#include <cuda_runtime.h>

__constant__ float factor = 3.0f;
__device__ int launches;

__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
    if (i == 0) atomicAdd(&launches, 1);
}

int main() {
    const int n = 1000;
    float *device, host[n];
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    scale<<<8, 128>>>(device, n);
    float five = 5.0f;
    cudaMemcpyToSymbol(factor, &five, sizeof five);
    scale<<<8, 128>>>(device, n);
    int count = 0;
    cudaMemcpyFromSymbol(&count, launches, sizeof count);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaError_t status = cudaDeviceSynchronize();
    printf("%s %d %g\\n", cudaGetErrorString(status), count, host[n - 1]);
    return status != cudaSuccess;
}
"""


@needs_nvcc
@pytest.mark.parametrize("runtime", ["static", "shared"])
@pytest.mark.parametrize("compression", ["none", "size", "speed"])
def test_a_compiled_program_runs(tmp_path: Path, runtime: str, compression: str) -> None:
    assert NVCC is not None
    (tmp_path / "scale.cu").write_text(SOURCE, encoding="utf-8")
    options = ["-cudart", runtime, f"--compress-mode={compression}", "-gencode", "arch=compute_90a,code=compute_90a"]
    subprocess.run([NVCC, *options, "-o", tmp_path / "scale", tmp_path / "scale.cu"], check=True)
    libraries = Path(_toolkit()) / "lib"
    done = run(program=(str(tmp_path / "scale"),), LD_LIBRARY_PATH=str(libraries))
    assert done.stdout == f"no error 2 {999 * 15:g}\n"
    assert done.returncode == 0


def _toolkit() -> str:
    """Return the folder of the CUDA toolkit to which nvcc belongs."""
    assert NVCC is not None
    done = subprocess.run([NVCC, "-dryrun", "-c", "-x", "cu", os.devnull], capture_output=True, text=True, check=False)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("#$ TOP=")]
    return line.removeprefix("#$ TOP=")


@needs_nvcc
def test_a_program_without_ptx_is_refused_with_advice(tmp_path: Path) -> None:
    assert NVCC is not None
    (tmp_path / "scale.cu").write_text(SOURCE, encoding="utf-8")
    options = ["-gencode", "arch=compute_90a,code=sm_90a"]
    subprocess.run([NVCC, *options, "-o", tmp_path / "scale", tmp_path / "scale.cu"], check=True)
    done = run(program=(str(tmp_path / "scale"),))
    assert done.returncode == 1
    assert f"{tmp_path}/scale has GPU code (SASS) for sm_90 and no PTX" in done.stderr
    assert "code=compute_90a" in done.stderr
