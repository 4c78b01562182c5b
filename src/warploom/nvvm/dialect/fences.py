"""Memory fences: the operations whose names begin with nvvm.fence, and nvvm.memory.barrier."""

from warploom.isa.instructions import barrier
from warploom.nvvm.dialect.lowering import Lowering
from warploom.nvvm.dialect.operation import Operation, operation

_RESTRICTIONS = {"acquire": "sync_restrict::shared::cluster", "release": "sync_restrict::shared::cta"}
_PROXY_SPACES = {"async.global": "global", "async.shared": "shared"}
_MEMBAR_LEVELS = {"cta": "cta", "gpu": "gl", "sys": "sys"}

FenceMbarrierInit = operation(
    "nvvm.fence.mbarrier.init",
    "Fence that makes initialised mbarriers visible to the cluster.",
    barrier.FENCE_RESTRICTED,
    words={"op_restrict": "mbarrier_init", "sem": "release", "scope": "cluster"},
)
FenceScCluster = operation(
    "nvvm.fence.sc.cluster",
    "Sequentially consistent fence of the cluster.",
    barrier.FENCE,
    words={"sem": "sc", "scope": "cluster"},
)


def _lower_proxy_fence(op: Operation) -> Lowering:
    kind = op.text("kind")
    space = f"shared::{op.text('space')}" if op.has("space") else _PROXY_SPACES.get(kind, "")
    return op.instruction({"proxykind": kind.partition(".")[0], "space": space})


FenceProxy = operation(
    "nvvm.fence.proxy(kind: proxy_kind, space?: shared_space)",
    "Fence between the generic proxy and another proxy.",
    barrier.FENCE_PROXY,
    rules="""
        kind=tensormap|generic: {kind} proxy is not a supported proxy kind
        kind=async.shared !space: async_shared fence requires space attribute
        kind!=async.shared space: only async_shared fence can have space attribute
    """,
    lower=_lower_proxy_fence,
)

# Fences between two proxies ---------------------------------------------------------------------------------


def _direction(op: Operation) -> dict[str, str]:
    return {"to_proxykind::from_proxykind": f"{op.text('toProxy')}::{op.text('fromProxy')}"}


def _restriction(op: Operation) -> dict[str, str]:
    order = op.text("order")
    return {"sem": order, "sync_restrict": _RESTRICTIONS[order], "scope": "cluster"}


_TENSOR_MAP_FIELDS = "scope: mem_scope, fromProxy: proxy_kind = generic, toProxy: proxy_kind = tensormap"
_TENSOR_MAP_PROXIES = "(`from_proxy` `=` $fromProxy^)? (`to_proxy` `=` $toProxy^)? attr-dict"
_TENSOR_MAP_RULES = """
    fromProxy!=generic: uni-directional proxies only support generic for from_proxy attribute
    toProxy!=tensormap: uni-directional proxies only support tensormap for to_proxy attribute
"""
_ORDER_RULE = "order!=acquire|release: only acquire and release semantics are supported"
FenceProxyAcquire = operation(
    f"nvvm.fence.proxy.acquire(addr: ptr0, size: i32, {_TENSOR_MAP_FIELDS})",
    "Acquire fence from the generic to the tensormap proxy for the `size` (128) bytes at `addr`.",
    barrier.FENCE_PROXY_TENSORMAP,
    syntax=f"$scope $addr `,` $size {_TENSOR_MAP_PROXIES}",
    rules=[
        _TENSOR_MAP_RULES,
        lambda op: "size is computed at run time; expected the constant 128" if op.constant("size") is None else "",
    ],
)
FenceProxyRelease = operation(
    f"nvvm.fence.proxy.release({_TENSOR_MAP_FIELDS})",
    "Release fence that makes a changed tensor map visible to other threads.",
    barrier.FENCE_PROXY_TO,
    syntax=f"$scope {_TENSOR_MAP_PROXIES}",
    words={"sem": "release"},
    rules=_TENSOR_MAP_RULES,
    lower=lambda op: op.instruction(_direction(op)),
)
FenceProxySyncRestrict = operation(
    "nvvm.fence.proxy.sync_restrict(fromProxy: proxy_kind = generic, toProxy: proxy_kind = async, order: mem_order)",
    "Fence between the generic and the asynchronous proxy, with `.sync_restrict`.",
    barrier.FENCE_PROXY_TO,
    rules=f"""
        {_ORDER_RULE}
        fromProxy!=generic: only generic is support for from_proxy attribute
        toProxy!=async: only async is supported for to_proxy attribute
    """,
    lower=lambda op: op.instruction({**_direction(op), **_restriction(op)}),
)
FenceSyncRestrict = operation(
    "nvvm.fence.sync_restrict(order: mem_order)",
    "Acquire or release fence of cluster scope, with `.sync_restrict`.",
    barrier.FENCE_RESTRICTED,
    rules=_ORDER_RULE,
    lower=lambda op: op.instruction(_restriction(op)),
)


def _lower_memory_barrier(op: Operation) -> Lowering:
    level = _MEMBAR_LEVELS.get(op.text("scope"))
    return op.instruction({"sem": "sc"} if level is None else {"level": level, "scope": ""})


MemoryBarrier = operation(
    "nvvm.memory.barrier(scope: mem_scope)",
    "Sequentially consistent barrier for the memory accesses of a thread.",
    *(barrier.MEMBAR, barrier.FENCE),
    syntax="$scope attr-dict",
    lower=_lower_memory_barrier,
)
