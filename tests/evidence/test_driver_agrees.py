"""The driver library of `warploom exec` returns the statuses that NVIDIA's driver returned on an H100.

`evidence/driver/h100.json` is the record; `warploom-lab driver` makes it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from warploom.integrations.cuda_driver.statuses import Status
from warploom_lab.driver.case import CASES
from warploom_lab.driver.cases import AREAS, read_record

RECORD = Path(__file__).with_name("driver") / "h100.json"

UNIMPLEMENTED = frozenset({
    "cuCtxAttach", "cuCtxDetach", "cuCtxDisablePeerAccess", "cuCtxEnablePeerAccess", "cuCtxGetExecAffinity",
    "cuCtxRecordEvent", "cuDeviceGetLuid", "cuDeviceGetProperties", "cuFuncSetBlockShape", "cuFuncSetSharedSize",
    "cuGraphDebugDotPrint", "cuIpcGetMemHandle", "cuLaunch",
    "cuLaunchCooperativeKernelMultiDevice", "cuLaunchGrid", "cuLibraryGetManaged", "cuLibraryGetUnifiedFunction",
    "cuMemAddressReserve", "cuMemGetAllocationGranularity", "cuMemRelease", "cuMemcpy3DPeer", "cuMemcpyBatchAsync_v2",
    "cuParamSetSize", "cuStreamBatchMemOp_v2", "cuStreamCopyAttributes", "cuStreamGetAttribute",
    "cuStreamSetAttribute", "cuStreamWaitValue32_v2", "cuStreamWriteValue32_v2", "cuStreamWriteValue64_v2",
    "cuUserObjectCreate",
})  # fmt: skip
"""Functions that return NOT_SUPPORTED, because they are not implemented."""

LATE = "the PTX of a kernel is read when the program first needs the kernel, so that large modules load fast"
VERSION = "PTX of a newer version runs, as far as the emulator knows its instructions"
ENDED = "the driver ends the program; the emulator returns a status"
RANDOM = "the record has the distance from an address that the operating system chose"
DIFFERENT = {
    "calls.error_texts": ENDED,
    "calls.name_zero_length": ENDED,
    "calls.search_null": ENDED,
    "calls.search_unknown_names": ENDED,
    "capture.mode_null": ENDED,
    "contexts.destroy_twice": "the driver returns INVALID_CONTEXT in one run and CONTEXT_IS_DESTROYED in another; the "
    "emulator always returns INVALID_CONTEXT",
    "contexts.destroyed_context_is_pushed": ENDED,
    "copies.box_peer_null": ENDED,
    "graphs.child_graphs": ENDED,
    "launches.bounds_of_the_kernel": "the driver also accepts one thread for a kernel with .reqntid; the emulator "
    "returns INVALID_VALUE",
    "launches.large_parameters": LATE,
    "libraries.images": ENDED,
    "libraries.kernel_of_unloaded_library": ENDED,
    "libraries.unload_twice": ENDED,
    "memory.fill_beyond_the_end": "the driver accepts a fill of any memory, and the context fails later; the emulator "
    "returns INVALID_VALUE",
    "memory.free_async_of_plain_memory": "the driver accepts that memory is freed again; the emulator returns "
    "INVALID_VALUE",
    "modules.attributes": "the driver counts the constants of the whole module for each kernel; the emulator counts "
    "those that the kernel uses",
    "modules.load_32_bits": LATE,
    "modules.load_duplicate_names": LATE,
    "modules.load_future_version": VERSION,
    "modules.load_missing_semicolon": LATE,
    "modules.load_truncated": LATE,
    "modules.load_undefined_extern": LATE,
    "modules.load_unknown_instruction": LATE,
    "modules.load_unknown_register": LATE,
    "modules.load_wrong_type": LATE,
    "modules.load_wrong_version": VERSION,
    "modules.log_of_the_compiler": "there is no compiler whose messages a program could ask for; the emulator accepts "
    "all options",
    "modules.mode_null": ENDED,
    "modules.set_attributes": ENDED,
    "occupancy.available_shared": ENDED,
    "pointers.of_freed_memory": RANDOM,
    "pointers.of_pageable_memory": RANDOM,
    "pointers.of_registered_memory": "kernels cannot access registered memory of the program; the emulator has no "
    "attributes of it",
    "streams.attribute_null": ENDED,
    "streams.destroy_twice": ENDED,
    "streams.destroyed_stream": ENDED,
    "streams.values_in_memory": "operations of streams on values in memory are not implemented",
    "tensor_maps.im2col_lower_null": ENDED,
    "tensor_maps.im2col_upper_null": ENDED,
    "tensor_maps.null_map": ENDED,
}
"""Cases in which the emulator answers otherwise, with the reason."""


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    return read_record(RECORD)["cases"]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("driver") / "emulator.json"
    command = [sys.executable, "-m", "warploom_lab.driver.cases", "--record", str(path)]
    done = subprocess.run(
        [sys.executable, "-m", "warploom", "exec", "--", *command], capture_output=True, text=True, check=False
    )
    assert path.exists(), done.stderr
    return read_record(path)["cases"]


def differing(ours: list[list[Any]], theirs: list[list[Any]]) -> Iterator[str]:
    """Yield the answers of a case that differ, except those of functions that are not implemented."""
    if [each[0] for each in ours] != [each[0] for each in theirs]:
        yield f"{ours}, expected {theirs}"
        return
    for i, ((name, answer), (_, expected)) in enumerate(zip(ours, theirs, strict=True)):
        if answer != expected and not (name in UNIMPLEMENTED and answer == Status.NOT_SUPPORTED):
            yield f"{name} (answer {i}): {answer}, expected {expected}"


def test_the_record_has_all_cases(recorded: dict[str, Any]) -> None:
    assert len(recorded) >= 200
    assert recorded.keys() == CASES.keys()


@pytest.mark.parametrize("area", AREAS)
def test_the_emulator_returns_the_statuses_of_the_driver(
    area: str, recorded: dict[str, Any], found: dict[str, Any]
) -> None:
    names = [name for name in recorded if name.startswith(f"{area}.") and name not in DIFFERENT]
    assert {name: texts for name in names if (texts := [*differing(found[name], recorded[name])])} == {}


def test_every_listed_difference_is_one(recorded: dict[str, Any], found: dict[str, Any]) -> None:
    assert [name for name in DIFFERENT if not [*differing(found[name], recorded[name])]] == []
