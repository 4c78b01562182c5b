"""Order of launches: it is that of a graph with an edge from each operation to those that must follow it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from warploom.runtime.sessions.launch_order import LaunchOrder, OrderedLaunch, StreamOrder

STREAMS = 3
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(
            st.just("launch"), st.integers(0, STREAMS - 1), st.booleans(), st.sampled_from([(0, 0), (1, 0), (1, 1)])
        ),
        st.tuples(st.just("wait"), st.integers(0, STREAMS - 1), st.integers(0, STREAMS - 1)),
        st.tuples(st.just("synchronize"), st.integers(-1, STREAMS - 1)),
    ),
    max_size=12,
)


class Graph:
    """Points in time, and the points that precede each of them."""

    def __init__(self) -> None:
        self.before: dict[object, set[object]] = {}

    def add(self, point: object, *before: object) -> object:
        self.before[point] = {*before}
        for each in before:
            self.before[point] |= self.before[each]
        return point


@given(OPERATIONS)
def test_the_sets_of_launches_are_those_of_a_graph(operations: list[tuple[object, ...]]) -> None:
    order, streams = LaunchOrder(), [StreamOrder() for _ in range(STREAMS)]
    graph = Graph()
    host = graph.add("host 0")
    ends = [graph.add(f"stream {k}") for k in range(STREAMS)]  # all operations of a stream so far have ended
    lasts: list[int | None] = [None] * STREAMS  # number of the launch that is the last operation of a stream
    launches: list[OrderedLaunch] = []
    for step, operation in enumerate(operations):
        match operation:
            case ("launch", int(k), bool(programmatic), (int(waits), int(late))):
                launch = order.launch(streams[k], programmatic)
                launch.end(bool(waits), bool(late))
                launches.append(launch)
                n, last = launch.number, lasts[k]
                depends = programmatic and last is not None
                start = graph.add(("start", n), host, ("trigger", last) if depends else ends[k])
                wait = graph.add(("wait", n), start, *([("end", last)] if depends else []))
                graph.add(("trigger", n), wait if late else start)
                end = graph.add(("end", n), wait if waits else start)
                ends[k], lasts[k] = graph.add(("stream", n), ends[k], end, ("trigger", n)), n
            case ("wait", int(k), int(other)):
                order.wait(streams[k], order.record(streams[other]))
                ends[k], lasts[k] = graph.add(("waited", step), ends[k], ends[other]), None
            case ("synchronize", int(k)):
                order.synchronize(None if k < 0 else order.record(streams[k]))
                host = graph.add(("host", step), host, *(ends if k < 0 else [ends[k]]))
            case _:
                raise AssertionError(operation)

    def ended(point: object) -> int:
        return sum(1 << each.number for each in launches if ("end", each.number) in graph.before[point])

    for each in launches:
        assert each.ended_at_start == ended(("start", each.number))
        assert each.ended_at_wait == ended(("wait", each.number))


def test_an_event_at_the_trigger_of_a_launch_orders_only_the_waits() -> None:
    order, first, second = LaunchOrder(), StreamOrder(), StreamOrder()
    one = order.launch(first, programmatic=False)
    order.wait(second, order.record(first, trigger=True))
    two, three = order.launch(second, programmatic=False), order.launch(second, programmatic=False)
    for each, waits in ((one, True), (two, True), (three, False)):
        each.end(waits, triggers_late=False)
    assert (two.ended_at_start, two.ended_at_wait) == (0, 1)
