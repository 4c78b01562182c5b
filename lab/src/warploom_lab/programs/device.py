"""Device without a GPU for compiled CUDA programs.

The library `cuda_runtime.cpp` takes the place of the CUDA runtime and forwards memory, tensor maps and launches to a
`Device`. The program runs in this process. Its device addresses are addresses of the emulator's memory.
"""

from __future__ import annotations

import ctypes
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic
from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.arena import ALIGNMENT, GAP, Arena
from warploom.emulator.execute import initialise, reserve
from warploom.emulator.faults import Deadlock, Trap
from warploom.emulator.request import STEP_BUDGET, Request
from warploom.emulator.schedule import Schedule
from warploom.gpu.geometry import Geometry
from warploom.isa.model.parameters import Parameter, aligned
from warploom.isa.model.signature import Signature
from warploom.layout.tensormap import ELEMENT_TYPES, TensorMapFields, pad_to_five
from warploom.runtime import cpu
from warploom.runtime.kernel import LoadedKernel, load_kernel
from warploom.runtime.limits import architecture, check_architecture, read_geometry
from warploom.runtime.run import Run

Bytes = NDArray[np.uint8]

_FATBIN_MAGIC = 0xBA55ED50
_PTX_ENTRY = 1
_ADDRESS = ctypes.c_uint64
_LARGEST_MAP = 5  # dimensions
# Codes of element types in the CUDA driver, in the order of the driver's enumeration.
_DRIVER_TYPES = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz",
    "b4x16", "b4x16_p64", "b6x16_p32",
)  # fmt: skip
_SWIZZLE_128 = 3  # the driver's codes above 3 are a swizzle of 128 bytes with another atomicity


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding of the sanitizer, with the schedules under which it is reported."""

    diagnostic: Diagnostic
    schedules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Launch:
    """Launch of one kernel under one or more schedules.

    A trap or a deadlock under a later schedule than the first is a finding. `same` is True if all schedules that ended
    without one left the same bytes in memory.
    """

    kernel: str
    is_sanitized: bool
    instructions: int
    seconds: float
    findings: tuple[Finding, ...]
    same: bool


@dataclass(frozen=True, slots=True)
class _Allocation:
    start: int
    contents: Bytes

    @property
    def end(self) -> int:
        return self.start + len(self.contents)


class Device:
    """Device that runs the kernels of a compiled program on the emulator.

    Each kernel runs under all `schedules`, each time from the same memory. The results of the first schedule remain.
    The kernels whose names contain a word of `sanitized` run with the sanitizer. All other kernels run without the
    sanitizer, and only under the first schedule. `report` receives each launch, and each exception of a call into the
    device, because C++ cannot receive exceptions.
    """

    def __init__(
        self, schedules: Sequence[str], sanitized: Sequence[str], report: Callable[[Launch | Exception], None]
    ) -> None:
        self.schedules = tuple(schedules)
        self.sanitized = tuple(sanitized)
        self._report = report
        self._modules: list[str] = []
        self._allocations: list[_Allocation] = []
        self._end = GLOBAL_BASE + GAP
        self._kernels: dict[int, tuple[str, str]] = {}
        self._callbacks: Any = None

    def load(self, runtime: Path, program: Path) -> ctypes.CDLL:
        """Load a compiled program with the library `runtime` in place of the CUDA runtime."""
        library = ctypes.CDLL(str(runtime), mode=ctypes.RTLD_GLOBAL)
        functions: dict[str, tuple[Any, ...]] = {
            "allocate": (_ADDRESS, ctypes.c_size_t),
            "copy": (ctypes.c_int, _ADDRESS, _ADDRESS, ctypes.c_size_t),
            "fill": (ctypes.c_int, _ADDRESS, ctypes.c_int, ctypes.c_size_t),
            "encode": (
                ctypes.c_int, _ADDRESS, ctypes.c_int, ctypes.c_int, _ADDRESS, *(ctypes.c_void_p,) * 4,
                *(ctypes.c_int,) * 4,
            ),
            "add_module": (None, ctypes.c_void_p),
            "add_kernel": (None, ctypes.c_void_p, ctypes.c_char_p),
            "launch": (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p),
        }  # fmt: skip
        kinds = {name: ctypes.CFUNCTYPE(*kind) for name, kind in functions.items()}
        table = type("Callbacks", (ctypes.Structure,), {"_fields_": list(kinds.items())})
        self._callbacks = table(*(kind(self._guarded(getattr(self, f"_{name}"))) for name, kind in kinds.items()))
        library.install(ctypes.byref(self._callbacks))
        return ctypes.CDLL(str(program))

    def upload(self, array: NDArray[Any]) -> int:
        """Return the device address of a copy of an array."""
        address = self._allocate(array.nbytes)
        self._contents(address, array.nbytes)[:] = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        return address

    def download(self, address: int, like: NDArray[Any]) -> NDArray[Any]:
        """Return an array with the shape and type of `like` from the device memory at an address."""
        return self._contents(address, like.nbytes).view(like.dtype).reshape(like.shape).copy()

    def _contents(self, address: int, size: int) -> Bytes:
        """Return a view of device memory, or of host memory if no allocation has the address."""
        for each in self._allocations:
            if each.start <= address and address + size <= each.end:
                return each.contents[address - each.start : address - each.start + size]
        if GLOBAL_BASE <= address < self._end:
            raise ValueError(f"{size} bytes at {address:#x} are not within one allocation")
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

    def _guarded(self, function: Callable[..., int | None]) -> Callable[..., int | None]:
        """Return a callback that reports an exception and returns 0."""

        def call(*values: Any) -> int | None:
            try:
                return function(*values)
            except Exception as error:  # noqa: BLE001 -- C++ cannot receive an exception
                self._report(error)
                return 0

        return call

    # Callbacks of the library --------------------------------------------------------------------------------

    def _allocate(self, size: int) -> int:
        # `Arena.reserve` computes the same addresses in every launch.
        start, self._end = self._end, self._end + aligned(size, ALIGNMENT) + GAP
        self._allocations.append(_Allocation(start, np.zeros(size, np.uint8)))
        return start

    def _copy(self, to: int, source: int, size: int) -> int:
        if size:
            self._contents(to, size)[:] = self._contents(source, size)
        return 1

    def _fill(self, to: int, value: int, size: int) -> int:
        self._contents(to, size)[:] = value & 0xFF
        return 1

    def _encode(
        self, target: int, kind: int, rank: int, address: int, dims: int, strides: int, box: int, steps: int,
        interleave: int, swizzle: int, promotion: int, fill: int,
    ) -> int:  # fmt: skip
        names = [name for name, *_ in ELEMENT_TYPES]
        fields = TensorMapFields(
            global_address=address,
            rank=rank,
            global_dim=pad_to_five(_integers(dims, rank, 8)),
            global_stride=pad_to_five(_integers(strides, rank - 1, 8))[: _LARGEST_MAP - 1],
            box=pad_to_five(_integers(box, rank, 4)),
            element_stride=pad_to_five(_integers(steps, rank, 4)),
            elemtype=names.index(_DRIVER_TYPES[kind]),
            interleave=interleave,
            swizzle=min(swizzle, _SWIZZLE_128),
            swizzle_atomicity=max(swizzle - _SWIZZLE_128, 0),
            l2_promotion=promotion,
            fill=fill,
        )
        if broken := fields.validate():
            raise ValueError("; ".join(broken))
        ctypes.memmove(target, fields.pack(), len(fields.pack()))
        return 1

    def _add_module(self, image: int) -> None:
        self._modules.append(_ptx_of(image))

    def _add_kernel(self, function: int, name: bytes) -> None:
        self._kernels[function] = self._modules[-1], name.decode()

    def _launch(self, function: int, geometry: int, shared: int, arguments: int) -> int:
        text, name = self._kernels[function]
        loaded = load_kernel(text, name)
        extents: tuple[int, ...] = _integers(geometry, 9, 4)
        cluster = extents[6:] if extents[6] else None
        shape = read_geometry(loaded.signature, extents[:3], extents[3:6], cluster, shared)
        self._report(self._run(loaded, shape, _parameter_block(loaded.signature, arguments)))
        return 1

    # Launches ------------------------------------------------------------------------------------------------

    def _run(self, loaded: LoadedKernel, geometry: Geometry, parameters: bytes) -> Launch:
        prepared = self._prepare(loaded, geometry, parameters)
        name = loaded.signature.name
        is_sanitized = any(word in name for word in self.sanitized)
        findings: dict[object, Finding] = {}
        first: tuple[Run, bytes] | None = None
        same, start = True, time.perf_counter()
        for schedule in self.schedules if is_sanitized else self.schedules[:1]:
            fork = prepared.under(schedule).fork()
            try:
                done = cpu.run(fork, sanitize=is_sanitized)
            except (Trap, Deadlock) as error:
                if first is None:
                    raise  # the program has no results
                done = Run.before(error)
            for found in done.findings:
                cause = found.code, found.span, (found.data or {}).get("other line")
                known = findings.get(cause, Finding(found, ()))
                findings[cause] = Finding(known.diagnostic, (*known.schedules, schedule))
            if done.error is not None:
                continue
            buffers = [fork.arena.view(segment) for segment in fork.arena.segments[: fork.outputs]]
            contents = b"".join(buffer.tobytes() for buffer in buffers)
            if first is None:
                first = done, contents
                for allocation, buffer in zip(self._allocations, buffers, strict=True):
                    allocation.contents[:] = buffer
            same = same and contents == first[1]
        assert first is not None
        instructions = sum(first[0].stats.instructions.values())
        return Launch(name, is_sanitized, instructions, time.perf_counter() - start, tuple(findings.values()), same)

    def _prepare(self, loaded: LoadedKernel, geometry: Geometry, parameters: bytes) -> cpu.EmulatorLaunch:
        """Return a launch whose memory has all allocations of the program at their addresses."""
        program, arch = loaded.program, architecture(None, loaded.signature)
        check_architecture(geometry, arch, program.static_shared, program.dynamic_start)
        arena = Arena()
        for number, each in enumerate(self._allocations):
            segment = arena.reserve(f"allocation {number}", len(each.contents))
            assert segment.start == each.start
        outputs = len(arena.segments)
        segments = reserve(program, arena)
        arena.seal()
        for each, segment in zip(self._allocations, arena.segments, strict=False):
            arena.view(segment)[:] = each.contents
        initialise(program, arena, segments, parameters)
        request = Request(
            program, geometry.grid, geometry.block, geometry.cluster or (1, 1, 1), geometry.shared, parameters, arch,
            Schedule.parse(self.schedules[0]), geometry.cluster is not None, STEP_BUDGET,
        )  # fmt: skip
        return cpu.EmulatorLaunch(request, arena, segments, outputs)


def _integers(address: int, count: int, size: int) -> tuple[int, ...]:
    """Return `count` unsigned integers of `size` bytes from host memory."""
    data = ctypes.string_at(address, count * size) if count else b""
    return tuple(np.frombuffer(data, f"u{size}").tolist())


def _parameter_block(signature: Signature, arguments: int) -> bytes:
    """Return the parameter block of a launch.

    `arguments` is the address of a table of pointers to the arguments.
    """
    parameters: tuple[Parameter, ...] = signature.parameters
    block = bytearray(max((p.offset + p.size for p in parameters), default=1))
    pointers = _integers(arguments, len(parameters), 8)
    for parameter, pointer in zip(parameters, pointers, strict=True):
        block[parameter.offset : parameter.offset + parameter.size] = ctypes.string_at(pointer, parameter.size)
    return bytes(block)


def _ptx_of(image: int) -> str:
    """Return the PTX in a fat binary without compression, which begins at a host address."""
    magic, _, header, size = struct.unpack("<IHHQ", ctypes.string_at(image, 16))
    if magic != _FATBIN_MAGIC:
        raise ValueError("the program has no fat binary")
    data = ctypes.string_at(image + header, size)
    position = 0
    while position < len(data):
        kind, _, header, size = struct.unpack_from("<HHIQ", data, position)
        if kind == _PTX_ENTRY:
            return data[position + header : position + header + size].rstrip(b"\0").decode()
        position += header + size
    raise ValueError("the program has no PTX")
