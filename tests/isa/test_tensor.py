# ruff: noqa: E501 - opcodes are as long as they are
from __future__ import annotations

import numpy as np
from isa.binding import legality_tests, refusal
from isa.recorder import Recorder, bound, lanes

from warploom.isa.instructions import tensor

LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global"
VOLUME = "cp.async.bulk.tensor.4d.shared::cluster.global"
BYTES = "mbarrier::complete_tx::bytes"
LEGAL = {
    f"{LOAD}.{BYTES} [%r1], [%rd1, {{%r2, %r3}}], [%r4];": "tensor.load",
    f"{LOAD}.tile.{BYTES}.multicast::cluster [%r1], [%rd1, {{%r2, %r3}}], [%r4], %h1;": "tensor.load",
    f"cp.async.bulk.tensor.1d.shared::cta.global.tile.{BYTES}.L2::cache_hint [%r1], [%rd1, {{%r2}}], [%r4], %rd2;": "tensor.load",
    f"cp.async.bulk.tensor.5d.shared::cluster.global.tile.{BYTES} [%r1], [%rd1, {{%r2,%r3,%r4,0,0}}], [%r4];": "tensor.load",
    f"{LOAD}.tile.{BYTES}.cta_group::2 [%r1], [%rd1, {{%r2, %r3}}], [%r4];": "tensor.load",
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r2, %r3}], [%r1];": "tensor.store",
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd1, {%r2, %r3}], [%r1];": "tensor.reduce",
    "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r2, %r3}];": "tensor.prefetch",
    f"{LOAD}.tile::gather4.{BYTES} [%r1], [%rd1, {{%r2,%r3,%r4,%r5,%r6}}], [%r7];": "tensor.gather",
    "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd1, {%r2,%r3,%r4,%r5,%r6}], [%r1];": "tensor.scatter",
    "cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%rd1, {%r2,%r3,%r4,%r5,%r6}];": "tensor.prefetch_rows",
    f"{VOLUME}.im2col.{BYTES}.multicast::cluster [%r1], [%rd1, {{%r2,%r3,%r4,%r5}}], [%r6], {{%h1,%h2}}, %h3;": "tensor.load_im2col",
    f"{VOLUME}.im2col::w::128.{BYTES}.cta_group::2 [%r1], [%rd1, {{%r2,%r3,%r4,%r5}}], [%r6], {{%h1,%h2}};": "tensor.load_im2col",
    "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%rd1, {%r2,%r3,%r4}], [%r1];": "tensor.store_im2col",
    "cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.im2col_no_offs.bulk_group [%rd1, {%r2,%r3,%r4}], [%r1];": "tensor.reduce_im2col",
    "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%rd1, {%r2,%r3,%r4}], {%h1};": "tensor.prefetch_im2col",
}

REFUSED = {
    f"{LOAD}.{BYTES} [%r1], [%rd1, {{%r2}}], [%r4];": "tensor.load/tensorMap",
    f"{LOAD}.{BYTES} [%r1], [%rd1], [%r4];": "tensor.load/tensorMap",
    f"{LOAD}.{BYTES} [%r1], [%rd1, {{%r2, %r3}}], [%r4], %h1;": "tensor.load/ctaMask",
    f"{LOAD}.im2col.{BYTES} [%r1], [%rd1, {{%r2, %r3}}], [%r4], {{%h1}};": "tensor.load_im2col/dim",
    f"{LOAD}.tile::gather4.{BYTES} [%r1], [%rd1, {{%r2, %r3}}], [%r4];": "tensor.gather/tensorMap",
    f"{VOLUME}.tile::gather4.{BYTES} [%r1], [%rd1, {{%r2,%r3,%r4,%r5,%r6}}], [%r7];": "tensor.gather/dim",
    f"{VOLUME}.im2col.{BYTES} [%r1], [%rd1, {{%r2,%r3,%r4,%r5}}], [%r6], {{%h1,%h2,%h3}};": "tensor.load_im2col/im2colInfo",
    f"{VOLUME}.im2col.{BYTES} [%r1], [%rd1, {{%r2,%r3,%r4,%r5}}], [%r6];": "tensor.load_im2col/operands",
    "cp.async.bulk.tensor.3d.global.shared::cta.im2col.bulk_group [%rd1, {%r2,%r3,%r4}], [%r1];": "tensor.store_im2col/im2col_no_offs",
    f"cp.async.bulk.tensor.2d.shared::cta.global.{BYTES}.multicast::cluster [%r1], [%rd1, {{%r2, %r3}}], [%r4], %h1;": "tensor.load/dst",
    "cp.async.bulk.tensor.6d.global.shared::cta.bulk_group [%rd1, {%r2, %r3}], [%r1];": "tensor.store/dim",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


def test_the_number_of_coordinates_is_said() -> None:
    message = refusal(f"{LOAD}.{BYTES} [%r1], [%rd1, {{%r2}}], [%r4];").message
    assert message.endswith("expected an address with 2 coordinates, as in [map, {…}]")


def test_coordinates_are_signed_and_innermost_first() -> None:
    warps = Recorder()
    coordinates = np.stack([lanes(2**32 - 4), lanes(7)])
    where = bound(base=lanes(4096, np.uint64), extra=(coordinates,))
    i = bound(dim="2d", dst="shared::cluster", tensorMap=where, dstMem=lanes(1024, np.uint64))
    i.mbar, i.ctaMask, i.cta_group = lanes(8, np.uint64), None, ""
    request = tensor.load(warps, i)
    assert request.coordinates[:, 0, 0].tolist() == [-4, 7]
    assert (request.direction, request.dimensions, request.completion) == ("load", 2, "mbarrier")
    assert (request.tensor_map == 4096).all()


def test_a_reduction_is_a_store_with_a_word() -> None:
    warps = Recorder()
    where = bound(base=lanes(4096, np.uint64), extra=(np.stack([lanes(0)]),))
    operands = {"dim": "1d", "src": "shared::cta", "tensorMap": where, "srcMem": lanes(1024, np.uint64)}
    requests = tensor.store(warps, bound(**operands)), tensor.store(warps, bound(**operands, redOp="max"))
    assert [request.reduction for request in requests] == ["", "max"]
    assert all(request.direction == "store" for request in requests)
