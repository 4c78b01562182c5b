"""Launches that were captured on a GPU have the same results on the emulator."""

from __future__ import annotations

from pathlib import Path

import pytest

import warploom as wl
from warploom.runtime.captures.capture_file import read_capture

FOLDER = Path(__file__).with_name("captures")
FILES = sorted(FOLDER.glob("*.wlc"))
DEPENDS_ON_ORDER = "add"


def test_the_files_are_small_and_complete() -> None:
    assert len(FILES) == 7
    assert sum(each.stat().st_size for each in FILES) < 100_000
    launches = {each.stem: read_capture(each) for each in FILES}
    assert {each.status for each in launches.values()} == {0}
    assert {each.arch for each in launches.values()} == {"sm_90a"}
    assert launches["total"].geometry.cooperative
    assert launches["exchange"].geometry.cluster == (2, 1, 1)
    assert len(launches["copy_box"].tensor_maps) == 1
    assert all(any(each.changes() for each in launch.allocations) for launch in launches.values())


@pytest.mark.parametrize("schedule", ["eager", "lazy"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_replay_has_the_bits_of_the_gpu(file: Path, schedule: str) -> None:
    done = wl.replay(file, schedule=schedule, sanitize=True)
    assert done.findings == ()
    if file.stem == DEPENDS_ON_ORDER:
        assert done.depends_on_order
        (writer,) = done.differences[0].writers
        assert writer.instruction == "atom.global.add.f32"
        assert writer.place.startswith("line ")
    else:
        assert done.equal, done.sentence
