"""NVIDIA's Python packages as far as a launch uses them, over host memory: no kernel runs."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from enum import IntEnum
from types import SimpleNamespace
from typing import Any, ClassVar


class Status(IntEnum):
    """Results of driver calls."""

    SUCCESS = 0
    ILLEGAL_ADDRESS = 700
    INVALID_VALUE = 1


class DriverError(Exception):
    """What NVIDIA's packages raise for themselves."""


class Tensor:
    """An array of another library, in the memory of the fake GPU of a number, or read-only, or in the host's."""

    def __init__(self, array: Any, device: int = 0, read_only: bool = False, on_host: bool = False) -> None:
        self.array, self.device, self.read_only, self.on_host = array, device, read_only, on_host

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self.on_host else (2, self.device)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return self.array.strides

    @property
    def dtype(self) -> Any:
        return self.array.dtype


class View:
    """cuda-core's view of an array."""

    seen: ClassVar[list[int]] = []  # the streams that views were taken for

    def __init__(self, array: Tensor) -> None:
        self.ptr = array.array.__array_interface__["data"][0]
        self.device_id, self.readonly = array.device, array.read_only
        self.is_device_accessible = not array.on_host

    @classmethod
    def from_any_interface(cls, array: Tensor, stream: int) -> View:
        cls.seen.append(stream)
        return cls(array)


