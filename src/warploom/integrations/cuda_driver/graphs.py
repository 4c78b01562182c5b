"""Driver functions for graphs."""

from __future__ import annotations

import struct
from graphlib import CycleError
from typing import TYPE_CHECKING, cast

from warploom.integrations.cuda_driver.box_copies import copy_box
from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.graph import ExecutableGraph, Graph, Node, NodeKind, Operation, do_nothing
from warploom.integrations.cuda_driver.graph_memory import (
    add_allocation,
    add_free,
    has_memory,
    memory_of,
    prepare_run,
    refuse_memory,
    release,
    retain,
)
from warploom.integrations.cuda_driver.launches import Launch, Shape, prepare_launch
from warploom.integrations.cuda_driver.memory import fill
from warploom.integrations.cuda_driver.statuses import DriverError, Status
from warploom.integrations.cuda_driver.streams import (
    Event,
    call_host,
    enqueue,
    event_of,
    record_event,
    valid_capture_of,
)

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

_KERNEL = struct.Struct("=Q7I4xQQ")
_KERNEL_WITH_CONTEXT = struct.Struct("=Q7I4xQQQQ")
_FILL = struct.Struct("=QQIIQQ")
_HOST = struct.Struct("=QQ")
_ALLOCATION = struct.Struct("=4i72x2Q2Q")
"""CUDA_MEM_ALLOC_NODE_PARAMS.

Its fields are kind, handles, kind and number of the location, address and number of accesses, size, and address.
"""
_ALLOCATION_KINDS = (1, 2)  # pinned and managed
_ON_DEVICE, _ON_HOST = 1, 2
_AUTO_FREE = 1
_UPLOAD, _DEVICE_LAUNCH, _PRIORITIES = 2, 4, 8
_INSTANTIATION_FLAGS = 15  # these, and free on launch
_INSTANTIATION_ERROR = 1
_DEVICE_KINDS = (NodeKind.KERNEL, NodeKind.COPY, NodeKind.FILL)
_MOST_NODES = 1 << 20
_NEW = "out ptr node, ptr graph, ptr dependencies, size count"


def _nodes(call: DriverCall, address: int, count: int) -> list[Node]:
    if count > _MOST_NODES or (count and not address):
        raise DriverError(Status.INVALID_VALUE)
    data = call.connection.read(address, 8 * count) if count else b""
    return [call.get(Node, handle, Status.INVALID_VALUE) for (handle,) in struct.iter_unpack("=Q", data)]


def _in_order(call: DriverCall, graph: int) -> list[Node]:
    """Return the nodes of a graph in an order in which they can run. Errors: DriverError."""
    try:
        return call.get(Graph, graph, Status.INVALID_VALUE).in_order()
    except CycleError:
        raise DriverError(Status.INVALID_VALUE) from None


def _place(call: DriverCall, graph: int, dependencies: int, count: int) -> tuple[Graph, list[Node]]:
    """Return the graph of a new node, and the nodes that it follows. Errors: DriverError INVALID_VALUE."""
    target, before = call.get(Graph, graph, Status.INVALID_VALUE), _nodes(call, dependencies, count)
    if len({*before}) < count or not {*before} <= {*target.nodes}:
        raise DriverError(Status.INVALID_VALUE)
    return target, before


def _add(
    call: DriverCall, graph: int, dependencies: int, count: int, kind: NodeKind, operation: Operation,
    detail: object = None,
) -> int:  # fmt: skip
    """Add a node to a graph, and return its handle."""
    target, before = _place(call, graph, dependencies, count)
    return call.program.handle_of(target.add(kind, operation, before, detail))


def _fields(call: DriverCall, address: int, layout: struct.Struct) -> tuple[int, ...]:
    if not address:
        raise DriverError(Status.INVALID_VALUE)
    return layout.unpack(call.connection.read(address, layout.size))


@driver("cuGraphCreate", "out ptr graph, u32 flags")
def _create(call: DriverCall, flags: int) -> int:
    if flags:
        raise DriverError(Status.INVALID_VALUE)
    return call.program.handle_of(Graph())


