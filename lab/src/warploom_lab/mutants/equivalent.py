"""Mutants that are correct by the PTX manual, with the reasons.

The first functions decide from the text of the kernel. `PLACES` lists the other mutants, which were judged one by one
from the text of the kernel and the manual, not from the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence

from warploom.isa.instructions import tcgen05
from warploom.isa.model.effects import Allocate, Arrive, Barrier, Fence, Multiply, Wait
from warploom_lab.mutants.program import Kernel, Site

REASONS: dict[str, str] = {
    "later-wait": "A later wait for loads completes this load, too, before the warp signals other threads or changes"
    " the words. An instruction that uses the registers waits for the load (PTX ISA 9.7.16.6.4.5, 9.7.16.8.5).",
    "no-store": "No thread writes shared memory by the generic proxy before the fence, apart from the initialisation of"
    " mbarriers and the slot of the allocation, whose write needs no proxy fence. The barrier orders"
    " the initialisation (PTX ISA 9.7.13.4, 9.7.13.15.9).",
    "one-cta": "The fence makes the initialisation of mbarriers visible to other CTAs. The cluster has one CTA, in"
    " which the barrier does this (PTX ISA 9.7.13.4).",
    "no-operation-before": "No asynchronous operation on tensor memory precedes the synchronisation. An allocation"
    " is synchronous (PTX ISA 9.7.16.6.3).",
    "no-operation-after": "Only a release follows the synchronisation, which is synchronous, and the loads before it"
    " are complete after their wait (PTX ISA 9.7.16.6.3, 9.7.16.7.1).",
    "earlier-fence": "An earlier fence and a barrier follow the last copies of threads to shared memory, which are"
    " complete there. No thread writes shared memory between the two fences (PTX ISA 9.7.13.4).",
    "overwritten": "The first multiplication replaces the stored words, because enable-input-d is false. Nothing reads"
    " them before (PTX ISA 9.7.16.10.9).",
    "stored-zeros": "The accumulators contain stored zeros, so that the first multiplication may also add to"
    " them (PTX ISA 9.7.16.10.9).",
    "not-first": "The site is not the first multiplication of a sum: its enable-input-d is true in every step, so that"
    " the mutant executes the same operations (PTX ISA 9.7.16.10.9).",
    "later-store-wait": "A later wait for stores completes this store, too, before the multiplication that uses the"
    " words (PTX ISA 9.7.16.8.5).",
    "preceding-phase": "The wait is for the phase that precedes the initialisation of the mbarrier, and always ends at"
    " once (PTX ISA 9.7.13.15.16).",
    "phase-unused": "No thread waits for the phase that this arrival completes, because no tile"
    " follows (PTX ISA 9.7.13.15.2).",
    "other-barrier": "Another barrier of the cluster stands between the loads and the release, and no access to the"
    " other CTA follows it (PTX ISA 9.7.13.3, 9.7.16.7.1).",
}

PLACES: dict[str, str] = {
    "blackwell_attention_f16_d64_sm100:no-proxy-fence:4": "earlier-fence",
    "blackwell_block_scaled_tensor_e4m3_sm100:accumulate-first:0": "stored-zeros",
    "blackwell_block_scaled_tensor_e4m3_sm100:accumulate-first:1": "stored-zeros",
    "blackwell_block_scaled_tensor_e4m3_sm100:no-store-wait:0": "later-store-wait",
    "blackwell_block_scaled_tensor_e4m3_sm100:no-tensor-store:0": "overwritten",
    "blackwell_gemm_tma_f16_sm100:no-tensor-store:0": "overwritten",
    "blackwell_gemm_tma_persistent_ws_sm100:no-arrival:1": "phase-unused",
    "blackwell_gemm_tma_persistent_ws_sm100:no-mbarrier-wait:0": "preceding-phase",
    "blackwell_gemm_tma_persistent_ws_sm100:no-tensor-store:0": "overwritten",
    "blackwell_gemm_tma_ws_sm100:no-arrival:0": "phase-unused",
    "blackwell_gemm_tma_ws_sm100:no-mbarrier-wait:0": "preceding-phase",
    "blackwell_gemm_tma_ws_sm100:no-tensor-store:0": "overwritten",
    "cuda_dense_f16_sm_100a:accumulate-first:3": "not-first",
    "tensor_memory_pair_bf16_m128_sm100:no-cluster-barrier:3": "other-barrier",
}


def reason_of(kernel: Kernel, ctas: int, key: str, sites: Sequence[Site]) -> str:
    """Return the key of the reason why a mutant is correct, or "".

    `ctas` is the number of CTAs of a cluster, `key` the name of the mutant, and `sites` has the changed instructions.
    """
    site = sites[0]
    match key.split(":")[1]:
        case "no-load-wait" if _is_awaited_later(kernel, site):
            return "later-wait"
        case "no-proxy-fence" if not any(each.stores_to_shared for each in kernel.sites[: site.number]):
            return "no-store"
        case "no-initialisation-fence" if ctas == 1:
            return "one-cta"
        case "no-release-fence" | "no-acquire-fence" if not any(map(_uses_tensor_memory, kernel.sites[: site.number])):
            return "no-operation-before"
        case "no-release-fence" if not any(map(_uses_tensor_memory, kernel.sites[site.number :])):
            awaited = next(each for each in reversed(kernel.sites[: site.number]) if _uses_tensor_memory(each))
            return "no-operation-after" if awaited.has(Wait, reads_only="loads") else ""
        case _:
            return PLACES.get(key, "")


def _is_awaited_later(kernel: Kernel, site: Site) -> bool:
    """Return True if another wait for loads follows before a signal or a change of tensor memory."""
    for each in kernel.sites[site.number + 1 :]:
        if each.has(Wait, on="tensor memory", reads_only="loads"):
            return True
        if each.has(Barrier) or each.has(Arrive) or each.has(Allocate) or each.has(Multiply) or _changes(each):
            return False
    return False


def _changes(site: Site) -> bool:
    return site.binding.form in (tcgen05.ST, tcgen05.ST_SPLIT, tcgen05.CP, tcgen05.SHIFT)


def _uses_tensor_memory(site: Site) -> bool:
    """Return True for operations on tensor memory other than allocations and releases."""
    fence = site.has(Fence) or site.has(Allocate)
    return not fence and site.binding.form.name.startswith(tcgen05.ALLOC.family)
