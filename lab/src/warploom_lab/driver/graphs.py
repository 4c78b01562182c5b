"""Cases of graphs."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Word, calls, case
from warploom_lab.driver.structures import (
    DEVICE,
    Copy3D,
    FillNode,
    GraphParameters,
    HostNode,
    UpdateResult,
    Values,
    host_function,
    kernel_node,
)

_WORD = Word()
_INT = ctypes.c_int()

calls("graphs", {
    "create_null": ("cuGraphCreate", None, 0),
    "create_flags": ("cuGraphCreate", _WORD, 1),
    "destroy_null": ("cuGraphDestroy", None),
    "clone_null": ("cuGraphClone", _WORD, None),
    "instantiate_null": ("cuGraphInstantiateWithFlags", _WORD, None, 0),
    "instantiate_parameters_null": ("cuGraphInstantiateWithParams", _WORD, None, None),
    "launch_null": ("cuGraphLaunch", None, 0),
    "upload_null": ("cuGraphUpload", None, 0),
    "destroy_executable_null": ("cuGraphExecDestroy", None),
    "destroy_node_null": ("cuGraphDestroyNode", None),
    "nodes_of_null": ("cuGraphGetNodes", None, None, _WORD),
    "roots_of_null": ("cuGraphGetRootNodes", None, None, _WORD),
    "edges_of_null": ("cuGraphGetEdges", None, None, None, _WORD),
    "type_of_null": ("cuGraphNodeGetType", None, _INT),
    "dependencies_of_null": ("cuGraphNodeGetDependencies", None, None, _WORD),
    "empty_node_of_null": ("cuGraphAddEmptyNode", _WORD, None, None, 0),
    "flags_of_null": ("cuGraphExecGetFlags", None, _WORD),
    "update_null": ("cuGraphExecUpdate_v2", None, None, None),
    "kernel_parameters_of_null": ("cuGraphKernelNodeSetParams_v2", None, None),
    "user_object_null": ("cuUserObjectCreate", None, None, None, 1, 1),
})  # fmt: skip


def _graph(cuda: Driver) -> int:
    return cuda.new("cuGraphCreate", 0)


def _empty(cuda: Driver, graph: int, *before: int) -> int:
    """Add an empty node after others."""
    return cuda.new("cuGraphAddEmptyNode", graph, (ctypes.c_uint64 * max(len(before), 1))(*before), len(before))


def _words(*values: int) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * len(values))(*values)


@case
def empty_graph(cuda: Driver) -> None:
    graph, executable, count = _graph(cuda), Word(), Word(99)
    cuda("cuGraphGetNodes", graph, None, count)
    cuda.note("count", count.value)
    cuda("cuGraphGetEdges", graph, None, None, count)
    cuda("cuGraphInstantiateWithFlags", executable, graph, 0)
    cuda("cuGraphLaunch", executable.value, 0)
    cuda("cuStreamSynchronize", 0)
    cuda("cuGraphInstantiateWithFlags", None, graph, 0)
    cuda("cuGraphGetNodes", graph, None, None)


@case
def instantiation_flags(cuda: Driver) -> None:
    graph = _graph(cuda)
    _empty(cuda, graph)
    for flags in (0, 1, 2, 4, 8, 16, 32, 1 << 40):
        executable, value = Word(), Word(99)
        if cuda("cuGraphInstantiateWithFlags", executable, graph, flags) == 0:
            cuda("cuGraphExecGetFlags", executable.value, value)
            cuda.note("flags", value.value)
            cuda("cuGraphExecDestroy", executable.value)


@case
def instantiation_parameters(cuda: Driver) -> None:
    graph = _graph(cuda)
    _empty(cuda, graph)
    for flags in (0, 1, 2, 32):
        parameters = GraphParameters(flags, 0, 7, 99)
        cuda("cuGraphInstantiateWithParams", _WORD, graph, parameters)
        cuda.note("result", parameters.result, parameters.node)
    cuda("cuGraphInstantiateWithParams", _WORD, graph, None)


@case
def nodes(cuda: Driver) -> None:
    graph, other, node = _graph(cuda), _graph(cuda), Word()
    first = _empty(cuda, graph)
    foreign = _empty(cuda, other)
    cuda("cuGraphAddEmptyNode", None, graph, None, 0)
    cuda("cuGraphAddEmptyNode", node, graph, None, 1)
    cuda("cuGraphAddEmptyNode", node, graph, _words(first), 0)
    cuda("cuGraphAddEmptyNode", node, graph, _words(first, first), 2)
    cuda("cuGraphAddEmptyNode", node, graph, _words(foreign), 1)
    cuda("cuGraphAddEmptyNode", node, graph, _words(0), 1)
    cuda("cuGraphAddEmptyNode", node, graph, _words(first), 1)
    count, table = Word(), (ctypes.c_uint64 * 10)(*[7] * 10)
    for room in (0, 1, 2, 3, 5):
        count.value = room
        cuda("cuGraphGetNodes", graph, table, count)
        cuda.note(f"count of {room}", count.value, *[word not in (0, 7) for word in table[:6]])
    count.value = 10
    cuda("cuGraphGetRootNodes", graph, table, count)
    cuda.note("roots", count.value)
    cuda("cuGraphNodeGetDependencies", node.value, None, count)
    cuda.note("dependencies", count.value)
    cuda("cuGraphNodeGetDependentNodes", first, None, count)
    cuda.note("dependents", count.value)
    cuda("cuGraphGetEdges", graph, None, None, count)
    cuda.note("edges", count.value)


@case
def dependencies(cuda: Driver) -> None:
    graph, other = _graph(cuda), _graph(cuda)
    first, second, foreign = _empty(cuda, graph), _empty(cuda, graph), _empty(cuda, other)
    cuda("cuGraphAddDependencies", graph, _words(first), _words(second), 1)
    cuda("cuGraphAddDependencies", graph, _words(first), _words(second), 1)
    cuda("cuGraphAddDependencies", graph, _words(first), _words(first), 1)
    cuda("cuGraphAddDependencies", graph, _words(second), _words(first), 1)
    cuda("cuGraphInstantiateWithFlags", _WORD, graph, 0)
    cuda("cuGraphRemoveDependencies", graph, _words(second), _words(first), 1)
    cuda("cuGraphRemoveDependencies", graph, _words(second), _words(first), 1)
    cuda("cuGraphAddDependencies", graph, _words(first), _words(foreign), 1)
    cuda("cuGraphAddDependencies", graph, None, None, 1)
    cuda("cuGraphAddDependencies", graph, None, None, 0)
    cuda("cuGraphInstantiateWithFlags", _WORD, graph, 0)


@case
def kinds(cuda: Driver) -> None:
    graph, node, kind = _graph(cuda), Word(), ctypes.c_int()
    address, function = cuda.allocate(), cuda.function("nothing")
    callback = host_function(lambda data: None)
    host = HostNode(ctypes.cast(callback, ctypes.c_void_p).value or 0, 0)
    context = cuda.new("cuCtxGetCurrent")
    child, event = _graph(cuda), cuda.event()
    copy = Copy3D(
        kind=DEVICE, device=address, pitch=64, rows=1, to_kind=DEVICE, to_device=address + 1024, to_pitch=64, to_rows=1,
        width=64, height=1, depth=1,
    )  # fmt: skip
    fill = FillNode(address, 0, 1, 4, 16, 1)
    for name, *arguments in (
        ("cuGraphAddEmptyNode",), ("cuGraphAddKernelNode_v2", kernel_node(function)),
        ("cuGraphAddMemcpyNode", copy, context), ("cuGraphAddMemsetNode", fill, context),
        ("cuGraphAddHostNode", host), ("cuGraphAddChildGraphNode", child), ("cuGraphAddEventRecordNode", event),
        ("cuGraphAddEventWaitNode", event),
    ):  # fmt: skip
        cuda(name, node, graph, None, 0, *arguments)
        cuda("cuGraphNodeGetType", node.value, kind)
        cuda.note("kind", kind.value)
        cuda("cuGraphKernelNodeSetParams_v2", node.value, kernel_node(function))
    cuda("cuGraphNodeGetType", node.value, None)
    executable = Word()
    cuda("cuGraphInstantiateWithFlags", executable, graph, 0)
    cuda("cuGraphLaunch", executable.value, 0)
    cuda("cuStreamSynchronize", 0)


@case
def null_parameters_of_nodes(cuda: Driver) -> None:
    graph, node = _graph(cuda), Word()
    context = cuda.new("cuCtxGetCurrent")
    cuda("cuGraphAddKernelNode_v2", node, graph, None, 0, None)
    cuda("cuGraphAddMemcpyNode", node, graph, None, 0, None, context)
    cuda("cuGraphAddMemsetNode", node, graph, None, 0, None, context)
    cuda("cuGraphAddHostNode", node, graph, None, 0, None)
    cuda("cuGraphAddHostNode", node, graph, None, 0, HostNode(0, 0))
    cuda("cuGraphAddChildGraphNode", node, graph, None, 0, None)
    cuda("cuGraphAddEventRecordNode", node, graph, None, 0, None)
    cuda("cuGraphAddEventWaitNode", node, graph, None, 0, None)


@case
def kernel_nodes(cuda: Driver) -> None:
    graph, node, module = _graph(cuda), Word(), cuda.module()
    nothing, store = cuda.function("nothing", module), cuda.function("store", module)
    address = cuda.allocate()
    for parameters in (
        kernel_node(0), kernel_node(nothing, grid=(0, 1, 1)), kernel_node(nothing, block=(0, 1, 1)),
        kernel_node(nothing, block=(1025, 1, 1)), kernel_node(nothing, shared=1 << 20), kernel_node(store),
        kernel_node(store, Values(address, 1)), kernel_node(nothing, grid=(1, 65536, 1)),
    ):  # fmt: skip
        cuda("cuGraphAddKernelNode_v2", node, graph, None, 0, parameters)
    cuda("cuGraphAddKernelNode_v2", node, graph, None, 0, kernel_node(nothing))
    cuda("cuGraphKernelNodeSetParams_v2", node.value, kernel_node(nothing, block=(1025, 1, 1)))
    cuda("cuGraphKernelNodeSetParams_v2", node.value, kernel_node(store))
    cuda("cuGraphKernelNodeSetParams_v2", node.value, None)
    cuda("cuGraphKernelNodeSetParams_v2", node.value, kernel_node(0))
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, 0)
    cuda("cuGraphExecKernelNodeSetParams_v2", executable, node.value, kernel_node(nothing, grid=(3, 1, 1)))
    cuda("cuGraphExecKernelNodeSetParams_v2", executable, node.value, kernel_node(nothing, block=(1025, 1, 1)))
    cuda("cuGraphExecKernelNodeSetParams_v2", executable, node.value, kernel_node(store, Values(address, 1)))
    cuda("cuGraphExecKernelNodeSetParams_v2", executable, None, kernel_node(nothing))
    cuda("cuGraphExecKernelNodeSetParams_v2", executable, _empty(cuda, graph), kernel_node(nothing))


@case
def fill_nodes(cuda: Driver) -> None:
    graph, node, address = _graph(cuda), Word(), cuda.allocate(1 << 16)
    context = cuda.new("cuCtxGetCurrent")
    for fields in (
        (address, 0, 1, 4, 16, 1), (address, 0, 1, 3, 16, 1), (address, 0, 1, 8, 16, 1), (address + 1, 0, 1, 4, 16, 1),
        (0, 0, 1, 4, 16, 1), (address, 0, 1, 1, 0, 1), (address, 0, 1, 1, 16, 0), (address, 8, 1, 1, 16, 2),
        (address, 16, 1, 1, 16, 2), (address, 0, 1, 1, 1 << 40, 1), (address, 0, 300, 1, 16, 1),
        (address + (1 << 40), 0, 1, 1, 16, 1),
    ):  # fmt: skip
        cuda("cuGraphAddMemsetNode", node, graph, None, 0, FillNode(*fields), context)
    cuda("cuGraphAddMemsetNode", node, graph, None, 0, FillNode(address, 0, 1, 1, 16, 1), None)


@case
def copy_nodes(cuda: Driver) -> None:
    graph, node, address = _graph(cuda), Word(), cuda.allocate(1 << 16)
    context = cuda.new("cuCtxGetCurrent")
    for changes in ({}, {"width": 0}, {"pitch": 8}, {"kind": 9}, {"to_device": 0}, {"to_device": address + (1 << 40)}):
        fields = {
            "kind": DEVICE, "device": address, "pitch": 64, "rows": 1, "to_kind": DEVICE, "to_device": address + 1024,
            "to_pitch": 64, "to_rows": 1, "width": 64, "height": 1, "depth": 1,
        } | changes  # fmt: skip
        cuda("cuGraphAddMemcpyNode", node, graph, None, 0, Copy3D(**fields), context)
    fields = {"kind": DEVICE, "device": address, "to_kind": DEVICE, "to_device": address, "width": 4, "height": 1}
    cuda("cuGraphAddMemcpyNode", node, graph, None, 0, Copy3D(depth=1, **fields), None)


@case
def child_graphs(cuda: Driver) -> None:
    graph, child, node = _graph(cuda), _graph(cuda), Word()
    cuda("cuGraphAddChildGraphNode", node, graph, None, 0, graph)
    cuda("cuGraphAddChildGraphNode", node, graph, None, 0, child)
    cuda("cuGraphDestroy", child)
    cuda("cuGraphInstantiateWithFlags", _WORD, graph, 0)


@case
def clones(cuda: Driver) -> None:
    graph, clone, found, count = _graph(cuda), Word(), Word(), Word()
    first = _empty(cuda, graph)
    _empty(cuda, graph, first)
    cuda("cuGraphClone", None, graph)
    cuda("cuGraphClone", clone, graph)
    cuda("cuGraphGetNodes", clone.value, None, count)
    cuda.note("count", count.value)
    cuda("cuGraphNodeFindInClone", found, first, clone.value)
    cuda.note("same", found.value == first)
    cuda("cuGraphNodeFindInClone", found, first, graph)
    cuda("cuGraphDestroy", graph)
    cuda("cuGraphInstantiateWithFlags", _WORD, clone.value, 0)


@case
def destroyed_nodes(cuda: Driver) -> None:
    graph, count = _graph(cuda), Word()
    first = _empty(cuda, graph)
    second = _empty(cuda, graph, first)
    cuda("cuGraphDestroyNode", first)
    cuda("cuGraphGetNodes", graph, None, count)
    cuda.note("count", count.value)
    cuda("cuGraphNodeGetDependencies", second, None, count)
    cuda.note("dependencies", count.value)


@case(alone=True)
def destroy_twice(cuda: Driver) -> None:
    graph = _graph(cuda)
    cuda("cuGraphDestroy", graph)
    cuda("cuGraphDestroy", graph)


@case(alone=True)
def destroyed_executable(cuda: Driver) -> None:
    graph = _graph(cuda)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, 0)
    cuda("cuGraphExecDestroy", executable)
    cuda("cuGraphLaunch", executable, 0)


@case
def graph_ends_before_its_executable(cuda: Driver) -> None:
    graph = _graph(cuda)
    _empty(cuda, graph)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, 0)
    cuda("cuGraphDestroy", graph)
    cuda("cuGraphLaunch", executable, 0)
    cuda("cuStreamSynchronize", 0)
    cuda("cuGraphUpload", executable, 0)
    cuda("cuGraphExecDestroy", executable)


@case
def launch_streams(cuda: Driver) -> None:
    graph = _graph(cuda)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, 0)
    for stream in (0, 1, 2, cuda.stream()):
        cuda("cuGraphLaunch", executable, stream)
        cuda("cuStreamSynchronize", stream)


@case
def updates(cuda: Driver) -> None:
    module = cuda.module()
    nothing, bounded, address = cuda.function("nothing", module), cuda.function("bounded", module), cuda.allocate()
    context = cuda.new("cuCtxGetCurrent")

    def graph_of(*functions: int, fill: int = 0) -> int:
        graph, node = _graph(cuda), Word()
        for function in functions:
            cuda.require("cuGraphAddKernelNode_v2", node, graph, None, 0, kernel_node(function))
        if fill:
            parameters = FillNode(address, 0, 1, 4, fill, 1)
            cuda.require("cuGraphAddMemsetNode", node, graph, None, 0, parameters, context)
        return graph

    executable = cuda.new("cuGraphInstantiateWithFlags", graph_of(nothing, fill=16), 0)
    for graph in (
        graph_of(nothing, fill=16), graph_of(bounded, fill=16), graph_of(nothing, fill=8), graph_of(nothing),
        graph_of(nothing, nothing), graph_of(nothing, nothing, fill=16), graph_of(),
    ):  # fmt: skip
        result = UpdateResult(99, 7, 7)
        cuda("cuGraphExecUpdate_v2", executable, graph, result)
        cuda.note("result", result.result)
    cuda("cuGraphExecUpdate_v2", executable, None, UpdateResult())
    cuda("cuGraphExecUpdate_v2", executable, graph_of(nothing, fill=16), None)


@case
def update_with_other_edges(cuda: Driver) -> None:
    plain, ordered = _graph(cuda), _graph(cuda)
    _empty(cuda, plain)
    _empty(cuda, plain)
    _empty(cuda, ordered, _empty(cuda, ordered))
    executable = cuda.new("cuGraphInstantiateWithFlags", plain, 0)
    result = UpdateResult(99, 7, 7)
    cuda("cuGraphExecUpdate_v2", executable, ordered, result)
    cuda.note("result", result.result)


@case
def enabled_nodes(cuda: Driver) -> None:
    graph, node, value = _graph(cuda), Word(), ctypes.c_uint(9)
    cuda("cuGraphAddKernelNode_v2", node, graph, None, 0, kernel_node(cuda.function("nothing")))
    empty = _empty(cuda, graph)
    executable = cuda.new("cuGraphInstantiateWithFlags", graph, 0)
    cuda("cuGraphNodeGetEnabled", executable, node.value, value)
    cuda.note("enabled", value.value)
    cuda("cuGraphNodeSetEnabled", executable, node.value, 0)
    cuda("cuGraphNodeGetEnabled", executable, node.value, value)
    cuda.note("enabled", value.value)
    cuda("cuGraphNodeSetEnabled", executable, empty, 0)


@case
def debug_print(cuda: Driver) -> None:
    graph = _graph(cuda)
    cuda("cuGraphDebugDotPrint", graph, None, 0)
    cuda("cuGraphDebugDotPrint", graph, b"/nonexistent/folder/graph.dot", 0)