@dataclass
class Fake:
    """A GPU that writes down what is asked of it. `fails` names the driver's calls that fail, `log` what the
    assembler complains of, `remarks` what it says of what it takes, `kernel` the function that plays the kernel:
    it gets the parameters, of these `sizes`. `entries` is the cache on disk, which `is_writable` or not; `recording`
    are streams that are recorded.
    """

    fails: dict[str, Status] = field(default_factory=dict[str, Status])
    log: str = ""
    remarks: str = ""
    no_driver: bool = False
    version: int = 13000
    core: str = "1.2.2"
    context: int = 0
    kernel: Any = None
    sizes: tuple[int, ...] = (8, 4)
    calls: list[str] = field(default_factory=list[str])
    launched: list[Any] = field(default_factory=list[Any])
    memory: dict[int, Any] = field(default_factory=dict[int, Any])
    entries: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    is_writable: bool = True
    clock: float = 0.0
    capability: tuple[int, int] = (9, 0)
    recording: set[int] = field(default_factory=set[int])

    @property
    def arch(self) -> str:
        """What it is assembled for."""
        major, minor = self.capability
        return f"sm_{major}{minor}{'a' if major >= 9 else ''}"

    def modules(self) -> dict[str, Any]:
        """What `import_module` is to find."""
        return {
            "cuda.core": self._core(),
            "cuda.core.utils": self._utils(),
            "cuda.bindings.driver": self._driver(),
            "cuda.bindings.nvml": SimpleNamespace(FieldId=SimpleNamespace(DEV_POWER_INSTANT=186)),
            "cuda.pathfinder": SimpleNamespace(find_nvidia_binary_utility=lambda name: None),
        }

    def _core(self) -> Any:
        fake = self

        class Buffer:
            def __init__(self, size: int) -> None:
                held = ctypes.create_string_buffer(size)
                self.handle = ctypes.addressof(held)
                fake.memory[self.handle] = held

            def close(self, _: Any) -> None:
                fake.memory.pop(self.handle)

        class Graph:
            def __init__(self, stream: Stream) -> None:
                self.stream, self.first = stream, len(fake.calls)

            def begin_building(self, mode: str) -> None:
                assert mode == "relaxed"
                if "record" in fake.fails:
                    raise DriverError("an operation that a graph cannot hold. See the manual.")

            def end_building(self) -> Graph:
                return self

            def close(self) -> None:
                fake.calls.append("recording given up")

            def complete(self) -> Graph:
                return self

            def launch(self, stream: Stream) -> None:
                assert stream is self.stream
                fake.calls.append("replay")
                fake.clock += 1

        class Stream:
            def __init__(self, handle: int) -> None:
                self.handle = handle

            def __cuda_stream__(self) -> tuple[int, int]:
                return 0, self.handle

            def close(self) -> None:
                fake.calls.append("stream closed")

            def create_graph_builder(self) -> Graph:
                return Graph(self)

            def record(self, options: Any) -> Any:
                assert options.timing_enabled
                return fake.clock

            @classmethod
            def from_handle(cls, handle: int) -> Stream:
                return cls(handle)

        class Device:
            device_id, name, compute_capability = 0, "a fake", fake.capability
            properties = SimpleNamespace(multiprocessor_count=4)
            default_stream = Stream(7)
            memory_resource = SimpleNamespace(allocate=lambda size, stream: Buffer(size))

            def __init__(self, _: int) -> None:
                if fake.no_driver:
                    raise DriverError("no driver is installed. Install one.")

            def set_current(self) -> None: ...

            def create_stream(self) -> Stream:
                return Stream(21)

            def to_system_device(self) -> Any:
                def clock(kind: str) -> Any:
                    return SimpleNamespace(get_current_mhz=lambda: {"sm": 1755, "memory": 3201}[kind])

                def sensor() -> int:
                    raise DriverError("not supported")

                return SimpleNamespace(
                    get_clock=clock,
                    get_field_values=lambda fields: [SimpleNamespace(value=512_300)],
                    temperature=SimpleNamespace(get_sensor=sensor),
                )

        class Kernel:
            def __init__(self, handle: int) -> None:
                self.handle = handle
                self.attributes = SimpleNamespace(num_regs=40, local_size_bytes=0, shared_size_bytes=1024)

            from_handle = classmethod(lambda cls, handle: cls(handle))

        return SimpleNamespace(
            __version__=self.core,
            Device=Device,
            EventOptions=lambda timing_enabled: SimpleNamespace(timing_enabled=timing_enabled),
            Kernel=Kernel,
            Stream=Stream,
        )

    def _utils(self) -> Any:
        fake = self

        class Entries(dict[bytes, bytes]):
            def __setitem__(self, key: bytes, value: bytes) -> None:
                if not fake.is_writable:
                    raise PermissionError("the folder may not be written")
                fake.entries[key] = value

            def get(self, key: bytes, default: Any = None) -> Any:
                return fake.entries.get(key, default)

        return SimpleNamespace(FileStreamProgramCache=lambda path, max_size_bytes: Entries(), StridedMemoryView=View)

    def _driver(self) -> Any:
        def status(call: str) -> tuple[Status]:
            self.calls.append(call)
            return (self.fails.get(call, Status.SUCCESS),)

        def copy(call: str, target: int, source: int, size: int) -> tuple[Status]:
            ctypes.memmove(target, source, size)
            return status(call)

        def launch(config: Any, function: int, parameters: int, extra: int) -> tuple[Status]:
            assert extra == 0
            places = (ctypes.c_void_p * len(self.sizes)).from_address(parameters)
            self.launched.append(config)
            if self.kernel is not None:
                found = (ctypes.string_at(place, size) for place, size in zip(places, self.sizes, strict=True))
                self.kernel(b"".join(found))
            return status("launch")

        def load(code: bytes, options: list[str], values: list[Any], *_: Any) -> tuple[Status, Any]:
            self.calls.append("assemble" if options else "load code")
            given = dict(zip(options, values, strict=True))
            for name, text in (("CU_JIT_INFO_LOG_BUFFER", self.remarks), ("CU_JIT_ERROR_LOG_BUFFER", self.log)):
                if name in given:
                    given[name][: len(text)] = text.encode()
            return self.fails.get("load", Status.SUCCESS), SimpleNamespace(code=code)

        def module(library: Any) -> tuple[Status, int]:
            return Status.INVALID_VALUE if self.log else Status.SUCCESS, 1

        def encode(**fields: Any) -> tuple[Status, Any]:
            held = ctypes.create_string_buffer(fields["globalAddress"].to_bytes(8, "little"), 128)
            return (*status("encode"), SimpleNamespace(getPtr=lambda: ctypes.addressof(held), held=held))

        def move(encoded: Any, address: int) -> tuple[Status]:
            ctypes.memmove(encoded.held, address.to_bytes(8, "little"), 8)
            return status("move")

        class Named:
            """An enumeration whose members are their names."""

            def __getattr__(self, name: str) -> str:
                return name

            def __call__(self, value: int) -> int:
                return value

        attributes = SimpleNamespace(
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="shared",
            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED="cluster",
        )
        kinds = SimpleNamespace(
            CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION="cluster",
            CU_LAUNCH_ATTRIBUTE_COOPERATIVE="cooperative",
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION="programmatic",
        )
        return SimpleNamespace(
            CUlaunchConfig=SimpleNamespace,
            CUlaunchAttribute=lambda: SimpleNamespace(value=SimpleNamespace(clusterDim=SimpleNamespace())),
            CUlaunchAttributeID=kinds,
            CUfunction_attribute=attributes,
            CUtensorMapDataType=Named(),
            CUtensorMapInterleave=Named(),
            CUtensorMapSwizzle=Named(),
            CUtensorMapL2promotion=Named(),
            CUtensorMapFloatOOBfill=Named(),
            CUjit_option=Named(),
            cuLibraryLoadData=load,
            cuLibraryGetModule=module,
            cuLibraryGetKernel=lambda library, name: (*status("kernel"), len(name)),
            cuuint32_t=int,
            cuuint64_t=int,
            CUstream=int,
            CUkernel=int,
            CUfunction=int,
            CUdevice=int,
            cuMemcpyHtoDAsync=lambda target, source, size, stream: copy("upload", target, source, size),
            cuMemcpyDtoHAsync=lambda target, source, size, stream: copy("download", target, source, size),
            cuCtxGetCurrent=lambda: (Status.SUCCESS, self.context),
            cuCtxSetCurrent=lambda context: status(f"context {context}"),
            cuKernelSetAttribute=lambda attribute, value, kernel, device: status(f"{attribute} {value}"),
            cuLaunchKernelEx=launch,
            cuStreamSynchronize=lambda stream: status("synchronize"),
            cuStreamIsCapturing=lambda stream: (*status("recording"), int(stream) in self.recording),
            cuDriverGetVersion=lambda: (Status.SUCCESS, self.version),
            cuGetErrorString=lambda status: (Status.SUCCESS, status.name.lower().replace("_", " ").encode()),
            cuTensorMapEncodeTiled=encode,
            cuTensorMapReplaceAddress=move,
        )
