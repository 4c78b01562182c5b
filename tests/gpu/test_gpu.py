"""Launches on a GPU: what is asked of NVIDIA's packages, and what people are told when that fails."""

from __future__ import annotations

import ctypes
import struct
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from gpu.nvidia import Fake, Status, Tensor

import warploom as wl
from warploom.diagnostics import render
from warploom.gpu import DeviceFault, Gpu, driver

KERNEL = """.version 9.0
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 tile[];
.visible .entry double(.param .u64 data, .param .u32 count)
{
    ret;
}
"""


def launch(data: np.ndarray[Any, Any], **options: Any) -> None:
    wl.launch(KERNEL, grid=4, block=64, args=[data, len(data)], device="cuda", **options)


def told(error: wl.WarploomError) -> str:
    return render(error.diagnostics, color=False)


def test_arrays_go_to_the_gpu_and_come_back(fake: Fake) -> None:
    def kernel(parameters: bytes) -> None:
        address, count = struct.unpack("<QI", parameters)
        values = (ctypes.c_float * count).from_address(address)
        for k in range(count):
            values[k] *= 2

    fake.kernel = kernel
    data = np.arange(100, dtype=np.float32)
    launch(data)
    np.testing.assert_array_equal(data, 2 * np.arange(100, dtype=np.float32))
    config = fake.launched[0]
    assert (config.gridDimX, config.gridDimY, config.blockDimX, config.sharedMemBytes) == (4, 1, 64, 0)
    assert not hasattr(config, "attrs")
    assert fake.memory == {}


def test_parameters_go_one_by_one(fake: Fake) -> None:
    # The driver places parameters that are aligned to 64 bytes otherwise than PTX does.
    text = KERNEL.replace("(.param .u64", "(.param .align 64 .b8 map[128], .param .u64")
    assert text != KERNEL
    found: list[bytes] = []
    fake.sizes, fake.kernel = (128, 8, 4), found.append
    data = np.zeros(3, np.float32)
    wl.launch(text, grid=1, block=64, args=[bytes(range(128)), data, 7], device="cuda")
    assert found[0][:128] == bytes(range(128))
    assert found[0][136:] == struct.pack("<I", 7)


def test_shared_memory_and_large_clusters_are_asked_for(fake: Fake) -> None:
    wl.launch(KERNEL, grid=32, block=64, cluster=16, shared=100_000, args=[np.zeros(1), 1], device="cuda")
    assert fake.calls.index("shared 100000") < fake.calls.index("launch")
    assert "cluster 1" in fake.calls
    assert fake.launched[0].attrs[0].value.clusterDim.x == 16


def test_an_array_that_may_not_be_written_is_left_alone(fake: Fake) -> None:
    data = np.ones(4, np.float32)
    data.flags.writeable = False
    fake.kernel = lambda parameters: ctypes.memset(struct.unpack_from("<Q", parameters)[0], 0, 16)
    launch(data)
    assert data.all()


def test_without_the_packages_it_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        return import_module(f"not_installed_{name}")

    monkeypatch.setattr(driver, "import_module", missing)
    with pytest.raises(wl.UsageError) as error:
        launch(np.zeros(1))
    assert told(error.value) == (
        "error[gpu.packages]: a launch on a GPU needs NVIDIA's Python packages\n  hint: pip install 'warploom[gpu]'\n"
    )


def test_an_old_package_is_named(fake: Fake) -> None:
    fake.core = "1.0.1"
    with pytest.raises(wl.UsageError, match=r"cuda-core 1\.0\.1 is installed; expected 1\.2 or newer"):
        launch(np.zeros(1))


def test_a_broken_package_is_not_a_missing_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> Any:
        raise ImportError(f"{name} is built for another Python")

    monkeypatch.setattr(driver, "import_module", broken)
    with pytest.raises(wl.UsageError, match=r"cannot be loaded: cuda\.core is built for another Python"):
        launch(np.zeros(1))