@driver("cuGraphDestroy", "ptr graph")
def _destroy(call: DriverCall, handle: int) -> None:
    graph = call.get(Graph, handle, Status.INVALID_VALUE)
    release(call.program, graph.nodes)
    for item in (graph, *graph.nodes):
        call.program.drop(item)


@driver("cuGraphClone", "out ptr clone, ptr graph")
def _clone(call: DriverCall, handle: int) -> int:
    clone = Graph()
    refuse_memory(call.get(Graph, handle, Status.INVALID_VALUE))
    copies: dict[Node, Node] = {}
    for node in _in_order(call, handle):
        copies[node] = clone.add(node.kind, node.operation, [copies[each] for each in node.dependencies], node.detail)
        copies[node].original = node
    return call.program.handle_of(clone)


@driver("cuGraphNodeFindInClone", "out ptr node, ptr original, ptr clone")
def _find_in_clone(call: DriverCall, original: int, clone: int) -> int:
    wanted = call.get(Node, original, Status.INVALID_VALUE)
    found = [node for node in call.get(Graph, clone, Status.INVALID_VALUE).nodes if node.original is wanted]
    if not found:
        raise DriverError(Status.INVALID_VALUE)
    return call.program.handle_of(found[0])


# Nodes ------------------------------------------------------------------------------------------------------------


def _kernel(call: DriverCall, address: int) -> Launch:
    """Return the launch that the parameters of a kernel node describe."""
    function, *numbers, values, extra = _fields(call, address, _KERNEL)
    grid, block = cast("tuple[int, int, int]", tuple(numbers[:3])), cast("tuple[int, int, int]", tuple(numbers[3:6]))
    return prepare_launch(call, function, Shape(grid, block, numbers[6]), values, extra)


def _kernel_2(call: DriverCall, address: int) -> Launch:
    """Return the launch that CUDA_KERNEL_NODE_PARAMS_v2 describes, which may name a kernel of a library."""
    function, *numbers, values, extra, kernel, _ = _fields(call, address, _KERNEL_WITH_CONTEXT)
    grid, block = cast("tuple[int, int, int]", tuple(numbers[:3])), cast("tuple[int, int, int]", tuple(numbers[3:6]))
    return prepare_launch(call, function or kernel, Shape(grid, block, numbers[6]), values, extra)


@driver("cuGraphAddKernelNode", f"{_NEW}, ptr parameters")
def _add_kernel(call: DriverCall, graph: int, dependencies: int, count: int, parameters: int) -> int:
    ready = _kernel(call, parameters)
    return _add(call, graph, dependencies, count, NodeKind.KERNEL, ready, ready)


@driver("cuGraphAddKernelNode_v2", f"{_NEW}, ptr parameters")
def _add_kernel_2(call: DriverCall, graph: int, dependencies: int, count: int, parameters: int) -> int:
    ready = _kernel_2(call, parameters)
    return _add(call, graph, dependencies, count, NodeKind.KERNEL, ready, ready)


@driver("cuGraphAddMemcpyNode", f"{_NEW}, ptr parameters, ptr context")
def _add_copy(call: DriverCall, graph: int, dependencies: int, count: int, parameters: int, context: int) -> int:
    return _add(call, graph, dependencies, count, NodeKind.COPY, copy_box(call, parameters, is_node=True))


@driver("cuGraphAddMemsetNode", f"{_NEW}, ptr parameters, ptr context")
def _add_fill(call: DriverCall, graph: int, dependencies: int, count: int, parameters: int, context: int) -> int:
    address, pitch, value, element, width, height = _fields(call, parameters, _FILL)
    if element not in (1, 2, 4):
        raise DriverError(Status.INVALID_VALUE)
    if not width or not height:
        raise DriverError(Status.INVALID_VALUE)
    operation = fill(call, address, value, element, width, pitch, height)
    return _add(call, graph, dependencies, count, NodeKind.FILL, operation)


