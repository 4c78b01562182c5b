"""`replay`: execute a captured launch again, and compare the results with those of the GPU."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Source, UsageError
from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.arena import GAP
from warploom.emulator.heap import HEAP_BYTES
from warploom.layout.tensormap import TENSOR_MAP_BYTES, TensorMapFields
from warploom.lazy_dataclass import dataclass
from warploom.runtime.api import write_output
from warploom.runtime.captures.capture_file import MEMORY_LIMIT, Allocation, CapturedLaunch, read_capture
from warploom.runtime.captures.order import OrderRecorder, Writer
from warploom.runtime.captures.relocation import Relocation, alignment_of, differing_bytes, maps_of
from warploom.runtime.kernel import load_kernel
from warploom.runtime.limits import read_geometry
from warploom.runtime.options import check_device, check_memory, check_switches
from warploom.runtime.run import Run
from warploom.runtime.sessions.device_memory import DeviceMemory
from warploom.runtime.sessions.modules import SessionModule

if TYPE_CHECKING:
    from warploom.emulator.stats import Progress
    from warploom.gpu.device import Gpu, Kernel
    from warploom.runtime.sessions.modules import SessionKernel

_SHOWN = 4  # elements of a difference
_ELEMENT = 4  # bytes
_MARGIN = 1 << 20  # bytes of the emulator's memory for parameters, variables and the gaps between them
Bytes = NDArray[np.uint8]
Encoder = Callable[[TensorMapFields], bytes]


class WrongElement(NamedTuple):
    """Element of an allocation with a wrong result, as hexadecimal digits. Units: `offset` in bytes."""

    offset: int
    found: str
    expected: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Differences between the results of a replay and the recorded results in one allocation.

    `count` is the number of differing bytes, and `first` has the first differing elements of 4 bytes. `writers` are the
    instructions that wrote the differing bytes, if the emulator executed the launch. `note` is a remark about atomics
    that may have selected the values or the addresses of these writes, or "".
    """

    name: str
    size: int
    count: int
    first: tuple[WrongElement, ...]
    writers: tuple[Writer, ...] = ()
    note: str = ""

    @property
    def depends_on_order(self) -> bool:
        """True if only atomics whose results depend on their order wrote the differing bytes."""
        return bool(self.writers) and all(each.depends_on_order for each in self.writers)

    def __str__(self) -> str:
        elements = "; ".join(f"+{each.offset:#x}: {each.found}, expected {each.expected}" for each in self.first)
        lines = [f"{self.name} ({self.size:,} bytes): {self.count:,} bytes differ; {elements}"]
        lines += [f"  written by {each}" for each in self.writers]
        lines += [f"  {self.note}"] if self.note else []
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Replay(Run):
    """Result of `replay`: a Run with a comparison.

    `differences` has one entry for each allocation whose contents differ from the recorded result. `status` is the
    status code with which the kernel failed when it was captured, or 0. The results of a failed launch are unknown, so
    there is nothing to compare.
    """

    differences: tuple[Difference, ...] = ()
    compared: int = 0
    status: int = 0

    @property
    def equal(self) -> bool:
        """True if all results have the recorded bits."""
        return not self.differences and not self.status and self.error is None

    @property
    def depends_on_order(self) -> bool:
        """True if results differ only where order-dependent atomics wrote them.

        Such results may also differ between two launches on a GPU.
        """
        return bool(self.differences) and all(each.depends_on_order for each in self.differences)

    @property
    def sentence(self) -> str:
        """Result of the comparison as a sentence."""
        if self.status:
            return f"the kernel failed on the GPU with status {self.status}, so there are no results to compare"
        if self.error is not None:
            return "the kernel failed, so there are no results to compare"
        if not self.differences:
            return f"equal: all {self.compared:,} bytes have the recorded values"
        count = sum(each.count for each in self.differences)
        why = ", all written by atomics whose results depend on their order" if self.depends_on_order else ""
        return f"different: {count:,} of {self.compared:,} bytes{why}"


