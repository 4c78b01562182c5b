"""Memory fences: the operations whose names begin with nvvm.fence, and nvvm.memory.barrier."""

from xdsl.dialects.builtin import i32
from xdsl.irdl import operand_def, opt_prop_def, prop_def

from warploom.isa.instructions import barrier
from warploom.nvvm.dialect.attributes import Order, Proxy, Scope, SharedSpace
from warploom.nvvm.dialect.lowering import Lowering
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import pointer

_RESTRICTIONS = {"acquire": "sync_restrict::shared::cluster", "release": "sync_restrict::shared::cta"}
_PROXY_SPACES = {"async.global": "global", "async.shared": "shared"}
_MEMBAR_LEVELS = {"cta": "cta", "gpu": "gl", "sys": "sys"}
_DIRECTION = "to_proxykind::from_proxykind"


@operation(
    "nvvm.fence.mbarrier.init",
    barrier.FENCE_RESTRICTED,
    words={"op_restrict": "mbarrier_init", "sem": "release", "scope": "cluster"},
)
class FenceMbarrierInit(Operation):
    """Fence that makes initialised mbarriers visible to the cluster."""


@operation("nvvm.fence.sc.cluster", barrier.FENCE, words={"sem": "sc", "scope": "cluster"})
class FenceScCluster(Operation):
    """Sequentially consistent fence of the cluster."""


@operation("nvvm.fence.proxy", barrier.FENCE_PROXY)
class FenceProxy(Operation):
    """Fence between the generic proxy and another proxy."""

    kind = prop_def(Proxy)
    space = opt_prop_def(SharedSpace)

    def check(self) -> None:
        kind = self.kind.data
        if kind in {"tensormap", "generic"}:
            raise self.error(f"{kind} proxy is not a supported proxy kind")
        if kind == "async.shared" and self.space is None:
            raise self.error("async_shared fence requires space attribute")
        if kind != "async.shared" and self.space is not None:
            raise self.error("only async_shared fence can have space attribute")

    def lower(self) -> Lowering:
        kind = self.kind.data
        space = _PROXY_SPACES.get(kind, "") if self.space is None else f"shared::{self.space.data}"
        return self.instruction({"proxykind": kind.partition(".")[0], "space": space})


class _TensorMapFence(Operation):
    """Fence between two proxies for a tensor map."""

    scope = prop_def(Scope)
    fromProxy = prop_def(Proxy, default_value=Proxy("generic"))
    toProxy = prop_def(Proxy, default_value=Proxy("tensormap"))

    def check(self) -> None:
        if self.fromProxy.data != "generic":
            raise self.error("uni-directional proxies only support generic for from_proxy attribute")
        if self.toProxy.data != "tensormap":
            raise self.error("uni-directional proxies only support tensormap for to_proxy attribute")


_PROXIES = "(`from_proxy` `=` $fromProxy^)? (`to_proxy` `=` $toProxy^)? attr-dict"


@operation("nvvm.fence.proxy.acquire", barrier.FENCE_PROXY_TENSORMAP)
class FenceProxyAcquire(_TensorMapFence):
    """Acquire fence for a tensor map that another thread has changed."""

    addr = operand_def(pointer(0))
    size = operand_def(i32)
    assembly_format = f"$scope $addr `,` $size {_PROXIES}"


@operation("nvvm.fence.proxy.release", barrier.FENCE_PROXY_TO, words={"sem": "release"})
class FenceProxyRelease(_TensorMapFence):
    """Release fence that makes a changed tensor map visible to other threads."""

    assembly_format = f"$scope {_PROXIES}"

    def lower(self) -> Lowering:
        direction = f"{self.toProxy.data}::{self.fromProxy.data}"
        return self.instruction({_DIRECTION: direction, "scope": self.scope.data})


class _RestrictedFence(Operation):
    """Fence of cluster scope for data in shared memory only."""

    order = prop_def(Order)

    def check(self) -> None:
        if self.order.data not in _RESTRICTIONS:
            raise self.error("only acquire and release semantics are supported")

    def _words(self) -> dict[str, str]:
        order = self.order.data
        return {"sem": order, "sync_restrict": _RESTRICTIONS[order], "scope": "cluster"}


@operation("nvvm.fence.proxy.sync_restrict", barrier.FENCE_PROXY_TO)
class FenceProxySyncRestrict(_RestrictedFence):
    """Fence between the generic and the asynchronous proxy, with `.sync_restrict`."""

    fromProxy = prop_def(Proxy, default_value=Proxy("generic"))
    toProxy = prop_def(Proxy, default_value=Proxy("async"))

    def check(self) -> None:
        super().check()
        if self.fromProxy.data != "generic":
            raise self.error("only generic is support for from_proxy attribute")
        if self.toProxy.data != "async":
            raise self.error("only async is supported for to_proxy attribute")

    def lower(self) -> Lowering:
        return self.instruction({_DIRECTION: f"{self.toProxy.data}::{self.fromProxy.data}", **self._words()})


@operation("nvvm.fence.sync_restrict", barrier.FENCE_RESTRICTED)
class FenceSyncRestrict(_RestrictedFence):
    """Acquire or release fence of cluster scope, with `.sync_restrict`."""

    def lower(self) -> Lowering:
        return self.instruction(self._words())


@operation("nvvm.memory.barrier", barrier.MEMBAR, barrier.FENCE)
class MemoryBarrier(Operation):
    """Sequentially consistent barrier for the memory accesses of a thread."""

    scope = prop_def(Scope)
    assembly_format = "$scope attr-dict"

    def lower(self) -> Lowering:
        scope = self.scope.data
        if scope in _MEMBAR_LEVELS:
            return self.instruction({"level": _MEMBAR_LEVELS[scope]})
        return self.instruction({"sem": "sc", "scope": scope})
