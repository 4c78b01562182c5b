"""Limits of a launch: the kernel's directives and the architecture's capacity."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import one_of
from warploom.gpu.geometry import Extent, Extents, Geometry, triple
from warploom.isa.model.availability import Target, read_target
from warploom.isa.model.capacity import (
    CONSTANT_BYTES,
    LOCAL_BYTES,
    MAX_CLUSTER,
    MAX_THREADS,
    PARAMETER_BYTES,
    SHARED_KIB,
    shared_bytes,
)
from warploom.isa.model.parameters import block_bytes, size_of
from warploom.isa.model.signature import Signature
from warploom.ptx import Block, Variable

if TYPE_CHECKING:
    from warploom.emulator.program import Program

_ARCH = re.compile(r"sm_(\d+)([af]?)")

_MAX_BLOCK = (1024, 1024, 64)
_MAX_GRID = (2**31 - 1, 65535, 65535)
_FIRST_CLUSTERS = 90
REGISTER_BYTES = 4 << 30
"""Most bytes that the emulator allocates for the registers of one cluster."""
_AXES = "xyz"
_MOST_LEGAL = 64
"""Greatest number of launches of a program that are known to be legal."""


class ClusterError(UsageError):
    """Refusal of the shape of a cluster."""


def architecture(arch: str | None, signature: Signature) -> str:
    """Return `arch` or, if it is None, the target of the kernel's module.

    Errors: UsageError launch.arch for an unknown architecture, or one that cannot run code for the module's target.
    """
    return _architecture(None if arch is None else str(arch), signature.targets)


@lru_cache(maxsize=64)
def _architecture(arch: str | None, targets: tuple[str, ...]) -> str:
    target = next((word for word in targets if _ARCH.fullmatch(word)), "")
    name = (target or next(iter(targets), "")) if arch is None else arch
    found = _ARCH.fullmatch(name)
    if found is None or int(found[1]) not in SHARED_KIB:
        known = ", ".join(f"sm_{number}" for number in SHARED_KIB)
        raise UsageError(
            f"unknown architecture '{name}'; expected one of {known}, each also with the suffix 'a' or 'f'",
            code="launch.arch",
        )
    given, needed = read_target(name), read_target(target)
    if given is not None and needed is not None and not given.has(needed):
        raise UsageError(
            f"the module is for {target}, and its code does not run on {name}; expected {_runs_on(needed)}",
            code="launch.arch",
            hint="omit arch to run the module on its own target, or compile the kernel for the other architecture",
        )
    return name


def _runs_on(target: Target) -> str:
    """Return a phrase with the architectures that run code for a target."""
    names = (f"sm_{number}{suffix}" for number in SHARED_KIB for suffix in ("", "a", "f"))
    known = [found for name in names if (found := read_target(name)) is not None and found.has(target)]
    return f"{target.name} or higher" if not target.suffix else one_of(each.name for each in known)


def read_geometry(
    signature: Signature, grid: Extent, block: Extent | None, cluster: Extent | None, shared: int
) -> Geometry:
    """Return the geometry of a launch. Refuse extents that CUDA or the kernel's directives do not allow.

    If `block` or `cluster` is None, the kernel's directive applies. `shared` is in bytes of dynamic shared memory.

    Errors: UsageError launch.geometry, launch.shared. It is a ClusterError if only the cluster is wrong.
    """
    required, most = signature.extents(".reqntid"), signature.extents(".maxntid")
    block = required if block is None else block
    if block is None:
        raise _refuse(f"block is missing; kernel {signature.entry.readable_name} has no .reqntid")
    grid, block = triple("grid", grid), triple("block", block)
    given = None if cluster is None else triple("cluster", cluster)
    _check_extents("grid", grid, _MAX_GRID)
    _check_extents("block", block, _MAX_BLOCK)
    threads = prod(block)
    if threads > MAX_THREADS:
        raise _refuse(f"block {block} has {threads} threads; expected at most {MAX_THREADS}")
    if required not in (None, block):
        raise _refuse(f"block is {block}; the kernel's .reqntid requires exactly {required}")
    if most is not None and threads > prod(most):
        raise _refuse(f"block {block} has {threads} threads; .maxntid allows at most {prod(most)}")
    return Geometry(grid, block, _cluster(signature, grid, None if given == (1, 1, 1) else given), shared)


def check_architecture(geometry: Geometry, arch: str, static: int = 0, dynamic_start: int = 0) -> None:
    """Refuse a cluster or a size of shared memory that an architecture does not support.

    Units: bytes. `static` is the size of static shared memory, `dynamic_start` the offset of dynamic shared memory.
    Errors: UsageError launch.geometry, launch.shared.
    """
    found = _ARCH.fullmatch(arch)
    number = int(found[1]) if found else 0
    if geometry.cluster is not None and number < _FIRST_CLUSTERS:
        raise _refuse(f"{arch} has no clusters; expected cluster (1, 1, 1), found {geometry.cluster}")
    total = dynamic_start + geometry.shared if geometry.shared else static
    if number in SHARED_KIB and total > (most := shared_bytes(number)):
        raise UsageError(
            f"the kernel needs {total} bytes of shared memory ({static} static, {geometry.shared} dynamic); "
            f"{arch} has at most {most} for a CTA",
            code="launch.shared",
        )


def check_limits(program: Program, geometry: Geometry, arch: str, step_budget: int) -> None:
    """Refuse a launch that an architecture does not support, or that needs more than the emulator has.

    Errors: UsageError launch.geometry, launch.shared, launch.limit.
    """
    legal: set[tuple[Geometry, str, int]] = program.analyses.setdefault(check_limits, set())
    launch = geometry, arch, step_budget
    if launch in legal:
        return
    check_architecture(geometry, arch, program.static_shared, program.dynamic_start)
    _check_resources(program, geometry, step_budget)
    if len(legal) == _MOST_LEGAL:
        legal.clear()
    legal.add(launch)


def _check_resources(program: Program, geometry: Geometry, step_budget: int) -> None:
    """Refuse a kernel that needs more memory or more steps than a GPU or the emulator has.

    Errors: UsageError launch.limit.
    """
    size = program.analysis(_sizes)
    _check(block_bytes(program.parameters), PARAMETER_BYTES, "bytes of parameters", "a kernel can have")
    if program.local_bytes > LOCAL_BYTES:
        largest = _largest(program, "local", "param")
        _check(program.local_bytes, LOCAL_BYTES, f"bytes of local memory for each thread{largest}", "a GPU has")
    _check(size.constants, CONSTANT_BYTES, "bytes of constant memory", "a GPU has")
    warps = -(-prod(geometry.block) // 32)
    registers = size.registers * warps * geometry.cluster_size
    if registers > REGISTER_BYTES:
        owner = "CTA" if geometry.cluster_size == 1 else "cluster"
        what = f"bytes for the declared registers of a {owner}{_largest(program, 'reg')}"
        _check(registers, REGISTER_BYTES, what, "the emulator has", "declare only registers that the kernel uses")
    what = f"warp instructions, one for each of {warps} warps in {prod(geometry.grid)} CTAs"
    hint = "raise the option step_budget or the environment variable WARPLOOM_STEP_BUDGET"
    _check(warps * prod(geometry.grid), step_budget, what, "the step budget allows", hint)


class _Sizes(NamedTuple):
    """Sizes of all constant variables, and of the registers of a warp. Units: bytes."""

    constants: int
    registers: int


def _sizes(program: Program) -> _Sizes:
    return _Sizes(
        sum(each.size for each in program.globals if each.space == "const"), program.registers.bytes_per_warp()
    )


def _largest(program: Program, *spaces: str) -> str:
    """Return a phrase with the largest variable of a kernel and its functions in some state spaces."""
    bodies = [program.kernel, *(program.module.functions[name] for name in program.functions)]
    found = [each for body in bodies for each in _variables(body.body) if each.space in spaces]
    if not found:
        return ""
    largest = max(found, key=lambda each: (each.count or 1) * (size_of(each) or 0))
    line = "" if program.source is None or largest.span is None else program.source.position(largest.span.start)[0]
    return f" (the largest declaration is '{largest.name}' in line {line})"


def _variables(block: Block | None) -> Iterator[Variable]:
    for statement in () if block is None else block.statements:
        if isinstance(statement, Variable):
            yield statement
        elif isinstance(statement, Block):
            yield from _variables(statement)


def _check(found: int, most: int, what: str, who: str, hint: str = "") -> None:
    if found > most:
        raise UsageError(
            f"the kernel needs at least {found} {what}; {who} at most {most}", code="launch.limit", hint=hint
        )


def _check_extents(name: str, extents: Extents, most: Extents) -> None:
    for axis, extent, limit in zip(_AXES, extents, most, strict=True):
        if extent > limit:
            raise _refuse(f"{name}.{axis} is {extent}; expected at most {limit}")


def _cluster(signature: Signature, grid: Extents, cluster: Extents | None) -> Extents | None:
    required = signature.extents(".reqnctapercluster")
    if required is not None and cluster not in (None, required):
        raise _refuse_cluster(f"cluster is {cluster}; the kernel's .reqnctapercluster requires exactly {required}")
    cluster = required or cluster
    if cluster is None:
        if signature.directive(".explicitcluster") is not None:
            raise _refuse_cluster("the kernel's .explicitcluster requires cluster dimensions; none were given")
        return None
    most = signature.directive(".maxclusterrank")
    limit = min(MAX_CLUSTER, *most) if most else MAX_CLUSTER
    if prod(cluster) > limit:
        raise _refuse_cluster(f"cluster {cluster} has {prod(cluster)} CTAs; expected at most {limit}")
    for axis, extent, part in zip(_AXES, grid, cluster, strict=True):
        if extent % part:
            raise _refuse_cluster(f"grid.{axis} is {extent}; expected a multiple of cluster.{axis}, which is {part}")
    return cluster


def _refuse_cluster(message: str) -> ClusterError:
    return ClusterError(message, code="launch.geometry")


def _refuse(message: str) -> UsageError:
    return UsageError(message, code="launch.geometry")
