"""`warploom capture` without a GPU: the driver is the library of `warploom exec`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import warploom as wl
from warploom.runtime.captures.capture_file import read_capture
from warploom_lab.captures import trial

HERE = Path(__file__).parent
WARPLOOM = (sys.executable, "-m", "warploom")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


def capture(folder: Path, *command: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    inner = [*WARPLOOM, "capture", "--output", str(folder), *options, "--", *command]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WARPLOOM_EXEC")}
    return subprocess.run(
        [*WARPLOOM, "exec", "--", *inner], capture_output=True, text=True, check=False, timeout=300, env=environment
    )


def python(what: str, file: str = "captured.py") -> tuple[str, ...]:
    return sys.executable, str(HERE / file), what


@pytest.mark.parametrize("what", ["library", "library-function", "library-module", "list", "link"])
def test_a_launch_is_captured_and_replayed(tmp_path: Path, what: str) -> None:
    done = capture(tmp_path / "files", *python(what))
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr
    assert "1 launch in " in done.stderr
    (file,) = (tmp_path / "files").iterdir()
    assert file.name == "0001-twice.wlc"
    replayed = wl.replay(file)
    assert replayed.equal
    assert replayed.compared == 128


def test_a_second_run_keeps_the_files_of_the_first(tmp_path: Path) -> None:
    for _ in range(2):
        assert capture(tmp_path, *python("library")).returncode == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["0001-twice.wlc", "0002-twice.wlc"]


def test_a_program_finds_functions_by_name(tmp_path: Path) -> None:
    done = capture(tmp_path, *python("search"))
    assert (done.returncode, done.stdout) == (0, "500\n42\n"), done.stderr
    assert len([*tmp_path.iterdir()]) == 1


def test_launches_into_graphs_are_refused_with_a_sentence(tmp_path: Path) -> None:
    done = capture(tmp_path, *python("graph"))
    assert (done.returncode, done.stdout) == (1, "42\n"), done.stderr
    assert "launches into CUDA graphs are not captured" in done.stderr
    assert "0 launches in" in done.stderr
    assert "1 selected launch not captured" in done.stderr


def test_unloaded_modules_and_wrong_launches(tmp_path: Path) -> None:
    done = capture(tmp_path / "unloaded", *python("unload"))
    assert done.stdout == "400\n84\n"
    assert [wl.replay(each).equal for each in (tmp_path / "unloaded").iterdir()] == [True, True]
    done = capture(tmp_path / "wrong", *python("wrong"))
    assert done.stdout == "1\n21\n"
    assert [*(tmp_path / "wrong").iterdir()] == []


def test_threads_are_captured(tmp_path: Path) -> None:
    done = capture(tmp_path, *python("threads"))
    assert done.returncode == 0
    assert [wl.replay(each).equal for each in tmp_path.iterdir()] == [True] * 4


def test_constants_are_captured(tmp_path: Path) -> None:
    capture(tmp_path, *python("constant", "program.py"))
    (file,) = tmp_path.iterdir()
    assert [each.variable for each in read_capture(file).allocations] == ["", "factor"]
    assert wl.replay(file).equal


def test_a_failed_kernel_is_captured_with_its_status(tmp_path: Path) -> None:
    done = capture(tmp_path, *python("beyond", "program.py"))
    assert done.stdout == "status 0 700\n"
    (file,) = tmp_path.iterdir()
    assert read_capture(file).status == 700
    with pytest.raises(wl.Trap, match="out of bounds: the nearest buffer, allocation 1 of 64 bytes"):
        wl.replay(file)
    replayed = wl.replay(file, raises=False)
    assert replayed.error is not None
    assert not replayed.equal


def test_the_status_of_the_program_is_kept_and_empty_captures_are_findings(tmp_path: Path) -> None:
    assert capture(tmp_path, *python("exit", "program.py")).returncode == 7
    done = capture(tmp_path, *python("nothing"))
    assert done.returncode == 1
    assert "0 launches in" in done.stderr


@needs_nvcc
def test_all_kinds_of_memory_and_launches(tmp_path: Path) -> None:
    program = trial.programs(tmp_path, None)[0]
    done = capture(tmp_path / "files", *program.command)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    records = [trial.replay_file(each, "launches", "cpu") for each in sorted((tmp_path / "files").iterdir())]
    assert [each.result for each in records] == ["equal"] * 13
    first = read_capture(min((tmp_path / "files").iterdir()))
    assert {each.variable for each in first.allocations} == {"", "factors", "counter"}
    maps = [read_capture(each).tensor_maps for each in sorted((tmp_path / "files").glob("*copy_box*"))]
    assert [len(each) for each in maps] == [1, 1]
    done = capture(tmp_path / "some", *program.command, options=("--kernel", "^(scale|add)", "--nth", "1"))
    assert sorted(each.name for each in (tmp_path / "some").iterdir()) == ["0001-scale.wlc", "0002-add.wlc"]
    done = capture(tmp_path / "none", *program.command, options=("--kernel", "scale", "--memory", "0.000001"))
    assert done.returncode == 1
    assert "launches of scale are not captured: they reach more than" in done.stderr
    assert "5 selected launches not captured" in done.stderr


# The command `replay` ---------------------------------------------------------------------------------------------


def replay(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*WARPLOOM, "replay", *options], capture_output=True, text=True, check=False, timeout=300)


def test_the_command_replay(tmp_path: Path) -> None:
    capture(tmp_path / "files", *python("library"))
    (file,) = (tmp_path / "files").iterdir()
    done = replay(str(file), "--time", "--trace", str(tmp_path / "trace.json"))
    assert done.returncode == 0
    assert "equal: all 128 bytes have the recorded values\n" in done.stdout
    assert (tmp_path / "trace.json").exists()
    done = replay(str(file), "--report", str(tmp_path / "page.html"))
    assert done.returncode == 0
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")
    launch = read_capture(file)
    launch.allocations[0].after = launch.allocations[0].before
    launch.save(file)
    done = replay(str(file))
    assert done.returncode == 1
    assert "allocation 1 (128 bytes): 32 bytes differ; +0x0: 0000002a, expected 00000015" in done.stdout
    assert "written by st.global.u32 in line 15" in done.stdout
    done = replay(str(file), "--device", "cuda", "--sanitize")
    assert done.returncode == 2
    assert "--sanitize is for --device cpu" in done.stderr
