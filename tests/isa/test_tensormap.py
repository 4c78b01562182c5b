# ruff: noqa: E501 - opcodes are as long as they are
from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from isa.binding import legality_tests
from isa.recorder import Recorder, bound, lanes

from warploom.isa.instructions import tensormap
from warploom.layout.tensormap import TensorMapFields

LEGAL = {
    "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%rd1 + 0], %rd2;": "tensormap.replace",
    "tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 1;": "tensormap.replace_rank",
    "tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1], 12;": "tensormap.replace_code",
    "tensormap.replace.tile.elemtype.global.b1024.b32 [%rd1], 13;": "tensormap.replace_new_code",
    "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1], 4;": "tensormap.replace_new_code",
    "tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [%rd1], 3;": "tensormap.replace_code",
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd1], 4, %r1;": "tensormap.replace_entry",
    "tensormap.replace.tile.global_stride.b1024.b64 [%rd1], 0x3, %rd2;": "tensormap.replace_entry",
    "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%rd1], 0x3;": "tensormap.replace_code",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%rd2], 128;": "tensormap.cp_fenceproxy",
}

REFUSED = {
    "tensormap.replace.tile.global_address.shared::cta.b1024.b32 [%rd1], %r2;": "tensormap.replace/type",
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd1], 5, %r1;": "tensormap.replace_entry/ord",
    "tensormap.replace.tile.global_stride.b1024.b64 [%rd1], 4, %rd2;": "tensormap.replace_entry/ord",
    "tensormap.replace.tile.fill_mode.b1024.b32 [%rd1], 2;": "tensormap.replace_code/new_val",
    "tensormap.replace.tile.elemtype.b1024.b32 [%rd1], %r1;": "tensormap.replace_code/new_val",
    "tensormap.replace.tile.swizzle_atomicity.b1024.b32 [%rd1], 4;": "tensormap.replace_code/new_val",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


entries = st.sampled_from(
    [
        ("global_address", None, 2**40),
        ("rank", None, 4),
        *((field, n, 200) for field in ("box_dim", "global_dim", "element_stride") for n in range(5)),
        *(("global_stride", n, 2**39) for n in range(4)),
        ("elemtype", None, 15),
        ("interleave_layout", None, 2),
        ("swizzle_mode", None, 4),
        ("swizzle_atomicity", None, 3),
        ("fill_mode", None, 1),
    ]
)


@given(st.lists(st.tuples(entries, st.integers(0, 2**40)), max_size=12))
def test_replacing_agrees_with_the_layout(changes: list[tuple[tuple[str, int | None, int], int]]) -> None:
    one = np.zeros((2, 32), np.bool_)
    one[0, 0] = True
    warps, fields = Recorder(one), TensorMapFields()
    for (field, ordinal, largest), seed in changes:
        value = seed % (largest + 1)
        i = bound(field=field, ss="shared::cta", addr=lanes(64, np.uint64), ord=ordinal)
        if ordinal is not None:
            tensormap.replace_entry(warps, bound(**vars(i), new_val=lanes(value, np.uint64)))
        elif field in ("global_address", "rank"):
            tensormap.replace(warps, bound(**vars(i), new_val=lanes(value, np.uint64)))
        else:
            tensormap.replace_code(warps, bound(**vars(i), new_val=value))
        fields = fields.replace(field, value, ordinal)
    assert warps.memory[64:192].tobytes() == fields.pack()


def test_a_map_is_copied_whole() -> None:
    one = np.zeros((2, 32), np.bool_)
    one[0, 0] = True
    warps = Recorder(one)
    warps.memory[:128] = np.arange(128)
    tensormap.copy_map(warps, bound(src=lanes(0, np.uint64), dst=lanes(128, np.uint64)))
    assert warps.memory[128:].tolist() == list(range(128))
