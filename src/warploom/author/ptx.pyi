# pyright: reportOverlappingOverload=false
"""Made by `warploom-lab pages stubs` from the Forms; do not edit."""

from collections.abc import Sequence
from typing import Any, Literal, overload

from warploom.author.inline import inline as inline
from warploom.author.values import Location, Register, Value


@overload
def abs(a: Value, *, ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op{.ftz}.type  d, a; (PTX ISA 9.7.3.9)"""

@overload
def abs(a: Value, *, ftz: bool = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2'] = ..., out: Any = ...) -> Register:
    """op{.ftz}.type  d, a; (PTX ISA 9.7.4.6)"""

@overload
def abs(a: Value, *, type: Literal['s16', 's32', 's64'] = ..., out: Any = ...) -> Register:
    """op.type  d, a; (PTX ISA 9.7.1.10)"""

def activemask(*, b32: bool = ..., out: Any = ...) -> Register:
    """activemask.b32  d; (PTX ISA 9.7.13.11)"""

@overload
def add(a: Value, b: Value, *, rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., ftz: bool = ..., sat: bool = ..., type: Literal['f32', 'f32x2', 'f64'] = ..., out: Any = ...) -> Register:
    """op{.rnd}{.ftz}{.sat}.type  d, a, b; (PTX ISA 9.7.3.3)"""

@overload
def add(a: Value, b: Value, *, rnd: Literal['rn'] = ..., ftz: bool = ..., sat: bool = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2'] = ..., out: Any = ...) -> Register:
    """op{.rnd}{.ftz}{.sat}.type  d, a, b; (PTX ISA 9.7.4.1)"""

@overload
def add(a: Value, c: Value, *, rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., sat: bool = ..., f32: bool = ..., atype: Literal['bf16', 'f16'] = ..., out: Any = ...) -> Register:
    """op{.rnd}{.sat}.f32.atype  d, a, c; (PTX ISA 9.7.5.1)"""

@overload
def add(a: Value, b: Value, *, sat: bool = ..., type: Literal['s16', 's16x2', 's32', 's64', 'u16', 'u16x2', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op{.sat}.type  d, a, b; (PTX ISA 9.7.1.1)"""

@overload
def add(a: Value, b: Value, *, type: Literal['s8x4', 'u8x4'] = ..., out: Any = ...) -> Register:
    """op.type  d, a, b; (PTX ISA 9.7.1.1)"""

@overload
def add(a: Value, b: Value, *, cc: bool = ..., type: Literal['s32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op{.cc}.type  d, a, b; (PTX ISA 9.7.2.1)"""

def addc(a: Value, b: Value, *, cc: bool = ..., type: Literal['s32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op{.cc}.type  d, a, b; (PTX ISA 9.7.2.1)"""

def alloca(size: Value, immAlign: int = ..., *, type: Literal['u32', 'u64'] = ..., out: Any = ...) -> Register:
    """alloca.type  ptr, size{, immAlign}; (PTX ISA 9.7.17.3)"""

def and_(a: Value, b: Value, *, type: Literal['b16', 'b32', 'b64', 'pred'] = ..., out: Any = ...) -> Register:
    """op.type  d, a, b; (PTX ISA 9.7.8.1)"""

def applypriority(a: Location, size: int, *, global_: bool = ..., L2_evict_normal: bool = ...) -> None:
    """applypriority{.global}.L2::evict_normal  [a], size; (PTX ISA 9.7.9.16)"""

def atom(a: Location, b: Value, c: Value, *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., cas: bool = ..., type: Literal['b128', 'b16', 'b32', 'b64'] = ..., out: Any = ...) -> Register:
    """atom{.sem}{.scope}{.space}.cas.type  d, [a], b, c; (PTX ISA 9.7.13.5)"""

@overload
def atom_add(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b128', 'b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

@overload
def atom_add(a: Location, b: Sequence[Value], cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2', 'f32'] = ..., out: Any = ...) -> Any:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.vec.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

def atom_and(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b128', 'b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

def atom_dec(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b128', 'b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

def atom_exch(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b128', 'b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

def atom_inc(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b128', 'b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

@overload
def atom_max(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b128', 'b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

@overload
def atom_max(a: Location, b: Sequence[Value], cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2', 'f32'] = ..., out: Any = ...) -> Any:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.vec.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

@overload
def atom_min(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b128', 'b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

@overload
def atom_min(a: Location, b: Sequence[Value], cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2', 'f32'] = ..., out: Any = ...) -> Any:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.vec.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

def atom_or(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b128', 'b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

def atom_xor(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['acq_rel', 'acquire', 'relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b128', 'b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """atom{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  d, [a], b{, cache-policy}; (PTX ISA 9.7.13.5)"""

def bar(a: Value, b: Value = ..., *, cta: bool = ..., sync: bool = ..., aligned: bool = ...) -> None:
    """barrier{.cta}.sync{.aligned}  a{, b}; (PTX ISA 9.7.13.1)"""

def bar_arrive(a: Value, b: Value, *, cta: bool = ..., aligned: bool = ...) -> None:
    """barrier{.cta}.arrive{.aligned}  a, b; (PTX ISA 9.7.13.1)"""

def bar_red_and(a: Value, b: Value = ..., c: Register | bool = ..., *, cta: bool = ..., aligned: bool = ..., type: Literal['pred', 'u32'] = ..., out: Any = ...) -> Register:
    """barrier{.cta}.red.op{.aligned}.type  d, a{, b}, {!}c; (PTX ISA 9.7.13.1)"""

def bar_red_or(a: Value, b: Value = ..., c: Register | bool = ..., *, cta: bool = ..., aligned: bool = ..., type: Literal['pred', 'u32'] = ..., out: Any = ...) -> Register:
    """barrier{.cta}.red.op{.aligned}.type  d, a{, b}, {!}c; (PTX ISA 9.7.13.1)"""

def bar_red_popc(a: Value, b: Value = ..., c: Register | bool = ..., *, cta: bool = ..., aligned: bool = ..., type: Literal['pred', 'u32'] = ..., out: Any = ...) -> Register:
    """barrier{.cta}.red.op{.aligned}.type  d, a{, b}, {!}c; (PTX ISA 9.7.13.1)"""

def bar_warp(membermask: Value, *, sync: bool = ...) -> None:
    """bar.warp.sync  membermask; (PTX ISA 9.7.13.2)"""

def barrier(a: Value, b: Value = ..., *, cta: bool = ..., sync: bool = ..., aligned: bool = ...) -> None:
    """barrier{.cta}.sync{.aligned}  a{, b}; (PTX ISA 9.7.13.1)"""

def barrier_arrive(a: Value, b: Value, *, cta: bool = ..., aligned: bool = ...) -> None:
    """barrier{.cta}.arrive{.aligned}  a, b; (PTX ISA 9.7.13.1)"""

def barrier_cluster_arrive(*, sem: Literal['relaxed', 'release'] = ..., aligned: bool = ...) -> None:
    """barrier.cluster.arrive{.sem}{.aligned}; (PTX ISA 9.7.13.3)"""

def barrier_cluster_wait(*, acquire: bool = ..., aligned: bool = ...) -> None:
    """barrier.cluster.wait{.acquire}{.aligned}; (PTX ISA 9.7.13.3)"""

def barrier_red_and(a: Value, b: Value = ..., c: Register | bool = ..., *, cta: bool = ..., aligned: bool = ..., type: Literal['pred', 'u32'] = ..., out: Any = ...) -> Register:
    """barrier{.cta}.red.op{.aligned}.type  d, a{, b}, {!}c; (PTX ISA 9.7.13.1)"""

def barrier_red_or(a: Value, b: Value = ..., c: Register | bool = ..., *, cta: bool = ..., aligned: bool = ..., type: Literal['pred', 'u32'] = ..., out: Any = ...) -> Register:
    """barrier{.cta}.red.op{.aligned}.type  d, a{, b}, {!}c; (PTX ISA 9.7.13.1)"""

def barrier_red_popc(a: Value, b: Value = ..., c: Register | bool = ..., *, cta: bool = ..., aligned: bool = ..., type: Literal['pred', 'u32'] = ..., out: Any = ...) -> Register:
    """barrier{.cta}.red.op{.aligned}.type  d, a{, b}, {!}c; (PTX ISA 9.7.13.1)"""

def bfe(a: Value, b: Value, c: Value, *, type: Literal['s32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """bfe.type  d, a, b, c; (PTX ISA 9.7.1.19)"""

def bfi(a: Value, b: Value, c: Value, d: Value, *, type: Literal['b32', 'b64'] = ..., out: Any = ...) -> Register:
    """bfi.type  f, a, b, c, d; (PTX ISA 9.7.1.20)"""

def bfind(a: Value, *, shiftamt: bool = ..., type: Literal['s32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """bfind{.shiftamt}.type  d, a; (PTX ISA 9.7.1.16)"""

def bmsk_clamp(a: Value, b: Value, *, b32: bool = ..., out: Any = ...) -> Register:
    """bmsk.mode.b32  d, a, b; (PTX ISA 9.7.1.22)"""

def bmsk_wrap(a: Value, b: Value, *, b32: bool = ..., out: Any = ...) -> Register:
    """bmsk.mode.b32  d, a, b; (PTX ISA 9.7.1.22)"""

def bra(tgt: str, *, uni: bool = ...) -> None:
    """bra{.uni}  tgt; (PTX ISA 9.7.12.3)"""

def brev(a: Value, *, type: Literal['b32', 'b64'] = ..., out: Any = ...) -> Register:
    """brev.type  d, a; (PTX ISA 9.7.1.18)"""

def brkpt() -> None:
    """brkpt; (PTX ISA 9.7.19.1)"""

def brx_idx(index: Value, tlist: Value, *, uni: bool = ...) -> None:
    """brx.idx{.uni}  index, tlist; (PTX ISA 9.7.12.4)"""

def call(ret_param: Value = ..., func: Value = ..., param_list: Value = ..., targets: Value = ..., *, uni: bool = ..., out: Any = ...) -> Register:
    """call{.uni}  {(ret-param),} func{, (param-list)}{, targets}; (PTX ISA 9.7.12.5)"""

@overload
def clusterlaunchcontrol_query_cancel(response: Value, *, query: Literal['is_canceled'] = ..., pred: bool = ..., type: Literal['b128'] = ..., out: Any = ...) -> Register:
    """clusterlaunchcontrol.query_cancel.query.pred.type  p, response; (PTX ISA 9.7.13.18.2)"""

@overload
def clusterlaunchcontrol_query_cancel(response: Value, *, query: Literal['get_first_ctaid'] = ..., vec: Literal['v4'] = ..., b32: bool = ..., type: Literal['b128'] = ..., out: Any = ...) -> Any:
    """clusterlaunchcontrol.query_cancel.query.vec.b32.type  d, response; (PTX ISA 9.7.13.18.2)"""

@overload
def clusterlaunchcontrol_query_cancel(response: Value, *, query: Literal['get_first_ctaid::x', 'get_first_ctaid::y', 'get_first_ctaid::z'] = ..., b32: bool = ..., type: Literal['b128'] = ..., out: Any = ...) -> Register:
    """clusterlaunchcontrol.query_cancel.query.b32.type  d, response; (PTX ISA 9.7.13.18.2)"""

def clusterlaunchcontrol_try_cancel_async(addr: Location, mbar: Location, *, space: Literal['shared::cta'] = ..., mbarrier_complete_tx_bytes: bool = ..., multicast: Literal['multicast::cluster::all'] = ..., b128: bool = ...) -> None:
    """clusterlaunchcontrol.try_cancel.async{.space}.mbarrier::complete_tx::bytes{.multicast}.b128  [addr], [mbar]; (PTX ISA 9.7.13.18.1)"""

def clz(a: Value, *, type: Literal['b32', 'b64'] = ..., out: Any = ...) -> Register:
    """op.type  d, a; (PTX ISA 9.7.1.14)"""

def cnot(a: Value, *, type: Literal['b16', 'b32', 'b64', 'pred'] = ..., out: Any = ...) -> Register:
    """op.type  d, a; (PTX ISA 9.7.8.4, 9.7.8.5)"""

def copysign(a: Value, b: Value, *, type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """copysign.type  d, a, b; (PTX ISA 9.7.3.2)"""

def cos(a: Value, *, approx: bool = ..., ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op.approx{.ftz}.type  d, a; (PTX ISA 9.7.3.21)"""

def cp_async(dst: Location, src: Location, cp_size: int, src_size: Value = ..., cache_policy: Value = ..., *, cop: Literal['ca', 'cg'] = ..., shared_space: Literal['shared', 'shared::cta'] = ..., global_: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., level_prefetch_size: Literal['L2::128B', 'L2::256B', 'L2::64B'] = ...) -> None:
    """cp.async.cop.shared_space.global{.level::cache_hint}{.level::prefetch_size}  [dst], [src], cp-size{, src-size}{, cache-policy}; (PTX ISA 9.7.9.25.3.1)"""

@overload
def cp_async_bulk(dstMem: Location, srcMem: Location, size: Value, mbar: Location, ctaMask: Value = ..., cache_policy: Value = ..., *, dst: Literal['shared::cluster', 'shared::cta'] = ..., global_: bool = ..., mbarrier_complete_tx_bytes: bool = ..., multicast: Literal['multicast::cluster'] = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.async.bulk.dst.global.mbarrier::complete_tx::bytes{.multicast}{.level::cache_hint}  [dstMem], [srcMem], size, [mbar]{, ctaMask}{, cache-policy}; (PTX ISA 9.7.9.25.5.2)"""

@overload
def cp_async_bulk(dstMem: Location, srcMem: Location, size: Value, ignoreBytesLeft: Value, ignoreBytesRight: Value, mbar: Location, cache_policy: Value = ..., *, shared_cta: bool = ..., global_: bool = ..., mbarrier_complete_tx_bytes: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., ignore_oob: bool = ...) -> None:
    """cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.level::cache_hint}.ignore_oob  [dstMem], [srcMem], size, ignoreBytesLeft, ignoreBytesRight, [mbar]{, cache-policy}; (PTX ISA 9.7.9.25.5.2)"""

@overload
def cp_async_bulk(dstMem: Location, srcMem: Location, size: Value, mbar: Location, *, dst: Literal['shared::cluster'] = ..., shared_cta: bool = ..., mbarrier_complete_tx_bytes: bool = ...) -> None:
    """cp.async.bulk.dst.shared::cta.mbarrier::complete_tx::bytes  [dstMem], [srcMem], size, [mbar]; (PTX ISA 9.7.9.25.5.2)"""

@overload
def cp_async_bulk(dstMem: Location, srcMem: Location, size: Value, cache_policy: Value = ..., byteMask: Value = ..., *, global_: bool = ..., shared_cta: bool = ..., bulk_group: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., cp_mask: bool = ...) -> None:
    """cp.async.bulk.global.shared::cta.bulk_group{.level::cache_hint}{.cp_mask}  [dstMem], [srcMem], size{, cache-policy}{, byteMask}; (PTX ISA 9.7.9.25.5.2)"""

def cp_async_bulk_commit_group() -> None:
    """cp.async.bulk.commit_group; (PTX ISA 9.7.9.25.5.5)"""

def cp_async_bulk_prefetch(srcMem: Location, size: Value, cache_policy: Value = ..., *, L2: bool = ..., global_: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.async.bulk.prefetch.L2.global{.level::cache_hint}  [srcMem], size{, cache-policy}; (PTX ISA 9.7.9.25.5.4)"""

@overload
def cp_async_bulk_prefetch_tensor(tensorMap: Location, cache_policy: Value = ..., *, dim: Literal['1d', '2d', '3d', '4d', '5d'] = ..., L2: bool = ..., global_: bool = ..., tile: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.level::cache_hint}  [tensorMap, tensorCoords]{, cache-policy}; (PTX ISA 9.7.9.27.1.4)"""

@overload
def cp_async_bulk_prefetch_tensor(tensorMap: Location, cache_policy: Value = ..., *, dim: Literal['2d'] = ..., L2: bool = ..., global_: bool = ..., tile_gather4: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.async.bulk.prefetch.tensor.dim.L2.global.tile::gather4{.level::cache_hint}  [tensorMap, tensorCoords]{, cache-policy}; (PTX ISA 9.7.9.27.1.4)"""

@overload
def cp_async_bulk_prefetch_tensor(tensorMap: Location, im2colInfo: Sequence[Value], cache_policy: Value = ..., *, dim: Literal['3d', '4d', '5d'] = ..., L2: bool = ..., global_: bool = ..., load_mode: Literal['im2col', 'im2col::w', 'im2col::w::128'] = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.async.bulk.prefetch.tensor.dim.L2.global.load_mode{.level::cache_hint}  [tensorMap, tensorCoords], im2colInfo{, cache-policy}; (PTX ISA 9.7.9.27.1.4)"""

@overload
def cp_async_bulk_tensor(dstMem: Location, tensorMap: Location, mbar: Location, ctaMask: Value = ..., cache_policy: Value = ..., *, dim: Literal['1d', '2d', '3d', '4d', '5d'] = ..., dst: Literal['shared::cluster', 'shared::cta'] = ..., global_: bool = ..., tile: bool = ..., mbarrier_complete_tx_bytes: bool = ..., multicast: Literal['multicast::cluster'] = ..., cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.async.bulk.tensor.dim.dst.global{.tile}.mbarrier::complete_tx::bytes{.multicast}{.cta_group}{.level::cache_hint}  [dstMem], [tensorMap, tensorCoords], [mbar]{, ctaMask}{, cache-policy}; (PTX ISA 9.7.9.27.1.2)"""

@overload
def cp_async_bulk_tensor(tensorMap: Location, srcMem: Location, cache_policy: Value = ..., *, dim: Literal['1d', '2d', '3d', '4d', '5d'] = ..., global_: bool = ..., src: Literal['shared::cta'] = ..., tile: bool = ..., bulk_group: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.async.bulk.tensor.dim.global.src{.tile}.bulk_group{.level::cache_hint}  [tensorMap, tensorCoords], [srcMem]{, cache-policy}; (PTX ISA 9.7.9.27.1.2)"""

@overload
def cp_async_bulk_tensor(dstMem: Location, tensorMap: Location, mbar: Location, ctaMask: Value = ..., cache_policy: Value = ..., *, dim: Literal['2d'] = ..., dst: Literal['shared::cluster', 'shared::cta'] = ..., global_: bool = ..., tile_gather4: bool = ..., mbarrier_complete_tx_bytes: bool = ..., multicast: Literal['multicast::cluster'] = ..., cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.async.bulk.tensor.dim.dst.global.tile::gather4.mbarrier::complete_tx::bytes{.multicast}{.cta_group}{.level::cache_hint}  [dstMem], [tensorMap, tensorCoords], [mbar]{, ctaMask}{, cache-policy}; (PTX ISA 9.7.9.27.1.2)"""

@overload
def cp_async_bulk_tensor(tensorMap: Location, srcMem: Location, cache_policy: Value = ..., *, dim: Literal['2d'] = ..., global_: bool = ..., src: Literal['shared::cta'] = ..., tile_scatter4: bool = ..., bulk_group: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.async.bulk.tensor.dim.global.src.tile::scatter4.bulk_group{.level::cache_hint}  [tensorMap, tensorCoords], [srcMem]{, cache-policy}; (PTX ISA 9.7.9.27.1.2)"""

@overload
def cp_async_bulk_tensor(dstMem: Location, tensorMap: Location, mbar: Location, im2colInfo: Sequence[Value], ctaMask: Value = ..., cache_policy: Value = ..., *, dim: Literal['3d', '4d', '5d'] = ..., dst: Literal['shared::cluster', 'shared::cta'] = ..., global_: bool = ..., load_mode: Literal['im2col', 'im2col::w', 'im2col::w::128'] = ..., mbarrier_complete_tx_bytes: bool = ..., multicast: Literal['multicast::cluster'] = ..., cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.async.bulk.tensor.dim.dst.global.load_mode.mbarrier::complete_tx::bytes{.multicast}{.cta_group}{.level::cache_hint}  [dstMem], [tensorMap, tensorCoords], [mbar], im2colInfo{, ctaMask}{, cache-policy}; (PTX ISA 9.7.9.27.1.2)"""

@overload
def cp_async_bulk_tensor(tensorMap: Location, srcMem: Location, cache_policy: Value = ..., *, dim: Literal['3d', '4d', '5d'] = ..., global_: bool = ..., src: Literal['shared::cta'] = ..., im2col_no_offs: bool = ..., bulk_group: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.async.bulk.tensor.dim.global.src.im2col_no_offs.bulk_group{.level::cache_hint}  [tensorMap, tensorCoords], [srcMem]{, cache-policy}; (PTX ISA 9.7.9.27.1.2)"""

def cp_async_bulk_wait_group(N: int, *, read: bool = ...) -> None:
    """cp.async.bulk.wait_group{.read}  N; (PTX ISA 9.7.9.25.5.6)"""

def cp_async_commit_group() -> None:
    """cp.async.commit_group; (PTX ISA 9.7.9.25.3.2)"""

def cp_async_mbarrier_arrive(addr: Location, *, noinc: bool = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ...) -> None:
    """cp.async.mbarrier.arrive{.noinc}{.space}.b64  [addr]; (PTX ISA 9.7.13.15.14)"""

def cp_async_wait_all() -> None:
    """cp.async.wait_all; (PTX ISA 9.7.9.25.3.3)"""

def cp_async_wait_group(N: int) -> None:
    """cp.async.wait_group  N; (PTX ISA 9.7.9.25.3.3)"""

@overload
def cp_reduce_async_bulk(dstMem: Location, srcMem: Location, size: Value, mbar: Location, *, dst: Literal['shared::cluster'] = ..., shared_cta: bool = ..., mbarrier_complete_tx_bytes: bool = ..., redOp: Literal['add', 'and', 'dec', 'inc', 'max', 'min', 'or', 'xor'] = ..., type: Literal['b32', 's32', 'u32', 'u64'] = ...) -> None:
    """cp.reduce.async.bulk.dst.shared::cta.mbarrier::complete_tx::bytes.redOp.type  [dstMem], [srcMem], size, [mbar]; (PTX ISA 9.7.9.25.5.3)"""

@overload
def cp_reduce_async_bulk(dstMem: Location, srcMem: Location, size: Value, cache_policy: Value = ..., *, global_: bool = ..., shared_cta: bool = ..., bulk_group: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., redOp: Literal['add', 'and', 'dec', 'inc', 'max', 'min', 'or', 'xor'] = ..., noftz: bool = ..., type: Literal['b32', 'b64', 'bf16', 'f16', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """cp.reduce.async.bulk.global.shared::cta.bulk_group{.level::cache_hint}.redOp{.noftz}.type  [dstMem], [srcMem], size{, cache-policy}; (PTX ISA 9.7.9.25.5.3)"""

@overload
def cp_reduce_async_bulk_tensor(tensorMap: Location, srcMem: Location, cache_policy: Value = ..., *, dim: Literal['1d', '2d', '3d', '4d', '5d'] = ..., global_: bool = ..., src: Literal['shared::cta'] = ..., redOp: Literal['add', 'and', 'dec', 'inc', 'max', 'min', 'or', 'xor'] = ..., tile: bool = ..., bulk_group: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.reduce.async.bulk.tensor.dim.global.src.redOp{.tile}.bulk_group{.level::cache_hint}  [tensorMap, tensorCoords], [srcMem]{, cache-policy}; (PTX ISA 9.7.9.27.1.3)"""

@overload
def cp_reduce_async_bulk_tensor(tensorMap: Location, srcMem: Location, cache_policy: Value = ..., *, dim: Literal['3d', '4d', '5d'] = ..., global_: bool = ..., src: Literal['shared::cta'] = ..., redOp: Literal['add', 'and', 'dec', 'inc', 'max', 'min', 'or', 'xor'] = ..., im2col_no_offs: bool = ..., bulk_group: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ...) -> None:
    """cp.reduce.async.bulk.tensor.dim.global.src.redOp.im2col_no_offs.bulk_group{.level::cache_hint}  [tensorMap, tensorCoords], [srcMem]{, cache-policy}; (PTX ISA 9.7.9.27.1.3)"""

def createpolicy_cvt(access_property: Value, *, L2: bool = ..., b64: bool = ..., out: Any = ...) -> Register:
    """createpolicy.cvt.L2.b64  d, access-property; (PTX ISA 9.7.9.18)"""

def createpolicy_fractional(fraction: Value = ..., *, primary_priority: Literal['L2::evict_first', 'L2::evict_last', 'L2::evict_normal', 'L2::evict_unchanged'] = ..., secondary_priority: Literal['L2::evict_first', 'L2::evict_unchanged'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """createpolicy.fractional.primary_priority{.secondary_priority}.b64  d{, fraction}; (PTX ISA 9.7.9.18)"""

def createpolicy_range(a: Location, primary_size: Value, total_size: Value, *, global_: bool = ..., primary_priority: Literal['L2::evict_first', 'L2::evict_last', 'L2::evict_normal', 'L2::evict_unchanged'] = ..., secondary_priority: Literal['L2::evict_first', 'L2::evict_unchanged'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """createpolicy.range{.global}.primary_priority{.secondary_priority}.b64  d, [a], primary-size, total-size; (PTX ISA 9.7.9.18)"""

@overload
def cvt(a: Value, *, sat: bool = ..., dtype: Literal['s16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ..., atype: Literal['s16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ..., out: Any = ...) -> Register:
    """cvt{.sat}.dtype.atype  d, a; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Value, *, rnd: Literal['rm', 'rmi', 'rn', 'rni', 'rp', 'rpi', 'rz', 'rzi'] = ..., ftz: bool = ..., sat: bool = ..., dtype: Literal['bf16', 'f16', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ..., atype: Literal['bf16', 'f16', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ..., out: Any = ...) -> Register:
    """cvt{.rnd}{.ftz}{.sat}.dtype.atype  d, a; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Value, *, rnd: Literal['rn', 'rz'] = ..., relu: bool = ..., satfinite: bool = ..., dtype: Literal['bf16', 'f16'] = ..., f32: bool = ..., out: Any = ...) -> Register:
    """cvt.rnd{.relu}{.satfinite}.dtype.f32  d, a; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Value, b: Value, *, rnd: Literal['rn', 'rz'] = ..., relu: bool = ..., satfinite: bool = ..., dtype: Literal['bf16x2', 'f16x2'] = ..., f32: bool = ..., out: Any = ...) -> Register:
    """cvt.rnd{.relu}{.satfinite}.dtype.f32  d, a, b; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Value, b: Value, rbits: Value, *, rs: bool = ..., relu: bool = ..., satfinite: bool = ..., dtype: Literal['bf16x2', 'f16x2'] = ..., f32: bool = ..., out: Any = ...) -> Register:
    """cvt.rs{.relu}{.satfinite}.dtype.f32  d, a, b, rbits; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Value, *, rnd: Literal['rn', 'rna', 'rz'] = ..., satfinite: bool = ..., relu: bool = ..., tf32: bool = ..., f32: bool = ..., out: Any = ...) -> Register:
    """cvt.rnd{.satfinite}{.relu}.tf32.f32  d, a; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Value, b: Value, *, rnd: Literal['rn', 'rp', 'rz'] = ..., satfinite: bool = ..., relu: bool = ..., dtype: Literal['e2m1x2', 'e2m3x2', 'e3m2x2', 'e4m3x2', 'e5m2x2', 'ue8m0x2'] = ..., f32: bool = ..., out: Any = ...) -> Register:
    """cvt.rnd{.satfinite}{.relu}.dtype.f32  d, a, b; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Value, *, rnd: Literal['rn', 'rp', 'rz'] = ..., satfinite: bool = ..., relu: bool = ..., dtype: Literal['e2m1x2', 'e2m3x2', 'e3m2x2', 'e4m3x2', 'e5m2x2', 'ue8m0x2'] = ..., atype: Literal['bf16x2', 'f16x2'] = ..., out: Any = ...) -> Register:
    """cvt.rnd{.satfinite}{.relu}.dtype.atype  d, a; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Sequence[Value], rbits: Value, *, rs: bool = ..., relu: bool = ..., satfinite: bool = ..., dtype: Literal['e2m1x4', 'e2m3x4', 'e3m2x4', 'e4m3x4', 'e5m2x4'] = ..., f32: bool = ..., out: Any = ...) -> Register:
    """cvt.rs{.relu}.satfinite.dtype.f32  d, a, rbits; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Value, b: Value, scale_factor: Value = ..., *, rn: bool = ..., satfinite: bool = ..., scaling: Literal['scaled::n2::ue8m0'] = ..., relu: bool = ..., s2f6x2: bool = ..., f32: bool = ..., out: Any = ...) -> Register:
    """cvt.rn.satfinite{.scaling}{.relu}.s2f6x2.f32  d, a, b{, scale-factor}; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Value, scale_factor: Value = ..., *, rn: bool = ..., satfinite: bool = ..., scaling: Literal['scaled::n2::ue8m0'] = ..., relu: bool = ..., s2f6x2: bool = ..., bf16x2: bool = ..., out: Any = ...) -> Register:
    """cvt.rn.satfinite{.scaling}{.relu}.s2f6x2.bf16x2  d, a{, scale-factor}; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Value, scale_factor: Value = ..., *, rn: bool = ..., satfinite: bool = ..., scaling: Literal['scaled::n2::ue8m0'] = ..., relu: bool = ..., bf16x2: bool = ..., s2f6x2: bool = ..., out: Any = ...) -> Register:
    """cvt.rn{.satfinite}{.scaling}{.relu}.bf16x2.s2f6x2  d, a{, scale-factor}; (PTX ISA 9.7.9.21)"""

@overload
def cvt(a: Value, *, rn: bool = ..., relu: bool = ..., dtype: Literal['bf16x2', 'f16x2'] = ..., atype: Literal['e2m1x2', 'e2m3x2', 'e3m2x2', 'e4m3x2', 'e5m2x2', 'ue8m0x2'] = ..., out: Any = ...) -> Register:
    """cvt.rn{.relu}.dtype.atype  d, a; (PTX ISA 9.7.9.21)"""

@overload
def cvt_pack(a: Value, b: Value, *, sat: bool = ..., dtype: Literal['s16', 'u16'] = ..., s32: bool = ..., out: Any = ...) -> Register:
    """cvt.pack.sat.dtype.s32  d, a, b; (PTX ISA 9.7.9.22)"""

@overload
def cvt_pack(a: Value, b: Value, c: Value, *, sat: bool = ..., dtype: Literal['s2', 's4', 's8', 'u2', 'u4', 'u8'] = ..., s32: bool = ..., b32: bool = ..., out: Any = ...) -> Register:
    """cvt.pack.sat.dtype.s32.b32  d, a, b, c; (PTX ISA 9.7.9.22)"""

def cvta(a: Value, *, space: Literal['const', 'global', 'local', 'param', 'param::entry', 'shared', 'shared::cluster', 'shared::cta'] = ..., size: Literal['u32', 'u64'] = ..., out: Any = ...) -> Register:
    """cvta.space.size  p, a; (PTX ISA 9.7.9.20)"""

def cvta_to(a: Value, *, space: Literal['const', 'global', 'local', 'param', 'param::entry', 'shared', 'shared::cluster', 'shared::cta'] = ..., size: Literal['u32', 'u64'] = ..., out: Any = ...) -> Register:
    """cvta.to.space.size  p, a; (PTX ISA 9.7.9.20)"""

def discard(a: Location, size: int, *, global_: bool = ..., L2: bool = ...) -> None:
    """discard{.global}.L2  [a], size; (PTX ISA 9.7.9.17)"""

@overload
def div(a: Value, b: Value, *, approx: bool = ..., ftz: bool = ..., f32: bool = ..., out: Any = ...) -> Register:
    """div.approx{.ftz}.f32  d, a, b; (PTX ISA 9.7.3.8)"""

@overload
def div(a: Value, b: Value, *, rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """div.rnd{.ftz}.type  d, a, b; (PTX ISA 9.7.3.8)"""

@overload
def div(a: Value, b: Value, *, type: Literal['s16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op.type  d, a, b; (PTX ISA 9.7.1.8)"""

def div_full(a: Value, b: Value, *, ftz: bool = ..., f32: bool = ..., out: Any = ...) -> Register:
    """div.full{.ftz}.f32  d, a, b; (PTX ISA 9.7.3.8)"""

def dp2a_hi(a: Value, b: Value, c: Value, *, atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., out: Any = ...) -> Register:
    """dp2a.mode.atype.btype  d, a, b, c; (PTX ISA 9.7.1.24)"""

def dp2a_lo(a: Value, b: Value, c: Value, *, atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., out: Any = ...) -> Register:
    """dp2a.mode.atype.btype  d, a, b, c; (PTX ISA 9.7.1.24)"""

def dp4a(a: Value, b: Value, c: Value, *, atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., out: Any = ...) -> Register:
    """dp4a.atype.btype  d, a, b, c; (PTX ISA 9.7.1.23)"""

def elect(membermask: Value, *, sync: bool = ..., out: Any = ...) -> Any:
    """elect.sync  d|p, membermask; (PTX ISA 9.7.13.14)"""

@overload
def ex2(a: Value, *, approx: bool = ..., ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op.approx{.ftz}.type  d, a; (PTX ISA 9.7.3.21)"""

@overload
def ex2(a: Value, *, approx: bool = ..., ftz: bool = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2'] = ..., out: Any = ...) -> Register:
    """op.approx{.ftz}.type  d, a; (PTX ISA 9.7.4.10)"""

def exit() -> None:
    """exit; (PTX ISA 9.7.12.7)"""

@overload
def fence(*, sem: Literal['acq_rel', 'acquire', 'release', 'sc'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ...) -> None:
    """fence{.sem}.scope; (PTX ISA 9.7.13.4)"""

@overload
def fence(*, op_restrict: Literal['mbarrier_init'] = ..., sem: Literal['acquire', 'release'] = ..., sync_restrict: Literal['sync_restrict::shared::cluster', 'sync_restrict::shared::cta'] = ..., scope: Literal['cluster'] = ...) -> None:
    """fence{.op_restrict}.sem{.sync_restrict}.scope; (PTX ISA 9.7.13.4)"""

@overload
def fence_proxy(*, proxykind: Literal['alias', 'async'] = ..., space: Literal['global', 'shared::cluster', 'shared::cta'] = ...) -> None:
    """fence.proxy.proxykind{.space}; (PTX ISA 9.7.13.4)"""

@overload
def fence_proxy(*, to_proxykind_from_proxykind: Literal['async::generic', 'tensormap::generic'] = ..., sem: Literal['acquire', 'release'] = ..., sync_restrict: Literal['sync_restrict::shared::cluster', 'sync_restrict::shared::cta'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ...) -> None:
    """fence.proxy.to_proxykind::from_proxykind.sem{.sync_restrict}.scope; (PTX ISA 9.7.13.4)"""

@overload
def fence_proxy(addr: Location, size: int, *, tensormap_generic: bool = ..., acquire: bool = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ...) -> None:
    """fence.proxy.tensormap::generic.acquire.scope  [addr], size; (PTX ISA 9.7.13.4)"""

@overload
def fma(a: Value, b: Value, c: Value, *, rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., ftz: bool = ..., sat: bool = ..., type: Literal['f32', 'f32x2', 'f64'] = ..., out: Any = ...) -> Register:
    """op{.rnd}{.ftz}{.sat}.type  d, a, b, c; (PTX ISA 9.7.3.6)"""

@overload
def fma(a: Value, b: Value, c: Value, *, rn: bool = ..., ftz: bool = ..., sat: bool = ..., relu: bool = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2'] = ..., out: Any = ...) -> Register:
    """fma.rn{.ftz}{.sat}{.relu}.type  d, a, b, c; (PTX ISA 9.7.4.4)"""

@overload
def fma(a: Value, b: Value, c: Value, *, rn: bool = ..., oob: bool = ..., relu: bool = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2'] = ..., out: Any = ...) -> Register:
    """fma.rn.oob{.relu}.type  d, a, b, c; (PTX ISA 9.7.4.4)"""

@overload
def fma(a: Value, b: Value, c: Value, *, rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., sat: bool = ..., f32: bool = ..., abtype: Literal['bf16', 'f16'] = ..., out: Any = ...) -> Register:
    """fma.rnd{.sat}.f32.abtype  d, a, b, c; (PTX ISA 9.7.5.3)"""

def fns(mask: Value, base: Value, offset: Value, *, b32: bool = ..., out: Any = ...) -> Register:
    """fns.b32  d, mask, base, offset; (PTX ISA 9.7.1.17)"""

def getctarank(a: Value, *, space: Literal['shared::cluster'] = ..., type: Literal['u32', 'u64'] = ..., out: Any = ...) -> Register:
    """getctarank{.space}.type  d, a; (PTX ISA 9.7.9.24)"""

def griddepcontrol_launch_dependents() -> None:
    """griddepcontrol.action; (PTX ISA 9.7.13.13)"""

def griddepcontrol_wait() -> None:
    """griddepcontrol.action; (PTX ISA 9.7.13.13)"""

def isspacep(a: Value, *, space: Literal['const', 'global', 'local', 'param', 'param::entry', 'shared', 'shared::cluster', 'shared::cta'] = ..., out: Any = ...) -> Register:
    """isspacep.space  p, a; (PTX ISA 9.7.9.19)"""

@overload
def ld(a: Location, cache_policy: Value = ..., *, weak: bool = ..., ss: Literal['const', 'global', 'local', 'param', 'param::entry', 'param::func', 'shared', 'shared::cluster', 'shared::cta'] = ..., cop: Literal['ca', 'cg', 'cs', 'cv', 'lu'] = ..., level1_eviction_priority: Literal['L1::evict_first', 'L1::evict_last', 'L1::evict_normal', 'L1::evict_unchanged', 'L1::no_allocate'] = ..., level2_eviction_priority: Literal['L2::evict_first', 'L2::evict_last', 'L2::evict_normal'] = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., level_prefetch_size: Literal['L2::128B', 'L2::256B', 'L2::64B'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b128', 'b16', 'b32', 'b64', 'b8', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ..., out: Any = ...) -> Any:
    """ld{.weak}{.ss}{.cop}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.level::prefetch_size}{.vec}.type  d, [a]{, cache-policy}; (PTX ISA 9.7.9.8)"""

@overload
def ld(a: Location, cache_policy: Value = ..., *, sem: Literal['acquire', 'relaxed'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., level1_eviction_priority: Literal['L1::evict_first', 'L1::evict_last', 'L1::evict_normal', 'L1::evict_unchanged', 'L1::no_allocate'] = ..., level2_eviction_priority: Literal['L2::evict_first', 'L2::evict_last', 'L2::evict_normal'] = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., level_prefetch_size: Literal['L2::128B', 'L2::256B', 'L2::64B'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b128', 'b16', 'b32', 'b64', 'b8', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ..., out: Any = ...) -> Any:
    """ld.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.level::prefetch_size}{.vec}.type  d, [a]{, cache-policy}; (PTX ISA 9.7.9.8)"""

@overload
def ld(a: Location, *, volatile: bool = ..., ss: Literal['global', 'local', 'shared', 'shared::cluster', 'shared::cta'] = ..., level2_eviction_priority: Literal['L2::evict_first', 'L2::evict_last', 'L2::evict_normal'] = ..., level_prefetch_size: Literal['L2::128B', 'L2::256B', 'L2::64B'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b128', 'b16', 'b32', 'b64', 'b8', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ..., out: Any = ...) -> Any:
    """ld.volatile{.ss}{.level2::eviction_priority}{.level::prefetch_size}{.vec}.type  d, [a]; (PTX ISA 9.7.9.8)"""

@overload
def ld(a: Location, *, mmio: bool = ..., sem: Literal['acquire', 'relaxed'] = ..., sys: bool = ..., ss: Literal['global'] = ..., type: Literal['b128', 'b16', 'b32', 'b64', 'b8', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ..., out: Any = ...) -> Register:
    """ld.mmio.sem.sys{.ss}.type  d, [a]; (PTX ISA 9.7.9.8, and answers of ptxas 13.5 on `.acquire`)"""

@overload
def ld(a: Location, cache_policy: Value = ..., *, ss: Literal['global'] = ..., cop: Literal['ca', 'cg', 'cs'] = ..., nc: bool = ..., level1_eviction_priority: Literal['L1::evict_first', 'L1::evict_last', 'L1::evict_normal', 'L1::evict_unchanged', 'L1::no_allocate'] = ..., level2_eviction_priority: Literal['L2::evict_first', 'L2::evict_last', 'L2::evict_normal'] = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., level_prefetch_size: Literal['L2::128B', 'L2::256B', 'L2::64B'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b128', 'b16', 'b32', 'b64', 'b8', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ..., out: Any = ...) -> Any:
    """ld.ss{.cop}.nc{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.level::prefetch_size}{.vec}.type  d, [a]{, cache-policy}; (PTX ISA 9.7.9.9)"""

@overload
def ldmatrix(p: Location, *, sync: bool = ..., aligned: bool = ..., shape: Literal['m16n16', 'm8n8'] = ..., num: Literal['x1', 'x2', 'x4'] = ..., trans: bool = ..., ss: Literal['shared', 'shared::cta'] = ..., type: Literal['b16', 'b8'] = ..., out: Any = ...) -> Any:
    """ldmatrix.sync.aligned.shape.num{.trans}{.ss}.type  r, [p]; (PTX ISA 9.7.14.5.15)"""

@overload
def ldmatrix(p: Location, *, sync: bool = ..., aligned: bool = ..., shape: Literal['m16n16', 'm8n16'] = ..., num: Literal['x1', 'x2', 'x4'] = ..., trans: bool = ..., ss: Literal['shared', 'shared::cta'] = ..., dst_fmt: Literal['b8x16'] = ..., src_fmt: Literal['b4x16_p64', 'b6x16_p32'] = ..., out: Any = ...) -> Any:
    """ldmatrix.sync.aligned.shape.num{.trans}{.ss}.dst_fmt.src_fmt  r, [p]; (PTX ISA 9.7.14.5.15)"""

def ldu(a: Location, *, ss: Literal['global'] = ..., vec: Literal['v2', 'v4'] = ..., type: Literal['b128', 'b16', 'b32', 'b64', 'b8', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ..., out: Any = ...) -> Any:
    """ldu{.ss}{.vec}.type  d, [a]; (PTX ISA 9.7.9.10)"""

def lg2(a: Value, *, approx: bool = ..., ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op.approx{.ftz}.type  d, a; (PTX ISA 9.7.3.21)"""

@overload
def lop3(a: Value, b: Value, c: Value, immLut: int, *, b32: bool = ..., out: Any = ...) -> Register:
    """lop3.b32  d, a, b, c, immLut; (PTX ISA 9.7.8.6)"""

@overload
def lop3(a: Value, b: Value, c: Value, immLut: int, q: Register | bool, *, BoolOp: Literal['and', 'or'] = ..., b32: bool = ..., out: Any = ...) -> Any:
    """lop3.BoolOp.b32  d|p, a, b, c, immLut, {!}q; (PTX ISA 9.7.8.6)"""

def mad(a: Value, b: Value, c: Value, *, rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., ftz: bool = ..., sat: bool = ..., type: Literal['f32', 'f32x2', 'f64'] = ..., out: Any = ...) -> Register:
    """op{.rnd}{.ftz}{.sat}.type  d, a, b, c; (PTX ISA 9.7.3.6)"""

def mad24_hi(a: Value, b: Value, c: Value, *, sat: bool = ..., type: Literal['s32', 'u32'] = ..., out: Any = ...) -> Register:
    """mad24.mode{.sat}.type  d, a, b, c; (PTX ISA 9.7.1.6)"""

def mad24_lo(a: Value, b: Value, c: Value, *, sat: bool = ..., type: Literal['s32', 'u32'] = ..., out: Any = ...) -> Register:
    """mad24.mode{.sat}.type  d, a, b, c; (PTX ISA 9.7.1.6)"""

@overload
def mad_hi(a: Value, b: Value, c: Value, *, sat: bool = ..., type: Literal['s16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """mad.mode{.sat}.type  d, a, b, c; (PTX ISA 9.7.1.4)"""

@overload
def mad_hi(a: Value, b: Value, c: Value, *, cc: bool = ..., type: Literal['s32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op.mode{.cc}.type  d, a, b, c; (PTX ISA 9.7.2.5)"""

@overload
def mad_lo(a: Value, b: Value, c: Value, *, sat: bool = ..., type: Literal['s16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """mad.mode{.sat}.type  d, a, b, c; (PTX ISA 9.7.1.4)"""

@overload
def mad_lo(a: Value, b: Value, c: Value, *, cc: bool = ..., type: Literal['s32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op.mode{.cc}.type  d, a, b, c; (PTX ISA 9.7.2.5)"""

def mad_wide(a: Value, b: Value, c: Value, *, sat: bool = ..., type: Literal['s16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """mad.mode{.sat}.type  d, a, b, c; (PTX ISA 9.7.1.4)"""

def madc_hi(a: Value, b: Value, c: Value, *, cc: bool = ..., type: Literal['s32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op.mode{.cc}.type  d, a, b, c; (PTX ISA 9.7.2.5)"""

def madc_lo(a: Value, b: Value, c: Value, *, cc: bool = ..., type: Literal['s32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op.mode{.cc}.type  d, a, b, c; (PTX ISA 9.7.2.5)"""

def mapa(a: Value, b: Value, *, space: Literal['shared::cluster'] = ..., type: Literal['u32', 'u64'] = ..., out: Any = ...) -> Register:
    """mapa{.space}.type  d, a, b; (PTX ISA 9.7.9.23)"""

@overload
def match(a: Value, membermask: Value, *, any: bool = ..., sync: bool = ..., type: Literal['b32', 'b64'] = ..., out: Any = ...) -> Register:
    """match.any.sync.type  d, a, membermask; (PTX ISA 9.7.13.10)"""

@overload
def match(a: Value, membermask: Value, *, all: bool = ..., sync: bool = ..., type: Literal['b32', 'b64'] = ..., out: Any = ...) -> Register:
    """match.all.sync.type  d{|p}, a, membermask; (PTX ISA 9.7.13.10)"""

@overload
def max(a: Value, b: Value, *, ftz: bool = ..., NaN: bool = ..., xorsign: bool = ..., abs: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op{.ftz}{.NaN}{.xorsign}{.abs}.type  d, a, b; (PTX ISA 9.7.3.11)"""

@overload
def max(a: Value, b: Value, c: Value, *, ftz: bool = ..., NaN: bool = ..., abs: bool = ..., f32: bool = ..., out: Any = ...) -> Register:
    """op{.ftz}{.NaN}{.abs}.f32  d, a, b, c; (PTX ISA 9.7.3.11)"""

@overload
def max(a: Value, b: Value, *, ftz: bool = ..., NaN: bool = ..., xorsign: bool = ..., abs: bool = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2'] = ..., out: Any = ...) -> Register:
    """op{.ftz}{.NaN}{.xorsign}{.abs}.type  d, a, b; (PTX ISA 9.7.4.7)"""

@overload
def max(a: Value, b: Value, *, relu: bool = ..., type: Literal['s16', 's16x2', 's32', 's64', 'u16', 'u16x2', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op{.relu}.type  d, a, b; (PTX ISA 9.7.1.12)"""

@overload
def max(a: Value, b: Value, *, type: Literal['s8x4', 'u8x4'] = ..., out: Any = ...) -> Register:
    """op.type  d, a, b; (PTX ISA 9.7.1.1)"""

@overload
def mbarrier_arrive(addr: Location, *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """mbarrier.op{.sem}{.scope}{.space}.b64  state, [addr]; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive(addr: Location, *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ...) -> None:
    """mbarrier.op{.sem}{.scope}{.space}.b64  _, [addr]; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive(addr: Location, count: Value, *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """mbarrier.op{.sem}{.scope}{.space}.b64  state, [addr], count; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive(addr: Location, count: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared::cluster'] = ..., b64: bool = ...) -> None:
    """mbarrier.op{.sem}{.scope}{.space}.b64  _, [addr]{, count}; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive(addr: Location, count: Value, *, noComplete: bool = ..., sem: Literal['release'] = ..., scope: Literal['cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """mbarrier.op.noComplete{.sem}{.scope}{.space}.b64  state, [addr], count; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive(addr: Location, count: Value, *, noComplete: bool = ..., sem: Literal['release'] = ..., scope: Literal['cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ...) -> None:
    """mbarrier.op.noComplete{.sem}{.scope}{.space}.b64  _, [addr], count; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive_drop(addr: Location, *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """mbarrier.op{.sem}{.scope}{.space}.b64  state, [addr]; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive_drop(addr: Location, *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ...) -> None:
    """mbarrier.op{.sem}{.scope}{.space}.b64  _, [addr]; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive_drop(addr: Location, count: Value, *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """mbarrier.op{.sem}{.scope}{.space}.b64  state, [addr], count; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive_drop(addr: Location, count: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared::cluster'] = ..., b64: bool = ...) -> None:
    """mbarrier.op{.sem}{.scope}{.space}.b64  _, [addr]{, count}; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive_drop(addr: Location, count: Value, *, noComplete: bool = ..., sem: Literal['release'] = ..., scope: Literal['cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """mbarrier.op.noComplete{.sem}{.scope}{.space}.b64  state, [addr], count; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive_drop(addr: Location, count: Value, *, noComplete: bool = ..., sem: Literal['release'] = ..., scope: Literal['cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ...) -> None:
    """mbarrier.op.noComplete{.sem}{.scope}{.space}.b64  _, [addr], count; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive_drop_expect_tx(addr: Location, txCount: Value, *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """mbarrier.op.expect_tx{.sem}{.scope}{.space}.b64  state, [addr], txCount; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive_drop_expect_tx(addr: Location, txCount: Value, *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared::cluster'] = ..., b64: bool = ...) -> None:
    """mbarrier.op.expect_tx{.sem}{.scope}{.space}.b64  _, [addr], txCount; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive_expect_tx(addr: Location, txCount: Value, *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """mbarrier.op.expect_tx{.sem}{.scope}{.space}.b64  state, [addr], txCount; (PTX ISA 9.7.13.15.13)"""

@overload
def mbarrier_arrive_expect_tx(addr: Location, txCount: Value, *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared::cluster'] = ..., b64: bool = ...) -> None:
    """mbarrier.op.expect_tx{.sem}{.scope}{.space}.b64  _, [addr], txCount; (PTX ISA 9.7.13.15.13)"""

def mbarrier_complete_tx(addr: Location, txCount: Value, *, sem: Literal['relaxed'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cluster', 'shared::cta'] = ..., b64: bool = ...) -> None:
    """mbarrier.op{.sem}{.scope}{.space}.b64  [addr], txCount; (PTX ISA 9.7.13.15.11)"""

def mbarrier_expect_tx(addr: Location, txCount: Value, *, sem: Literal['relaxed'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cluster', 'shared::cta'] = ..., b64: bool = ...) -> None:
    """mbarrier.op{.sem}{.scope}{.space}.b64  [addr], txCount; (PTX ISA 9.7.13.15.11)"""

def mbarrier_init(addr: Location, count: Value, *, space: Literal['shared', 'shared::cta'] = ..., b64: bool = ...) -> None:
    """mbarrier.init{.space}.b64  [addr], count; (PTX ISA 9.7.13.15.9)"""

def mbarrier_inval(addr: Location, *, space: Literal['shared', 'shared::cta'] = ..., b64: bool = ...) -> None:
    """mbarrier.inval{.space}.b64  [addr]; (PTX ISA 9.7.13.15.10)"""

def mbarrier_pending_count(state: Value, *, b64: bool = ..., out: Any = ...) -> Register:
    """mbarrier.pending_count.b64  count, state; (PTX ISA 9.7.13.15.17)"""

def mbarrier_test_wait(addr: Location, phase: Value, *, parity: bool = ..., sem: Literal['acquire', 'relaxed'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """mbarrier.op{.parity}{.sem}{.scope}{.space}.b64  waitComplete, [addr], phase; (PTX ISA 9.7.13.15.16)"""

def mbarrier_try_wait(addr: Location, phase: Value, suspendTimeHint: Value = ..., *, parity: bool = ..., sem: Literal['acquire', 'relaxed'] = ..., scope: Literal['cluster', 'cta'] = ..., space: Literal['shared', 'shared::cta'] = ..., b64: bool = ..., out: Any = ...) -> Register:
    """mbarrier.op{.parity}{.sem}{.scope}{.space}.b64  waitComplete, [addr], phase{, suspendTimeHint}; (PTX ISA 9.7.13.15.16)"""

def membar(*, level: Literal['cta', 'gl', 'sys'] = ...) -> None:
    """membar.level; (PTX ISA 9.7.13.4)"""

def membar_proxy(*, proxykind: Literal['alias'] = ...) -> None:
    """membar.proxy.proxykind; (PTX ISA 9.7.13.4)"""

@overload
def min(a: Value, b: Value, *, ftz: bool = ..., NaN: bool = ..., xorsign: bool = ..., abs: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op{.ftz}{.NaN}{.xorsign}{.abs}.type  d, a, b; (PTX ISA 9.7.3.11)"""

@overload
def min(a: Value, b: Value, c: Value, *, ftz: bool = ..., NaN: bool = ..., abs: bool = ..., f32: bool = ..., out: Any = ...) -> Register:
    """op{.ftz}{.NaN}{.abs}.f32  d, a, b, c; (PTX ISA 9.7.3.11)"""

@overload
def min(a: Value, b: Value, *, ftz: bool = ..., NaN: bool = ..., xorsign: bool = ..., abs: bool = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2'] = ..., out: Any = ...) -> Register:
    """op{.ftz}{.NaN}{.xorsign}{.abs}.type  d, a, b; (PTX ISA 9.7.4.7)"""

@overload
def min(a: Value, b: Value, *, relu: bool = ..., type: Literal['s16', 's16x2', 's32', 's64', 'u16', 'u16x2', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op{.relu}.type  d, a, b; (PTX ISA 9.7.1.12)"""

@overload
def min(a: Value, b: Value, *, type: Literal['s8x4', 'u8x4'] = ..., out: Any = ...) -> Register:
    """op.type  d, a, b; (PTX ISA 9.7.1.1)"""

@overload
def mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], *, sync: bool = ..., aligned: bool = ..., shape: Literal['m16n8k16', 'm16n8k8', 'm8n8k4'] = ..., alayout: Literal['col', 'row'] = ..., blayout: Literal['col', 'row'] = ..., dtype: Literal['f16', 'f32'] = ..., atype: Literal['f16'] = ..., btype: Literal['f16'] = ..., ctype: Literal['f16', 'f32'] = ..., out: Any = ...) -> Any:
    """mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype  d, a, b, c; (PTX ISA 9.7.14.5.14)"""

@overload
def mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], *, sync: bool = ..., aligned: bool = ..., shape: Literal['m16n8k16', 'm16n8k32', 'm16n8k4', 'm16n8k8'] = ..., row: bool = ..., col: bool = ..., kind: Literal['kind::f8f6f4'] = ..., dtype: Literal['f16', 'f32'] = ..., atype: Literal['bf16', 'e2m1', 'e2m3', 'e3m2', 'e4m3', 'e5m2', 'tf32'] = ..., btype: Literal['bf16', 'e2m1', 'e2m3', 'e3m2', 'e4m3', 'e5m2', 'tf32'] = ..., ctype: Literal['f16', 'f32'] = ..., out: Any = ...) -> Any:
    """mma.sync.aligned.shape.row.col{.kind}.dtype.atype.btype.ctype  d, a, b, c; (PTX ISA 9.7.14.5.14)"""

@overload
def mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], *, sync: bool = ..., aligned: bool = ..., shape: Literal['m16n8k16', 'm16n8k4', 'm16n8k8', 'm8n8k4'] = ..., row: bool = ..., col: bool = ..., dtype: Literal['f64'] = ..., atype: Literal['f64'] = ..., btype: Literal['f64'] = ..., ctype: Literal['f64'] = ..., rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., out: Any = ...) -> Any:
    """mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype{.rnd}  d, a, b, c; (PTX ISA 9.7.14.5.14)"""

@overload
def mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], *, sync: bool = ..., aligned: bool = ..., shape: Literal['m16n8k16', 'm16n8k32', 'm16n8k64', 'm8n8k16', 'm8n8k32'] = ..., row: bool = ..., col: bool = ..., satfinite: bool = ..., dtype: Literal['s32'] = ..., atype: Literal['s4', 's8', 'u4', 'u8'] = ..., btype: Literal['s4', 's8', 'u4', 'u8'] = ..., ctype: Literal['s32'] = ..., out: Any = ...) -> Any:
    """mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype  d, a, b, c; (PTX ISA 9.7.14.5.14)"""

@overload
def mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], *, sync: bool = ..., aligned: bool = ..., shape: Literal['m16n8k128', 'm16n8k256', 'm8n8k128'] = ..., row: bool = ..., col: bool = ..., dtype: Literal['s32'] = ..., atype: Literal['b1'] = ..., btype: Literal['b1'] = ..., ctype: Literal['s32'] = ..., bitOp: Literal['and', 'xor'] = ..., popc: bool = ..., out: Any = ...) -> Any:
    """mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype.bitOp.popc  d, a, b, c; (PTX ISA 9.7.14.5.14)"""

@overload
def mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], scale_a_data: Value, byte_id_a: Value, scale_b_data: Value, byte_id_b: Value, *, sync: bool = ..., aligned: bool = ..., shape: Literal['m16n8k32', 'm16n8k64'] = ..., row: bool = ..., col: bool = ..., kind: Literal['kind::mxf4', 'kind::mxf4nvf4', 'kind::mxf8f6f4'] = ..., block_scale: bool = ..., scale_vec: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X'] = ..., dtype: Literal['f32'] = ..., atype: Literal['e2m1', 'e2m3', 'e3m2', 'e4m3', 'e5m2'] = ..., btype: Literal['e2m1', 'e2m3', 'e3m2', 'e4m3', 'e5m2'] = ..., ctype: Literal['f32'] = ..., stype: Literal['ue4m3', 'ue8m0'] = ..., out: Any = ...) -> Any:
    """mma.sync.aligned.shape.row.col.kind.block_scale{.scale_vec}.dtype.atype.btype.ctype.stype  d, a, b, c, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b}; (PTX ISA 9.7.14.5.14, 9.7.14.3)"""

@overload
def mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], e: Value, f: int, *, spvariant: Literal['sp', 'sp::ordered_metadata'] = ..., sync: bool = ..., aligned: bool = ..., shape: Literal['m16n8k16', 'm16n8k32', 'm16n8k64', 'm16n8k8'] = ..., row: bool = ..., col: bool = ..., kind: Literal['kind::f8f6f4'] = ..., dtype: Literal['f16', 'f32'] = ..., atype: Literal['bf16', 'e2m1', 'e2m3', 'e3m2', 'e4m3', 'e5m2', 'f16', 'tf32'] = ..., btype: Literal['bf16', 'e2m1', 'e2m3', 'e3m2', 'e4m3', 'e5m2', 'f16', 'tf32'] = ..., ctype: Literal['f16', 'f32'] = ..., out: Any = ...) -> Any:
    """mma.spvariant.sync.aligned.shape.row.col{.kind}.dtype.atype.btype.ctype  d, a, b, c, e, f; (PTX ISA 9.7.14.6.3)"""

@overload
def mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], e: Value, f: int, *, spvariant: Literal['sp', 'sp::ordered_metadata'] = ..., sync: bool = ..., aligned: bool = ..., shape: Literal['m16n8k128', 'm16n8k32', 'm16n8k64'] = ..., row: bool = ..., col: bool = ..., satfinite: bool = ..., dtype: Literal['s32'] = ..., atype: Literal['s4', 's8', 'u4', 'u8'] = ..., btype: Literal['s4', 's8', 'u4', 'u8'] = ..., ctype: Literal['s32'] = ..., out: Any = ...) -> Any:
    """mma.spvariant.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype  d, a, b, c, e, f; (PTX ISA 9.7.14.6.3)"""

@overload
def mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], e: Value, f: int, scale_a_data: Value, byte_id_a: Value, scale_b_data: Value, byte_id_b: Value, *, spvariant: Literal['sp::ordered_metadata'] = ..., sync: bool = ..., aligned: bool = ..., shape: Literal['m16n8k128', 'm16n8k64'] = ..., row: bool = ..., col: bool = ..., kind: Literal['kind::mxf4', 'kind::mxf4nvf4', 'kind::mxf8f6f4'] = ..., block_scale: bool = ..., scale_vec: Literal['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X'] = ..., dtype: Literal['f32'] = ..., atype: Literal['e2m1', 'e2m3', 'e3m2', 'e4m3', 'e5m2'] = ..., btype: Literal['e2m1', 'e2m3', 'e3m2', 'e4m3', 'e5m2'] = ..., ctype: Literal['f32'] = ..., stype: Literal['ue4m3', 'ue8m0'] = ..., out: Any = ...) -> Any:
    """mma.spvariant.sync.aligned.shape.row.col.kind.block_scale{.scale_vec}.dtype.atype.btype.ctype.stype  d, a, b, c, e, f, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b}; (PTX ISA 9.7.14.6.3, 9.7.14.3)"""

@overload
def mov(a: Value, *, type: Literal['b128', 'b16', 'b32', 'b64', 'f32', 'f64', 's16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """mov.type  d, a; (PTX ISA 9.7.9.3)"""

@overload
def mov(a: Register | bool, *, type: Literal['pred'] = ..., out: Any = ...) -> Register:
    """mov.type  d, {!}a; (PTX ISA 9.7.9.3)"""

@overload
def mov(a: Sequence[Value], *, type: Literal['b128', 'b16', 'b32', 'b64'] = ..., out: Any = ...) -> Register:
    """mov.type  d, a; (PTX ISA 9.7.9.4)"""

@overload
def mov(a: Sequence[Value], *, type: Literal['b128', 'b32', 'b64'] = ..., out: Any = ...) -> Register:
    """mov.type  d, a; (PTX ISA 9.7.9.4)"""

@overload
def mov(a: Value, *, type: Literal['b128', 'b16', 'b32', 'b64'] = ..., out: Any = ...) -> Any:
    """mov.type  d, a; (PTX ISA 9.7.9.4)"""

@overload
def mov(a: Value, *, type: Literal['b128', 'b32', 'b64'] = ..., out: Any = ...) -> Any:
    """mov.type  d, a; (PTX ISA 9.7.9.4)"""

def movmatrix(a: Value, *, sync: bool = ..., aligned: bool = ..., shape: Literal['m8n8'] = ..., trans: bool = ..., type: Literal['b16'] = ..., out: Any = ...) -> Register:
    """movmatrix.sync.aligned.shape.trans.type  d, a; (PTX ISA 9.7.14.5.17)"""

@overload
def mul(a: Value, b: Value, *, rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., ftz: bool = ..., sat: bool = ..., type: Literal['f32', 'f32x2', 'f64'] = ..., out: Any = ...) -> Register:
    """op{.rnd}{.ftz}{.sat}.type  d, a, b; (PTX ISA 9.7.3.3)"""

@overload
def mul(a: Value, b: Value, *, rnd: Literal['rn'] = ..., ftz: bool = ..., sat: bool = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2'] = ..., out: Any = ...) -> Register:
    """op{.rnd}{.ftz}{.sat}.type  d, a, b; (PTX ISA 9.7.4.1)"""

def mul24_hi(a: Value, b: Value, *, type: Literal['s32', 'u32'] = ..., out: Any = ...) -> Register:
    """mul24.mode.type  d, a, b; (PTX ISA 9.7.1.5)"""

def mul24_lo(a: Value, b: Value, *, type: Literal['s32', 'u32'] = ..., out: Any = ...) -> Register:
    """mul24.mode.type  d, a, b; (PTX ISA 9.7.1.5)"""

def mul_hi(a: Value, b: Value, *, type: Literal['s16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """mul.mode.type  d, a, b; (PTX ISA 9.7.1.3)"""

def mul_lo(a: Value, b: Value, *, type: Literal['s16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """mul.mode.type  d, a, b; (PTX ISA 9.7.1.3)"""

def mul_wide(a: Value, b: Value, *, type: Literal['s16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """mul.mode.type  d, a, b; (PTX ISA 9.7.1.3)"""

def multimem_cp_async_bulk(dstMem: Location, srcMem: Location, size: Value, byteMask: Value = ..., *, dst: Literal['global'] = ..., src: Literal['shared::cta'] = ..., bulk_group: bool = ..., cp_mask: bool = ...) -> None:
    """multimem.cp.async.bulk.dst.src.bulk_group{.cp_mask}  [dstMem], [srcMem], size{, byteMask}; (PTX ISA 9.7.9.25.7)"""

def multimem_cp_reduce_async_bulk(dstMem: Location, srcMem: Location, size: Value, *, dst: Literal['global'] = ..., src: Literal['shared::cta'] = ..., bulk_group: bool = ..., redOp: Literal['add', 'and', 'dec', 'inc', 'max', 'min', 'or', 'xor'] = ..., noftz: bool = ..., type: Literal['b32', 'b64', 'bf16', 'f16', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """multimem.cp.reduce.async.bulk.dst.src.bulk_group.redOp{.noftz}.type  [dstMem], [srcMem], size; (PTX ISA 9.7.9.25.8)"""

@overload
def multimem_ld_reduce_add(a: Location, *, sem: Literal['acquire', 'relaxed', 'weak'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., type: Literal['b32', 'b64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """multimem.ld_reduce{.sem}{.scope}{.ss}.op.type  d, [a]; (PTX ISA 9.7.9.14)"""

@overload
def multimem_ld_reduce_add(a: Location, *, sem: Literal['acquire', 'relaxed', 'weak'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., acc: Literal['acc::f16', 'acc::f32'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['bf16', 'bf16x2', 'e4m3', 'e4m3x2', 'e4m3x4', 'e5m2', 'e5m2x2', 'e5m2x4', 'f16', 'f16x2', 'f32', 'f64'] = ..., out: Any = ...) -> Any:
    """multimem.ld_reduce{.sem}{.scope}{.ss}.op{.acc}{.vec}.type  d, [a]; (PTX ISA 9.7.9.14)"""

def multimem_ld_reduce_and(a: Location, *, sem: Literal['acquire', 'relaxed', 'weak'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., type: Literal['b32', 'b64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """multimem.ld_reduce{.sem}{.scope}{.ss}.op.type  d, [a]; (PTX ISA 9.7.9.14)"""

@overload
def multimem_ld_reduce_max(a: Location, *, sem: Literal['acquire', 'relaxed', 'weak'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., type: Literal['b32', 'b64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """multimem.ld_reduce{.sem}{.scope}{.ss}.op.type  d, [a]; (PTX ISA 9.7.9.14)"""

@overload
def multimem_ld_reduce_max(a: Location, *, sem: Literal['acquire', 'relaxed', 'weak'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., acc: Literal['acc::f16', 'acc::f32'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['bf16', 'bf16x2', 'e4m3', 'e4m3x2', 'e4m3x4', 'e5m2', 'e5m2x2', 'e5m2x4', 'f16', 'f16x2', 'f32', 'f64'] = ..., out: Any = ...) -> Any:
    """multimem.ld_reduce{.sem}{.scope}{.ss}.op{.acc}{.vec}.type  d, [a]; (PTX ISA 9.7.9.14)"""

@overload
def multimem_ld_reduce_min(a: Location, *, sem: Literal['acquire', 'relaxed', 'weak'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., type: Literal['b32', 'b64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """multimem.ld_reduce{.sem}{.scope}{.ss}.op.type  d, [a]; (PTX ISA 9.7.9.14)"""

@overload
def multimem_ld_reduce_min(a: Location, *, sem: Literal['acquire', 'relaxed', 'weak'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., acc: Literal['acc::f16', 'acc::f32'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['bf16', 'bf16x2', 'e4m3', 'e4m3x2', 'e4m3x4', 'e5m2', 'e5m2x2', 'e5m2x4', 'f16', 'f16x2', 'f32', 'f64'] = ..., out: Any = ...) -> Any:
    """multimem.ld_reduce{.sem}{.scope}{.ss}.op{.acc}{.vec}.type  d, [a]; (PTX ISA 9.7.9.14)"""

def multimem_ld_reduce_or(a: Location, *, sem: Literal['acquire', 'relaxed', 'weak'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., type: Literal['b32', 'b64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """multimem.ld_reduce{.sem}{.scope}{.ss}.op.type  d, [a]; (PTX ISA 9.7.9.14)"""

def multimem_ld_reduce_xor(a: Location, *, sem: Literal['acquire', 'relaxed', 'weak'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., type: Literal['b32', 'b64', 's32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """multimem.ld_reduce{.sem}{.scope}{.ss}.op.type  d, [a]; (PTX ISA 9.7.9.14)"""

def multimem_red_add(a: Location, b: Sequence[Value], *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """multimem.red{.sem}{.scope}{.ss}.op{.vec}.type  [a], b; (PTX ISA 9.7.9.14)"""

def multimem_red_and(a: Location, b: Sequence[Value], *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """multimem.red{.sem}{.scope}{.ss}.op{.vec}.type  [a], b; (PTX ISA 9.7.9.14)"""

def multimem_red_max(a: Location, b: Sequence[Value], *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """multimem.red{.sem}{.scope}{.ss}.op{.vec}.type  [a], b; (PTX ISA 9.7.9.14)"""

def multimem_red_min(a: Location, b: Sequence[Value], *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """multimem.red{.sem}{.scope}{.ss}.op{.vec}.type  [a], b; (PTX ISA 9.7.9.14)"""

def multimem_red_or(a: Location, b: Sequence[Value], *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """multimem.red{.sem}{.scope}{.ss}.op{.vec}.type  [a], b; (PTX ISA 9.7.9.14)"""

def multimem_red_xor(a: Location, b: Sequence[Value], *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """multimem.red{.sem}{.scope}{.ss}.op{.vec}.type  [a], b; (PTX ISA 9.7.9.14)"""

@overload
def multimem_st(a: Location, b: Value, *, sem: Literal['relaxed', 'release', 'weak'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., type: Literal['b32', 'b64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """multimem.st{.sem}{.scope}{.ss}.type  [a], b; (PTX ISA 9.7.9.14)"""

@overload
def multimem_st(a: Location, b: Sequence[Value], *, sem: Literal['relaxed', 'release', 'weak'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['bf16', 'bf16x2', 'e4m3', 'e4m3x2', 'e4m3x4', 'e5m2', 'e5m2x2', 'e5m2x4', 'f16', 'f16x2', 'f32', 'f64'] = ...) -> None:
    """multimem.st{.sem}{.scope}{.ss}{.vec}.type  [a], b; (PTX ISA 9.7.9.14)"""

def nanosleep(t: Value, *, u32: bool = ...) -> None:
    """nanosleep.u32  t; (PTX ISA 9.7.19.2)"""

@overload
def neg(a: Value, *, ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op{.ftz}.type  d, a; (PTX ISA 9.7.3.9)"""

@overload
def neg(a: Value, *, ftz: bool = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2'] = ..., out: Any = ...) -> Register:
    """op{.ftz}.type  d, a; (PTX ISA 9.7.4.6)"""

@overload
def neg(a: Value, *, type: Literal['s16', 's32', 's64'] = ..., out: Any = ...) -> Register:
    """op.type  d, a; (PTX ISA 9.7.1.10)"""

@overload
def neg(a: Value, *, type: Literal['s8x4'] = ..., out: Any = ...) -> Register:
    """neg.type  d, a; (PTX ISA 9.7.1.11)"""

def not_(a: Value, *, type: Literal['b16', 'b32', 'b64', 'pred'] = ..., out: Any = ...) -> Register:
    """op.type  d, a; (PTX ISA 9.7.8.4, 9.7.8.5)"""

def or_(a: Value, b: Value, *, type: Literal['b16', 'b32', 'b64', 'pred'] = ..., out: Any = ...) -> Register:
    """op.type  d, a, b; (PTX ISA 9.7.8.1)"""

def pmevent(a: int, *, mask: bool = ...) -> None:
    """pmevent{.mask}  a; (PTX ISA 9.7.19.3)"""

def popc(a: Value, *, type: Literal['b32', 'b64'] = ..., out: Any = ...) -> Register:
    """op.type  d, a; (PTX ISA 9.7.1.14)"""

def prefetch(a: Location, *, space: Literal['const', 'global', 'local', 'param'] = ..., level: Literal['L1', 'L2', 'L2::evict_last', 'L2::evict_normal', 'tensormap'] = ...) -> None:
    """prefetch{.space}.level  [a]; (PTX ISA 9.7.9.15)"""

def prefetchu(a: Location, *, L1: bool = ...) -> None:
    """prefetchu.L1  [a]; (PTX ISA 9.7.9.15)"""

def prmt(a: Value, b: Value, c: Value, *, b32: bool = ..., mode: Literal['b4e', 'ecl', 'ecr', 'f4e', 'rc16', 'rc8'] = ..., out: Any = ...) -> Register:
    """prmt.b32{.mode}  d, a, b, c; (PTX ISA 9.7.9.7)"""

@overload
def rcp(a: Value, *, approx: bool = ..., ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op.approx{.ftz}.type  d, a; (PTX ISA 9.7.3.21)"""

@overload
def rcp(a: Value, *, approx: bool = ..., ftz: bool = ..., f64: bool = ..., out: Any = ...) -> Register:
    """rcp.approx.ftz.f64  d, a; (PTX ISA 9.7.3.14)"""

@overload
def rcp(a: Value, *, rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op.rnd{.ftz}.type  d, a; (PTX ISA 9.7.3.13)"""

@overload
def red_add(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  [a], b{, cache-policy}; (PTX ISA 9.7.13.6)"""

@overload
def red_add(a: Location, b: Sequence[Value], cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2', 'f32'] = ...) -> None:
    """red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.vec.type  [a], b{, cache-policy}; (PTX ISA 9.7.13.6)"""

def red_and(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  [a], b{, cache-policy}; (PTX ISA 9.7.13.6)"""

@overload
def red_async_add(a: Location, b: Value, mbar: Location, *, relaxed: bool = ..., cluster: bool = ..., ss: Literal['shared::cluster'] = ..., mbarrier_complete_tx_bytes: bool = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar]; (PTX ISA 9.7.13.7)"""

@overload
def red_async_add(a: Location, b: Value, *, mmio: bool = ..., release: bool = ..., scope: Literal['gpu', 'sys'] = ..., space: Literal['global'] = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async{.mmio}.release.scope{.space}.op.type  [a], b; (PTX ISA 9.7.13.7)"""

@overload
def red_async_and(a: Location, b: Value, mbar: Location, *, relaxed: bool = ..., cluster: bool = ..., ss: Literal['shared::cluster'] = ..., mbarrier_complete_tx_bytes: bool = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar]; (PTX ISA 9.7.13.7)"""

@overload
def red_async_and(a: Location, b: Value, *, mmio: bool = ..., release: bool = ..., scope: Literal['gpu', 'sys'] = ..., space: Literal['global'] = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async{.mmio}.release.scope{.space}.op.type  [a], b; (PTX ISA 9.7.13.7)"""

@overload
def red_async_dec(a: Location, b: Value, mbar: Location, *, relaxed: bool = ..., cluster: bool = ..., ss: Literal['shared::cluster'] = ..., mbarrier_complete_tx_bytes: bool = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar]; (PTX ISA 9.7.13.7)"""

@overload
def red_async_dec(a: Location, b: Value, *, mmio: bool = ..., release: bool = ..., scope: Literal['gpu', 'sys'] = ..., space: Literal['global'] = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async{.mmio}.release.scope{.space}.op.type  [a], b; (PTX ISA 9.7.13.7)"""

@overload
def red_async_inc(a: Location, b: Value, mbar: Location, *, relaxed: bool = ..., cluster: bool = ..., ss: Literal['shared::cluster'] = ..., mbarrier_complete_tx_bytes: bool = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar]; (PTX ISA 9.7.13.7)"""

@overload
def red_async_inc(a: Location, b: Value, *, mmio: bool = ..., release: bool = ..., scope: Literal['gpu', 'sys'] = ..., space: Literal['global'] = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async{.mmio}.release.scope{.space}.op.type  [a], b; (PTX ISA 9.7.13.7)"""

@overload
def red_async_max(a: Location, b: Value, mbar: Location, *, relaxed: bool = ..., cluster: bool = ..., ss: Literal['shared::cluster'] = ..., mbarrier_complete_tx_bytes: bool = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar]; (PTX ISA 9.7.13.7)"""

@overload
def red_async_max(a: Location, b: Value, *, mmio: bool = ..., release: bool = ..., scope: Literal['gpu', 'sys'] = ..., space: Literal['global'] = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async{.mmio}.release.scope{.space}.op.type  [a], b; (PTX ISA 9.7.13.7)"""

@overload
def red_async_min(a: Location, b: Value, mbar: Location, *, relaxed: bool = ..., cluster: bool = ..., ss: Literal['shared::cluster'] = ..., mbarrier_complete_tx_bytes: bool = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar]; (PTX ISA 9.7.13.7)"""

@overload
def red_async_min(a: Location, b: Value, *, mmio: bool = ..., release: bool = ..., scope: Literal['gpu', 'sys'] = ..., space: Literal['global'] = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async{.mmio}.release.scope{.space}.op.type  [a], b; (PTX ISA 9.7.13.7)"""

@overload
def red_async_or(a: Location, b: Value, mbar: Location, *, relaxed: bool = ..., cluster: bool = ..., ss: Literal['shared::cluster'] = ..., mbarrier_complete_tx_bytes: bool = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar]; (PTX ISA 9.7.13.7)"""

@overload
def red_async_or(a: Location, b: Value, *, mmio: bool = ..., release: bool = ..., scope: Literal['gpu', 'sys'] = ..., space: Literal['global'] = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async{.mmio}.release.scope{.space}.op.type  [a], b; (PTX ISA 9.7.13.7)"""

@overload
def red_async_xor(a: Location, b: Value, mbar: Location, *, relaxed: bool = ..., cluster: bool = ..., ss: Literal['shared::cluster'] = ..., mbarrier_complete_tx_bytes: bool = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type  [a], b, [mbar]; (PTX ISA 9.7.13.7)"""

@overload
def red_async_xor(a: Location, b: Value, *, mmio: bool = ..., release: bool = ..., scope: Literal['gpu', 'sys'] = ..., space: Literal['global'] = ..., type: Literal['b32', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red.async{.mmio}.release.scope{.space}.op.type  [a], b; (PTX ISA 9.7.13.7)"""

def red_dec(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  [a], b{, cache-policy}; (PTX ISA 9.7.13.6)"""

def red_inc(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  [a], b{, cache-policy}; (PTX ISA 9.7.13.6)"""

@overload
def red_max(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  [a], b{, cache-policy}; (PTX ISA 9.7.13.6)"""

@overload
def red_max(a: Location, b: Sequence[Value], cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2', 'f32'] = ...) -> None:
    """red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.vec.type  [a], b{, cache-policy}; (PTX ISA 9.7.13.6)"""

@overload
def red_min(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  [a], b{, cache-policy}; (PTX ISA 9.7.13.6)"""

@overload
def red_min(a: Location, b: Sequence[Value], cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2', 'f32'] = ...) -> None:
    """red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.vec.type  [a], b{, cache-policy}; (PTX ISA 9.7.13.6)"""

def red_or(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  [a], b{, cache-policy}; (PTX ISA 9.7.13.6)"""

def red_xor(a: Location, b: Value, cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., space: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., noftz: bool = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., type: Literal['b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """red{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}.type  [a], b{, cache-policy}; (PTX ISA 9.7.13.6)"""

def redux_add(a: Value, membermask: Value, *, sync: bool = ..., type: Literal['b32', 's32', 'u32'] = ..., out: Any = ...) -> Register:
    """redux.sync.op.type  d, a, membermask; (PTX ISA 9.7.13.12)"""

def redux_and(a: Value, membermask: Value, *, sync: bool = ..., type: Literal['b32', 's32', 'u32'] = ..., out: Any = ...) -> Register:
    """redux.sync.op.type  d, a, membermask; (PTX ISA 9.7.13.12)"""

@overload
def redux_max(a: Value, membermask: Value, *, sync: bool = ..., type: Literal['b32', 's32', 'u32'] = ..., out: Any = ...) -> Register:
    """redux.sync.op.type  d, a, membermask; (PTX ISA 9.7.13.12)"""

@overload
def redux_max(a: Value, membermask: Value, *, sync: bool = ..., abs: bool = ..., NaN: bool = ..., type: Literal['f32'] = ..., out: Any = ...) -> Register:
    """redux.sync.op{.abs}{.NaN}.type  d, a, membermask; (PTX ISA 9.7.13.12)"""

@overload
def redux_min(a: Value, membermask: Value, *, sync: bool = ..., type: Literal['b32', 's32', 'u32'] = ..., out: Any = ...) -> Register:
    """redux.sync.op.type  d, a, membermask; (PTX ISA 9.7.13.12)"""

@overload
def redux_min(a: Value, membermask: Value, *, sync: bool = ..., abs: bool = ..., NaN: bool = ..., type: Literal['f32'] = ..., out: Any = ...) -> Register:
    """redux.sync.op{.abs}{.NaN}.type  d, a, membermask; (PTX ISA 9.7.13.12)"""

def redux_or(a: Value, membermask: Value, *, sync: bool = ..., type: Literal['b32', 's32', 'u32'] = ..., out: Any = ...) -> Register:
    """redux.sync.op.type  d, a, membermask; (PTX ISA 9.7.13.12)"""

def redux_xor(a: Value, membermask: Value, *, sync: bool = ..., type: Literal['b32', 's32', 'u32'] = ..., out: Any = ...) -> Register:
    """redux.sync.op.type  d, a, membermask; (PTX ISA 9.7.13.12)"""

def rem(a: Value, b: Value, *, type: Literal['s16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op.type  d, a, b; (PTX ISA 9.7.1.8)"""

def ret(*, uni: bool = ...) -> None:
    """ret{.uni}; (PTX ISA 9.7.12.6)"""

def rsqrt(a: Value, *, approx: bool = ..., ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op.approx{.ftz}.type  d, a; (PTX ISA 9.7.3.21)"""

def sad(a: Value, b: Value, c: Value, *, type: Literal['s16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """sad.type  d, a, b, c; (PTX ISA 9.7.1.7)"""

def selp(a: Value, b: Value, c: Register | bool, *, type: Literal['b16', 'b32', 'b64', 'f32', 'f64', 's16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """selp.type  d, a, b, c; (PTX ISA 9.7.6.3)"""

def set(a: Value, b: Value, c: Register | bool = ..., *, CmpOp: Literal['eq', 'equ', 'ge', 'geu', 'gt', 'gtu', 'hi', 'hs', 'le', 'leu', 'lo', 'ls', 'lt', 'ltu', 'nan', 'ne', 'neu', 'num'] = ..., BoolOp: Literal['and', 'or', 'xor'] = ..., ftz: bool = ..., dtype: Literal['bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 's16', 's32', 'u16', 'u32'] = ..., stype: Literal['b16', 'b32', 'b64', 'bf16', 'bf16x2', 'f16', 'f16x2', 'f32', 'f64', 's16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """set.CmpOp{.BoolOp}{.ftz}.dtype.stype  d, a, b{, {!}c}; (PTX ISA 9.7.6.1)"""

def setmaxnreg_dec(imm_reg_count: int, *, sync: bool = ..., aligned: bool = ..., u32: bool = ...) -> None:
    """setmaxnreg.action.sync.aligned.u32  imm-reg-count; (PTX ISA 9.7.19.5)"""

def setmaxnreg_inc(imm_reg_count: int, *, sync: bool = ..., aligned: bool = ..., u32: bool = ...) -> None:
    """setmaxnreg.action.sync.aligned.u32  imm-reg-count; (PTX ISA 9.7.19.5)"""

@overload
def setp(a: Value, b: Value, c: Register | bool = ..., *, CmpOp: Literal['eq', 'equ', 'ge', 'geu', 'gt', 'gtu', 'hi', 'hs', 'le', 'leu', 'lo', 'ls', 'lt', 'ltu', 'nan', 'ne', 'neu', 'num'] = ..., BoolOp: Literal['and', 'or', 'xor'] = ..., ftz: bool = ..., type: Literal['b16', 'b32', 'b64', 'f32', 'f64', 's16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """setp.CmpOp{.BoolOp}{.ftz}.type  p{|q}, a, b{, {!}c}; (PTX ISA 9.7.6.2)"""

@overload
def setp(a: Value, b: Value, c: Register | bool = ..., *, CmpOp: Literal['eq', 'equ', 'ge', 'geu', 'gt', 'gtu', 'le', 'leu', 'lt', 'ltu', 'nan', 'ne', 'neu', 'num'] = ..., BoolOp: Literal['and', 'or', 'xor'] = ..., ftz: bool = ..., type: Literal['bf16', 'f16'] = ..., out: Any = ...) -> Register:
    """setp.CmpOp{.BoolOp}{.ftz}.type  p, a, b{, {!}c}; (PTX ISA 9.7.7.2)"""

@overload
def setp(a: Value, b: Value, c: Register | bool = ..., *, CmpOp: Literal['eq', 'equ', 'ge', 'geu', 'gt', 'gtu', 'le', 'leu', 'lt', 'ltu', 'nan', 'ne', 'neu', 'num'] = ..., BoolOp: Literal['and', 'or', 'xor'] = ..., ftz: bool = ..., type: Literal['bf16x2', 'f16x2'] = ..., out: Any = ...) -> Any:
    """setp.CmpOp{.BoolOp}{.ftz}.type  p|q, a, b{, {!}c}; (PTX ISA 9.7.7.2)"""

def shf_l_clamp(a: Value, b: Value, c: Value, *, b32: bool = ..., out: Any = ...) -> Register:
    """shf.side.mode.b32  d, a, b, c; (PTX ISA 9.7.8.7)"""

def shf_l_wrap(a: Value, b: Value, c: Value, *, b32: bool = ..., out: Any = ...) -> Register:
    """shf.side.mode.b32  d, a, b, c; (PTX ISA 9.7.8.7)"""

def shf_r_clamp(a: Value, b: Value, c: Value, *, b32: bool = ..., out: Any = ...) -> Register:
    """shf.side.mode.b32  d, a, b, c; (PTX ISA 9.7.8.7)"""

def shf_r_wrap(a: Value, b: Value, c: Value, *, b32: bool = ..., out: Any = ...) -> Register:
    """shf.side.mode.b32  d, a, b, c; (PTX ISA 9.7.8.7)"""

@overload
def shfl_bfly(a: Value, b: Value, c: Value, membermask: Value, *, sync: bool = ..., b32: bool = ..., out: Any = ...) -> Register:
    """shfl.sync.mode.b32  d{|p}, a, b, c, membermask; (PTX ISA 9.7.9.6)"""

@overload
def shfl_bfly(a: Value, b: Value, c: Value, *, b32: bool = ..., out: Any = ...) -> Register:
    """shfl.mode.b32  d{|p}, a, b, c; (PTX ISA 9.7.9.5)"""

@overload
def shfl_down(a: Value, b: Value, c: Value, membermask: Value, *, sync: bool = ..., b32: bool = ..., out: Any = ...) -> Register:
    """shfl.sync.mode.b32  d{|p}, a, b, c, membermask; (PTX ISA 9.7.9.6)"""

@overload
def shfl_down(a: Value, b: Value, c: Value, *, b32: bool = ..., out: Any = ...) -> Register:
    """shfl.mode.b32  d{|p}, a, b, c; (PTX ISA 9.7.9.5)"""

@overload
def shfl_idx(a: Value, b: Value, c: Value, membermask: Value, *, sync: bool = ..., b32: bool = ..., out: Any = ...) -> Register:
    """shfl.sync.mode.b32  d{|p}, a, b, c, membermask; (PTX ISA 9.7.9.6)"""

@overload
def shfl_idx(a: Value, b: Value, c: Value, *, b32: bool = ..., out: Any = ...) -> Register:
    """shfl.mode.b32  d{|p}, a, b, c; (PTX ISA 9.7.9.5)"""

@overload
def shfl_up(a: Value, b: Value, c: Value, membermask: Value, *, sync: bool = ..., b32: bool = ..., out: Any = ...) -> Register:
    """shfl.sync.mode.b32  d{|p}, a, b, c, membermask; (PTX ISA 9.7.9.6)"""

@overload
def shfl_up(a: Value, b: Value, c: Value, *, b32: bool = ..., out: Any = ...) -> Register:
    """shfl.mode.b32  d{|p}, a, b, c; (PTX ISA 9.7.9.5)"""

def shl(a: Value, b: Value, *, type: Literal['b16', 'b32', 'b64', 's16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op.type  d, a, b; (PTX ISA 9.7.8.8)"""

def shr(a: Value, b: Value, *, type: Literal['b16', 'b32', 'b64', 's16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op.type  d, a, b; (PTX ISA 9.7.8.8)"""

def sin(a: Value, *, approx: bool = ..., ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op.approx{.ftz}.type  d, a; (PTX ISA 9.7.3.21)"""

def slct(a: Value, b: Value, c: Value, *, ftz: bool = ..., dtype: Literal['b16', 'b32', 'b64', 'f32', 'f64', 's16', 's32', 's64', 'u16', 'u32', 'u64'] = ..., stype: Literal['f32', 's32'] = ..., out: Any = ...) -> Register:
    """slct{.ftz}.dtype.stype  d, a, b, c; (PTX ISA 9.7.6.4)"""

@overload
def sqrt(a: Value, *, approx: bool = ..., ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op.approx{.ftz}.type  d, a; (PTX ISA 9.7.3.21)"""

@overload
def sqrt(a: Value, *, rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., ftz: bool = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """op.rnd{.ftz}.type  d, a; (PTX ISA 9.7.3.13)"""

@overload
def st(a: Location, b: Sequence[Value], cache_policy: Value = ..., *, weak: bool = ..., ss: Literal['global', 'local', 'param', 'param::func', 'shared', 'shared::cluster', 'shared::cta'] = ..., cop: Literal['cg', 'cs', 'wb', 'wt'] = ..., level1_eviction_priority: Literal['L1::evict_first', 'L1::evict_last', 'L1::evict_normal', 'L1::evict_unchanged', 'L1::no_allocate'] = ..., level2_eviction_priority: Literal['L2::evict_first', 'L2::evict_last', 'L2::evict_normal'] = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b128', 'b16', 'b32', 'b64', 'b8', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ...) -> None:
    """st{.weak}{.ss}{.cop}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.vec}.type  [a], b{, cache-policy}; (PTX ISA 9.7.9.11)"""

@overload
def st(a: Location, b: Sequence[Value], cache_policy: Value = ..., *, sem: Literal['relaxed', 'release'] = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., ss: Literal['global', 'shared', 'shared::cluster', 'shared::cta'] = ..., level1_eviction_priority: Literal['L1::evict_first', 'L1::evict_last', 'L1::evict_normal', 'L1::evict_unchanged', 'L1::no_allocate'] = ..., level2_eviction_priority: Literal['L2::evict_first', 'L2::evict_last', 'L2::evict_normal'] = ..., level_cache_hint: Literal['L2::cache_hint'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b128', 'b16', 'b32', 'b64', 'b8', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ...) -> None:
    """st.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}{.vec}.type  [a], b{, cache-policy}; (PTX ISA 9.7.9.11)"""

@overload
def st(a: Location, b: Sequence[Value], *, volatile: bool = ..., ss: Literal['global', 'local', 'shared', 'shared::cluster', 'shared::cta'] = ..., level2_eviction_priority: Literal['L2::evict_first', 'L2::evict_last', 'L2::evict_normal'] = ..., vec: Literal['v2', 'v4', 'v8'] = ..., type: Literal['b128', 'b16', 'b32', 'b64', 'b8', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ...) -> None:
    """st.volatile{.ss}{.level2::eviction_priority}{.vec}.type  [a], b; (PTX ISA 9.7.9.11)"""

@overload
def st(a: Location, b: Value, *, mmio: bool = ..., sem: Literal['relaxed', 'release'] = ..., sys: bool = ..., ss: Literal['global'] = ..., type: Literal['b128', 'b16', 'b32', 'b64', 'b8', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ...) -> None:
    """st.mmio.sem.sys{.ss}.type  [a], b; (PTX ISA 9.7.9.11, and answers of ptxas 13.5 on `.release`)"""

@overload
def st_async(a: Location, b: Sequence[Value], mbar: Location, *, weak: bool = ..., scope: Literal['cluster'] = ..., ss: Literal['shared::cluster'] = ..., mbarrier_complete_tx_bytes: bool = ..., vec: Literal['v2', 'v4'] = ..., type: Literal['b32', 'b64', 'f32', 'f64', 's32', 's64', 'u32', 'u64'] = ...) -> None:
    """st.async{.weak}{.scope}{.ss}.mbarrier::complete_tx::bytes{.vec}.type  [a], b, [mbar]; (PTX ISA 9.7.9.12)"""

@overload
def st_async(a: Location, b: Value, *, mmio: bool = ..., release: bool = ..., scope: Literal['gpu', 'sys'] = ..., ss: Literal['global'] = ..., type: Literal['b16', 'b32', 'b64', 'b8', 'f32', 'f64', 's16', 's32', 's64', 's8', 'u16', 'u32', 'u64', 'u8'] = ...) -> None:
    """st.async{.mmio}.release.scope{.ss}.type  [a], b; (PTX ISA 9.7.9.12)"""

def st_bulk(a: Location, size: Value, initval: int, *, weak: bool = ..., ss: Literal['shared::cta'] = ...) -> None:
    """st.bulk{.weak}{.ss}  [a], size, initval; (PTX ISA 9.7.9.13)"""

def stackrestore(a: Value, *, type: Literal['u32', 'u64'] = ...) -> None:
    """stackrestore.type  a; (PTX ISA 9.7.17.2)"""

def stacksave(*, type: Literal['u32', 'u64'] = ..., out: Any = ...) -> Register:
    """stacksave.type  d; (PTX ISA 9.7.17.1)"""

def stmatrix(p: Location, r: Sequence[Value], *, sync: bool = ..., aligned: bool = ..., shape: Literal['m16n8', 'm8n8'] = ..., num: Literal['x1', 'x2', 'x4'] = ..., trans: bool = ..., ss: Literal['shared', 'shared::cta'] = ..., type: Literal['b16', 'b8'] = ...) -> None:
    """stmatrix.sync.aligned.shape.num{.trans}{.ss}.type  [p], r; (PTX ISA 9.7.14.5.16)"""

@overload
def sub(a: Value, b: Value, *, rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., ftz: bool = ..., sat: bool = ..., type: Literal['f32', 'f32x2', 'f64'] = ..., out: Any = ...) -> Register:
    """op{.rnd}{.ftz}{.sat}.type  d, a, b; (PTX ISA 9.7.3.3)"""

@overload
def sub(a: Value, b: Value, *, rnd: Literal['rn'] = ..., ftz: bool = ..., sat: bool = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2'] = ..., out: Any = ...) -> Register:
    """op{.rnd}{.ftz}{.sat}.type  d, a, b; (PTX ISA 9.7.4.1)"""

@overload
def sub(a: Value, c: Value, *, rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., sat: bool = ..., f32: bool = ..., atype: Literal['bf16', 'f16'] = ..., out: Any = ...) -> Register:
    """op{.rnd}{.sat}.f32.atype  d, a, c; (PTX ISA 9.7.5.1)"""

@overload
def sub(a: Value, b: Value, *, sat: bool = ..., type: Literal['s16', 's16x2', 's32', 's64', 'u16', 'u16x2', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op{.sat}.type  d, a, b; (PTX ISA 9.7.1.1)"""

@overload
def sub(a: Value, b: Value, *, type: Literal['s8x4', 'u8x4'] = ..., out: Any = ...) -> Register:
    """op.type  d, a, b; (PTX ISA 9.7.1.1)"""

@overload
def sub(a: Value, b: Value, *, cc: bool = ..., type: Literal['s32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op{.cc}.type  d, a, b; (PTX ISA 9.7.2.1)"""

def subc(a: Value, b: Value, *, cc: bool = ..., type: Literal['s32', 's64', 'u32', 'u64'] = ..., out: Any = ...) -> Register:
    """op{.cc}.type  d, a, b; (PTX ISA 9.7.2.1)"""

def szext_clamp(a: Value, b: Value, *, type: Literal['s32', 'u32'] = ..., out: Any = ...) -> Register:
    """szext.mode.type  d, a, b; (PTX ISA 9.7.1.21)"""

def szext_wrap(a: Value, b: Value, *, type: Literal['s32', 'u32'] = ..., out: Any = ...) -> Register:
    """szext.mode.type  d, a, b; (PTX ISA 9.7.1.21)"""

@overload
def tanh(a: Value, *, approx: bool = ..., type: Literal['f32'] = ..., out: Any = ...) -> Register:
    """tanh.approx.type  d, a; (PTX ISA 9.7.3.22)"""

@overload
def tanh(a: Value, *, approx: bool = ..., ftz: bool = ..., type: Literal['bf16', 'bf16x2', 'f16', 'f16x2'] = ..., out: Any = ...) -> Register:
    """op.approx{.ftz}.type  d, a; (PTX ISA 9.7.4.10)"""

def tcgen05_alloc(dst: Location, nCols: Value, *, cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., sync: bool = ..., aligned: bool = ..., ss: Literal['shared::cta'] = ..., b32: bool = ...) -> None:
    """tcgen05.alloc.cta_group.sync.aligned{.ss}.b32  [dst], nCols; (PTX ISA 9.7.16.7.1)"""

def tcgen05_commit(mbar: Location, ctaMask: Value = ..., *, cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., mbarrier_arrive_one: bool = ..., ss: Literal['shared::cluster'] = ..., multicast: Literal['multicast::cluster'] = ..., b64: bool = ...) -> None:
    """tcgen05.commit.cta_group.mbarrier::arrive::one{.ss}{.multicast}.b64  [mbar]{, ctaMask}; (PTX ISA 9.7.16.12.1)"""

def tcgen05_cp(taddr: Location, s_desc: Value, *, cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., shape: Literal['128x128b', '128x256b', '32x128b', '4x256b', '64x128b'] = ..., multicast: Literal['warpx2::01_23', 'warpx2::02_13', 'warpx4'] = ..., dst_fmt: Literal['b8x16'] = ..., src_fmt: Literal['b4x16_p64', 'b6x16_p32'] = ...) -> None:
    """tcgen05.cp.cta_group.shape{.multicast}{.dst_fmt}{.src_fmt}  [taddr], s-desc; (PTX ISA 9.7.16.9.2)"""

def tcgen05_dealloc(taddr: Value, nCols: Value, *, cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., sync: bool = ..., aligned: bool = ..., b32: bool = ...) -> None:
    """tcgen05.dealloc.cta_group.sync.aligned.b32  taddr, nCols; (PTX ISA 9.7.16.7.1)"""

def tcgen05_fence_after_thread_sync() -> None:
    """tcgen05.op; (PTX ISA 9.7.16.11.1)"""

def tcgen05_fence_before_thread_sync() -> None:
    """tcgen05.op; (PTX ISA 9.7.16.11.1)"""

@overload
def tcgen05_ld(taddr: Location, *, sync: bool = ..., aligned: bool = ..., shape: Literal['16x128b', '16x256b', '16x64b', '32x32b'] = ..., num: Literal['x1', 'x128', 'x16', 'x2', 'x32', 'x4', 'x64', 'x8'] = ..., pack: Literal['pack::16b'] = ..., b32: bool = ..., out: Any = ...) -> Any:
    """tcgen05.ld.sync.aligned.shape.num{.pack}.b32  r, [taddr]; (PTX ISA 9.7.16.8.3)"""

@overload
def tcgen05_ld(taddr: Location, immHalfSplitoff: int, *, sync: bool = ..., aligned: bool = ..., shape: Literal['16x32bx2'] = ..., num: Literal['x1', 'x128', 'x16', 'x2', 'x32', 'x4', 'x64', 'x8'] = ..., pack: Literal['pack::16b'] = ..., b32: bool = ..., out: Any = ...) -> Any:
    """tcgen05.ld.sync.aligned.shape.num{.pack}.b32  r, [taddr], immHalfSplitoff; (PTX ISA 9.7.16.8.3)"""

@overload
def tcgen05_ld_red(taddr: Location, *, sync: bool = ..., aligned: bool = ..., shape: Literal['32x32b'] = ..., num: Literal['x128', 'x16', 'x2', 'x32', 'x4', 'x64', 'x8'] = ..., redOp: Literal['max', 'min'] = ..., abs: bool = ..., NaN: bool = ..., type: Literal['f32', 's32', 'u32'] = ..., out: Any = ...) -> Any:
    """tcgen05.ld.red.sync.aligned.shape.num.redOp{.abs}{.NaN}.type  r, redval, [taddr]; (PTX ISA 9.7.16.8.3)"""

@overload
def tcgen05_ld_red(taddr: Location, immHalfSplitoff: int, *, sync: bool = ..., aligned: bool = ..., shape: Literal['16x32bx2'] = ..., num: Literal['x128', 'x16', 'x2', 'x32', 'x4', 'x64', 'x8'] = ..., redOp: Literal['max', 'min'] = ..., abs: bool = ..., NaN: bool = ..., type: Literal['f32', 's32', 'u32'] = ..., out: Any = ...) -> Any:
    """tcgen05.ld.red.sync.aligned.shape.num.redOp{.abs}{.NaN}.type  r, redval, [taddr], immHalfSplitoff; (PTX ISA 9.7.16.8.3)"""

@overload
def tcgen05_mma(d_tmem: Location, a_desc: Value, b_desc: Value, sp_meta_tmem: Location = ..., idesc: Value = ..., disable_output_lane: Sequence[Value] = ..., enable_input_d: Register | bool = ..., scale_input_d: int = ..., *, sp: bool = ..., cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., kind: Literal['kind::f16', 'kind::f8f6f4', 'kind::i8', 'kind::tf32'] = ..., collector_usage: Literal['collector::a::discard', 'collector::a::fill', 'collector::a::lastuse', 'collector::a::use'] = ...) -> None:
    """tcgen05.mma{.sp}.cta_group.kind{.collector_usage}  [d-tmem], a-desc, b-desc{, [sp-meta-tmem]}, idesc{, disable-output-lane}, enable-input-d{, scale-input-d}; (PTX ISA 9.7.16.10.9)"""

@overload
def tcgen05_mma(d_tmem: Location, a_tmem: Location, b_desc: Value, sp_meta_tmem: Location = ..., idesc: Value = ..., disable_output_lane: Sequence[Value] = ..., enable_input_d: Register | bool = ..., scale_input_d: int = ..., *, sp: bool = ..., cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., kind: Literal['kind::f16', 'kind::f8f6f4', 'kind::i8', 'kind::tf32'] = ..., ashift: bool = ..., collector_usage: Literal['collector::a::discard', 'collector::a::fill', 'collector::a::lastuse', 'collector::a::use'] = ...) -> None:
    """tcgen05.mma{.sp}.cta_group.kind{.ashift}{.collector_usage}  [d-tmem], [a-tmem], b-desc{, [sp-meta-tmem]}, idesc{, disable-output-lane}, enable-input-d{, scale-input-d}; (PTX ISA 9.7.16.10.9)"""

@overload
def tcgen05_mma(d_tmem: Location, a_desc: Value, b_desc: Value, sp_meta_tmem: Location = ..., idesc: Value = ..., scale_A_tmem: Location = ..., scale_B_tmem: Location = ..., enable_input_d: Register | bool = ..., *, sp: bool = ..., cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., kind: Literal['kind::mxf4', 'kind::mxf4nvf4', 'kind::mxf8f6f4'] = ..., block_scale: bool = ..., scale_vectorsize: Literal['block16', 'block32', 'scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X'] = ..., collector_usage: Literal['collector::a::discard', 'collector::a::fill', 'collector::a::lastuse', 'collector::a::use'] = ...) -> None:
    """tcgen05.mma{.sp}.cta_group.kind.block_scale{.scale_vectorsize}{.collector_usage}  [d-tmem], a-desc, b-desc{, [sp-meta-tmem]}, idesc, [scale-A-tmem], [scale-B-tmem], enable-input-d; (PTX ISA 9.7.16.10.9)"""

@overload
def tcgen05_mma(d_tmem: Location, a_tmem: Location, b_desc: Value, sp_meta_tmem: Location = ..., idesc: Value = ..., scale_A_tmem: Location = ..., scale_B_tmem: Location = ..., enable_input_d: Register | bool = ..., *, sp: bool = ..., cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., kind: Literal['kind::mxf4', 'kind::mxf4nvf4', 'kind::mxf8f6f4'] = ..., block_scale: bool = ..., scale_vectorsize: Literal['block16', 'block32', 'scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X'] = ..., collector_usage: Literal['collector::a::discard', 'collector::a::fill', 'collector::a::lastuse', 'collector::a::use'] = ...) -> None:
    """tcgen05.mma{.sp}.cta_group.kind.block_scale{.scale_vectorsize}{.collector_usage}  [d-tmem], [a-tmem], b-desc{, [sp-meta-tmem]}, idesc, [scale-A-tmem], [scale-B-tmem], enable-input-d; (PTX ISA 9.7.16.10.9)"""

@overload
def tcgen05_mma_ws(d_tmem: Location, a_desc: Value, b_desc: Value, sp_meta_tmem: Location = ..., idesc: Value = ..., enable_input_d: Register | bool = ..., zero_column_mask_desc: Value = ..., *, sp: bool = ..., cta_group: Literal['cta_group::1'] = ..., kind: Literal['kind::f16', 'kind::f8f6f4', 'kind::i8', 'kind::tf32'] = ..., collector_usage: Literal['collector::b0::discard', 'collector::b0::fill', 'collector::b0::lastuse', 'collector::b0::use', 'collector::b1::discard', 'collector::b1::fill', 'collector::b1::lastuse', 'collector::b1::use', 'collector::b2::discard', 'collector::b2::fill', 'collector::b2::lastuse', 'collector::b2::use', 'collector::b3::discard', 'collector::b3::fill', 'collector::b3::lastuse', 'collector::b3::use'] = ...) -> None:
    """tcgen05.mma.ws{.sp}.cta_group.kind{.collector_usage}  [d-tmem], a-desc, b-desc{, [sp-meta-tmem]}, idesc, enable-input-d{, zero-column-mask-desc}; (PTX ISA 9.7.16.10.9)"""

@overload
def tcgen05_mma_ws(d_tmem: Location, a_tmem: Location, b_desc: Value, sp_meta_tmem: Location = ..., idesc: Value = ..., enable_input_d: Register | bool = ..., zero_column_mask_desc: Value = ..., *, sp: bool = ..., cta_group: Literal['cta_group::1'] = ..., kind: Literal['kind::f16', 'kind::f8f6f4', 'kind::i8', 'kind::tf32'] = ..., collector_usage: Literal['collector::b0::discard', 'collector::b0::fill', 'collector::b0::lastuse', 'collector::b0::use', 'collector::b1::discard', 'collector::b1::fill', 'collector::b1::lastuse', 'collector::b1::use', 'collector::b2::discard', 'collector::b2::fill', 'collector::b2::lastuse', 'collector::b2::use', 'collector::b3::discard', 'collector::b3::fill', 'collector::b3::lastuse', 'collector::b3::use'] = ...) -> None:
    """tcgen05.mma.ws{.sp}.cta_group.kind{.collector_usage}  [d-tmem], [a-tmem], b-desc{, [sp-meta-tmem]}, idesc, enable-input-d{, zero-column-mask-desc}; (PTX ISA 9.7.16.10.9)"""

def tcgen05_relinquish_alloc_permit(*, cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., sync: bool = ..., aligned: bool = ...) -> None:
    """tcgen05.relinquish_alloc_permit.cta_group.sync.aligned; (PTX ISA 9.7.16.7.1)"""

def tcgen05_shift(taddr: Location, *, cta_group: Literal['cta_group::1', 'cta_group::2'] = ..., down: bool = ...) -> None:
    """tcgen05.shift.cta_group.down  [taddr]; (PTX ISA 9.7.16.9.3)"""

@overload
def tcgen05_st(taddr: Location, r: Sequence[Value], *, sync: bool = ..., aligned: bool = ..., shape: Literal['16x128b', '16x256b', '16x64b', '32x32b'] = ..., num: Literal['x1', 'x128', 'x16', 'x2', 'x32', 'x4', 'x64', 'x8'] = ..., unpack: Literal['unpack::16b'] = ..., b32: bool = ...) -> None:
    """tcgen05.st.sync.aligned.shape.num{.unpack}.b32  [taddr], r; (PTX ISA 9.7.16.8.4)"""

@overload
def tcgen05_st(taddr: Location, immHalfSplitoff: int, r: Sequence[Value], *, sync: bool = ..., aligned: bool = ..., shape: Literal['16x32bx2'] = ..., num: Literal['x1', 'x128', 'x16', 'x2', 'x32', 'x4', 'x64', 'x8'] = ..., unpack: Literal['unpack::16b'] = ..., b32: bool = ...) -> None:
    """tcgen05.st.sync.aligned.shape.num{.unpack}.b32  [taddr], immHalfSplitoff, r; (PTX ISA 9.7.16.8.4)"""

def tcgen05_wait_ld(*, sync: bool = ..., aligned: bool = ...) -> None:
    """tcgen05.op.sync.aligned; (PTX ISA 9.7.16.8.5)"""

def tcgen05_wait_st(*, sync: bool = ..., aligned: bool = ...) -> None:
    """tcgen05.op.sync.aligned; (PTX ISA 9.7.16.8.5)"""

def tensormap_cp_fenceproxy(dst: Location, src: Location, size: int, *, global_: bool = ..., shared_cta: bool = ..., tensormap_generic: bool = ..., release: bool = ..., scope: Literal['cluster', 'cta', 'gpu', 'sys'] = ..., sync: bool = ..., aligned: bool = ...) -> None:
    """tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned  [dst], [src], size; (PTX ISA 9.7.13.15.18)"""

@overload
def tensormap_replace(addr: Location, new_val: Value, *, tile: bool = ..., field: Literal['global_address'] = ..., ss: Literal['global', 'shared::cta'] = ..., b1024: bool = ..., type: Literal['b64'] = ...) -> None:
    """tensormap.replace.tile.field{.ss}.b1024.type  [addr], new-val; (PTX ISA 9.7.9.26.1)"""

@overload
def tensormap_replace(addr: Location, new_val: Value, *, tile: bool = ..., field: Literal['rank'] = ..., ss: Literal['global', 'shared::cta'] = ..., b1024: bool = ..., type: Literal['b32'] = ...) -> None:
    """tensormap.replace.tile.field{.ss}.b1024.type  [addr], new-val; (PTX ISA 9.7.9.26.1)"""

@overload
def tensormap_replace(addr: Location, ord: int, new_val: Value, *, tile: bool = ..., field: Literal['box_dim', 'element_stride', 'global_dim', 'global_stride'] = ..., ss: Literal['global', 'shared::cta'] = ..., b1024: bool = ..., type: Literal['b32', 'b64'] = ...) -> None:
    """tensormap.replace.tile.field{.ss}.b1024.type  [addr], ord, new-val; (PTX ISA 9.7.9.26.1)"""

@overload
def tensormap_replace(addr: Location, new_val: int, *, tile: bool = ..., field: Literal['elemtype', 'fill_mode', 'interleave_layout', 'swizzle_atomicity', 'swizzle_mode'] = ..., ss: Literal['global', 'shared::cta'] = ..., b1024: bool = ..., b32: bool = ...) -> None:
    """tensormap.replace.tile.field{.ss}.b1024.b32  [addr], new-val; (PTX ISA 9.7.9.26.1)"""

@overload
def tensormap_replace(addr: Location, new_val: int, *, tile: bool = ..., field: Literal['elemtype', 'swizzle_mode'] = ..., ss: Literal['global', 'shared::cta'] = ..., b1024: bool = ..., b32: bool = ...) -> None:
    """tensormap.replace.tile.field{.ss}.b1024.b32  [addr], new-val; (PTX ISA 9.7.9.26.1)"""

def testp(a: Value, *, property: Literal['finite', 'infinite', 'normal', 'notanumber', 'number', 'subnormal'] = ..., type: Literal['f32', 'f64'] = ..., out: Any = ...) -> Register:
    """testp.property.type  p, a; (PTX ISA 9.7.3.1)"""

def trap() -> None:
    """trap; (PTX ISA 9.7.19.4)"""

@overload
def vabsdiff(a: Value, b: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}  d, a{.asel}, b{.bsel}; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

@overload
def vabsdiff(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., op2: Literal['add', 'max', 'min'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}{.op2}  d{.dsel}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

def vabsdiff2(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.1, 9.7.18.2.3)"""

def vabsdiff4(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.3)"""

@overload
def vadd(a: Value, b: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}  d, a{.asel}, b{.bsel}; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

@overload
def vadd(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., op2: Literal['add', 'max', 'min'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}{.op2}  d{.dsel}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

def vadd2(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.1, 9.7.18.2.3)"""

def vadd4(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.3)"""

def vavrg2(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.1, 9.7.18.2.3)"""

def vavrg4(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.1, 9.7.18.2.3)"""

@overload
def vmad(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., scale: Literal['shr15', 'shr7'] = ..., out: Any = ...) -> Register:
    """vmad.dtype.atype.btype{.sat}{.scale}  d, {-}a{.asel}, {-}b{.bsel}, c; (PTX ISA 9.7.18.1.3)"""

@overload
def vmad(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., po: bool = ..., sat: bool = ..., scale: Literal['shr15', 'shr7'] = ..., out: Any = ...) -> Register:
    """vmad.dtype.atype.btype{.po}{.sat}{.scale}  d, a{.asel}, b{.bsel}, {-}c; (PTX ISA 9.7.18.1.3)"""

@overload
def vmax(a: Value, b: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}  d, a{.asel}, b{.bsel}; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

@overload
def vmax(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., op2: Literal['add', 'max', 'min'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}{.op2}  d{.dsel}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

def vmax2(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.1, 9.7.18.2.3)"""

def vmax4(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.3)"""

@overload
def vmin(a: Value, b: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}  d, a{.asel}, b{.bsel}; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

@overload
def vmin(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., op2: Literal['add', 'max', 'min'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}{.op2}  d{.dsel}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

def vmin2(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.1, 9.7.18.2.3)"""

def vmin4(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.3)"""

@overload
def vote_all(a: Register | bool, membermask: Value, *, sync: bool = ..., type: Literal['b32', 'pred'] = ..., out: Any = ...) -> Register:
    """vote.sync.mode.type  d, {!}a, membermask; (PTX ISA 9.7.13.9)"""

@overload
def vote_all(a: Register | bool, *, type: Literal['b32', 'pred'] = ..., out: Any = ...) -> Register:
    """vote.mode.type  d, {!}a; (PTX ISA 9.7.13.8)"""

@overload
def vote_any(a: Register | bool, membermask: Value, *, sync: bool = ..., type: Literal['b32', 'pred'] = ..., out: Any = ...) -> Register:
    """vote.sync.mode.type  d, {!}a, membermask; (PTX ISA 9.7.13.9)"""

@overload
def vote_any(a: Register | bool, *, type: Literal['b32', 'pred'] = ..., out: Any = ...) -> Register:
    """vote.mode.type  d, {!}a; (PTX ISA 9.7.13.8)"""

@overload
def vote_ballot(a: Register | bool, membermask: Value, *, sync: bool = ..., type: Literal['b32', 'pred'] = ..., out: Any = ...) -> Register:
    """vote.sync.mode.type  d, {!}a, membermask; (PTX ISA 9.7.13.9)"""

@overload
def vote_ballot(a: Register | bool, *, type: Literal['b32', 'pred'] = ..., out: Any = ...) -> Register:
    """vote.mode.type  d, {!}a; (PTX ISA 9.7.13.8)"""

@overload
def vote_uni(a: Register | bool, membermask: Value, *, sync: bool = ..., type: Literal['b32', 'pred'] = ..., out: Any = ...) -> Register:
    """vote.sync.mode.type  d, {!}a, membermask; (PTX ISA 9.7.13.9)"""

@overload
def vote_uni(a: Register | bool, *, type: Literal['b32', 'pred'] = ..., out: Any = ...) -> Register:
    """vote.mode.type  d, {!}a; (PTX ISA 9.7.13.8)"""

@overload
def vset(a: Value, b: Value, *, atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., cmp: Literal['eq', 'ge', 'gt', 'le', 'lt', 'ne'] = ..., out: Any = ...) -> Register:
    """vset.atype.btype.cmp  d, a{.asel}, b{.bsel}; (PTX ISA 9.7.18.1.4)"""

@overload
def vset(a: Value, b: Value, c: Value, *, atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., cmp: Literal['eq', 'ge', 'gt', 'le', 'lt', 'ne'] = ..., op2: Literal['add', 'max', 'min'] = ..., out: Any = ...) -> Register:
    """vset.atype.btype.cmp{.op2}  d{.dsel}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.1.4)"""

def vset2(a: Value, b: Value, c: Value, *, atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., cmp: Literal['eq', 'ge', 'gt', 'le', 'lt', 'ne'] = ..., add: bool = ..., out: Any = ...) -> Register:
    """vop.atype.btype.cmp{.add}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.2)"""

def vset4(a: Value, b: Value, c: Value, *, atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., cmp: Literal['eq', 'ge', 'gt', 'le', 'lt', 'ne'] = ..., add: bool = ..., out: Any = ...) -> Register:
    """vop.atype.btype.cmp{.add}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.2)"""

@overload
def vshl(a: Value, b: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}  d, a{.asel}, b{.bsel}; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

@overload
def vshl(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., op2: Literal['add', 'max', 'min'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}{.op2}  d{.dsel}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

@overload
def vshr(a: Value, b: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}  d, a{.asel}, b{.bsel}; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

@overload
def vshr(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., op2: Literal['add', 'max', 'min'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}{.op2}  d{.dsel}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

@overload
def vsub(a: Value, b: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}  d, a{.asel}, b{.bsel}; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

@overload
def vsub(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., sat: bool = ..., mode: Literal['clamp', 'wrap'] = ..., op2: Literal['add', 'max', 'min'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.sat}{.mode}{.op2}  d{.dsel}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.1.1, 9.7.18.1.2)"""

def vsub2(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.1, 9.7.18.2.3)"""

def vsub4(a: Value, b: Value, c: Value, *, dtype: Literal['s32', 'u32'] = ..., atype: Literal['s32', 'u32'] = ..., btype: Literal['s32', 'u32'] = ..., second: Literal['add', 'sat'] = ..., out: Any = ...) -> Register:
    """vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c; (PTX ISA 9.7.18.2.3)"""

def wgmma_commit_group(*, sync: bool = ..., aligned: bool = ...) -> None:
    """wgmma.commit_group.sync.aligned; (PTX ISA 9.7.15.7.2)"""

def wgmma_fence(*, sync: bool = ..., aligned: bool = ...) -> None:
    """wgmma.fence.sync.aligned; (PTX ISA 9.7.15.7.1)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a_desc: Value, b_desc: Value, scale_d: Register | bool, imm_scale_a: int, imm_scale_b: int, imm_trans_a: int, imm_trans_b: int, *, sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['104', '112', '120', '128', '136', '144', '152', '16', '160', '168', '176', '184', '192', '200', '208', '216', '224', '232', '24', '240', '248', '256', '32', '40', '48', '56', '64', '72', '8', '80', '88', '96'] = ..., k: Literal['16'] = ..., dtype: Literal['f16', 'f32'] = ..., atype: Literal['bf16', 'f16'] = ..., btype: Literal['bf16', 'f16'] = ...) -> None:
    """wgmma.mma_async.sync.aligned.shape.dtype.atype.btype  d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b; (PTX ISA 9.7.15.5.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a: Sequence[Value], b_desc: Value, scale_d: Register | bool, imm_scale_a: int, imm_scale_b: int, imm_trans_b: int, *, sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['104', '112', '120', '128', '136', '144', '152', '16', '160', '168', '176', '184', '192', '200', '208', '216', '224', '232', '24', '240', '248', '256', '32', '40', '48', '56', '64', '72', '8', '80', '88', '96'] = ..., k: Literal['16'] = ..., dtype: Literal['f16', 'f32'] = ..., atype: Literal['bf16', 'f16'] = ..., btype: Literal['bf16', 'f16'] = ...) -> None:
    """wgmma.mma_async.sync.aligned.shape.dtype.atype.btype  d, a, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-b; (PTX ISA 9.7.15.5.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a_desc: Value, b_desc: Value, scale_d: Register | bool, imm_scale_a: int, imm_scale_b: int, *, sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['104', '112', '120', '128', '136', '144', '152', '16', '160', '168', '176', '184', '192', '200', '208', '216', '224', '232', '24', '240', '248', '256', '32', '40', '48', '56', '64', '72', '8', '80', '88', '96'] = ..., k: Literal['32', '8'] = ..., dtype: Literal['f16', 'f32'] = ..., atype: Literal['e4m3', 'e5m2', 'tf32'] = ..., btype: Literal['e4m3', 'e5m2', 'tf32'] = ...) -> None:
    """wgmma.mma_async.sync.aligned.shape.dtype.atype.btype  d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b; (PTX ISA 9.7.15.5.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a: Sequence[Value], b_desc: Value, scale_d: Register | bool, imm_scale_a: int, imm_scale_b: int, *, sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['104', '112', '120', '128', '136', '144', '152', '16', '160', '168', '176', '184', '192', '200', '208', '216', '224', '232', '24', '240', '248', '256', '32', '40', '48', '56', '64', '72', '8', '80', '88', '96'] = ..., k: Literal['32', '8'] = ..., dtype: Literal['f16', 'f32'] = ..., atype: Literal['e4m3', 'e5m2', 'tf32'] = ..., btype: Literal['e4m3', 'e5m2', 'tf32'] = ...) -> None:
    """wgmma.mma_async.sync.aligned.shape.dtype.atype.btype  d, a, b-desc, scale-d, imm-scale-a, imm-scale-b; (PTX ISA 9.7.15.5.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a_desc: Value, b_desc: Value, scale_d: Register | bool, *, sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['112', '128', '144', '16', '160', '176', '192', '208', '224', '24', '240', '256', '32', '48', '64', '8', '80', '96'] = ..., k: Literal['32'] = ..., satfinite: bool = ..., dtype: Literal['s32'] = ..., atype: Literal['s8', 'u8'] = ..., btype: Literal['s8', 'u8'] = ...) -> None:
    """wgmma.mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype  d, a-desc, b-desc, scale-d; (PTX ISA 9.7.15.5.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a: Sequence[Value], b_desc: Value, scale_d: Register | bool, *, sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['112', '128', '144', '16', '160', '176', '192', '208', '224', '24', '240', '256', '32', '48', '64', '8', '80', '96'] = ..., k: Literal['32'] = ..., satfinite: bool = ..., dtype: Literal['s32'] = ..., atype: Literal['s8', 'u8'] = ..., btype: Literal['s8', 'u8'] = ...) -> None:
    """wgmma.mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype  d, a, b-desc, scale-d; (PTX ISA 9.7.15.5.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a_desc: Value, b_desc: Value, scale_d: Register | bool, *, sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['112', '128', '144', '16', '160', '176', '192', '208', '224', '24', '240', '256', '32', '48', '64', '8', '80', '96'] = ..., k: Literal['256'] = ..., dtype: Literal['s32'] = ..., atype: Literal['b1'] = ..., btype: Literal['b1'] = ..., bitOp: Literal['and'] = ..., popc: bool = ...) -> None:
    """wgmma.mma_async.sync.aligned.shape.dtype.atype.btype.bitOp.popc  d, a-desc, b-desc, scale-d; (PTX ISA 9.7.15.5.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a: Sequence[Value], b_desc: Value, scale_d: Register | bool, *, sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['112', '128', '144', '16', '160', '176', '192', '208', '224', '24', '240', '256', '32', '48', '64', '8', '80', '96'] = ..., k: Literal['256'] = ..., dtype: Literal['s32'] = ..., atype: Literal['b1'] = ..., btype: Literal['b1'] = ..., bitOp: Literal['and'] = ..., popc: bool = ...) -> None:
    """wgmma.mma_async.sync.aligned.shape.dtype.atype.btype.bitOp.popc  d, a, b-desc, scale-d; (PTX ISA 9.7.15.5.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a_desc: Value, b_desc: Value, sp_meta: Value, sp_sel: int, scale_d: Register | bool, imm_scale_a: int, imm_scale_b: int, imm_trans_a: int, imm_trans_b: int, *, sp: bool = ..., sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['104', '112', '120', '128', '136', '144', '152', '16', '160', '168', '176', '184', '192', '200', '208', '216', '224', '232', '24', '240', '248', '256', '32', '40', '48', '56', '64', '72', '8', '80', '88', '96'] = ..., k: Literal['32'] = ..., dtype: Literal['f16', 'f32'] = ..., atype: Literal['bf16', 'f16'] = ..., btype: Literal['bf16', 'f16'] = ...) -> None:
    """wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype  d, a-desc, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b; (PTX ISA 9.7.15.6.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a: Sequence[Value], b_desc: Value, sp_meta: Value, sp_sel: int, scale_d: Register | bool, imm_scale_a: int, imm_scale_b: int, imm_trans_b: int, *, sp: bool = ..., sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['104', '112', '120', '128', '136', '144', '152', '16', '160', '168', '176', '184', '192', '200', '208', '216', '224', '232', '24', '240', '248', '256', '32', '40', '48', '56', '64', '72', '8', '80', '88', '96'] = ..., k: Literal['32'] = ..., dtype: Literal['f16', 'f32'] = ..., atype: Literal['bf16', 'f16'] = ..., btype: Literal['bf16', 'f16'] = ...) -> None:
    """wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype  d, a, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b, imm-trans-b; (PTX ISA 9.7.15.6.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a_desc: Value, b_desc: Value, sp_meta: Value, sp_sel: int, scale_d: Register | bool, imm_scale_a: int, imm_scale_b: int, *, sp: bool = ..., sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['104', '112', '120', '128', '136', '144', '152', '16', '160', '168', '176', '184', '192', '200', '208', '216', '224', '232', '24', '240', '248', '256', '32', '40', '48', '56', '64', '72', '8', '80', '88', '96'] = ..., k: Literal['16', '64'] = ..., dtype: Literal['f16', 'f32'] = ..., atype: Literal['e4m3', 'e5m2', 'tf32'] = ..., btype: Literal['e4m3', 'e5m2', 'tf32'] = ...) -> None:
    """wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype  d, a-desc, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b; (PTX ISA 9.7.15.6.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a: Sequence[Value], b_desc: Value, sp_meta: Value, sp_sel: int, scale_d: Register | bool, imm_scale_a: int, imm_scale_b: int, *, sp: bool = ..., sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['104', '112', '120', '128', '136', '144', '152', '16', '160', '168', '176', '184', '192', '200', '208', '216', '224', '232', '24', '240', '248', '256', '32', '40', '48', '56', '64', '72', '8', '80', '88', '96'] = ..., k: Literal['16', '64'] = ..., dtype: Literal['f16', 'f32'] = ..., atype: Literal['e4m3', 'e5m2', 'tf32'] = ..., btype: Literal['e4m3', 'e5m2', 'tf32'] = ...) -> None:
    """wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype  d, a, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b; (PTX ISA 9.7.15.6.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a_desc: Value, b_desc: Value, sp_meta: Value, sp_sel: int, scale_d: Register | bool, *, sp: bool = ..., sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['112', '128', '144', '16', '160', '176', '192', '208', '224', '24', '240', '256', '32', '48', '64', '8', '80', '96'] = ..., k: Literal['64'] = ..., satfinite: bool = ..., dtype: Literal['s32'] = ..., atype: Literal['s8', 'u8'] = ..., btype: Literal['s8', 'u8'] = ...) -> None:
    """wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.dtype.atype.btype  d, a-desc, b-desc, sp-meta, sp-sel, scale-d; (PTX ISA 9.7.15.6.2)"""

@overload
def wgmma_mma_async(d: Sequence[Value], a: Sequence[Value], b_desc: Value, sp_meta: Value, sp_sel: int, scale_d: Register | bool, *, sp: bool = ..., sync: bool = ..., aligned: bool = ..., shape: str = ..., n: Literal['112', '128', '144', '16', '160', '176', '192', '208', '224', '24', '240', '256', '32', '48', '64', '8', '80', '96'] = ..., k: Literal['64'] = ..., satfinite: bool = ..., dtype: Literal['s32'] = ..., atype: Literal['s8', 'u8'] = ..., btype: Literal['s8', 'u8'] = ...) -> None:
    """wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.dtype.atype.btype  d, a, b-desc, sp-meta, sp-sel, scale-d; (PTX ISA 9.7.15.6.2)"""

def wgmma_wait_group(N: int, *, sync: bool = ..., aligned: bool = ...) -> None:
    """wgmma.wait_group.sync.aligned  N; (PTX ISA 9.7.15.7.3)"""

def wmma_load_a(p: Location, stride: Value = ..., *, sync: bool = ..., aligned: bool = ..., layout: Literal['col', 'row'] = ..., shape: Literal['m16n16k16', 'm16n16k8', 'm32n8k16', 'm8n32k16', 'm8n8k128', 'm8n8k32', 'm8n8k4'] = ..., ss: Literal['global', 'shared', 'shared::cta'] = ..., type: Literal['b1', 'bf16', 'f16', 'f32', 'f64', 's32', 's4', 's8', 'tf32', 'u4', 'u8'] = ..., out: Any = ...) -> Any:
    """wmma.load.matrix.sync{.aligned}.layout.shape{.ss}.type  r, [p]{, stride}; (PTX ISA 9.7.14.4.3)"""

def wmma_load_b(p: Location, stride: Value = ..., *, sync: bool = ..., aligned: bool = ..., layout: Literal['col', 'row'] = ..., shape: Literal['m16n16k16', 'm16n16k8', 'm32n8k16', 'm8n32k16', 'm8n8k128', 'm8n8k32', 'm8n8k4'] = ..., ss: Literal['global', 'shared', 'shared::cta'] = ..., type: Literal['b1', 'bf16', 'f16', 'f32', 'f64', 's32', 's4', 's8', 'tf32', 'u4', 'u8'] = ..., out: Any = ...) -> Any:
    """wmma.load.matrix.sync{.aligned}.layout.shape{.ss}.type  r, [p]{, stride}; (PTX ISA 9.7.14.4.3)"""

def wmma_load_c(p: Location, stride: Value = ..., *, sync: bool = ..., aligned: bool = ..., layout: Literal['col', 'row'] = ..., shape: Literal['m16n16k16', 'm16n16k8', 'm32n8k16', 'm8n32k16', 'm8n8k128', 'm8n8k32', 'm8n8k4'] = ..., ss: Literal['global', 'shared', 'shared::cta'] = ..., type: Literal['b1', 'bf16', 'f16', 'f32', 'f64', 's32', 's4', 's8', 'tf32', 'u4', 'u8'] = ..., out: Any = ...) -> Any:
    """wmma.load.matrix.sync{.aligned}.layout.shape{.ss}.type  r, [p]{, stride}; (PTX ISA 9.7.14.4.3)"""

@overload
def wmma_mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], *, sync: bool = ..., aligned: bool = ..., alayout: Literal['col', 'row'] = ..., blayout: Literal['col', 'row'] = ..., shape: Literal['m16n16k16', 'm32n8k16', 'm8n32k16'] = ..., dtype: Literal['f16', 'f32'] = ..., ctype: Literal['f16', 'f32'] = ..., satfinite: bool = ..., out: Any = ...) -> Any:
    """wmma.mma.sync{.aligned}.alayout.blayout.shape.dtype.ctype{.satfinite}  d, a, b, c; (PTX ISA 9.7.14.4.5)"""

@overload
def wmma_mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], *, sync: bool = ..., aligned: bool = ..., alayout: Literal['col', 'row'] = ..., blayout: Literal['col', 'row'] = ..., shape: Literal['m16n16k16', 'm16n16k8', 'm32n8k16', 'm8n32k16', 'm8n8k4'] = ..., rnd: Literal['rm', 'rn', 'rp', 'rz'] = ..., dtype: Literal['f32', 'f64'] = ..., atype: Literal['bf16', 'f64', 'tf32'] = ..., btype: Literal['bf16', 'f64', 'tf32'] = ..., ctype: Literal['f32', 'f64'] = ..., out: Any = ...) -> Any:
    """wmma.mma.sync.aligned.alayout.blayout.shape{.rnd}.dtype.atype.btype.ctype  d, a, b, c; (PTX ISA 9.7.14.4.5)"""

@overload
def wmma_mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], *, sync: bool = ..., aligned: bool = ..., alayout: Literal['col', 'row'] = ..., blayout: Literal['col', 'row'] = ..., shape: Literal['m16n16k16', 'm32n8k16', 'm8n32k16', 'm8n8k32'] = ..., dtype: Literal['s32'] = ..., atype: Literal['s4', 's8', 'u4', 'u8'] = ..., btype: Literal['s4', 's8', 'u4', 'u8'] = ..., ctype: Literal['s32'] = ..., satfinite: bool = ..., out: Any = ...) -> Any:
    """wmma.mma.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype{.satfinite}  d, a, b, c; (PTX ISA 9.7.14.4.5)"""

@overload
def wmma_mma(a: Sequence[Value], b: Sequence[Value], c: Sequence[Value], *, bitOp: Literal['and', 'xor'] = ..., popc: bool = ..., sync: bool = ..., aligned: bool = ..., alayout: Literal['row'] = ..., blayout: Literal['col'] = ..., shape: Literal['m8n8k128'] = ..., dtype: Literal['s32'] = ..., atype: Literal['b1'] = ..., btype: Literal['b1'] = ..., ctype: Literal['s32'] = ..., out: Any = ...) -> Any:
    """wmma.mma.bitOp.popc.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype  d, a, b, c; (PTX ISA 9.7.14.4.5)"""

def wmma_store_d(p: Location, r: Sequence[Value], stride: Value = ..., *, sync: bool = ..., aligned: bool = ..., layout: Literal['col', 'row'] = ..., shape: Literal['m16n16k16', 'm16n16k8', 'm32n8k16', 'm8n32k16', 'm8n8k128', 'm8n8k32', 'm8n8k4'] = ..., ss: Literal['global', 'shared', 'shared::cta'] = ..., type: Literal['f16', 'f32', 'f64', 's32'] = ...) -> None:
    """wmma.store.d.sync{.aligned}.layout.shape{.ss}.type  [p], r{, stride}; (PTX ISA 9.7.14.4.4)"""

def xor(a: Value, b: Value, *, type: Literal['b16', 'b32', 'b64', 'pred'] = ..., out: Any = ...) -> Register:
    """op.type  d, a, b; (PTX ISA 9.7.8.1)"""
