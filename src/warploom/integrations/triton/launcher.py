"""Launcher that runs kernels on the emulator after Triton has compiled them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from math import prod
from typing import Any, cast

import ml_dtypes
import numpy as np

from warploom.check import check
from warploom.diagnostics import Diagnostic, Severity, UsageError, WarploomError
from warploom.emulator.faults import RunError
from warploom.emulator.program import Program
from warploom.integrations.triton.session import FindingsError, LaunchRecord, Session, import_triton
from warploom.integrations.triton.tensors import Array, memory
from warploom.layout import TensorMap
from warploom.layout.tensormap import ELEMENT_TYPES, FILLS, TensorMapFields, pad_to_five
from warploom.runtime import api

_HALVES = {"fp16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
_PARAMETER = re.compile(r"\b\w+_param_(\d+)\b")
_SCRATCH = ("Triton's global scratch", "Triton's profile scratch")


@dataclass(frozen=True)
class CompiledKernel:
    """Kernel that Triton has compiled and the emulator has loaded."""

    ptx: str
    program: Program

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Diagnostics of `warploom.check` for the PTX."""
        return check(self.program.module).diagnostics


class Launcher:
    """Launcher of one compiled kernel. Triton calls the launcher for each launch."""

    def __init__(self, session: Session, source: Any, metadata: Any) -> None:
        self._session = session
        self._metadata = metadata
        self._signature: dict[str, Any] = dict(source.signature)
        self._tensor_maps: Sequence[dict[str, Any] | None] = getattr(metadata, "tensordesc_meta", None) or ()
        clusters = getattr(metadata, "cluster_dims", None)  # of Triton before 3.6
        self._cluster = int(prod(clusters) if clusters else metadata.num_ctas)

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: object,
        kernel: CompiledKernel,
        packed: object,
        launch_metadata: object,
        enter: Any,
        leave: Any,
        *values: object,
    ) -> None:
        """Launch a grid of x by y by z programs. Triton prescribes the parameters.

        The hooks `enter` and `leave` are called with `launch_metadata` before and after the launch. `values` are the
        arguments of the kernel, including constants.
        """
        if x * y * z <= 0:
            return
        if enter is not None:
            enter(launch_metadata)
        named = list(self._arguments(values))
        names = [name for name, _ in named] + list(_SCRATCH)
        args = [value for _, value in named] + self._scratch_buffers(x * y * z, stream)
        parameters = kernel.program.parameters
        args = args[: max(len(named), len(parameters))]
        for number, (parameter, value) in enumerate(zip(parameters, args, strict=False)):
            if parameter.is_array and isinstance(value, np.generic):
                args[number] = value.tobytes()  # LLVM declares a half as an array of two bytes
        self._launch(kernel, (x * self._cluster, y, z), args, names)
        if leave is not None:
            leave(launch_metadata)

    def _launch(self, kernel: CompiledKernel, grid: tuple[int, int, int], args: list[object], names: list[str]) -> None:
        session = self._session
        block, shared = 32 * self._metadata.num_warps, self._metadata.shared
        launch = (kernel.program.kernel.name, grid, block, self._cluster, shared, session.schedule, kernel.ptx)
        checked = with_argument_names(kernel.diagnostics, names) if session.check else ()
        if session.strict and any(found.severity is Severity.ERROR for found in checked):
            session.launches.append(LaunchRecord(*launch, checked))
            raise FindingsError(checked)
        try:
            run = api.launch(
                kernel.program,
                grid=grid,
                block=block,
                cluster=(self._cluster, 1, 1),
                shared=shared,
                args=args,
                schedule=session.schedule,
                sanitize=session.sanitize,
                raises=session.raises,
                trace=session.trace,
                workers=session.workers,
            )
        except WarploomError as error:
            error.diagnostics = with_argument_names(error.diagnostics, names)
            if isinstance(error, RunError):
                error.findings = with_argument_names(error.findings, names)
                found = checked + (error.findings or error.diagnostics)
                session.launches.append(LaunchRecord(*launch, found, error.stats, error.trace))
            raise
        findings = checked + with_argument_names(run.findings, names)
        record = LaunchRecord(*launch, findings, run.stats, run.trace)
        session.launches.append(record)
        if session.strict and findings:
            raise FindingsError(findings)
        if findings:
            session.faulty.append(record)

    def _arguments(self, values: Sequence[object]) -> Iterator[tuple[str, object]]:
        """Yield the name and the value of each parameter of the compiled kernel."""
        tensor_maps = iter(self._tensor_maps)

        def walk(name: str, word: Any, value: Any) -> Iterator[tuple[str, object]]:
            if isinstance(word, (tuple, list)):
                parts = zip(cast("Sequence[Any]", word), value, strict=True)
                for number, (part_word, part) in enumerate(parts):
                    yield from walk(f"{name}[{number}]", part_word, part)
            elif word == "constexpr":
                return
            elif str(word).startswith("tensordesc"):
                yield from _descriptor(name, value, next(tensor_maps, None))
            else:
                yield name, _single(name, str(word), value)

        for (name, word), value in zip_longest(self._signature.items(), values):
            yield from walk(name, word, value)

    def _scratch_buffers(self, programs: int, stream: object) -> list[object]:
        """Return the scratch buffers that follow the kernel's arguments. None stands for an unused buffer."""
        allocation = import_triton("runtime._allocation")
        buffers: list[object] = []
        for kind, setting in (("global", "_allocator"), ("profile", "_profile_allocator")):
            size = getattr(self._metadata, f"{kind}_scratch_size", 0) or 0
            if not size:
                buffers.append(None)
                continue
            align = getattr(self._metadata, f"{kind}_scratch_align", 1)
            allocator = getattr(allocation, setting)
            allocate = allocator.get() if hasattr(allocator, "get") else allocator
            buffer = allocate(size * programs * self._cluster, align, stream)
            buffers.append(memory(f"the result of the {kind} scratch allocator", buffer))
        return buffers


