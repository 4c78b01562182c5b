"""Small kernels: selection, records and comparison."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from warploom.check import check
from warploom.diagnostics import UsageError
from warploom_lab.campaign.small_kernels import AREAS, Record, SmallKernel, kernels, mismatches, output, record
from warploom_lab.work.isolated import IsolatedProcesses

HANGS = "mov.u32 %r5, 0; W: add.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra W;"  # 2^32 iterations


def one(name: str) -> SmallKernel:
    (found,) = kernels([name])
    return found


def test_every_area_has_many_kernels() -> None:
    assert len(kernels()) >= 120
    assert len({kernel.key for kernel in kernels()}) == len(kernels())
    assert all(len(kernels([area])) >= 9 for area in AREAS)


def test_kernels_are_selected_by_area_or_name() -> None:
    assert {kernel.area for kernel in kernels(["bulk", "warp"])} == {"bulk", "warp"}
    assert one("warp/votes") == one("votes")
    with pytest.raises(UsageError, match="unknown area or small kernel 'wrap'"):
        kernels(["wrap"])


@pytest.mark.parametrize("area", AREAS)
def test_the_checker_accepts_every_kernel(area: str) -> None:
    assert {kernel.key: list(check(kernel.text)) for kernel in kernels([area])} == {
        kernel.key: [] for kernel in kernels([area])
    }


def test_a_record_is_read_back(tmp_path: Path) -> None:
    chosen = kernels(["votes", "shuffles"])
    taken = record(chosen, enumerate(kernel.run("cpu") for kernel in chosen))
    taken.write(tmp_path / "record.npz")
    again = Record.read(tmp_path / "record.npz")
    assert again.digests == taken.digests
    assert list(mismatches(again, chosen)) == []


def test_a_differing_word_is_reported() -> None:
    kernel = one("votes of halves")
    words = kernel.run("cpu")
    words[7] ^= 1
    (found,) = mismatches(Record({kernel.key: words}, {kernel.key: kernel.digest}, {}), [kernel])
    assert found.schedule == "eager"
    assert "1 of 4192 words differ; thread 2, word 1" in found.message


def test_a_changed_kernel_needs_a_new_record() -> None:
    kernel = one("votes")
    taken = record([kernel], [(0, kernel.run("cpu"))])
    changed = replace(kernel, text=kernel.text.replace("-1", "31"))
    (found,) = mismatches(taken, [changed])
    assert "record it again" in str(found)


def test_a_file_without_a_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "record.npz").write_bytes(b"PK")
    with pytest.raises(UsageError, match="is not a record of small kernels"):
        Record.read(tmp_path / "record.npz")


def test_a_hanging_kernel_ends_only_its_own_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_STEP_BUDGET", str(10**12))  # more than native code executes within the timeout
    good = one("votes")
    body = good.text.partition("    and.b32 %r5, %x, 3;")[0]
    hanging = replace(good, name="hangs", text=f"{body}{HANGS}\nret;\n}}\n")
    pool = IsolatedProcesses(
        partial(output, "cpu"),
        workers=1,
        timeout=5,
        is_reusable=lambda found: not isinstance(found, str),
        on_loss=lambda _: "lost",
    )
    found = dict(pool.results([hanging, good]))
    assert found[0] == "lost"
    assert np.array_equal(found[1], good.run("cpu"))
