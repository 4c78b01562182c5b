"""One kernel under many schedules: the same bytes, or the first that differs and the events nothing orders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from observe.sanitize.launches import LAUNCHES, Launch

import warploom as wl
from warploom.cli import main
from warploom.runtime.explore import Exploration


def _explored(launch: Launch, ptx: str, schedules: int = 6) -> tuple[Exploration, bool]:
    args, expected = launch.make()
    found = wl.explore(
        ptx, grid=launch.grid, block=launch.block, cluster=launch.cluster, args=args, schedules=schedules
    )
    return found, all(array.tobytes() == right.tobytes() for array, right in expected)


@pytest.mark.parametrize("name", ["double_buffer", "tma_store", "message_passing", "deepgemm_429"])
def test_a_right_kernel_leaves_the_same_under_every_schedule(name: str) -> None:
    found, right = _explored(LAUNCHES[name], LAUNCHES[name].text)
    assert found.same
    assert right
    assert found.schedules == ("eager", "lazy", "random:1", "random:2", "random:3", "random:4")
    assert found.run is not None


def test_the_first_byte_that_differs_is_named_with_the_events() -> None:
    launch = LAUNCHES["transformer_engine_3417"]
    found, right = _explored(launch, launch.faulty)
    assert not found.same
    assert right  # the arrays hold what the first schedule left
    assert found.difference is not None
    assert found.difference.schedules[0] == "eager"
    row, column = found.difference.index
    assert found.difference.byte // 4 == 64 * row + column
    assert found.difference.values[0] == str(100 * row + column)
    assert [finding.code for finding in found.findings] == ["sanitize.copy/source"]


def test_a_hang_is_counted() -> None:
    launch = LAUNCHES["cutlass_2418"]
    found, _ = _explored(launch, launch.faulty, 3)
    assert not found.same
    assert found.run is None
    assert [name for name, _ in found.failures] == ["eager", "lazy", "random:1"]
    assert "cutlass_2418" in found.failures[0][1]


@pytest.mark.parametrize("schedules", [1, 0, 10_001, True])
def test_a_number_of_schedules_that_makes_no_sense_is_refused(schedules: int) -> None:
    with pytest.raises(wl.UsageError, match="expected 2 to 10000"):
        _explored(LAUNCHES["flashkda_24"], LAUNCHES["flashkda_24"].text, schedules)


def test_the_command_says_whether_schedules_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    launch = LAUNCHES["transformer_engine_3417"]
    for name, text, status in (("good", launch.text, 0), ("bad", launch.faulty, 1)):
        file = tmp_path / f"{name}.ptx"
        file.write_text(text)
        options = ["--grid", "1", "--block", "64", "--arg", "zeros:uint32:4x64", "--arg", "4"]
        assert main(["run", str(file), *options, "--explore", "5"]) == status
        said = capsys.readouterr().out
        words = "the same bytes under all 5" if name == "good" else "the results depend on the schedule: argument 0"
        assert words in said
    np.testing.assert_equal(main(["run", str(file), *options, "--explore", "5", "--schedule", "lazy"]), 2)
