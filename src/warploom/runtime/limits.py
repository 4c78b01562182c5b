"""What a launch may ask of an architecture."""

# A caller may hand over anything, whatever the annotation says.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import re

from warploom.diagnostics import UsageError
from warploom.emulator.program import Program
from warploom.isa.model.capacity import MAX_CLUSTER, MAX_THREADS, SHARED_KIB, shared_bytes

_ARCH = re.compile(r"sm_(\d+)([af]?)")

_MAX_BLOCK = (1024, 1024, 64)
_MAX_GRID = (2**31 - 1, 65535, 65535)
_FIRST_CLUSTERS = 90
_AXES = "xyz"


def architecture(arch: str | None, program: Program) -> str:
    """The architecture of a run: the one asked for, or the module's target. Errors: UsageError launch.arch."""
    name = str(next(iter(program.module.target), "") if arch is None else arch)
    found = _ARCH.fullmatch(name)
    if found is None or int(found[1]) not in SHARED_KIB:
        known = ", ".join(f"sm_{number}" for number in SHARED_KIB)
        raise UsageError(
            f"there is no architecture '{name}'; expected one of {known}, with a or f", code="launch.arch"
        )
    return name


def check(
    program: Program,
    arch: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    cluster: tuple[int, int, int],
    shared: int,
) -> tuple[tuple[int, int, int], bool]:
    """Check a geometry against the architecture and the kernel's directives.

    Returns the cluster shape that holds and whether clusters are explicit.
    Errors: UsageError launch.geometry, launch.shared.
    """
    _check_extents("grid", grid, _MAX_GRID)
    _check_extents("block", block, _MAX_BLOCK)
    threads = block[0] * block[1] * block[2]
    if threads > MAX_THREADS:
        raise _refuse(f"block {block} has {threads} threads; expected at most {MAX_THREADS}")
    _check_directives(program, block, threads)
    shape, explicit = _cluster(program, grid, cluster)
    if explicit and _number(arch) < _FIRST_CLUSTERS:
        raise _refuse(f"{arch} has no clusters; expected cluster (1, 1, 1), found {shape}")
    if not isinstance(shared, int) or isinstance(shared, bool) or shared < 0:
        raise UsageError(f"shared is {shared!r}; expected a number of bytes", code="launch.shared")
    most = shared_bytes(_number(arch))
    total = program.dynamic_start + shared if shared else program.static_shared
    if total > most:
        raise UsageError(
            f"the kernel needs {total} bytes of shared memory ({program.static_shared} static, {shared} dynamic); "
            f"{arch} has at most {most} for a CTA",
            code="launch.shared",
        )
    return shape, explicit


def _number(arch: str) -> int:
    found = _ARCH.fullmatch(arch)
    assert found is not None
    return int(found[1])


def _check_extents(name: str, extents: tuple[int, int, int], most: tuple[int, int, int]) -> None:
    for axis, extent, limit in zip(_AXES, extents, most, strict=True):
        if extent > limit:
            raise _refuse(f"{name}.{axis} is {extent}; expected at most {limit}")


def _check_directives(program: Program, block: tuple[int, int, int], threads: int) -> None:
    required = program.directive(".reqntid")
    if required is not None and (*required, 1, 1)[:3] != block:
        raise _refuse(f"block is {block}; the kernel's .reqntid asks for exactly {(*required, 1, 1)[:3]}")
    most = program.directive(".maxntid")
    if most is not None:
        product = (*most, 1, 1)[0] * (*most, 1, 1)[1] * (*most, 1, 1)[2]
        if threads > product:
            raise _refuse(f"block {block} has {threads} threads; the kernel's .maxntid allows {product}")


def _cluster(
    program: Program, grid: tuple[int, int, int], cluster: tuple[int, int, int]
) -> tuple[tuple[int, int, int], bool]:
    required = program.directive(".reqnctapercluster")
    explicit = required is not None or cluster != (1, 1, 1)
    shape = cluster
    if required:
        x, y, z = (*required, 1, 1)[:3]
        if cluster not in ((1, 1, 1), (x, y, z)):
            raise _refuse(
                f"cluster is {cluster}; the kernel's .reqnctapercluster asks for exactly {(x, y, z)}"
            )
        shape = (x, y, z)
    if program.directive(".explicitcluster") is not None and not explicit:
        raise _refuse(
            "the kernel's .explicitcluster asks for a launch with cluster dimensions; none were given"
        )
    size = shape[0] * shape[1] * shape[2]
    most = program.directive(".maxclusterrank")
    limit = min(MAX_CLUSTER, *most) if most else MAX_CLUSTER
    if size > limit:
        raise _refuse(f"cluster {shape} has {size} CTAs; expected at most {limit}")
    for axis, extent, part in zip(_AXES, grid, shape, strict=True):
        if extent % part:
            raise _refuse(f"grid.{axis} is {extent}, which is not a multiple of the cluster's {part}")
    return shape, explicit


def _refuse(message: str) -> UsageError:
    return UsageError(message, code="launch.geometry")