def test_without_a_driver_it_says_so(fake: Fake) -> None:
    fake.no_driver = True
    with pytest.raises(wl.UsageError) as error:
        launch(np.zeros(1))
    assert told(error.value) == (
        "error[gpu.driver]: there is no GPU to launch on: no driver is installed\n"
        '  hint: device="cpu" runs the kernel without a GPU\n'
    )


def test_the_assemblers_complaints_are_placed(fake: Fake) -> None:
    fake.log = "ptxas application ptx input, line 7; error   : Unknown symbol 'x'\nptxas fatal   : Ptx assembly aborted"
    with pytest.raises(wl.WarploomError) as error:
        launch(np.zeros(1))
    first, second = error.value.diagnostics
    assert (first.code, first.message, second.message) == (
        "gpu.assembler",
        "Unknown symbol 'x'",
        "Ptx assembly aborted",
    )
    assert first.source is not None
    assert first.span is not None
    assert first.source.position(first.span.start) == (7, 5)


@pytest.mark.parametrize(
    ("call", "code", "sentence"),
    [
        ("synchronize", "gpu.fault", "the GPU stopped kernel double: illegal address"),
        ("launch", "gpu.launch", "the GPU cannot launch kernel double: illegal address"),
        ("upload", "gpu.fault", "the GPU's driver failed: illegal address"),
    ],
)
def test_a_failure_of_the_driver_is_one_sentence(fake: Fake, call: str, code: str, sentence: str) -> None:
    fake.fails[call] = Status.ILLEGAL_ADDRESS
    with pytest.raises((DeviceFault, wl.UsageError)) as error:
        launch(np.zeros(4))
    assert [(each.code, each.message) for each in error.value.diagnostics] == [(code, sentence)]


def test_a_refused_attribute_is_a_refused_launch(fake: Fake) -> None:
    fake.fails["shared 200000"] = Status.INVALID_VALUE
    with pytest.raises(wl.UsageError, match="the GPU refuses the launch: invalid value"):
        launch(np.zeros(4), shared=200_000)


def test_an_array_on_the_gpu_is_used_in_place(fake: Fake) -> None:
    def kernel(parameters: bytes) -> None:
        address, count = struct.unpack("<QI", parameters)
        ctypes.memset(address, 1, count)

    fake.kernel = kernel
    data = Tensor(np.zeros(16, np.uint8))
    wl.launch(KERNEL, grid=4, block=64, args=[data, 16], device="cuda")
    assert data.array.all()
    assert "upload" not in fake.calls
    assert "download" not in fake.calls
    assert "synchronize" in fake.calls


def test_a_launch_may_be_left_to_run(fake: Fake) -> None:
    data = Tensor(np.zeros(16, np.uint8))
    wl.launch(KERNEL, grid=4, block=64, args=[data, 16], device="cuda", stream=9, wait=False)
    assert "synchronize" not in fake.calls
    assert fake.launched[0].hStream == 9
    with pytest.raises(wl.UsageError, match="a launch with arrays in the host's memory must be waited for"):
        launch(np.zeros(1), wait=False)


def test_copies_and_the_kernel_keep_to_one_stream(fake: Fake) -> None:
    launch(np.zeros(4), stream=9)
    assert fake.launched[0].hStream == 9
    assert fake.calls.index("upload") < fake.calls.index("launch") < fake.calls.index("download")


def test_launch_attributes_reach_the_driver(fake: Fake) -> None:
    launch(np.zeros(4), cooperative=True, programmatic=True)
    assert [attribute.id for attribute in fake.launched[0].attrs] == ["cooperative", "programmatic"]


def test_a_kernel_that_was_launched_stays_assembled(fake: Fake) -> None:
    for _ in range(3):
        launch(np.zeros(4))
    assert fake.calls.count("assemble") == 1


