"""Second runs of a launch plan, which find the writers of wrong elements and explain elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.observe.writers import WriterRecorder
from warploom.runtime import cpu
from warploom.runtime.api import load_launch
from warploom.runtime.buffers import MEMORY_LIMIT
from warploom.runtime.replay import Replay
from warploom.runtime.why import Expectation

if TYPE_CHECKING:
    from warploom.emulator.stats import Progress
    from warploom.runtime.comparison import Comparison
    from warploom.runtime.launchfile import LaunchPlan, PreparedLaunch


def replay(plan: LaunchPlan, schedule: str, limit: int = MEMORY_LIMIT) -> Replay:
    """Return the launch of `plan` with new buffers, for explanations of its elements.

    `limit` is the maximum size of the buffers in bytes.
    """
    prepared, where = plan.prepare(limit), plan.geometry
    loaded, geometry, arguments = load_launch(
        plan.ptx, plan.kernel, where.grid, where.block, where.cluster, where.shared, prepared.args
    )
    expectation = expectation_of(plan, prepared)
    return Replay(loaded, geometry, arguments, where.arch, schedule, names=prepared.arrays, expectation=expectation)


def expectation_of(plan: LaunchPlan, prepared: PreparedLaunch) -> Expectation | None:
    """Return the expected contents that a launch plan states, or None.

    `prepared` is the plan with its arrays.
    """
    expect = plan.expect
    if expect is None or prepared.expected is None:
        return None
    reference = "" if expect.stored is not None else expect.reference
    return Expectation(expect.result, prepared.expected, reference, expect.operands, expect.options)


def find_writers(
    comparison: Comparison,
    plan: LaunchPlan,
    schedule: str,
    limit: int = MEMORY_LIMIT,
    progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Return a comparison with the last writers of its elements.

    `plan` is the launch that computed the result. The launch runs again, with new buffers. `schedule` must be the
    schedule of the first run, because another schedule may lead to other wrong elements. `limit` is the maximum size of
    the buffers in bytes. Return the comparison unchanged if no element is wrong, if no argument refers to the result,
    or if a Dask cluster ran the launch.
    """
    if comparison.ok or isinstance(plan.geometry.workers, str):
        return comparison
    prepared = replace(plan, expect=None).prepare(limit)
    result = prepared.arrays[comparison.name]
    where = plan.geometry
    loaded, geometry, arguments = load_launch(
        plan.ptx, plan.kernel, where.grid, where.block, where.cluster, where.shared, prepared.args
    )
    if not arguments.buffers.contains(result):
        return comparison
    launch = cpu.prepare(loaded, geometry, arguments, where.arch, schedule)
    recorder = WriterRecorder(arguments.buffers.address(result) - GLOBAL_BASE, result.size, result.itemsize)
    cpu.run(launch, workers=where.workers, progress=progress, observer=recorder)
    return replace(comparison, writers=recorder.writers())