def replay(
    file: str | Path | CapturedLaunch,
    *,
    device: Literal["cpu", "cuda"] = "cpu",
    arch: str | None = None,
    schedule: str = "eager",
    sanitize: bool = False,
    raises: bool = True,
    trace: bool | Sequence[int] = False,
    trace_events: int | None = None,
    profile: bool = False,
    memory: int = MEMORY_LIMIT,
    progress: Callable[[Progress], None] | None = None,
    output: Callable[[str], object] | None = None,
) -> Replay:
    """Execute a launch that `warploom capture` recorded, and compare the results bit for bit.

    `file` is the path of a file, or a CapturedLaunch. `wl.launch` describes the other options. The default of `arch` is
    the architecture of the GPU of the capture.

    Units: `memory` is the limit for the contents of the file in bytes.
    Errors: UsageError capture.file, and the errors of `wl.launch`.
    """
    check_device(device)
    check_switches({"sanitize": sanitize, "raises": raises, "profile": profile})
    check_memory(memory, 1)
    if not isinstance(file, (str, Path, CapturedLaunch)):
        raise UsageError(f"file is {file!r}; expected the path of a captured launch", code="capture.file")
    launch = file if isinstance(file, CapturedLaunch) else read_capture(file, memory)
    if device == "cuda":
        options = {
            "arch": arch is not None, "schedule": schedule != "eager", "sanitize": sanitize, "profile": profile,
            "trace": trace is not False, "trace_events": trace_events is not None,
        }  # fmt: skip
        for option in [each for each, is_set in options.items() if is_set]:
            raise UsageError(f"device='cuda' does not support {option}; expected device='cpu'", code="launch.device")
        return _on_gpu(launch)
    placed = _Emulated(launch, arch, schedule)
    try:
        done = placed.run(
            sanitize=sanitize, trace=trace, trace_events=trace_events, profile=profile, progress=progress,
            output=output or write_output,
        )  # fmt: skip
    except Exception as error:
        from warploom.emulator.faults import Deadlock, Trap

        if raises or not isinstance(error, Deadlock | Trap):
            raise
        done = Run.before(error)
    wrong = {} if launch.status or done.error is not None else placed.wrong()
    recorder = _recorded(launch, arch, schedule, wrong) if wrong else None
    return _replay(launch, done, placed.contents, wrong, recorder, placed.starts)


def _replay(
    launch: CapturedLaunch, done: Run, contents: Callable[[int], Bytes], wrong: dict[int, NDArray[np.bool_]],
    recorder: OrderRecorder | None, starts: Sequence[int],
) -> Replay:  # fmt: skip
    """Return a run with its differences. `recorder` has the writers of the wrong bytes, if they are known."""
    found: list[Difference] = []
    for number, mask in wrong.items():
        writers = () if recorder is None else recorder.writers(starts[number] - GLOBAL_BASE)
        note = ""
        if recorder is not None and not all(each.depends_on_order for each in writers):
            returning = recorder.returning()
            note = (
                f"the atomics in {returning} return values that depend on the order of the threads" if returning else ""
            )
        found.append(_difference(launch.allocations, number, contents(number), mask, writers, note))
    return Replay(
        done.findings, done.stats, done.trace, done.profile, done.distribution, done.output, done.error, done.replay,
        tuple(found), 0 if launch.status else sum(each.size for each in launch.allocations), launch.status,
    )  # fmt: skip


def name_of(allocations: Sequence[Allocation], number: int) -> str:
    """Return the name of an allocation of a captured launch, for messages."""
    each = allocations[number]
    return f"the variable {each.variable}" if each.variable else f"allocation {number + 1}"


