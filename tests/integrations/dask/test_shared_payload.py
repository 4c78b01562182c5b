"""Shared payloads: a sent and a mapped payload unpack to equal, independent objects."""

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
def test_arrays_and_other_data_are_unpacked(shapes: Any, spots: Any, beside: bytes) -> None:
    arrays = [np.zeros(size, dtype) for dtype, size in shapes]
    for which, at in spots:
        if which < len(arrays) and len(arrays[which]):
            arrays[which][at % len(arrays[which])] = 1
    sent = pack((arrays, beside))
    with mapped(sent) as local:
        for payload in (sent, local):
            assert payload is not None
            found, others = payload.unpack()
            assert others == beside
            for array, one in zip(arrays, found, strict=True):
                np.testing.assert_array_equal(one, array, strict=True)


def test_each_copy_is_writable_and_private() -> None:
    array = np.arange(100_000)
    sent = pack(array)
    with mapped(sent) as local:
        assert local is not None
        copies = [payload.unpack() for payload in (local, local, sent, sent)]
        for number, one in enumerate(copies):
            one[:] = number
        assert [set(one.tolist()) for one in copies] == [{0}, {1}, {2}, {3}]
        np.testing.assert_array_equal(local.unpack(), np.arange(100_000))
    assert array[5] == 5
    assert copies[0][5] == 0


def test_blocks_of_zeros_are_omitted() -> None:
    array = np.zeros(100 * shared_payload._BLOCK, np.uint8)
    array[7 * shared_payload._BLOCK] = 1
    payload = pack(array)
    [(start, size)] = payload.layout.buffers
    assert size == len(array)
    _, (first, part) = payload.parts
    assert (first - start, len(part)) == (7 * shared_payload._BLOCK, shared_payload._BLOCK)


def test_a_closed_payload_is_not_mistaken_for_the_next_one() -> None:
    with mapped(pack(b"first")) as first:
        assert first is not None
    with pytest.raises(FileNotFoundError):
        first.unpack()
    with mapped(pack(b"second")) as second:
        assert second is not None
        assert second.path == first.path  # the file descriptor is used again
        with pytest.raises(FileNotFoundError, match="not the file that the sender wrote"):
            first.unpack()


def test_without_memory_files_nothing_is_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.memfd_create")
    with mapped(pack(1)) as local:
        assert local is None
