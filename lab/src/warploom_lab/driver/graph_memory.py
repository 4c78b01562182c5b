"""Cases of graphs that allocate and free memory."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Word, calls, case
from warploom_lab.driver.structures import AllocationNode, FillNode

_WORD = Word()
_AUTO_FREE = 1
_ATTRIBUTES = range(5)

calls("graph_memory", {
    "allocate_null": ("cuGraphAddMemAllocNode", _WORD, None, None, 0, None),
    "free_null": ("cuGraphAddMemFreeNode", _WORD, None, None, 0, 0),
    "parameters_null": ("cuGraphMemAllocNodeGetParams", None, None),
    "freed_address_null": ("cuGraphMemFreeNodeGetParams", None, _WORD),
    "trim": ("cuDeviceGraphMemTrim", 0),
    "trim_wrong_device": ("cuDeviceGraphMemTrim", 9),
    "attribute_wrong_device": ("cuDeviceGetGraphMemAttribute", 9, 0, _WORD),
    "attribute_null": ("cuDeviceGetGraphMemAttribute", 0, 0, None),
})  # fmt: skip


def _graph(cuda: Driver) -> int:
    return cuda.new("cuGraphCreate", 0)


def _after(*nodes: int) -> tuple[object, int]:
    return ((ctypes.c_uint64 * len(nodes))(*nodes), len(nodes)) if nodes else (None, 0)


def _allocate(cuda: Driver, graph: int, *before: int, size: int = 4096) -> tuple[int, int]:
    """Add a node that allocates memory after others. Return the node and the address."""
    parameters = AllocationNode(size=size)
    node = cuda.new("cuGraphAddMemAllocNode", graph, *_after(*before), parameters)
    return node, parameters.address


def _free(cuda: Driver, graph: int, address: int, *before: int) -> int:
    """Add a node that frees memory after others."""
    return cuda.new("cuGraphAddMemFreeNode", graph, *_after(*before), address)


def _run(cuda: Driver, executable: int) -> int:
    """Run a graph, and record the status."""
    status = cuda("cuGraphLaunch", executable, 0)
    cuda("cuStreamSynchronize", 0)
    return status


@case
def parameters_of_nodes(cuda: Driver) -> None:
    graph, node = _graph(cuda), Word()
    for change in (
        {}, {"size": 0}, {"kind": 0}, {"kind": 2}, {"location": 0}, {"location": 2}, {"device": 9}, {"handles": 1},
        {"size": 1 << 50},
    ):  # fmt: skip
        parameters = AllocationNode(**change)
        cuda("cuGraphAddMemAllocNode", node, graph, None, 0, parameters)
        cuda.note("has address", parameters.address != 0)
    cuda("cuGraphAddMemAllocNode", node, graph, None, 0, None)
    cuda("cuGraphAddMemAllocNode", None, graph, None, 0, AllocationNode())
    cuda("cuGraphAddMemFreeNode", node, graph, None, 0, 0)
    cuda("cuGraphAddMemFreeNode", node, graph, None, 0, cuda.allocate())


@case
def questions_about_nodes(cuda: Driver) -> None:
    graph, kind = _graph(cuda), ctypes.c_int()
    first, address = _allocate(cuda, graph, size=1000)
    last = _free(cuda, graph, address, first)
    for node in (first, last):
        cuda("cuGraphNodeGetType", node, kind)
        cuda.note("kind", kind.value)
    found, freed = AllocationNode(size=0), Word()
    cuda("cuGraphMemAllocNodeGetParams", first, found)
    cuda.note("parameters", found.kind, found.size, found.address == address)
    cuda("cuGraphMemFreeNodeGetParams", last, freed)
    cuda.note("same", freed.value == address)
    cuda("cuGraphMemAllocNodeGetParams", last, found)
    cuda("cuGraphMemFreeNodeGetParams", first, freed)
    cuda("cuGraphMemAllocNodeGetParams", first, None)
    cuda("cuGraphMemFreeNodeGetParams", last, None)


@case
def run_twice(cuda: Driver) -> None:
    graph = _graph(cuda)
    node, address = _allocate(cuda, graph)
    filled = Word()
    context = cuda.new("cuCtxGetCurrent")
    cuda("cuGraphAddMemsetNode", filled, graph, *_after(node), FillNode(address, 0, 7, 1, 16, 1), context)
    _free(cuda, graph, address, filled.value)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, 0)
    for _ in range(3):
        _run(cuda, executable)


@case
def run_twice_without_free(cuda: Driver) -> None:
    graph = _graph(cuda)
    _, address = _allocate(cuda, graph)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, 0)
    _run(cuda, executable)
    _run(cuda, executable)
    cuda("cuMemsetD8_v2", address, 3, 16)
    cuda("cuMemFree_v2", address)
    cuda("cuMemFree_v2", address)
    _run(cuda, executable)
    cuda("cuMemFreeAsync", address, 0)
    cuda("cuMemFreeAsync", address, 0)
    _run(cuda, executable)


@case
def free_on_launch(cuda: Driver) -> None:
    graph = _graph(cuda)
    _, address = _allocate(cuda, graph)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, _AUTO_FREE)
    for _ in range(3):
        _run(cuda, executable)
    cuda("cuMemFree_v2", address)


@case
def free_before_run(cuda: Driver) -> None:
    graph = _graph(cuda)
    _, address = _allocate(cuda, graph)
    cuda("cuMemFree_v2", address)
    cuda("cuMemFreeAsync", address, 0)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, 0)
    cuda("cuMemFree_v2", address)
    _run(cuda, executable)
    cuda("cuMemFree_v2", address)


@case
def free_twice_in_graph(cuda: Driver) -> None:
    graph, node = _graph(cuda), Word()
    first, address = _allocate(cuda, graph)
    freed = _free(cuda, graph, address, first)
    cuda("cuGraphAddMemFreeNode", node, graph, *_after(freed), address)
    cuda("cuGraphAddMemFreeNode", node, graph, *_after(freed), address + 16)


@case
def free_without_dependency(cuda: Driver) -> None:
    graph, node = _graph(cuda), Word()
    _, address = _allocate(cuda, graph)
    cuda("cuGraphAddMemFreeNode", node, graph, None, 0, address)
    _, inside = _allocate(cuda, graph)
    cuda("cuGraphAddMemFreeNode", node, graph, None, 0, inside + 16)
    cuda("cuGraphInstantiateWithFlags", _WORD, graph, 0)


@case
def free_in_another_graph(cuda: Driver) -> None:
    graph, other = _graph(cuda), _graph(cuda)
    _, address = _allocate(cuda, graph)
    node = Word()
    cuda("cuGraphAddMemFreeNode", node, other, None, 0, address)
    first, second = (cuda.new("cuGraphInstantiateWithFlags", each, 0) for each in (graph, other))
    _run(cuda, second)
    _run(cuda, first)
    _run(cuda, first)
    _run(cuda, second)
    _run(cuda, first)


@case
def two_executables(cuda: Driver) -> None:
    graph, executable, other = _graph(cuda), Word(), Word()
    _allocate(cuda, graph)
    cuda("cuGraphInstantiateWithFlags", executable, graph, 0)
    cuda("cuGraphInstantiateWithFlags", other, graph, 0)
    cuda("cuGraphExecDestroy", executable.value)
    cuda("cuGraphInstantiateWithFlags", other, graph, 0)


@case
def changes_of_the_graph(cuda: Driver) -> None:
    graph, child, node, clone = _graph(cuda), _graph(cuda), Word(), Word()
    first, address = _allocate(cuda, graph)
    last = _free(cuda, graph, address, first)
    cuda("cuGraphClone", clone, graph)
    cuda("cuGraphAddChildGraphNode", node, child, None, 0, graph)
    cuda("cuGraphRemoveDependencies", graph, *_after(first)[:1], *_after(last))
    empty = cuda.new("cuGraphAddEmptyNode", graph, None, 0)
    cuda("cuGraphAddDependencies", graph, *_after(last)[:1], *_after(empty))
    cuda("cuGraphRemoveDependencies", graph, *_after(last)[:1], *_after(empty))
    cuda("cuGraphDestroyNode", last)
    cuda("cuGraphDestroyNode", first)
    cuda("cuGraphDestroyNode", empty)


@case
def free_after_destroyed_graph(cuda: Driver) -> None:
    graph = _graph(cuda)
    _, address = _allocate(cuda, graph)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, 0)
    _run(cuda, executable)
    cuda("cuGraphExecDestroy", executable)
    cuda("cuGraphDestroy", graph)
    cuda("cuMemsetD8_v2", address, 3, 16)
    cuda("cuMemFree_v2", address)


@case
def update(cuda: Driver) -> None:
    graph, other, result = _graph(cuda), _graph(cuda), ctypes.c_int()
    _allocate(cuda, graph)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, 0)
    cuda("cuGraphExecUpdate", executable, graph, _WORD, result)
    cuda.note("result", result.value)
    _allocate(cuda, other)
    cuda("cuGraphExecUpdate", executable, other, _WORD, result)
    cuda.note("result", result.value)


@case
def memory_of_the_device(cuda: Driver) -> None:
    values = [Word(99) for _ in _ATTRIBUTES]
    for number, value in zip(_ATTRIBUTES, values, strict=True):
        cuda("cuDeviceGetGraphMemAttribute", 0, number, value)
    for number in _ATTRIBUTES:
        for amount in (0, 16):
            cuda("cuDeviceSetGraphMemAttribute", 0, number, Word(amount))
    cuda("cuDeviceSetGraphMemAttribute", 0, 1, None)


@case
def questions_about_addresses(cuda: Driver) -> None:
    graph, start, size, kind = _graph(cuda), Word(), Word(), ctypes.c_uint32()
    _, address = _allocate(cuda, graph)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, 0)
    for _ in range(2):
        cuda("cuMemGetAddressRange_v2", start, size, address + 16)
        cuda.note("range", start.value == address, size.value)
        cuda("cuPointerGetAttribute", kind, 2, address)
        _run(cuda, executable)


@case
def captured_allocation(cuda: Driver) -> None:
    stream, address, graph = cuda.stream(), Word(), Word()
    cuda("cuStreamBeginCapture_v2", stream, 2)
    cuda("cuMemAllocAsync", address, 4096, stream)
    cuda("cuMemsetD8Async", address.value, 1, 16, stream)
    cuda("cuStreamEndCapture", stream, graph)
    cuda("cuMemFreeAsync", address.value, stream)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph.value, 0)
    _run(cuda, executable)
    _run(cuda, executable)
    cuda("cuMemFreeAsync", address.value, stream)
    _run(cuda, executable)


@case
def captured_free_of_plain_memory(cuda: Driver) -> None:
    stream, address = cuda.stream(), Word()
    cuda("cuMemAllocAsync", address, 4096, stream)
    cuda("cuStreamBeginCapture_v2", stream, 2)
    cuda("cuMemFreeAsync", address.value, stream)
    cuda("cuStreamEndCapture", stream, _WORD)