def _difference(
    allocations: Sequence[Allocation], number: int, found: Bytes, wrong: NDArray[np.bool_], writers: tuple[Writer, ...],
    note: str,
) -> Difference:  # fmt: skip
    offsets = np.unique(np.flatnonzero(wrong) // _ELEMENT * _ELEMENT)[:_SHOWN]
    after = allocations[number].after

    def digits(data: Bytes, offset: int) -> str:
        return data[offset : offset + _ELEMENT][::-1].tobytes().hex()  # as a little-endian number

    first = tuple(
        WrongElement(offset, digits(found, offset), digits(after, offset)) for offset in map(int, offsets.tolist())
    )
    count = int(np.count_nonzero(wrong))
    return Difference(name_of(allocations, number), allocations[number].size, count, first, writers, note)


class _Emulated:
    """Captured launch in the memory of the emulator."""

    def __init__(self, launch: CapturedLaunch, arch: str | None, schedule: str) -> None:
        self.launch = launch
        self._arch, self._schedule = arch or launch.arch or None, schedule
        total = sum(each.size + alignment_of(each.address) + GAP for each in launch.allocations)
        size = -(-(total + HEAP_BYTES + 8 * GAP + _MARGIN + 2 * len(launch.ptx)) // GAP) * GAP
        contents = np.zeros(size, np.uint8)

        def clear(first: int, count: int) -> None:
            contents[first : first + count] = 0

        self.memory = DeviceMemory(contents, clear)
        module = SessionModule(self.memory, launch.ptx)
        self.kernel: SessionKernel = module.kernel(launch.kernel)
        module.addresses(self.kernel.loaded.program)
        self.starts = [self._place(module, number) for number in range(len(launch.allocations))]
        self.relocation = _relocation(launch, self.starts)
        for number, (start, each) in enumerate(zip(self.starts, launch.allocations, strict=True)):
            data = _placed(launch, number, each.before, self.relocation, TensorMapFields.pack)
            self.memory.view(start, each.size)[:] = data

    def _place(self, module: SessionModule, number: int) -> int:
        """Return the address of an allocation in the emulator's memory."""
        each = self.launch.allocations[number]
        if each.variable:
            segment = module.variable(each.variable)
            if segment is None or segment.size != each.size:
                raise UsageError(
                    f"the module has no variable {each.variable} of {each.size} bytes; the capture has contents for it",
                    code="capture.file",
                )
            return segment.start
        name = name_of(self.launch.allocations, number)
        return self.memory.allocate(name, each.size, alignment=alignment_of(each.address)).start

    def run(self, **options: Any) -> Run:
        """Execute the launch. `options` are keyword arguments of `cpu.run`."""
        launch, geometry = self.launch, self.launch.geometry
        checked = read_geometry(
            self.kernel.loaded.signature, geometry.grid, geometry.block, geometry.cluster, geometry.shared
        )
        if geometry.cooperative:
            from dataclasses import replace

            checked = replace(checked, cooperative=True)
        block = np.frombuffer(launch.parameters, np.uint8)
        parameters = _placed(launch, -1, block, self.relocation, TensorMapFields.pack).tobytes()
        return self.kernel.launch(checked, parameters, arch=self._arch, schedule=self._schedule, **options)

    def contents(self, number: int) -> Bytes:
        """Return the contents of an allocation."""
        return self.memory.view(self.starts[number], self.launch.allocations[number].size)

    def wrong(self) -> dict[int, NDArray[np.bool_]]:
        """Return masks of the wrong bytes by the number of the allocation."""
        return _wrong(self.launch, self.relocation, self.contents)


def _relocation(launch: CapturedLaunch, starts: Sequence[int]) -> Relocation:
    return Relocation([a.address for a in launch.allocations], [a.size for a in launch.allocations], starts)


def _placed(launch: CapturedLaunch, number: int, data: Bytes, relocation: Relocation, encode: Encoder) -> Bytes:
    """Return the contents of an allocation with relocated addresses and tensor maps.

    The allocation -1 stands for the parameters.
    """
    maps = maps_of(launch, number)
    result = relocation.contents(data, maps)
    for offset, fields in maps.items():
        encoded = encode(relocation.tensor_map(fields))
        result[offset : offset + TENSOR_MAP_BYTES] = np.frombuffer(encoded, np.uint8)
    return result


def _wrong(
    launch: CapturedLaunch, relocation: Relocation, contents: Callable[[int], Bytes]
) -> dict[int, NDArray[np.bool_]]:
    undo, found = relocation.inverse(), dict[int, NDArray[np.bool_]]()
    for number, each in enumerate(launch.allocations):
        mask = differing_bytes(contents(number), each, undo, maps_of(launch, number))
        if mask.any():
            found[number] = mask
    return found


def _recorded(
    launch: CapturedLaunch, arch: str | None, schedule: str, wrong: dict[int, NDArray[np.bool_]]
) -> OrderRecorder:  # fmt: skip
    """Return a recorder of the writers of the wrong bytes, after a second run."""
    again = _Emulated(launch, arch, schedule)
    recorder = OrderRecorder({again.starts[number] - GLOBAL_BASE: mask for number, mask in wrong.items()})
    again.run(observer=recorder)
    return recorder


def _on_gpu(launch: CapturedLaunch) -> Replay:
    """Replay a launch on GPU 0. Errors: UsageError gpu.*, DeviceFault gpu.fault."""
    from warploom.gpu.device import Gpu
    from warploom.gpu.tensormap import encode_tensor_map

    signature = load_kernel(launch.ptx, launch.kernel).signature
    with Gpu() as gpu:
        kernel = gpu.kernel(Source("<ptx>", launch.ptx), signature.name, parameters=signature.parameters)
        starts = [_place_on_gpu(gpu, kernel, each) for each in launch.allocations]
        relocation = _relocation(launch, starts)
        for number, (start, each) in enumerate(zip(starts, launch.allocations, strict=True)):
            gpu.upload(start, _placed(launch, number, each.before, relocation, encode_tensor_map))
        block = _placed(launch, -1, np.frombuffer(launch.parameters, np.uint8), relocation, encode_tensor_map)
        values = [block[each.offset : each.offset + each.size].tobytes() for each in signature.parameters]
        gpu.start(kernel, launch.geometry, values)
        gpu.wait(signature.entry.readable_name)
        results = [np.empty(each.size, np.uint8) for each in launch.allocations]
        for start, contents in zip(starts, results, strict=True):
            gpu.download(start, contents)
    wrong = {} if launch.status else _wrong(launch, relocation, results.__getitem__)
    return _replay(launch, Run(kernel.findings), results.__getitem__, wrong, None, starts)


def _place_on_gpu(gpu: Gpu, kernel: Kernel, allocation: Allocation) -> int:
    """Return the address of an allocation: a variable of the kernel's module, or new memory."""
    if allocation.variable:
        return gpu.variable(kernel, allocation.variable, allocation.size)
    alignment = alignment_of(allocation.address)
    return -(-gpu.allocate(allocation.size + alignment) // alignment) * alignment
