"""Choice of PTX from the device code of a program, and the refusal of GPU code."""

from __future__ import annotations

import ctypes
import mmap
import struct
from pathlib import Path

import pytest
from integrations.cuda_driver.driver import Driver

from warploom.integrations.cuda_driver.devices import DEVICES, read_device
from warploom.integrations.cuda_driver.statuses import Status

POINTER = ctypes.c_void_p


def elf(names: bytes) -> bytes:
    """Return GPU code without content, with sections of the given names."""
    table = b"\0" + names + b"\0"
    starts = [0, *(i + 1 for i in range(len(table) - 1) if table[i] == 0)]
    sections = b"".join(struct.pack("<IIQQQQ24x", start, 1, 0, 0, 64, len(table)) for start in starts)
    places = 64 + len(table), 0, 64, 0, 0, 64, len(starts), 0
    header = struct.pack("<4s14xHIQQQIHHHHHH", b"\x7fELF", 190, 1, 0, 0, *places)
    return header + table + sections


def test_gpu_code_is_refused_with_its_kernels_and_advice(driver: Driver) -> None:
    image = elf(b".shstrtab\0.text._Z4copyPf\0.nv.info\0.text.scale")
    assert driver.cuModuleLoadData(ctypes.byref(POINTER()), image) is Status.NO_BINARY_FOR_GPU
    (found,) = driver.seen.diagnostics
    assert found.message.startswith("a module in memory has GPU code (SASS) of copy, scale and no PTX")
    assert "code=compute_90a" in (found.hint or "")


def test_gpu_code_of_a_file_is_refused_with_the_file(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "code.cubin"
    path.write_bytes(elf(b".text.a\0.text.b\0.text.c\0.text.d"))
    assert driver.cuModuleLoad(ctypes.byref(POINTER()), str(path).encode()) is Status.NO_BINARY_FOR_GPU
    (found,) = driver.seen.diagnostics
    assert found.message.startswith(f"{path} has GPU code (SASS) of a, b, c, … and no PTX")
    assert f"build {path} with PTX" in (found.hint or "")


def test_gpu_code_in_a_mapped_file_is_refused_with_the_file(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "library.so"
    entry = struct.pack("<HHIIIIIIIIIQQQ", 2, 0, 64, 8, 0, 0, 0, 0, 80, 0, 0, 0, 0, 0)
    path.write_bytes(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry) + 8) + entry + bytes(8))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        image = (ctypes.c_char * len(mapped)).from_buffer(mapped)
        assert driver.cuModuleLoadData(ctypes.byref(POINTER()), image) is Status.NO_BINARY_FOR_GPU
        del image
    (found,) = driver.seen.diagnostics
    assert found.message.startswith(f"{path} has GPU code (SASS) for sm_80 and no PTX")


@pytest.mark.parametrize("name", DEVICES)
def test_each_device_has_a_target_for_ptx(name: str) -> None:
    model = read_device(name)
    assert model.target.number == 10 * model.capability[0] + model.capability[1]
    assert model.target.suffix == ("a" if model.capability >= (9, 0) else "")
