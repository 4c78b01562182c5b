"""Prepared launches: what reaches the kernel, on which stream, and what is refused."""

from __future__ import annotations

import struct
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.nvidia import Fake, Status, Tensor, View

import warploom as wl
from warploom.gpu import Gpu, Launch, arrays
from warploom.gpu.arrays import is_on_gpu

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 count, .param .f32 factor, .param .u16 flag)
{
    ret;
}
"""
MAPPED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .align 64 .b8 map[128], .param .u64 out)
{
    ret;
}
"""
ONE = (1, 1, 1)


def prepared(fake: Fake, **options: Any) -> Launch:
    fake.sizes = (8, 4, 4, 2)
    return Gpu().kernel(KERNEL, "scale").prepare(grid=(4, 1, 1), block=(64, 1, 1), **options)


def tensor(*shape: int, **options: Any) -> Tensor:
    return Tensor(np.zeros(shape, np.float32), **options)


def test_arguments_reach_the_kernel(fake: Fake) -> None:
    found: list[bytes] = []
    fake.kernel = found.append
    launch, data = prepared(fake), tensor(8)
    launch(data, 8, 0.5, 65535)
    launch(None, -1, np.float32(2), np.uint16(3))
    address = data.array.ctypes.data
    assert found == [struct.pack("<QIfH", address, 8, 0.5, 65535), struct.pack("<QiIH", 0, -1, 0x40000000, 3)]
    assert fake.calls.count("launch") == 2
    assert "synchronize" not in fake.calls


def test_a_launch_is_configured_once(fake: Fake) -> None:
    launch = prepared(fake, cluster=(2, 1, 1), shared=70_000, cooperative=True, programmatic=True)
    launch(None, 0, 0.0, 0)
    launch(None, 0, 0.0, 0)
    first, second = fake.launched
    assert first is second
    assert [attribute.id for attribute in first.attrs] == ["cluster", "cooperative", "programmatic"]
    assert first.numAttrs == 3
    assert (first.attrs[0].value.clusterDim.x, first.attrs[1].value.cooperative) == (2, 1)
    assert first.attrs[2].value.programmaticStreamSerializationAllowed == 1
    assert fake.calls.count("shared 70000") == 1


def test_less_shared_memory_does_not_take_away_what_another_launch_has(fake: Fake) -> None:
    kernel = Gpu().kernel(KERNEL, "scale")
    for shared in (90_000, 60_000):
        kernel.prepare(grid=ONE, block=ONE, shared=shared)
    assert [call for call in fake.calls if call.startswith("shared")] == ["shared 90000"]


def test_an_array_waits_for_what_made_it(fake: Fake) -> None:
    prepared(fake)(tensor(8), 8, 1.0, 0, stream=33)
    assert View.seen == [33]
    assert fake.launched[0].hStream == 33


def test_libraries_with_a_current_stream_are_followed(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    class CuPy(Tensor):
        pass

    CuPy.__module__ = "cupy._core"
    current = SimpleNamespace(ptr=0)
    library = SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: current))
    monkeypatch.setitem(arrays.sys.modules, "cupy", library)
    launch, data = prepared(fake), CuPy(np.zeros(8))
    launch(data, 8, 1.0, 0)
    assert fake.launched[0].hStream == arrays.LEGACY  # the default one, which has no handle of its own
    current.ptr = 55
    launch(data, 8, 1.0, 0)
    assert fake.launched[0].hStream == 55
    launch(data, 8, 1.0, 0, stream=66)
    assert fake.launched[0].hStream == 66
    assert View.seen == [-1, -1, -1]


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (0, 1),
        (12, 12),
        (SimpleNamespace(__cuda_stream__=lambda: (0, 13)), 13),
        (SimpleNamespace(cuda_stream=14), 14),
        (SimpleNamespace(ptr=15), 15),
    ],
)
def test_whatever_is_a_stream_has_a_handle(stream: object, handle: int) -> None:
    assert arrays.handle_of(stream) == handle


@pytest.mark.parametrize("stream", [True, -1, "stream", object()])
def test_what_is_no_stream_is_refused(fake: Fake, stream: object) -> None:
    with pytest.raises(wl.UsageError, match="expected a stream of PyTorch, CuPy or cuda-core, or its handle"):
        prepared(fake)(None, 0, 0.0, 0, stream=stream)
    assert not fake.launched