@driver("cuGraphAddHostNode", f"{_NEW}, ptr parameters")
def _add_host(call: DriverCall, graph: int, dependencies: int, count: int, parameters: int) -> int:
    function, data = _fields(call, parameters, _HOST)
    if not function:
        raise DriverError(Status.INVALID_VALUE)
    operation: Operation = lambda now: call_host(now, function, data)  # noqa: E731
    return _add(call, graph, dependencies, count, NodeKind.HOST, operation)


@driver("cuGraphAddEmptyNode", _NEW)
def _add_empty(call: DriverCall, graph: int, dependencies: int, count: int) -> int:
    return _add(call, graph, dependencies, count, NodeKind.EMPTY, do_nothing)


@driver("cuGraphAddChildGraphNode", f"{_NEW}, ptr child")
def _add_graph(call: DriverCall, graph: int, dependencies: int, count: int, child: int) -> int:
    if child == graph:
        raise DriverError(Status.INVALID_VALUE)
    refuse_memory(call.get(Graph, child, Status.INVALID_VALUE))
    steps = [node.operation for node in _in_order(call, child)]

    def run(now: DriverCall) -> None:
        for step in steps:
            step(now)

    return _add(call, graph, dependencies, count, NodeKind.GRAPH, run)


def _event(call: DriverCall, handle: int) -> Event:
    if not handle:
        raise DriverError(Status.INVALID_VALUE)
    return event_of(call, handle)


@driver("cuGraphAddEventRecordNode", f"{_NEW}, ptr event")
def _add_record(call: DriverCall, graph: int, dependencies: int, count: int, event: int) -> int:
    found = _event(call, event)
    return _add(call, graph, dependencies, count, NodeKind.RECORD_EVENT, lambda now: record_event(found))


@driver("cuGraphAddEventWaitNode", f"{_NEW}, ptr event")
def _add_wait(call: DriverCall, graph: int, dependencies: int, count: int, event: int) -> int:
    _event(call, event)
    return _add(call, graph, dependencies, count, NodeKind.WAIT_EVENT, do_nothing)


@driver("cuGraphAddMemAllocNode", f"{_NEW}, ptr parameters")
def _add_allocation(call: DriverCall, graph: int, dependencies: int, count: int, parameters: int) -> int:
    target, before = _place(call, graph, dependencies, count)
    kind, handles, location, device, accesses, accessing, size, _ = _fields(call, parameters, _ALLOCATION)
    if handles or location == _ON_HOST:
        raise DriverError(Status.NOT_SUPPORTED)
    if kind not in _ALLOCATION_KINDS or location != _ON_DEVICE or device or (accessing and not accesses):
        raise DriverError(Status.INVALID_VALUE)
    node = add_allocation(call, target, before, size)
    address = memory_of(node, NodeKind.ALLOCATE).segment.start
    call.connection.write(parameters + _ALLOCATION.size - 8, struct.pack("=Q", address))
    return call.program.handle_of(node)


@driver("cuGraphAddMemFreeNode", f"{_NEW}, u64 address")
def _add_free(call: DriverCall, graph: int, dependencies: int, count: int, address: int) -> int:
    target, before = _place(call, graph, dependencies, count)
    return call.program.handle_of(add_free(call, target, before, address))


@driver("cuGraphMemAllocNodeGetParams", "ptr node, ptr parameters")
def _get_allocation(call: DriverCall, node: int, parameters: int) -> None:
    segment = memory_of(call.get(Node, node, Status.INVALID_VALUE), NodeKind.ALLOCATE).segment
    if not parameters:
        raise DriverError(Status.INVALID_VALUE)
    data = _ALLOCATION.pack(_ALLOCATION_KINDS[0], 0, _ON_DEVICE, 0, 0, 0, segment.size, segment.start)
    call.connection.write(parameters, data)


@driver("cuGraphMemFreeNodeGetParams", "ptr node, out u64 address")
def _get_free(call: DriverCall, node: int) -> int:
    return memory_of(call.get(Node, node, Status.INVALID_VALUE), NodeKind.FREE).segment.start


