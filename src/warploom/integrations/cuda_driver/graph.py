"""CUDA graphs: nodes with operations, and their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

Operation = Callable[["DriverCall"], None]
"""Operation of a stream or a graph. The call is the one that executes it."""


class NodeKind(IntEnum):
    """Kind of a node, with the numbers of CUgraphNodeType."""

    KERNEL = 0
    COPY = 1
    FILL = 2
    HOST = 3
    GRAPH = 4
    EMPTY = 5
    WAIT_EVENT = 6
    RECORD_EVENT = 7
    ALLOCATE = 10
    FREE = 11


@dataclass(eq=False)
class Node:
    """Node of a graph.

    `detail` has the parameters of the node, such as the launch of a kernel, or None. In a clone of a graph, `original`
    is the node of that graph.
    """

    graph: Graph
    kind: NodeKind
    operation: Operation
    dependencies: list[Node] = field(default_factory=list["Node"])
    detail: object = None
    original: Node | None = None


@dataclass(eq=False)
class Graph:
    """CUDA graph.

    Dependencies may be added after the nodes, so the order of `nodes` is not an order of execution. `executables` is
    the number of executable graphs that were made from it and exist.
    """

    nodes: list[Node] = field(default_factory=list[Node])
    executables: int = 0

    def add(
        self, kind: NodeKind, operation: Operation, dependencies: Sequence[Node] = (), detail: object = None
    ) -> Node:  # fmt: skip
        """Add a node, and return it."""
        node = Node(self, kind, operation, [*dependencies], detail)
        self.nodes.append(node)
        return node

    def in_order(self) -> list[Node]:
        """Return the nodes in an order in which each follows its dependencies. Errors: graphlib.CycleError."""
        return [*TopologicalSorter({node: node.dependencies for node in self.nodes}).static_order()]


@dataclass(eq=False)
class ExecutableGraph:
    """Graph that is ready to run.

    `graph` is the graph from which it was made. `operations` has the operation of each node, in an order in which they
    can run. Nodes in `disabled` do nothing.
    """

    graph: Graph
    operations: dict[Node, Operation]
    flags: int = 0
    disabled: set[Node] = field(default_factory=set[Node])


def do_nothing(_: DriverCall) -> None:
    """Execute a node without an effect."""
