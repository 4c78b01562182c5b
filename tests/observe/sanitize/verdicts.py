"""What each mutant must lead to: rules it breaks, any one of which is the right finding, or silence and why.

The verdicts come from reasoning about the order that the manual guarantees, place by place. A mutant that the table
of what is allowed does not name breaks the rules of its kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from observe.sanitize.mutations import Mutant

# The rules that a kind breaks where it breaks any.

_UNORDERED = ("race/shared", "race/cluster", "race/global")
_TOO_SOON = (
    *_UNORDERED,
    "wgmma/operand",
    "proxy/async",
    "proxy/refill",
    "copy/destination",
    "copy/source",
    "cp-async/wait",
)
_COUNTS = ("mbarrier/arrivals", "mbarrier/parity", "mbarrier/excess", "mbarrier/short", "mbarrier/overflow")
_IN_FLIGHT = ("wgmma/registers", "wgmma/operand", "wgmma/wait", "wgmma/commit")
_APART = (*_UNORDERED, "cluster/start", "cluster/exit", "mbarrier/init", "mbarrier/uninitialised")
_HANG = ("deadlock",)
_DESCRIPTOR = ("descriptor/layout", "descriptor/overlap", "descriptor/bounds", "unwritten/shared")

BREAKS: dict[str, tuple[str, ...]] = {
    "drop-wgmma-fence": ("wgmma/fence",),
    "drop-wgmma-commit": _IN_FLIGHT,
    "drop-wgmma-wait": _IN_FLIGHT,
    "drop-cp-async-commit": ("cp-async/wait",),
    "drop-cp-async-wait": ("cp-async/wait",),
    "drop-proxy-fence": ("proxy/async", "proxy/refill"),
    "drop-tensormap-fence": ("proxy/tensormap",),
    "drop-mbarrier-init": ("mbarrier/uninitialised",),
    "drop-mbarrier-init-fence": ("mbarrier/init",),
    "drop-arrive": _HANG,
    "drop-expect-tx": ("mbarrier/excess", "copy/destination"),
    "drop-cta-barrier": (
        *_TOO_SOON,
        "race/lanes",
        "mbarrier/init",
        "mbarrier/uninitialised",
        "mbarrier/invalidated",
        *_HANG,
    ),
    "drop-named-arrive": _HANG,
    "drop-warp-sync": ("race/lanes", "race/shared"),
    "drop-cluster-wait": (*_UNORDERED, "cluster/start", "cluster/exit", "mbarrier/init", "mbarrier/uninitialised"),
    "drop-bulk-commit": ("copy/source", "copy/exit"),
    "drop-bulk-wait": ("copy/source", "copy/exit"),
    "drop-memory-fence": _UNORDERED,
    "drop-setmaxnreg": (*_HANG, "registers/warpgroup"),
    "drop-expected-bytes": ("mbarrier/excess", "mbarrier/overflow", "copy/destination", *_HANG),
    "drop-mbarrier-wait": (*_TOO_SOON, *_COUNTS, *_HANG),
    "drop-cluster-barrier": (*_UNORDERED, "cluster/start", "cluster/exit", "mbarrier/init", "mbarrier/uninitialised"),
    "expect-fewer-bytes": ("mbarrier/excess", "mbarrier/overflow", "copy/destination", *_HANG),
    "expect-more-bytes": ("mbarrier/short", *_HANG),
    "copy-fewer-bytes": ("mbarrier/short", *_HANG),
    "wrong-parity": (*_TOO_SOON, *_COUNTS, *_HANG),
    "constant-parity": (*_TOO_SOON, *_COUNTS, *_HANG),
    "drop-parameter": ("unwritten/register",),
    "wgmma-wait-too-deep": _IN_FLIGHT,
    "cp-async-wait-too-deep": ("cp-async/wait",),
    "bulk-wait-too-deep": ("copy/source", "copy/exit"),
    "bulk-wait-for-reads-only": ("copy/destination",),
    "fewer-arrivals": (*_TOO_SOON, *_COUNTS, *_HANG),
    "more-arrivals": _HANG,
    "wrong-barrier": (*_HANG, *_TOO_SOON),
    "wrong-barrier-count": (*_HANG, "emulator.barrier"),
    "wrong-multicast-mask": ("mbarrier/short", *_HANG),
    "wrong-descriptor-swizzle": ("descriptor/swizzle", "descriptor/overlap", "descriptor/bounds"),
    "wrong-descriptor-lbo": _DESCRIPTOR,
    "wrong-descriptor-sbo": _DESCRIPTOR,
    "zero-descriptor-lbo": _DESCRIPTOR,
    "zero-descriptor-sbo": _DESCRIPTOR,
    "wrong-descriptor-start": _DESCRIPTOR,
    "wrong-descriptor-row": _DESCRIPTOR,
    "wrong-descriptor-base-offset": _DESCRIPTOR,
    "store-behind-fence": ("proxy/async", "proxy/refill"),
    "fence-behind-barrier": ("proxy/async", "proxy/refill"),
    "swap-wgmma-fence": ("wgmma/fence",),
    "commit-too-early": (*_IN_FLIGHT, "cp-async/wait", "copy/source", "copy/exit"),
    "accumulator-early": ("wgmma/registers",),
    "release-too-early": ("wgmma/operand", *_UNORDERED),
    "read-behind-release": (*_TOO_SOON, "cluster/exit"),
    "exit-early": ("cluster/exit",),
    "exit-in-flight": ("wgmma/wait", "wgmma/commit", "copy/exit", *_HANG),
    "barrier-in-divergence": ("barrier/divergence",),
    "arrive-twice": (*_TOO_SOON, *_COUNTS, *_HANG),
    "init-twice": ("mbarrier/reinitialised",),
    "release-to-relaxed": (*_TOO_SOON, "mbarrier/init"),
    "acquire-to-relaxed": _TOO_SOON,
    "scope-narrowed": _TOO_SOON,
}

# Why the manual allows a mutant.
REASONS = {
    "published": "the CTA's own barrier, or a releasing arrival at the cluster's, publishes the fresh mbarrier",
    "one-place": "all threads that meet execute this one instruction, so that any number serves",
    "on-the-path": "the thread that starts the asynchronous access executes the fence itself, behind the barrier: "
    "it stands between the writes and the access",
    "lifetime": "the meeting keeps CTAs alive and publishes nothing",
    "nobody-comes": "nobody reaches this CTA's shared memory any more",
    "shorter-store": "a shorter copy out breaks no rule; the result differs",
    "end-of-kernel": "the reads have ended, and the writes to global memory end with the kernel",
    "covered": "another barrier on the same path orders the same accesses",
    "same-thread": "the thread that needs the order is the one that made it",
    "joins-next": "the copies join the next group, which the same wait covers",
    "fewer-registers": "without it the warpgroup runs on with the registers it has",
    "whole-group": "the thread's own wait ends the multiplication of the whole warpgroup, the only one there is",
    "apart": "the copies that may still be pending write other bytes than those used next",
    "nothing-pending": "nothing is pending here in this launch",
    "same-cta": "both sides are in one CTA",
    "gone": "threads that have ended no longer count at a barrier of the whole CTA",
    "other-bytes": "the store writes bytes that only generic loads read",
    "unused-field": "no address of the tile depends on the field: the LBO of a swizzled K-major tile or of a tile of "
    "one span, the SBO of a tile of one group, the base offset of a tile without a swizzle",
    "other-tile": "the descriptor describes another tile of the same data, which is legal; the result differs",
    "enough-registers": "all threads start with as many registers as anybody asks for",
    "nothing-read": "no memory is read on the strength of this order",
    "first-phase": "this launch waits for the first phase alone",
    "unreached": "this launch does not come here",
}

# Kernel, kind, places (* for all), reason.
_TABLE = """
    tma_wgmma                          drop-mbarrier-init-fence   *            published
    tma_wgmma                          wrong-barrier              *            one-place
    double_buffer                      drop-mbarrier-init-fence   *            published
    double_buffer                      wrong-barrier              *            one-place
    warp_specialised                   drop-mbarrier-init-fence   *            published
    warp_specialised                   wrong-barrier              *            one-place
    warp_specialised                   drop-setmaxnreg            1            fewer-registers
    cp_async_mma                       wrong-barrier              *            one-place
    dsmem_exchange                     release-to-relaxed         1            lifetime
    st_async_ring                      drop-cluster-wait          1            nobody-comes
    st_async_ring                      drop-cluster-barrier       1            nobody-comes
    st_async_ring                      exit-early                 *            nobody-comes
    st_async_ring                      release-to-relaxed         0            nothing-read
    st_async_ring                      release-to-relaxed         1            lifetime
    bulk_in_place                      drop-proxy-fence           0            published
    bulk_in_place                      fence-behind-barrier       *            on-the-path
    bulk_in_place                      wrong-barrier              *            one-place
    bulk_in_place                      copy-fewer-bytes           1            shorter-store
    bulk_in_place                      bulk-wait-for-reads-only   *            end-of-kernel
    tma_store                          wrong-barrier              *            one-place
    tma_store                          fence-behind-barrier       *            on-the-path
    tma_store                          bulk-wait-for-reads-only   *            end-of-kernel
    multicast                          drop-mbarrier-init-fence   *            published
    multicast                          wrong-barrier              *            one-place
    multicast                          fence-behind-barrier       *            on-the-path
    multicast                          release-to-relaxed         0            published
    multicast                          release-to-relaxed         3            lifetime
    message_passing                    wrong-barrier              *            one-place
    wgmma_registers                    wrong-barrier              *            one-place
    wgmma_registers                    fence-behind-barrier       *            on-the-path
    reduction                          wrong-barrier              *            one-place
    dsmem_ring                         release-to-relaxed         1            lifetime
    bulk_copy                          drop-mbarrier-init-fence   *            published
    bulk_copy                          wrong-barrier              *            one-place
    bulk_copy                          constant-parity            *            first-phase
    bulk_copy                          fence-behind-barrier       *            on-the-path
    bulk_copy                          bulk-wait-for-reads-only   *            end-of-kernel
    bulk_red_add_f32                   wrong-barrier              *            one-place
    bulk_red_add_f32                   fence-behind-barrier       *            on-the-path
    bulk_red_add_f32                   bulk-wait-for-reads-only   *            end-of-kernel
    remote_arrive                      drop-mbarrier-init-fence   *            published
    remote_arrive                      constant-parity            *            first-phase
    remote_arrive                      drop-cluster-wait          1            nobody-comes
    remote_arrive                      drop-cluster-barrier       1            nobody-comes
    remote_arrive                      exit-early                 *            nobody-comes
    remote_arrive                      drop-mbarrier-wait         *            nothing-read
    remote_arrive                      release-to-relaxed         0            published
    remote_arrive                      release-to-relaxed         1            nothing-read
    remote_arrive                      acquire-to-relaxed         *            nothing-read
    remote_arrive                      scope-narrowed             *            nothing-read
    remote_arrive                      release-to-relaxed         2            lifetime
    gemm_f16_tma_hostdesc_sm90         drop-cta-barrier           0-19,21      covered
    gemm_f16_tma_hostdesc_sm90         wrong-barrier              *            one-place
    gemm_f16_tma_hostdesc_sm90         fence-behind-barrier       *            on-the-path
    gemm_f16_tma_devdesc_sm90          drop-cta-barrier           0-19,21      covered
    gemm_f16_tma_devdesc_sm90          wrong-barrier              *            one-place
    gemm_f16_tma_devdesc_sm90          fence-behind-barrier       *            on-the-path
    gemm_f16_tma_devdesc_sm90          drop-bulk-commit           0-2          nothing-pending
    gemm_f16_tma_devdesc_sm90          drop-bulk-wait             0-2          nothing-pending
    gemm_f16_tma_devdesc_sm90          bulk-wait-too-deep         0-2          nothing-pending
    gemm_f16_tma_devdesc_sm90          scope-narrowed             *            same-cta
    gemm_f16_tma_persistent_ws0_sm90   drop-cta-barrier           0-2          unreached
    gemm_f16_tma_persistent_ws0_sm90   drop-cta-barrier           3-18,21-24   covered
    gemm_f16_tma_persistent_ws0_sm90   drop-cta-barrier           19           nothing-pending
    gemm_f16_tma_persistent_ws0_sm90   wrong-barrier              *            one-place
    gemm_f16_tma_persistent_ws0_sm90   barrier-in-divergence      0-2          unreached
    gemm_f16_tma_persistent_ws0_sm90   drop-proxy-fence           0            unreached
    gemm_f16_tma_persistent_ws0_sm90   store-behind-fence         0            unreached
    gemm_f16_tma_persistent_ws0_sm90   fence-behind-barrier       0            unreached
    gemm_f16_tma_persistent_ws0_sm90   fence-behind-barrier       1            on-the-path
    gemm_f16_tma_persistent_ws0_sm90   drop-bulk-commit           0            unreached
    gemm_f16_tma_persistent_ws0_sm90   commit-too-early           0            unreached
    gemm_f16_tma_persistent_ws0_sm90   drop-bulk-wait             0,1          unreached
    gemm_f16_tma_persistent_ws0_sm90   drop-bulk-wait             2            nothing-pending
    gemm_f16_tma_persistent_ws0_sm90   bulk-wait-too-deep         0,1          unreached
    gemm_f16_tma_persistent_ws0_sm90   bulk-wait-too-deep         2            nothing-pending
    gemm_f16_tma_persistent_ws0_sm90   drop-wgmma-wait            2            nothing-pending
    gemm_f16_tma_persistent_ws0_sm90   wgmma-wait-too-deep        2            nothing-pending
    gemm_f16_tma_persistent_ws0_sm90   accumulator-early          2            nothing-pending
    gemm_f16_tma_persistent_ws0_sm90   exit-in-flight             0            nothing-pending
    gluon_gemm_f16_tma_pipelined_sm90  drop-cta-barrier           0-14,16      covered
    gluon_gemm_f16_tma_pipelined_sm90  wrong-barrier              *            one-place
    gluon_gemm_f16_tma_pipelined_sm90  fence-behind-barrier       *            on-the-path
    gluon_gemm_f16_ws_128x128_sm90     drop-cta-barrier           0,1,4-6,8    covered
    gluon_gemm_f16_ws_128x128_sm90     drop-cta-barrier           9            gone
    gluon_gemm_f16_ws_128x128_sm90     wrong-barrier              0,1,4-8      one-place
    gluon_gemm_f16_ws_128x128_sm90     drop-setmaxnreg            0-2,4,5,7,9  enough-registers
    gluon_gemm_f16_ws_128x128_sm90     drop-warp-sync             *            same-thread
    gluon_gemm_f16_ws_128x128_sm90     fence-behind-barrier       *            on-the-path
    gluon_wgmma_rs_bf16_64x64x32_sm90  store-behind-fence         *            other-bytes
    gluon_wgmma_rs_bf16_64x64x32_sm90  wrong-barrier              *            one-place
    gluon_wgmma_ss_f16_64x64x64_sm90   fence-behind-barrier       *            on-the-path
    gluon_wgmma_ss_f16_64x64x64_sm90   wrong-barrier              *            one-place
    gluon_wgmma_ss_f16_64x8x64_sm90    fence-behind-barrier       *            on-the-path
    gluon_wgmma_ss_f16_64x8x64_sm90    wrong-barrier              *            one-place
    gemm_f16_nn_16x16_1w_sm80          wrong-barrier              *            one-place
    gemm_f16_nn_sm80                   wrong-barrier              *            one-place
    gemm_f16_nn_sm80                   drop-cta-barrier           0            covered
    gemm_f16_nn_sm80                   drop-cp-async-commit       0            joins-next
    gemm_f16_nn_sm80                   commit-too-early           0,2,4        joins-next
    gemm_tf32_tn_sm80                  wrong-barrier              *            one-place
    gemm_tf32_tn_sm80                  drop-cta-barrier           0            covered
    gemm_tf32_tn_sm80                  drop-cp-async-commit       0            joins-next
    gemm_tf32_tn_sm80                  commit-too-early           0,2,4        joins-next
    gemm_f16_nn_sm90                   wrong-barrier              *            one-place
    gemm_f16_nn_sm90                   drop-cta-barrier           0            covered
    gemm_f16_nn_sm90                   drop-cp-async-commit       0            joins-next
    gemm_f16_nn_sm90                   commit-too-early           0,2,5        joins-next
    gemm_bf16_tn_sm90                  wrong-barrier              *            one-place
    gemm_bf16_tn_sm90                  drop-cta-barrier           0            covered
    gemm_bf16_tn_sm90                  drop-cp-async-commit       0            joins-next
    gemm_bf16_tn_sm90                  commit-too-early           0,2,5        joins-next
    flash_fwd_f16_d64_full_sm80        wrong-barrier              *            one-place
    flash_fwd_f16_d64_full_sm80        drop-cp-async-commit       0,2          joins-next
    flash_fwd_f16_d64_full_sm80        commit-too-early           0,2          joins-next
    gemm_f16_nn_sm80                   cp-async-wait-too-deep     1            apart
    gemm_tf32_tn_sm80                  cp-async-wait-too-deep     1            apart
    gemm_f16_nn_sm90                   cp-async-wait-too-deep     1            apart
    gemm_bf16_tn_sm90                  cp-async-wait-too-deep     1            apart
    gemm_f16_nn_sm90                   drop-cta-barrier           2            whole-group
    gemm_bf16_tn_sm90                  drop-cta-barrier           2            whole-group
    flash_fwd_f16_d64_full_sm80        drop-cp-async-wait         1            apart
    flash_fwd_f16_d64_full_sm80        cp-async-wait-too-deep     1            apart
    flash_fwd_f16_d64_full_sm80        drop-cta-barrier           2            covered
    gluon_gemm_f16_ws_128x128_sm90     drop-cta-barrier           18,19        unreached
    gluon_gemm_f16_ws_128x128_sm90     wrong-barrier              18,19        unreached
    flash_fwd_f16_d128_causal_sm90     commit-too-early           0,4          joins-next
    flash_fwd_f16_d128_causal_sm90     drop-cp-async-wait         1            apart
    flash_fwd_f16_d128_causal_sm90     cp-async-wait-too-deep     1            apart
    flash_fwd_f16_d128_causal_sm90     drop-cta-barrier           1,2          whole-group
    flash_fwd_f16_d128_causal_sm90     wrong-barrier              *            one-place
    flash_fwd_f16_d128_causal_sm90     drop-cp-async-commit       0,2          joins-next
    softmax_bf16_sm90                  wrong-barrier              *            one-place
    tma_wgmma                          wrong-descriptor-lbo         *        unused-field
    tma_wgmma                          zero-descriptor-lbo          *        unused-field
    double_buffer                      wrong-descriptor-lbo         *        unused-field
    double_buffer                      zero-descriptor-lbo          *        unused-field
    warp_specialised                   wrong-descriptor-lbo         *        unused-field
    warp_specialised                   zero-descriptor-lbo          *        unused-field
    gemm_f16_tma_hostdesc_sm90         wrong-descriptor-lbo         *        unused-field
    gemm_f16_tma_hostdesc_sm90         zero-descriptor-lbo          *        unused-field
    gemm_f16_tma_devdesc_sm90          wrong-descriptor-lbo         *        unused-field
    gemm_f16_tma_devdesc_sm90          zero-descriptor-lbo          *        unused-field
    gemm_f16_tma_persistent_ws0_sm90   wrong-descriptor-lbo         *        unused-field
    gemm_f16_tma_persistent_ws0_sm90   zero-descriptor-lbo          *        unused-field
    gluon_gemm_f16_tma_pipelined_sm90  wrong-descriptor-lbo         *        unused-field
    gluon_gemm_f16_tma_pipelined_sm90  zero-descriptor-lbo          *        unused-field
    gluon_gemm_f16_ws_128x128_sm90     wrong-descriptor-lbo         *        unused-field
    gluon_gemm_f16_ws_128x128_sm90     zero-descriptor-lbo          *        unused-field
    gluon_wgmma_rs_bf16_64x64x32_sm90  wrong-descriptor-lbo         *        unused-field
    gluon_wgmma_rs_bf16_64x64x32_sm90  zero-descriptor-lbo          *        unused-field
    gluon_wgmma_ss_f16_64x64x64_sm90   wrong-descriptor-lbo         *        unused-field
    gluon_wgmma_ss_f16_64x64x64_sm90   zero-descriptor-lbo          *        unused-field
    gemm_bf16_tn_sm90                  wrong-descriptor-lbo         *        unused-field
    gemm_bf16_tn_sm90                  zero-descriptor-lbo          *        unused-field
    gemm_f16_nn_sm90                   wrong-descriptor-lbo         0,2      unused-field
    gluon_wgmma_ss_f16_64x8x64_sm90    wrong-descriptor-lbo         0,2      unused-field
    gemm_f16_nn_sm90                   zero-descriptor-lbo          0,2      unused-field
    gluon_wgmma_ss_f16_64x8x64_sm90    zero-descriptor-lbo          0,2      unused-field
    gluon_wgmma_ss_f16_64x8x64_sm90    wrong-descriptor-sbo         1,3      unused-field
    wgmma_registers                    wrong-descriptor-sbo         *        unused-field
    gluon_wgmma_ss_f16_64x8x64_sm90    zero-descriptor-sbo          1,3      unused-field
    wgmma_registers                    zero-descriptor-sbo          *        unused-field
    gluon_wgmma_ss_f16_64x8x64_sm90    wrong-descriptor-base-offset 1,3      unused-field
    wgmma_registers                    wrong-descriptor-base-offset *        unused-field
    wgmma_registers                    wrong-descriptor-row         0        other-tile
    gluon_wgmma_rs_bf16_64x64x32_sm90  wrong-descriptor-start       0        other-tile
    gluon_wgmma_rs_bf16_64x64x32_sm90  wrong-descriptor-row         0        other-tile
    gluon_wgmma_ss_f16_64x64x64_sm90   wrong-descriptor-start       0,1      other-tile
    gluon_wgmma_ss_f16_64x64x64_sm90   wrong-descriptor-row         1        other-tile
    gluon_wgmma_ss_f16_64x8x64_sm90    wrong-descriptor-start       0,1      other-tile
    gluon_wgmma_ss_f16_64x8x64_sm90    wrong-descriptor-row         1        other-tile
    gemm_f16_nn_sm90                   wrong-descriptor-start       0        other-tile
    gemm_f16_nn_sm90                   wrong-descriptor-row         0,1      other-tile
    gemm_f16_tma_devdesc_sm90          wrong-descriptor-row         0        other-tile
    gemm_f16_tma_persistent_ws0_sm90   wrong-descriptor-row         0        other-tile
    gluon_gemm_f16_tma_pipelined_sm90  wrong-descriptor-row         0        other-tile
    gluon_gemm_f16_ws_128x128_sm90     wrong-descriptor-row         0        other-tile
    flash_fwd_f16_d128_causal_sm90     wrong-descriptor-lbo         0,1      unused-field
    flash_fwd_f16_d128_causal_sm90     zero-descriptor-lbo          0,1      unused-field
    flash_fwd_f16_d128_causal_sm90     wrong-descriptor-start       0,1      other-tile
    flash_fwd_f16_d128_causal_sm90     wrong-descriptor-row         0        other-tile
    gemm_bf16_tn_sm90                  wrong-descriptor-start       0,1      other-tile
    gemm_bf16_tn_sm90                  wrong-descriptor-row         0        other-tile
"""


def _places(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _allowed() -> Iterator[tuple[str, str]]:
    for kernel, kind, places, reason in (row.split() for row in _TABLE.strip().splitlines()):
        if places == "*":
            yield f"{kernel}:{kind}", reason
        else:
            yield from ((f"{kernel}:{kind}:{place}", reason) for place in _places(places))


ALLOWED = dict(_allowed())


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a mutant must lead to: one of these rules, or silence for this reason."""

    rules: tuple[str, ...]
    reason: str = ""


def verdict(kernel: str, mutant: Mutant) -> Verdict:
    """The verdict on a mutant of a kernel."""
    for key in (f"{kernel}:{mutant.kind}:{mutant.place}", f"{kernel}:{mutant.kind}"):
        if key in ALLOWED:
            return Verdict((), ALLOWED[key])
    return Verdict(BREAKS[mutant.kind])