@driver("cuGraphAddDependencies", "ptr graph, ptr before, ptr after, size count")
def _add_dependencies(call: DriverCall, graph: int, before: int, after: int, count: int) -> None:
    nodes = call.get(Graph, graph, Status.INVALID_VALUE).nodes
    for first, second in zip(_nodes(call, before, count), _nodes(call, after, count), strict=True):
        if first in second.dependencies or first is second or first not in nodes or second not in nodes:
            raise DriverError(Status.INVALID_VALUE)
        second.dependencies.append(first)


@driver("cuGraphRemoveDependencies", "ptr graph, ptr before, ptr after, size count")
def _remove_dependencies(call: DriverCall, graph: int, before: int, after: int, count: int) -> None:
    refuse_memory(call.get(Graph, graph, Status.INVALID_VALUE))
    for first, second in zip(_nodes(call, before, count), _nodes(call, after, count), strict=True):
        if first not in second.dependencies:
            raise DriverError(Status.INVALID_VALUE)
        second.dependencies.remove(first)


@driver("cuGraphDestroyNode", "ptr node")
def _destroy_node(call: DriverCall, handle: int) -> None:
    node = call.get(Node, handle, Status.INVALID_VALUE)
    graph = node.graph
    refuse_memory(graph)
    graph.nodes.remove(node)
    for other in graph.nodes:
        if node in other.dependencies:
            other.dependencies.remove(node)
    call.program.drop(node)


@driver("cuGraphNodeGetType", "ptr node, out i32 kind")
def _kind(call: DriverCall, handle: int) -> int:
    return call.get(Node, handle, Status.INVALID_VALUE).kind


def _list(call: DriverCall, nodes: list[Node], address: int, count: int) -> None:
    """Write the number of nodes to `count`, and their handles to `address` unless it is null.

    The program passes the size of the array at `address` in `count`. Unused elements become 0.
    """
    if not count:
        raise DriverError(Status.INVALID_VALUE)
    if address:
        room = call.connection.read_word(count)
        if not room:
            raise DriverError(Status.INVALID_VALUE)
        handles = [call.program.handle_of(node) for node in nodes[:room]]
        call.connection.write(address, struct.pack(f"={len(handles)}Q", *handles) + bytes(8 * (room - len(handles))))
        nodes = nodes[:room]
    call.connection.write(count, struct.pack("=Q", len(nodes)))


@driver("cuGraphGetNodes", "ptr graph, ptr nodes, ptr count")
def _get_nodes(call: DriverCall, graph: int, nodes: int, count: int) -> None:
    _list(call, call.get(Graph, graph, Status.INVALID_VALUE).nodes, nodes, count)


@driver("cuGraphGetRootNodes", "ptr graph, ptr nodes, ptr count")
def _get_roots(call: DriverCall, graph: int, nodes: int, count: int) -> None:
    _list(
        call,
        [node for node in call.get(Graph, graph, Status.INVALID_VALUE).nodes if not node.dependencies],
        nodes,
        count,
    )


@driver("cuGraphNodeGetDependencies", "ptr node, ptr nodes, ptr count")
def _get_dependencies(call: DriverCall, handle: int, nodes: int, count: int) -> None:
    _list(call, call.get(Node, handle, Status.INVALID_VALUE).dependencies, nodes, count)


@driver("cuGraphNodeGetDependentNodes", "ptr node, ptr nodes, ptr count")
def _get_dependents(call: DriverCall, handle: int, nodes: int, count: int) -> None:
    node = call.get(Node, handle, Status.INVALID_VALUE)
    _list(call, [other for other in node.graph.nodes if node in other.dependencies], nodes, count)


@driver("cuGraphGetEdges", "ptr graph, ptr before, ptr after, ptr count")
def _get_edges(call: DriverCall, graph: int, before: int, after: int, count: int) -> None:
    pairs = [
        (first, second)
        for second in call.get(Graph, graph, Status.INVALID_VALUE).nodes
        for first in second.dependencies
    ]
    if bool(before) != bool(after):
        raise DriverError(Status.INVALID_VALUE)
    room = call.connection.read(count, 8) if count else b""
    for i, address in enumerate((before, after)):
        if count:
            call.connection.write(count, room)
        _list(call, [pair[i] for pair in pairs], address, count)


