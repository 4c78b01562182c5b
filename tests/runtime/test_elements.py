"""Element sizes of arrays against the accesses of a kernel: what is refused, and what must not be."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from emulator.texts import kernel

import warploom as wl
from warploom.diagnostics import UsageError

BYTES = "ld.global.u8 %h1, [%rd0];"
WORD = "ld.global.u32 %r1, [%rd0];"
FLOAT = "ld.global.f32 %f1, [%rd0];"
PAIR = "ld.global.v2.f32 {%f1, %f2}, [%rd0];"
LOCAL = """.local .align 8 .b64 l[1];
    st.local.u64 [l], %rd0;
    ld.local.u64 %rd2, [l];
    ld.global.f64 %rd3, [%rd2];"""


def launch(body: str, array: np.ndarray, params: str = ".param .u64 out") -> None:  # type: ignore[type-arg]
    wl.launch(kernel(f"{body}\nret;", params), grid=1, block=32, args=[array])


@pytest.mark.parametrize(
    ("body", "dtype"),
    [(FLOAT, np.float64), (WORD, np.int64), (FLOAT, np.complex128), ("ld.global.b16 %h1, [%rd0];", np.float32)],
)
def test_numbers_wider_than_every_access_are_refused(body: str, dtype: type) -> None:
    with pytest.raises(UsageError, match=r"argument 0 \(out\) is an array of .*; expected elements of at most [24]"):
        launch(body, np.zeros(64, dtype))


@pytest.mark.parametrize(
    ("body", "dtype"),
    [
        (FLOAT, np.float32),
        (FLOAT, np.float16),  # a load of two halves
        (FLOAT, ml_dtypes.bfloat16),
        (FLOAT, np.complex64),  # a load of one half of the number
        (FLOAT, np.uint8),
        (FLOAT, np.uint64),  # words of 8 bytes that contain numbers of 4 bytes
        (FLOAT, np.dtype([("x", np.float32), ("y", np.float32)])),
        (FLOAT, np.void(16).dtype),
        (PAIR, np.float64),  # a vector of the size of an element
        (BYTES, np.float64),  # a copy of bytes
        (f"{FLOAT}\nld.global.f64 %rd2, [%rd0];", np.float64),
        (f"{FLOAT}\n{LOCAL}", np.float64),  # the address passes through memory
        ("ret;", np.float64),
    ],
)
def test_other_arrays_are_accepted(body: str, dtype: np.dtype) -> None:  # type: ignore[type-arg]
    launch(body, np.zeros(64, dtype))


def test_an_address_in_another_lane_hides_accesses() -> None:
    body = f"""{FLOAT}
    mov.b64 {{%r1, %r2}}, %rd0;
    shfl.sync.idx.b32 %r1, %r1, 0, 31, -1;
    mov.b64 %rd2, {{%r1, %r2}};
    ld.global.u64 %rd3, [%rd2];"""
    launch(body, np.zeros(64))


def test_a_function_hides_accesses() -> None:
    before = """.func f(.param .u64 a) {
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [a];
    ld.global.u64 %rd2, [%rd1];
    ret;
}
"""
    body = f"{FLOAT}\n{{ .param .u64 p; st.param.u64 [p], %rd0; call f, (p); }}\nret;"
    wl.launch(kernel(body, before=before), grid=1, block=32, args=[np.zeros(64)])


@pytest.mark.parametrize("count", [4, 100_000])
@pytest.mark.parametrize("size", [16, 1 << 22])
def test_a_host_pointer_in_a_buffer_is_named(size: int, count: int) -> None:
    target = np.zeros(size, np.uint8)
    table = np.full(count, target.ctypes.data, np.uint64)
    with pytest.raises(wl.Trap, match="out of bounds") as caught:
        wl.launch(kernel("ld.global.u64 %rd2, [%rd0];\nst.global.u8 [%rd2], %h1;\nret;"), grid=1, block=1, args=[table])
    assert caught.value.diagnostics[0].hint == (
        "the address seems to be a host pointer; pass the array itself, or a list of arrays for a table of device "
        "pointers"
    )


def test_a_host_pointer_as_a_number_is_named() -> None:
    target = np.zeros(32, np.uint32)
    with pytest.raises(wl.Trap) as caught:
        wl.launch(kernel("st.global.u32 [%rd0], 1;\nret;"), grid=1, block=1, args=[target.ctypes.data])
    assert "host pointer" in caught.value.diagnostics[0].hint


@pytest.mark.parametrize("offset", [128, 1 << 20, 1 << 32, -(1 << 20)])
def test_an_index_beyond_a_buffer_is_no_host_pointer(offset: int) -> None:
    with pytest.raises(wl.Trap) as caught:
        wl.launch(kernel(f"add.s64 %rd0, %rd0, {offset};\nst.global.u32 [%rd0], 1;\nret;"), grid=1, block=1,
                  args=[np.zeros(32, np.uint32)])  # fmt: skip
    assert caught.value.diagnostics[0].hint == ""


@pytest.mark.parametrize(
    ("target", "arch"),
    [
        ("sm_80", "sm_80"), ("sm_80", "sm_86"), ("sm_80", "sm_90"), ("sm_80", "sm_90a"), ("sm_80", "sm_120"),
        ("sm_90a", "sm_90a"), ("sm_100f", "sm_100a"), ("sm_100f", "sm_103f"), ("sm_120f", "sm_121a"),
    ],
)  # fmt: skip
def test_an_architecture_that_runs_the_modules_code(target: str, arch: str) -> None:
    text = kernel("ret;").replace("8.6", "9.0").replace("sm_90a", target)
    wl.launch(text, grid=1, block=1, args=[None], arch=arch)