def test_what_the_assembler_remarks_is_found(fake: Fake) -> None:
    fake.remarks = (
        "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register"
        " count at entry."
    )
    run = wl.launch(KERNEL, grid=4, block=64, args=[np.zeros(4), 4], device="cuda")
    (found,) = run.findings
    assert (found.code, found.severity.value) == ("gpu.c7508", "warning")
    assert found.message.startswith("C7508: 'setmaxnreg' ignored; unable")
    assert ".minnctapersm" in found.hint


@pytest.mark.parametrize(
    ("target", "runs"), [("sm_80", True), ("sm_90a", True), ("sm_100", False), ("sm_100a", False), ("sm_80a", True)]
)
def test_the_architecture_must_fit(fake: Fake, target: str, runs: bool) -> None:
    gpu, text = Gpu(), KERNEL.replace("sm_90a", target)
    if runs:
        gpu.kernel(text, "double")
        return
    with pytest.raises(wl.UsageError) as error:
        gpu.kernel(text, "double")
    assert told(error.value) == (
        f"error[gpu.target]: the kernel is for {target}; the GPU, a fake, is sm_90a\n"
        "  hint: build the kernel for this GPU\n"
    )


def test_an_old_driver_is_named(fake: Fake) -> None:
    fake.version = 11080
    with pytest.raises(wl.UsageError) as error:
        launch(np.zeros(1))
    assert told(error.value).startswith(
        "error[gpu.driver]: there is no GPU to launch on: the driver is for CUDA 11.8; expected 12.0 or newer\n"
    )


def test_code_that_the_driver_does_not_load_is_one_sentence(fake: Fake) -> None:
    fake.fails["load"] = Status.INVALID_VALUE
    with pytest.raises(wl.UsageError) as error:
        launch(np.zeros(1))
    assert told(error.value).startswith("error[gpu.driver]: the GPU's driver cannot load <ptx>: invalid value")


def test_a_kernel_that_is_not_there_is_named(fake: Fake) -> None:
    with pytest.raises(wl.UsageError, match="unknown kernel 'half'; the module has double"):
        Gpu().kernel(KERNEL, "half")


@pytest.mark.parametrize("options", [{"stream": 3}, {"programmatic": True}])
def test_the_emulator_refuses_options_of_a_gpu(options: dict[str, Any]) -> None:
    with pytest.raises(wl.UsageError, match=r"device='cpu' does not support (stream|programmatic)"):
        wl.launch(KERNEL, grid=4, block=64, args=[np.zeros(1), 1], **options)


def test_the_emulator_refuses_an_array_on_a_gpu() -> None:
    with pytest.raises(wl.UsageError) as error:
        wl.launch(KERNEL, grid=4, block=64, args=[Tensor(np.zeros(1)), 1])
    assert told(error.value) == (
        "error[launch.argument]: argument 0 (data) is on a GPU; expected an array in the host's memory\n"
        '  hint: pass device="cuda" to run the kernel on this GPU\n'
    )


def test_an_array_of_the_host_is_used_as_numpys() -> None:
    text = KERNEL.replace(
        "    ret;", "    .reg .b64 %p;\n    ld.param.b64 %p, [data];\n    st.global.b32 [%p], 7;\n    ret;"
    )
    data = Tensor(np.zeros(4, np.int32), on_host=True)
    wl.launch(text, grid=1, block=1, args=[data, 1])
    assert data.array.tolist() == [7, 0, 0, 0]