def _set_kernel(call: DriverCall, node: int, ready: Launch) -> None:
    found = call.get(Node, node, Status.INVALID_VALUE)
    if found.kind is not NodeKind.KERNEL:
        raise DriverError(Status.INVALID_VALUE)
    found.operation = found.detail = ready


@driver("cuGraphKernelNodeSetParams", "ptr node, ptr parameters")
def _set_parameters(call: DriverCall, node: int, parameters: int) -> None:
    _set_kernel(call, node, _kernel(call, parameters))


@driver("cuGraphKernelNodeSetParams_v2", "ptr node, ptr parameters")
def _set_parameters_2(call: DriverCall, node: int, parameters: int) -> None:
    _set_kernel(call, node, _kernel_2(call, parameters))


# Execution --------------------------------------------------------------------------------------------------------


def _instantiate(call: DriverCall, handle: int, flags: int = 0) -> int:
    nodes = _in_order(call, handle)
    is_for_device = all(node.kind in _DEVICE_KINDS for node in nodes)
    if flags & ~_INSTANTIATION_FLAGS or (flags & _DEVICE_LAUNCH and not is_for_device):
        raise DriverError(Status.INVALID_VALUE)
    source = call.get(Graph, handle, Status.INVALID_VALUE)
    if source.executables and has_memory(nodes):
        raise DriverError(Status.NOT_SUPPORTED)
    source.executables += 1
    retain(nodes)
    operations = {node: node.operation for node in nodes}
    return call.program.handle_of(ExecutableGraph(source, operations, flags & ~_PRIORITIES))


@driver("cuGraphInstantiate cuGraphInstantiate_v2", "out ptr executable, ptr graph, ptr node, ptr log, size length")
def _instantiate_with_log(call: DriverCall, graph: int, node: int, log: int, length: int) -> int:
    return _instantiate(call, graph)


@driver("cuGraphInstantiateWithFlags", "out ptr executable, ptr graph, u64 flags")
def _instantiate_with_flags(call: DriverCall, graph: int, flags: int) -> int:
    if flags & _UPLOAD:
        raise DriverError(Status.INVALID_VALUE)
    return _instantiate(call, graph, flags)


@driver("cuGraphInstantiateWithParams", "out ptr executable, ptr graph, ptr parameters")
def _instantiate_with_parameters(call: DriverCall, graph: int, parameters: int) -> int:
    if not parameters:
        raise DriverError(Status.INVALID_VALUE)
    flags = call.connection.read_word(parameters)
    result = parameters + 16  # a node, and the number of an error
    call.connection.write(result, struct.pack("=Qi", 0, _INSTANTIATION_ERROR))
    found = _instantiate(call, graph, flags)
    call.connection.write(result, struct.pack("=Qi", 0, 0))
    return found


@driver("cuGraphExecGetFlags", "ptr executable, out u64 flags")
def _flags(call: DriverCall, handle: int) -> int:
    return call.get(ExecutableGraph, handle, Status.INVALID_VALUE).flags


@driver("cuGraphUpload", "ptr executable, ptr stream")
def _upload(call: DriverCall, handle: int, stream: int) -> None:
    call.get(ExecutableGraph, handle, Status.INVALID_VALUE)


@driver("cuGraphLaunch", "ptr executable, ptr stream")
def _launch(call: DriverCall, handle: int, stream: int) -> None:
    executable = call.get(ExecutableGraph, handle, Status.INVALID_VALUE)
    operations = [each for node, each in executable.operations.items() if node not in executable.disabled]
    if has_memory(executable.operations):
        if valid_capture_of(call, stream) is not None:
            raise DriverError(Status.NOT_SUPPORTED)
        prepare_run(call.program, executable.operations, frees=bool(executable.flags & _AUTO_FREE))

    def run(now: DriverCall) -> None:
        now.graph_stream = stream
        for operation in operations:
            operation(now)

    enqueue(call, stream, NodeKind.GRAPH, run)


