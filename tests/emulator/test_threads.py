"""Grids whose waves run on several threads."""

from __future__ import annotations

from signal import SIGINT, default_int_handler, pthread_kill, signal
from threading import Timer, get_ident
from typing import Any

import numpy as np
import pytest
from emulator.texts import HEADER

import warploom as wl
from warploom.emulator.stats import Progress

CTAS, THREADS = 40, 64
START = """
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 64, %r0;
ld.param.u64 %rd0, [data]; mad.wide.u32 %rd1, %r2, 4, %rd0;
"""
SQUARE = "mul.lo.u32 %r3, %r2, %r2; st.global.u32 [%rd1], %r3;"
COUNT = "atom.global.add.u32 %r3, [%rd0], 1;"


def kernel(body: str) -> str:
    return f"""{HEADER}
.visible .entry k(.param .u64 data) {{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    {START}
    {body}
    ret;
}}
"""


def launch(body: str, workers: int, **options: Any) -> tuple[np.ndarray[Any, Any], Any]:
    data = np.zeros(CTAS * THREADS, np.uint32)
    run = wl.launch(kernel(body), grid=CTAS, block=THREADS, args=[data], workers=workers, **options)
    return data, run


@pytest.mark.parametrize("workers", [2, 3, 64])
def test_results_and_counts_do_not_depend_on_the_number_of_threads(workers: int) -> None:
    expected, one = launch(SQUARE, 1)
    found, several = launch(SQUARE, workers)
    np.testing.assert_array_equal(found, expected)
    assert several.stats.instructions == one.stats.instructions
    assert several.stats.ctas == one.stats.ctas == CTAS
    assert several.stats.batches > one.stats.batches  # the parts have their own batches


def test_ctas_that_update_the_same_memory_stay_on_one_thread() -> None:
    found, several = launch(COUNT, 2)
    assert found[0] == CTAS * THREADS
    assert several.stats.batches == launch(COUNT, 1)[1].stats.batches


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_first_part_with_an_error_is_reported(workers: int) -> None:
    body = "setp.gt.u32 %p0, %r1, 6; @%p0 ld.global.u32 %r3, [%rd1+1048576]; " + SQUARE
    with pytest.raises(wl.Trap, match=r"CTA \(7, 0, 0\), warp 0, lane 0"):
        launch(body, workers)


def test_progress_is_that_of_all_parts() -> None:
    seen: list[Progress] = []
    launch(SQUARE, 2, progress=seen.append)
    assert {each.ctas_total for each in seen} == {CTAS}
    assert seen[-1].ctas_done == CTAS


class Interrupted(Exception):
    pass


LOOP = """
.shared .b32 s[1];
LOOP:
ld.volatile.shared.u32 %r3, [s];
add.u32 %r4, %r4, 1;
setp.eq.u32 %p0, %r3, 0;
@%p0 bra LOOP;
"""


def test_an_exception_of_the_callback_ends_all_threads() -> None:
    def stop(_: Progress) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        launch(LOOP, 2, progress=stop)


def test_an_interrupt_ends_all_threads_and_states_where_the_kernel_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_STEP_BUDGET", str(10**12))
    before = signal(SIGINT, default_int_handler)  # background shells ignore the signal
    try:
        Timer(1, pthread_kill, [get_ident(), SIGINT]).start()
        with pytest.raises(KeyboardInterrupt) as caught:
            launch(LOOP, 2)
    finally:
        signal(SIGINT, before)
    assert any("kernel k" in note for note in caught.value.__notes__)
