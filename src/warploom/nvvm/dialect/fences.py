"""Orders of memory: the operations whose names begin with nvvm.fence, and nvvm.memory.barrier."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import i32
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def

from warploom.nvvm.dialect.operation import Operation
from warploom.nvvm.dialect.pieces import At, Code, Constant, Piece, Statement, pointer
from warploom.nvvm.dialect.vocabulary import Order, Proxy, Scope, SharedSpace

_RESTRICTED = {"acquire": "sync_restrict::shared::cluster", "release": "sync_restrict::shared::cta"}
_SPACES = {"async.global": "global", "async.shared": "shared"}
_LEVELS = {"cta": "cta", "gpu": "gl", "sys": "sys"}


@irdl_op_definition
class FenceMbarrierInit(Operation):
    """Shows the barriers that were made to the cluster."""

    name = "nvvm.fence.mbarrier.init"
    FORMS: ClassVar[tuple[str, ...]] = ("barrier.fence_restricted",)
    assembly_format = "attr-dict"

    def code(self) -> Code:
        words = {"op_restrict": "mbarrier_init", "sem": "release", "scope": "cluster"}
        return Code([Statement(self.FORMS, words, {})])


@irdl_op_definition
class FenceScCluster(Operation):
    """Orders everything, for the cluster."""

    name = "nvvm.fence.sc.cluster"
    FORMS: ClassVar[tuple[str, ...]] = ("barrier.fence",)
    assembly_format = "attr-dict"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, {"sem": "sc", "scope": "cluster"}, {})])


@irdl_op_definition
class FenceProxy(Operation):
    """Orders what goes to memory another way."""

    name = "nvvm.fence.proxy"
    FORMS: ClassVar[tuple[str, ...]] = ("barrier.fence_proxy",)
    kind = prop_def(Proxy)
    space = opt_prop_def(SharedSpace)
    assembly_format = "attr-dict"

    def check(self) -> None:
        kind = self.kind.data
        if kind in {"tensormap", "generic"}:
            raise self.refuse(f"{kind} proxy is not a supported proxy kind")
        if kind == "async.shared" and self.space is None:
            raise self.refuse("async_shared fence requires space attribute")
        if kind != "async.shared" and self.space is not None:
            raise self.refuse("only async_shared fence can have space attribute")

    def code(self) -> Code:
        space = _SPACES.get(self.kind.data, "")
        if self.space is not None:
            space = f"shared::{self.space.data}"
        words = {"proxykind": self.kind.data.partition(".")[0], "space": space}
        return Code([Statement(self.FORMS, words, {})])


def _check_directions(operation: FenceProxyAcquire | FenceProxyRelease) -> None:
    if operation.fromProxy.data != "generic":
        raise operation.refuse("uni-directional proxies only support generic for from_proxy attribute")
    if operation.toProxy.data != "tensormap":
        raise operation.refuse("uni-directional proxies only support tensormap for to_proxy attribute")


@irdl_op_definition
class FenceProxyAcquire(Operation):
    """Lets a tensor map that another thread changed be used."""

    name = "nvvm.fence.proxy.acquire"
    FORMS: ClassVar[tuple[str, ...]] = ("barrier.fence_proxy_acquire",)
    scope = prop_def(Scope)
    addr = operand_def(pointer(0))
    size = operand_def(i32)
    fromProxy = prop_def(Proxy, default_value=Proxy("generic"))
    toProxy = prop_def(Proxy, default_value=Proxy("tensormap"))
    assembly_format = (
        "$scope $addr `,` $size (`from_proxy` `=` $fromProxy^)? (`to_proxy` `=` $toProxy^)? attr-dict"
    )

    def check(self) -> None:
        _check_directions(self)

    def code(self) -> Code:
        operands: dict[str, Piece] = {"addr": At(self.addr), "size": Constant(self.size)}
        return Code([Statement(self.FORMS, {"scope": self.scope.data}, operands)])


@irdl_op_definition
class FenceProxyRelease(Operation):
    """Shows a changed tensor map to other threads."""

    name = "nvvm.fence.proxy.release"
    FORMS: ClassVar[tuple[str, ...]] = ("barrier.fence_proxy_release",)
    scope = prop_def(Scope)
    fromProxy = prop_def(Proxy, default_value=Proxy("generic"))
    toProxy = prop_def(Proxy, default_value=Proxy("tensormap"))
    assembly_format = "$scope (`from_proxy` `=` $fromProxy^)? (`to_proxy` `=` $toProxy^)? attr-dict"

    def check(self) -> None:
        _check_directions(self)

    def code(self) -> Code:
        words = {
            "to_proxykind::from_proxykind": f"{self.toProxy.data}::{self.fromProxy.data}",
            "sem": "release",
            "scope": self.scope.data,
        }
        return Code([Statement(self.FORMS, words, {})])


def _check_order(operation: FenceSyncRestrict | FenceProxySyncRestrict) -> None:
    if operation.order.data not in _RESTRICTED:
        raise operation.refuse("only acquire and release semantics are supported")


@irdl_op_definition
class FenceProxySyncRestrict(Operation):
    """Orders asynchronous accesses to what synchronises in shared memory."""

    name = "nvvm.fence.proxy.sync_restrict"
    FORMS: ClassVar[tuple[str, ...]] = ("barrier.fence_proxy_release",)
    order = prop_def(Order)
    fromProxy = prop_def(Proxy, default_value=Proxy("generic"))
    toProxy = prop_def(Proxy, default_value=Proxy("async"))
    assembly_format = "attr-dict"

    def check(self) -> None:
        _check_order(self)
        if self.fromProxy.data != "generic":
            raise self.refuse("only generic is support for from_proxy attribute")
        if self.toProxy.data != "async":
            raise self.refuse("only async is supported for to_proxy attribute")

    def code(self) -> Code:
        order = self.order.data
        words = {
            "to_proxykind::from_proxykind": f"{self.toProxy.data}::{self.fromProxy.data}",
            "sem": order,
            "sync_restrict": _RESTRICTED[order],
            "scope": "cluster",
        }
        return Code([Statement(self.FORMS, words, {})])


@irdl_op_definition
class FenceSyncRestrict(Operation):
    """Orders accesses to what synchronises in shared memory."""

    name = "nvvm.fence.sync_restrict"
    FORMS: ClassVar[tuple[str, ...]] = ("barrier.fence_restricted",)
    order = prop_def(Order)
    assembly_format = "attr-dict"

    def check(self) -> None:
        _check_order(self)

    def code(self) -> Code:
        order = self.order.data
        words = {"sem": order, "sync_restrict": _RESTRICTED[order], "scope": "cluster"}
        return Code([Statement(self.FORMS, words, {})])


@irdl_op_definition
class MemoryBarrier(Operation):
    """Orders the accesses of the thread for others."""

    name = "nvvm.memory.barrier"
    FORMS: ClassVar[tuple[str, ...]] = ("barrier.membar", "barrier.fence")
    scope = prop_def(Scope)
    assembly_format = "$scope attr-dict"

    def code(self) -> Code:
        if (level := _LEVELS.get(self.scope.data)) is not None:
            return Code([Statement(("barrier.membar",), {"level": level}, {})])
        return Code([Statement(("barrier.fence",), {"sem": "sc", "scope": self.scope.data}, {})])