@pytest.mark.parametrize(
    ("array", "code", "sentence"),
    [
        (tensor(8, device=1), "gpu.device", "a gpu Tensor is on GPU 1; the launch is on GPU 0"),
        (tensor(8, read_only=True), "gpu.array", "a gpu Tensor is read-only; expected one that a kernel may write"),
        (tensor(8, on_host=True), "gpu.array", "a gpu Tensor is in the host's memory; expected one on the GPU"),
        (
            np.zeros(8),
            "launch.argument",
            "argument 0 (.u64 data) is an array of type float64 and shape (8,); expected a number, an array or None",
        ),
    ],
)
def test_arrays_that_cannot_be_used_in_place_are_refused(fake: Fake, array: object, code: str, sentence: str) -> None:
    with pytest.raises(wl.UsageError) as error:
        prepared(fake)(array, 8, 1.0, 0)
    assert [(each.code, each.message) for each in error.value.diagnostics] == [(code, sentence)]
    assert not fake.launched


def test_arguments_are_counted_and_kept_to_their_types(fake: Fake) -> None:
    launch = prepared(fake)
    with pytest.raises(wl.UsageError) as error:
        launch(None, 0)
    (found,) = error.value.diagnostics
    assert found.message == "kernel scale takes 4 arguments; 2 were given"
    assert found.hint == "its parameters are: .u64 data, .u32 count, .f32 factor, .u16 flag"
    with pytest.raises(wl.UsageError, match=r"argument 3 \(.u16 flag\) is 65536; expected an integer from"):
        launch(None, 0, 1.0, 65536)
    with pytest.raises(wl.UsageError, match=r"argument 1 \(.u32 count\) is 0.5; expected an integer"):
        launch(None, 0.5, 1.0, 0)


def test_a_refused_launch_says_why(fake: Fake) -> None:
    fake.fails["launch"] = Status.INVALID_VALUE
    with pytest.raises(wl.UsageError, match="the GPU cannot launch kernel scale: invalid value"):
        prepared(fake)(None, 0, 1.0, 0)


def test_launches_of_two_threads_do_not_mix(fake: Fake) -> None:
    found: list[bytes] = []
    fake.kernel = found.append
    launch = prepared(fake)

    def work(value: int) -> None:
        for _ in range(50):
            launch(value, value, 0.0, value)

    threads = [threading.Thread(target=work, args=(value,)) for value in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(set(found)) == [struct.pack("<QIfH", k, k, 0.0, k) for k in range(1, 5)]
    assert len(found) == 200


def test_a_tensor_map_follows_its_array(fake: Fake) -> None:
    fake.sizes = (128, 8)
    found: list[bytes] = []
    fake.kernel = found.append
    first, second = tensor(64, 64), tensor(64, 64)
    kernel = Gpu().kernel(MAPPED, "copy")
    made = wl.TensorMap.tiled(first, (32, 32))
    launch = kernel.prepare(grid=ONE, block=ONE, tensors={"map": made})
    for array in (first, second, second):
        launch(array, array)
    addresses = [struct.unpack_from("<Q", parameters)[0] for parameters in found]
    assert addresses == [array.array.ctypes.data for array in (first, second, second)]
    assert [parameters[128:] for parameters in found] == [struct.pack("<Q", a) for a in addresses]
    assert (fake.calls.count("encode"), fake.calls.count("move")) == (1, 1)
    with pytest.raises(wl.UsageError) as error:
        launch(tensor(64, 32), None)
    assert error.value.diagnostics[0].message == (
        "map is a gpu Tensor of shape (64, 32), strides (128, 4) and float32;"
        " expected shape (64, 64), strides (256, 4) and float32"
    )


def test_a_tensor_map_may_be_given_whole(fake: Fake) -> None:
    fake.sizes = (128, 8)
    found: list[bytes] = []
    fake.kernel = found.append
    launch, array = Gpu().kernel(MAPPED, "copy").prepare(grid=ONE, block=ONE), tensor(64, 64)
    launch(wl.TensorMap.tiled(array, (32, 32)), None)
    launch(bytes(range(128)), None)
    assert struct.unpack_from("<Q", found[0])[0] == array.array.ctypes.data
    assert found[1][:128] == bytes(range(128))
    with pytest.raises(wl.UsageError, match="is a Tensor; expected a TensorMap or 128 bytes"):
        launch(array, None)


def test_a_name_that_is_no_tensor_maps_is_refused(fake: Fake) -> None:
    kernel = Gpu().kernel(MAPPED, "copy")
    made = wl.TensorMap.tiled(tensor(64, 64), (32, 32))
    with pytest.raises(wl.UsageError, match="kernel copy has no 128-byte parameter out for a tensor map"):
        kernel.prepare(grid=ONE, block=ONE, tensors={"out": made})


def test_memory_that_is_nobodys_is_refused() -> None:
    class Elsewhere(Tensor):
        def __dlpack_device__(self) -> tuple[int, int]:
            return 8, 0

    with pytest.raises(wl.UsageError, match="neither on an NVIDIA GPU nor in the host's memory"):
        is_on_gpu(Elsewhere(np.zeros(1)))
