"""What the compressor leaves out comes back, and what it says of the rest is what the machine reads."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.nvidia import Tensor
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from kernels.operand_types import OPERANDS
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.kernels.hopper.plan import metadata_slots
from warploom.kernels.plan import size_of
from warploom.kernels.sparse import Compressed, compress, decompress, prune
from warploom.layout import MetadataMap
from warploom.layout import metadata as metadata_map

Array = NDArray[Any]
LAYOUTS = {"f16": "m64n8k32", "bf16": "m64n8k32", "tf32": "m64n8k16"}


@st.composite
def matrices(draw: st.DrawFn) -> tuple[str, Array]:
    """Any bits of any type, NaNs and both zeros among them; half of the elements are zeros."""
    element = draw(st.sampled_from(sorted(OPERANDS)))
    shape = draw(st.sampled_from([(1, 1), (3, 7), (70, 66), (2, 5, 40)]))
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    bits = random.integers(0, 1 << 8 * size_of(element), shape, dtype=f"u{size_of(element)}")
    zeros = draw(arrays.arrays(np.bool_, (1, shape[-1]))) | random.integers(0, 2, shape).astype(np.bool_)
    return element, np.where(zeros, 0, bits).astype(bits.dtype).view(OPERANDS[element])


def bits_of(matrix: Array) -> Array:
    """The elements' bits, of zeros without their sign."""
    with np.errstate(invalid="ignore"):
        return np.where(matrix == 0, 0, matrix.view(f"u{matrix.itemsize}"))


@given(matrices())
def test_what_was_compressed_comes_back(drawn: tuple[str, Array]) -> None:
    sparse = prune(drawn[1])
    made = compress(sparse)
    assert made.shape == sparse.shape
    np.testing.assert_array_equal(bits_of(decompress(made)), bits_of(sparse))
    assert all(stride % 16 == 0 for stride in made.values.strides[:-1])