def test_the_gpu_that_was_current_is_so_again(fake: Fake) -> None:
    fake.context = 5
    launch(np.zeros(4))
    assert fake.calls[-1] == "context 5"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"grid": 0, "block": 1}, "grid is 0; expected one to three integers above 0"),
        ({"grid": 1, "block": (1, 1, 1, 1)}, r"block is \(1, 1, 1, 1\); expected one to three"),
        ({"grid": 1, "block": 1, "cluster": "2"}, "cluster is '2'; expected one to three"),
        ({"grid": 1, "block": 1, "shared": -4}, "shared is -4; expected a number of bytes"),
    ],
)
def test_a_geometry_that_is_none_is_refused(fake: Fake, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(wl.UsageError, match=sentence):
        Gpu().kernel(KERNEL, "double").prepare(**options)


NOT_EMULATED = {
    "recursion": (".func walk();\n.func walk() { call walk; ret; }\n", "call walk;"),
    "an extern variable": (".extern .global .u32 table[];\n", "{ .reg .b64 %a; mov.u64 %a, table; }"),
    "an unknown instruction": ("", "frobnicate.u32 7;"),
}


@pytest.mark.parametrize("name", NOT_EMULATED)
def test_a_gpu_launches_kernels_that_the_emulator_refuses(fake: Fake, name: str) -> None:
    before, body = NOT_EMULATED[name]
    text = KERNEL.replace(".visible", f"{before}.visible").replace("    ret;", f"    {body}\n    ret;")
    data = np.zeros(4)
    with pytest.raises(wl.Unsupported):
        wl.launch(text, grid=1, block=32, args=[data, 4])
    wl.launch(text, grid=1, block=32, args=[data, 4], device="cuda")
    assert len(fake.launched) == 1


def test_a_gpu_launch_does_not_load_the_emulators_program(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warploom.emulator.loader.load", None)
    launch(np.zeros(4))
    assert len(fake.launched) == 1


def test_the_capacity_of_the_gpu_limits_a_launch(fake: Fake) -> None:
    text = KERNEL.replace("sm_90a", "sm_80")  # has less shared memory than the GPU
    wl.launch(text, grid=1, block=32, shared=200_000, args=[np.zeros(1), 1], device="cuda")
    with pytest.raises(wl.UsageError, match=r"needs 300000 bytes of shared memory .* sm_90a has at most 232448"):
        launch(np.zeros(1), shared=300_000)


def test_structures_and_tables_hold_the_addresses_of_buffers(fake: Fake) -> None:
    text = KERNEL.replace(".param .u64 data, .param .u32 count", ".param .align 8 .b8 s[16], .param .u64 table")
    seen: list[np.ndarray[Any, Any]] = []

    def kernel(parameters: bytes) -> None:
        pointer, count, table = struct.unpack("<QI4xQ", parameters)
        first, second = (ctypes.c_uint64 * 2).from_address(table)
        floats = ctypes.c_float * count
        seen.extend(np.array(floats.from_address(address)) for address in (pointer, first, second))
        ctypes.memset(first, 0, 4 * count)

    fake.sizes, fake.kernel = (16, 8), kernel
    inside, left, right = (np.full(3, value, np.float32) for value in (1, 2, 3))
    foreign = Tensor(right)
    wl.launch(text, grid=1, block=32, args=[wl.Struct(inside, np.uint32(3)), [left, foreign]], device="cuda")
    assert [each[0] for each in seen] == [1, 2, 3]
    assert left.tolist() == [0, 0, 0]


def test_tables_of_tensor_maps_are_encoded_by_the_driver(fake: Fake) -> None:
    text = KERNEL.replace(".param .u64 data, .param .u32 count", ".param .align 8 .b8 s[24], .param .u64 map")
    seen: list[bytes] = []

    def kernel(parameters: bytes) -> None:
        _, maps, _, one = struct.unpack("<4Q", parameters)
        seen.extend(ctypes.string_at(address, 128) for address in (maps, maps + 128, one))

    fake.sizes, fake.kernel = (24, 8), kernel
    maps = [wl.TensorMap.tiled(np.zeros((8, 16), np.float32), box) for box in ((8, 16), (4, 16), (2, 16))]
    structure = wl.Struct.c(
        "struct { int n; const CUtensorMap *maps; float *x; }", n=2, maps=maps[:2], x=Tensor(np.zeros(4))
    )
    wl.launch(text, grid=1, block=32, args=[structure, maps[2]], device="cuda")
    assert len({*seen}) == 3
    assert all(each != bytes(128) for each in seen)