@driver("cuGraphExecDestroy", "ptr executable")
def _destroy_executable(call: DriverCall, handle: int) -> None:
    executable = call.get(ExecutableGraph, handle, Status.INVALID_VALUE)
    executable.graph.executables -= 1
    release(call.program, executable.operations)
    call.program.drop(executable)


@driver("cuGraphExecUpdate", "ptr executable, ptr graph, ptr node, out i32 result")
def _update(call: DriverCall, handle: int, graph: int, node: int) -> int:
    return _replace(call, handle, graph)


@driver("cuGraphExecUpdate_v2", "ptr executable, ptr graph, ptr result")
def _update_2(call: DriverCall, handle: int, graph: int, result: int) -> None:
    outcome = _replace(call, handle, graph)
    if result:
        call.connection.write(result, struct.pack("=i4xQQ", outcome, 0, 0))
    if outcome:
        raise DriverError(Status.GRAPH_EXEC_UPDATE_FAILURE)


_UPDATED, _TOPOLOGY_CHANGED, _KIND_CHANGED = 0, 2, 3


def _replace(call: DriverCall, handle: int, graph: int) -> int:
    """Replace the operations of an executable graph by those of a graph with the same nodes and edges.

    Return the driver's number of the result.
    """
    executable, nodes = call.get(ExecutableGraph, handle, Status.INVALID_VALUE), _in_order(call, graph)
    before = [*executable.operations]
    if len(nodes) != len(before) or _edges(nodes) != _edges(before):
        return _TOPOLOGY_CHANGED
    if [node.kind for node in nodes] != [node.kind for node in before]:
        return _KIND_CHANGED
    retain(nodes)
    release(call.program, before)
    executable.operations = {node: node.operation for node in nodes}
    return _UPDATED


def _edges(nodes: list[Node]) -> list[set[int]]:
    """Return the positions of the dependencies of each node."""
    positions = {node: i for i, node in enumerate(nodes)}
    return [{positions[each] for each in node.dependencies if each in positions} for node in nodes]


def _set_executable(call: DriverCall, handle: int, node: int, ready: Launch) -> None:
    executable, found = (
        call.get(ExecutableGraph, handle, Status.INVALID_VALUE),
        call.get(Node, node, Status.INVALID_VALUE),
    )
    if found not in executable.operations or found.kind is not NodeKind.KERNEL:
        raise DriverError(Status.INVALID_VALUE)
    executable.operations[found] = ready


@driver("cuGraphExecKernelNodeSetParams", "ptr executable, ptr node, ptr parameters")
def _set_executable_parameters(call: DriverCall, handle: int, node: int, parameters: int) -> None:
    _set_executable(call, handle, node, _kernel(call, parameters))


@driver("cuGraphExecKernelNodeSetParams_v2", "ptr executable, ptr node, ptr parameters")
def _set_executable_parameters_2(call: DriverCall, handle: int, node: int, parameters: int) -> None:
    _set_executable(call, handle, node, _kernel_2(call, parameters))


def _node_of(call: DriverCall, handle: int, node: int) -> tuple[ExecutableGraph, Node]:
    """Return an executable graph, and one of its nodes that can be disabled.

    Errors: DriverError INVALID_VALUE.
    """
    executable = call.get(ExecutableGraph, handle, Status.INVALID_VALUE)
    found = call.get(Node, node, Status.INVALID_VALUE)
    if found not in executable.operations or found.kind not in _DEVICE_KINDS:
        raise DriverError(Status.INVALID_VALUE)
    return executable, found


@driver("cuGraphNodeGetEnabled", "ptr executable, ptr node, out u32 is_enabled")
def _get_enabled(call: DriverCall, handle: int, node: int) -> int:
    executable, found = _node_of(call, handle, node)
    return found not in executable.disabled


@driver("cuGraphNodeSetEnabled", "ptr executable, ptr node, u32 is_enabled")
def _set_enabled(call: DriverCall, handle: int, node: int, is_enabled: int) -> None:
    executable, found = _node_of(call, handle, node)
    executable.disabled.discard(found) if is_enabled else executable.disabled.add(found)