def _single(name: str, word: str, value: Any) -> object:
    if word.startswith("*"):
        return None if value is None else memory(name, value)
    if word in _HALVES:
        return _HALVES[word].type(value)
    if word.startswith(("fp", "f")):
        return float(value)
    if not isinstance(value, int):
        raise UsageError(f"{name} is {value!r}; expected an integer for {word}", code="triton.argument")
    return int(value)


def _descriptor(name: str, value: Any, compiled: dict[str, Any] | None) -> Iterator[tuple[str, object]]:
    """Yield the parameters of a TensorDescriptor as pairs of a name and a value.

    `compiled` describes the tensor map, or is None for a target without tensor maps.
    """
    base: Array = memory(name, value.base)
    sizes = [*map(int, value.shape), *map(int, value.strides)]
    first: list[object] = [base, *sizes] if compiled is None else [tensor_map(name, value, base, compiled)]
    if compiled is None and hasattr(value, "padding"):
        first.append(int(value.padding == "nan"))
    if compiled is None and hasattr(value, "round_f32_to_tf32"):
        first.append(int(value.round_f32_to_tf32))
    for part in [*first, *sizes]:
        yield name, part


def with_argument_names(diagnostics: Iterable[Diagnostic], names: Sequence[str]) -> tuple[Diagnostic, ...]:
    """Return diagnostics with `names`, the argument of each kernel parameter, in their messages."""

    def sentence(text: str) -> str:
        return _PARAMETER.sub(lambda match: names[int(match[1])] if int(match[1]) < len(names) else match[0], text)

    return tuple(
        replace(
            each,
            message=sentence(each.message),
            notes=tuple(replace(note, message=sentence(note.message)) for note in each.notes),
        )
        for each in diagnostics
    )


def tensor_map(name: str, descriptor: Any, base: Array, compiled: dict[str, Any]) -> TensorMap:
    """Return the tensor map of the descriptor `name` over the array `base`.

    `compiled` has the box, the swizzle and the element type that Triton's compiler chose.

    Errors: UsageError triton.descriptor.
    """
    words = [word for word, _, _ in ELEMENT_TYPES]
    shape, strides = [int(n) for n in descriptor.shape], [int(n) for n in descriptor.strides]
    extent = sum((size - 1) * step for size, step in zip(shape, strides, strict=True)) + 1
    if extent > base.size:
        raise UsageError(
            f"{name} describes {extent} elements of shape {tuple(shape)} and strides {tuple(strides)} in memory of "
            f"{base.size} elements",
            code="triton.descriptor",
        )
    if compiled["fp4_padded"]:
        shape[-1] *= 2
    is_rounded = getattr(descriptor, "round_f32_to_tf32", False)
    mode: dict[str, Any] = {"box": pad_to_five([int(n) for n in compiled["block_size"]][::-1])}
    steps = [1] * len(shape)
    if compiled.get("is_im2col"):
        pixels, channels = (int(n) for n in compiled["block_size"])
        mode = {
            "im2col_lower": pad_to_five(descriptor.pixel_box_lower_corner[::-1])[:3],
            "im2col_upper": pad_to_five(descriptor.pixel_box_upper_corner[::-1])[:3],
            "channels_per_pixel": channels,
            "pixels_per_column": pixels,
        }
        steps = [int(n) for n in descriptor.element_strides or steps]
    fields = TensorMapFields(
        rank=len(shape),
        global_dim=pad_to_five(shape[::-1]),
        global_stride=pad_to_five([step * int(compiled["elem_size"]) for step in strides[-2::-1]])[:4],
        element_stride=pad_to_five(steps[::-1]),
        elemtype=words.index("tf32") if is_rounded else int(compiled["elem_type"]),
        swizzle=int(compiled["swizzle"]),
        fill=FILLS.index(getattr(descriptor, "padding", "zero")),
        **mode,
    )
    problems = fields.validate()
    if problems:
        raise UsageError(f"{name} cannot be a tensor map: {problems[0]}", code="triton.descriptor")
    return TensorMap(base, fields)
