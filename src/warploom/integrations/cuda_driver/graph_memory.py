"""Memory that graphs allocate and free.

Memory of a graph has the same address in all runs. It exists from the run of the node that allocates it until a node of
any graph, or the program, frees it. Source: CUDA C++ Programming Guide, "Graph Memory Nodes".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from warploom.integrations.cuda_driver.graph import Graph, Node, NodeKind
from warploom.integrations.cuda_driver.memory import allocate, free_graph_memory, release_graph_memory
from warploom.integrations.cuda_driver.program import GraphMemory
from warploom.integrations.cuda_driver.statuses import DriverError, Status

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import CudaProgram, DriverCall

_KINDS = (NodeKind.ALLOCATE, NodeKind.FREE)


def add_allocation(call: DriverCall, graph: Graph, before: Sequence[Node], size: int) -> Node:
    """Add a node that allocates `size` bytes. The first run creates the memory. Errors: as `allocate`."""
    memory = GraphMemory(allocate(call, size))
    call.program.memory.hide(memory.segment)
    call.program.graph_memory[memory.segment.start] = memory
    node = graph.add(NodeKind.ALLOCATE, lambda now: _create(now, memory), before, memory)
    memory.users += 1
    return node


def _create(call: DriverCall, memory: GraphMemory) -> None:
    memory.is_live = True
    call.program.memory.show(memory.segment)


def add_free(call: DriverCall, graph: Graph, before: Sequence[Node], address: int) -> Node:
    """Add a node that frees the memory of a graph.

    Errors: DriverError INVALID_VALUE for another address, and for memory that a node of this graph frees already.
    """
    memory = call.program.graph_memory.get(address)
    if memory is None or any(node.detail is memory for node in graph.nodes if node.kind is NodeKind.FREE):
        raise DriverError(Status.INVALID_VALUE)
    return graph.add(NodeKind.FREE, lambda now: _free(now, memory), before, memory)


def _free(call: DriverCall, memory: GraphMemory) -> None:
    call.connection.synchronize()  # copies of the same call from this memory
    free_graph_memory(call.program, memory)


def memory_of(node: Node, kind: NodeKind) -> GraphMemory:
    """Return the memory that a node of a kind allocates or frees.

    Errors: DriverError INVALID_VALUE for a node of another kind.
    """
    if node.kind is not kind or not isinstance(node.detail, GraphMemory):
        raise DriverError(Status.INVALID_VALUE)
    return node.detail


def has_memory(nodes: Iterable[Node]) -> bool:
    """Return True if a node allocates or frees memory."""
    return any(node.kind in _KINDS for node in nodes)


def refuse_memory(graph: Graph) -> None:
    """Refuse a change of a graph that allocates or frees memory. Errors: DriverError NOT_SUPPORTED."""
    if has_memory(graph.nodes):
        raise DriverError(Status.NOT_SUPPORTED)


def retain(nodes: Iterable[Node]) -> None:
    """Keep the memory that nodes allocate, for one more user."""
    for memory in _allocated(nodes):
        memory.users += 1


def release(program: CudaProgram, nodes: Iterable[Node]) -> None:
    """End one use of the memory that nodes allocate."""
    for memory in _allocated(nodes):
        memory.users -= 1
        release_graph_memory(program, memory)


def prepare_run(program: CudaProgram, nodes: Iterable[Node], *, frees: bool) -> None:
    """Check that the memory of nodes exists where they need it.

    The nodes are in the order in which they run. `frees` is True if the run first frees memory that an earlier run
    allocated.

    Errors: DriverError INVALID_VALUE.
    """
    nodes = [node for node in nodes if node.kind in _KINDS]
    if frees:
        for memory in _allocated(nodes):
            if memory.is_live:
                free_graph_memory(program, memory)
    live = {memory for memory in program.graph_memory.values() if memory.is_live}
    for node in nodes:
        memory = memory_of(node, node.kind)
        if (memory in live) is (node.kind is NodeKind.ALLOCATE):
            raise DriverError(Status.INVALID_VALUE)
        live ^= {memory}


def _allocated(nodes: Iterable[Node]) -> list[GraphMemory]:
    return [memory_of(node, node.kind) for node in nodes if node.kind is NodeKind.ALLOCATE]
