"""Asynchronous copies of bytes: nvvm.cp.async and the bulk copies."""

from warploom.isa.instructions import async_copy, bulk
from warploom.nvvm.dialect.operation import operation

CpAsync = operation(
    "nvvm.cp.async.shared.global(dst in shared_space: ptr3, src: ptr1, size as cp_size: int32,"
    " modifier as cop: load_cache_modifier, cpSize as src_size?: i32)",
    "Copy of `size` (4, 8 or 16) bytes from global to shared memory by each thread."
    " With `cpSize`, the copy reads only that many bytes, and the rest of the destination becomes zero.",
    async_copy.CP_ASYNC,
    syntax="$dst `,` $src `,` $size `,` `cache` `=` $modifier (`,` $cpSize^)? attr-dict `:` type(operands)",
    rules="""
        modifier!=ca|cg: Only CG and CA cache modifiers are supported.
        size!=4|8|16: expected byte size to be either 4, 8 or 16.
        modifier=cg size!=16: CG cache modifier is only support for 16 bytes copy.
    """,
)
CpAsyncCommitGroup = operation(
    "nvvm.cp.async.commit.group", "Commit of the thread's earlier copies to a group.", async_copy.COMMIT
)
CpAsyncWaitGroup = operation(
    "nvvm.cp.async.wait.group(n as N: int32)",
    "Wait until at most the latest `n` groups are pending.",
    async_copy.WAIT_GROUP,
    syntax="$n attr-dict",
    rules="n<0: n is {n}; expected 0 or more",
)
CpAsyncMbarrierArrive = operation(
    "nvvm.cp.async.mbarrier.arrive(addr in space: ptr0|ptr3, noinc: bool = 0)",
    "Arrival at an mbarrier once the thread's earlier asynchronous copies are complete."
    " Without `noinc`, the operation first increases the pending count by 1.",
    async_copy.ARRIVE,
    syntax="$addr attr-dict `:` type(operands)",
)

# Bulk copies ------------------------------------------------------------------------------------------------

BulkLoad = operation(
    "nvvm.cp.async.bulk.shared.cluster.global(dstMem in dst: ptr3|ptr7, srcMem: ptr1, mbar: ptr3, size: i32,"
    " multicastMask?: i16, l2CacheHint?: i64)",
    "Bulk copy of `size` bytes from global memory to the shared memory of one or several CTAs of the cluster.",
    bulk.LOAD,
    syntax="$dstMem `,` $srcMem `,` $mbar `,` $size (`multicast_mask` `=` $multicastMask^)?"
    " (`l2_cache_hint` `=` $l2CacheHint^)? attr-dict `:` type($dstMem) `,` custom<Pointer>(type($srcMem))",
    rules="multicastMask dstMem=shared: Multicast is not supported with shared::cta mode.",
)
BulkPrefetch = operation(
    "nvvm.cp.async.bulk.prefetch(srcMem: ptr1, size: i32, l2CacheHint?: i64)",
    "Bulk prefetch of `size` bytes of global memory to the L2 cache.",
    bulk.PREFETCH,
    syntax="$srcMem `,` $size (`l2_cache_hint` `=` $l2CacheHint^)? attr-dict `:` custom<Pointer>(type($srcMem))",
)
BulkStore = operation(
    "nvvm.cp.async.bulk.global.shared.cta(dstMem: ptr1, srcMem: ptr3, size: i32, l2CacheHint?: i64, byteMask?: i16)",
    "Bulk copy of `size` bytes from shared to global memory. A mask may select bytes in each chunk of 16 bytes.",
    bulk.STORE,
    syntax="$dstMem `,` $srcMem `,` $size (`l2_cache_hint` `=` $l2CacheHint^)? (`byte_mask` `=` $byteMask^)?"
    " attr-dict `:` custom<Pointer>(type($dstMem)) `,` custom<Pointer>(type($srcMem))",
)
BulkInCluster = operation(
    "nvvm.cp.async.bulk.shared.cluster.shared.cta(dstMem in dst: ptr7, srcMem: ptr3, mbar: ptr3, size: i32)",
    "Bulk copy of `size` bytes from the shared memory of this CTA to that of another CTA in the cluster.",
    bulk.COPY_IN_CLUSTER,
    syntax="$dstMem `,` $srcMem `,` $mbar `,` $size"
    " attr-dict `:` custom<Pointer>(type($dstMem)) `,` custom<Pointer>(type($srcMem))",
)
BulkCommitGroup = operation(
    "nvvm.cp.async.bulk.commit.group", "Commit of the thread's earlier bulk copies to a group.", bulk.COMMIT
)
BulkWaitGroup = operation(
    "nvvm.cp.async.bulk.wait_group(group as N: int32, read?: unit)",
    "Wait until at most the latest `group` bulk groups are pending."
    " With `read`, a group counts as complete once its sources have been read.",
    bulk.WAIT_GROUP,
    syntax="$group attr-dict",
    rules="group<0: attribute 'group' failed to satisfy constraint: at least 0",
)
BulkZero = operation(
    "nvvm.st.bulk(addr as a in ss: ptr0|ptr3, size: i64, initVal as initval: int64 = 0)",
    "Bulk store of `size` bytes of zeros to shared memory.",
    bulk.ZERO,
    syntax="$addr `,` `size` `=` $size (`,` `init` `=` $initVal^)? attr-dict `:` type($addr)",
    rules="initVal!=0: only 0 is supported for initVal, got {initVal}",
)
