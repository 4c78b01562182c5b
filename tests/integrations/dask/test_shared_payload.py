"""What all tasks share arrives as it was, whichever way it goes, and whatever others make of theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.integrations.dask import shared_payload
from warploom.integrations.dask.shared_payload import mapped, pack

DTYPES = (np.uint8, np.int64, np.float32)


@given(
    st.lists(st.tuples(st.sampled_from(DTYPES), st.integers(0, 5 * shared_payload._BLOCK)), max_size=4),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5 * shared_payload._BLOCK)), max_size=6),
    st.binary(max_size=10),
)
def test_arrays_and_what_is_beside_them_arrive(shapes: Any, spots: Any, beside: bytes) -> None:
    arrays = [np.zeros(size, dtype) for dtype, size in shapes]
    for which, at in spots:
        if which < len(arrays) and len(arrays[which]):
            arrays[which][at % len(arrays[which])] = 1
    sent = pack((arrays, beside))
    with mapped(sent) as loan:
        for way in (sent, loan):
            assert way is not None
            found, held = way.unpack()
            assert held == beside
            for array, one in zip(arrays, found, strict=True):
                np.testing.assert_array_equal(one, array, strict=True)


def test_who_opens_it_can_write_to_it_and_no_other_sees_that() -> None:
    array = np.arange(100_000)
    sent = pack(array)
    with mapped(sent) as loan:
        assert loan is not None
        ways = [way.unpack() for way in (loan, loan, sent, sent)]
        for number, one in enumerate(ways):
            one[:] = number
        assert [set(one.tolist()) for one in ways] == [{0}, {1}, {2}, {3}]
        np.testing.assert_array_equal(loan.unpack(), np.arange(100_000))
    assert array[5] == 5
    assert ways[0][5] == 0


def test_zeros_are_not_sent() -> None:
    array = np.zeros(100 * shared_payload._BLOCK, np.uint8)
    array[7 * shared_payload._BLOCK] = 1
    [(size, parts)] = pack(array).buffers
    assert size == len(array)
    assert [(first, len(part)) for first, part in parts] == [
        (7 * shared_payload._BLOCK, shared_payload._BLOCK)
    ]


def test_a_loan_that_has_ended_is_not_taken_for_another() -> None:
    with mapped(pack(b"first")) as first:
        assert first is not None
    with pytest.raises(FileNotFoundError):
        first.unpack()
    with mapped(pack(b"second")) as second:
        assert second is not None
        assert second.path == first.path  # the number of the file is free again
        with pytest.raises(FileNotFoundError, match="something else by now"):
            first.unpack()


def test_where_memory_cannot_be_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.memfd_create")
    with mapped(pack(1)) as loan:
        assert loan is None