@given(matrices())
def test_pruning_leaves_the_larger_half(drawn: tuple[str, Array]) -> None:
    element, dense = drawn
    width = 2 if element == "tf32" else 4
    pruned = prune(dense)
    kept = bits_of(pruned) == bits_of(dense)
    assert (bits_of(pruned)[~kept] == 0).all()
    with np.errstate(invalid="ignore"):
        size = np.abs(dense.astype(np.float64))
    size[np.isnan(size)] = np.inf
    for start in range(0, dense.shape[-1], width):
        chunk, left = size[..., start : start + width], kept[..., start : start + width]
        assert ((left & (chunk > 0)).sum(-1) <= width // 2).all()
        smallest = np.where(left & (chunk > 0), chunk, np.inf).min(-1)
        assert (np.where(left, 0, chunk).max(-1) <= smallest).all()


def by_instruction(made: Compressed, element: str) -> list[tuple[MetadataMap, Array]]:
    """The map of each instruction of a stage, and the words that 128 threads give it, (blocks and stages, 128)."""
    places = metadata_slots(element)
    words = made.metadata.reshape(-1, 128, 1 + max(word for word, _ in places))
    shape = LAYOUTS.get(element, "m64n8k64")
    return [(metadata_map("wgmma", shape, element, selector), words[:, :, word]) for word, selector in places]


@given(matrices())
def test_every_chunk_has_a_meaning(drawn: tuple[str, Array]) -> None:
    """Those behind the ends of the matrix too: the tensor cores look at whole tiles."""
    made = compress(prune(drawn[1]))
    for where, words in by_instruction(made, drawn[0]):
        assert where.defined_nibbles(ordered=True)[where.nibbles(words)].all()


@pytest.mark.parametrize("element", sorted(OPERANDS))
def test_metadata_stand_where_instructions_look_for_them(element: str) -> None:
    """The matrix, put together again from what the instructions of each stage are given."""
    depth = 128 // size_of(element)
    dense = np.random.default_rng(1).integers(1, 4, (130, 2 * depth + 8)).astype(OPERANDS[element])
    sparse = prune(dense)
    made = compress(sparse)
    stages, blocks = made.metadata.shape[:2]
    stored = np.zeros((blocks * 64, stages * depth // 2), made.values.dtype)
    stored[:130, : made.values.shape[1]] = made.values
    got = np.zeros((blocks * 64, stages * depth), sparse.dtype)
    column = 0
    steps = by_instruction(made, element)
    for stage in range(stages):
        for where, words in steps:
            at = where.decode(words.reshape(stages, blocks, 128)[stage])
            for block in range(blocks):
                rows = np.arange(64 * block, 64 * block + 64)
                values = stored[rows, column // 2 : (column + where.k) // 2]
                np.put_along_axis(got[64 * block : 64 * block + 64, column : column + where.k], at[block], values, 1)
            column += where.k
    np.testing.assert_array_equal(got[:130, : sparse.shape[1]], sparse)
    assert (got[130:] == 0).all()


# Refusals ---------------------------------------------------------------------------------------------------


def refusal(a: Any) -> str:
    with pytest.raises(UsageError) as caught:
        compress(a)
    (found,) = caught.value.diagnostics
    return f"{found.code}: {found.message}"


def test_a_chunk_with_too_many_is_named() -> None:
    a = np.zeros((2, 5, 11), np.float16)
    a[1, 3, 8:] = 1
    assert refusal(a) == (
        "kernels.sparse: batch 1, row 3 of A has 3 nonzero elements in columns 8 to 10; expected at most 2"
    )
    assert refusal(np.ones((4, 4), np.float32)) == (
        "kernels.sparse: row 0 of A has 2 nonzero elements in columns 0 to 1; expected at most 1"
    )


def test_what_is_no_matrix_of_a_known_type_is_refused() -> None:
    assert refusal(np.zeros((4, 4))).startswith("kernels.type: A has elements of type float64")
    assert refusal(np.zeros((4, 4), np.int32)).startswith("kernels.type: A has elements of type int32; expected one of")
    assert refusal(np.zeros(4, np.int8)) == "kernels.shape: A has shape (4,); expected (M, K), none of them 0"
    assert refusal([[0]]) == "kernels.type: A is a list; expected an array of NumPy, PyTorch or CuPy"


# Arrays of other libraries ----------------------------------------------------------------------------------


def test_arrays_in_the_hosts_memory_become_numpys() -> None:
    dense = np.arange(32, dtype=np.float16).reshape(4, 8)
    np.testing.assert_array_equal(decompress(compress(prune(Tensor(dense, on_host=True)))), prune(dense))


def test_arrays_on_a_gpu_of_a_library_that_is_not_known_are_refused() -> None:
    assert refusal(Tensor(np.zeros((4, 4), np.float16))) == (
        "kernels.type: A is a gpu Tensor on a GPU; expected an array of PyTorch or CuPy there"
    )


class OnGpu:
    """A tensor as PyTorch has them, which NumPy cannot reach before it is in the host's memory."""

    def __init__(self, array: Array, device: str) -> None:
        self.array, self.device = array, device

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)
    strides = property(lambda self: self.array.strides)

    def __dlpack__(self) -> None: ...

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self.device == "cpu" else (2, 0)

    def __array__(self, *_: object, **__: object) -> Array:
        assert self.device == "cpu"
        return self.array

    def detach(self) -> OnGpu:
        return self

    def cpu(self) -> OnGpu:
        return OnGpu(self.array, "cpu")

    def to(self, device: str) -> OnGpu:
        return OnGpu(self.array, device)

    def view(self, dtype: Any) -> OnGpu:
        return OnGpu(self.array.view(dtype), self.device)

    def __getitem__(self, key: Any) -> OnGpu:
        return OnGpu(self.array[key], self.device)


OnGpu.__module__ = "torch"


@pytest.mark.parametrize("element", ["bf16", "e4m3", "tf32"])
def test_arrays_on_a_gpu_stay_there(element: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {str(np.dtype(each)): np.dtype(each) for each in (*OPERANDS.values(), np.int32, np.int16)}
    torch = SimpleNamespace(**names, from_numpy=lambda array: OnGpu(array, "cpu"))
    monkeypatch.setitem(sys.modules, "torch", torch)
    dense = np.random.default_rng(2).normal(size=(70, 50)).astype(OPERANDS[element])
    sparse = prune(OnGpu(dense, "cuda:1"))
    made = compress(sparse)
    back = decompress(made)
    on_host = compress(prune(dense))
    assert {each.device for each in (sparse, made.values, made.metadata, back)} == {"cuda:1"}
    assert made.metadata.dtype == np.int32  # every release of PyTorch has it
    assert all(stride % 16 == 0 for stride in made.values.strides[:-1])
    np.testing.assert_array_equal(made.values.array, on_host.values)
    np.testing.assert_array_equal(made.metadata.array.view(np.uint32), on_host.metadata)
    np.testing.assert_array_equal(back.array, prune(dense))
