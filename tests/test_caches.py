"""Caches on disk: bounded, private, intact, and optional."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from warploom.caches import Store, cache_directory


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "things"


def test_entries_are_read_as_written() -> None:
    store = Store("things", 1000)
    assert store.read("a") is None
    store.write("a", b"one")
    store.write("b", b"")
    store.write("a", b"two")
    assert (store.read("a"), store.read("b")) == (b"two", b"")


def test_damaged_and_cut_entries_do_not_exist(folder: Path) -> None:
    store = Store("things", 1000)
    store.write("a", b"content")
    whole = (folder / "a").read_bytes()
    for damaged in (whole[:-1], whole[:5], b"", whole[:-1] + b"T"):
        (folder / "a").write_bytes(damaged)
        assert store.read("a") is None


def test_the_oldest_entries_are_deleted(folder: Path) -> None:
    store = Store("things", 1000)
    for number in range(20):
        store.write(str(number), bytes(100))
        os.utime(folder / str(number), (number, number))
    names = sorted(int(each.name) for each in folder.iterdir())
    assert names == list(range(20 - len(names), 20))
    assert 0 < sum(each.stat().st_size for each in folder.iterdir()) <= 1000


def test_folders_in_which_others_can_write_hold_no_entries(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    store = Store("things", 1000)
    store.write("a", b"one")
    assert list(folder.iterdir()) == []
    assert store.read("a") is None


def test_a_folder_that_cannot_be_created_holds_no_entries(folder: Path) -> None:
    folder.parent.write_text("a file")
    store = Store("things", 1000)
    store.write("a", b"one")
    assert store.read("a") is None


def test_a_user_without_a_home_has_no_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("WARPLOOM_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", staticmethod(home))
    store = Store("things", 1000)
    store.write("a", b"one")
    assert store.read("a") is None


def test_several_threads_write_at_the_same_time(folder: Path) -> None:
    store = Store("things", 1 << 20)
    contents = [bytes([number]) * 1000 for number in range(50)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: store.write("a", content), contents))
    assert store.read("a") in contents
    assert [each.name for each in folder.iterdir()] == ["a"]


def test_the_folder_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_directory() == tmp_path / "cache"
    monkeypatch.delenv("WARPLOOM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "warploom"
