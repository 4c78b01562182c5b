"""Post-dominators, against their definition on random graphs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from warploom.ptx.flow import EXIT, postdominators


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    """Successors of up to nine nodes; EXIT may be among them, and nodes may have none but themselves."""
    count = draw(st.integers(1, 9))
    node = st.integers(EXIT, count - 1)
    return [draw(st.lists(node, min_size=1, max_size=3)) for _ in range(count)]


def _reaches_end(successors: list[list[int]], start: int, without: int | None) -> bool:
    """Whether the end can be reached from a node that is not the one left out."""
    seen, pending = {start}, [start]
    while pending:
        for following in successors[pending.pop()]:
            if following == EXIT:
                return True
            if following != without and following not in seen:
                seen.add(following)
                pending.append(following)
    return False


@given(graphs())
def test_the_immediate_post_dominator_is_the_nearest_node_on_every_way_to_the_end(successors: list[list[int]]) -> None:
    found = postdominators(successors)
    for node in range(len(successors)):
        if not _reaches_end(successors, node, None):
            assert found[node] == EXIT
            continue
        # Every way from the node to the end passes through these.
        strict = {
            other for other in range(len(successors)) if other != node and not _reaches_end(successors, node, other)
        }
        if not strict:
            assert found[node] == EXIT
            continue
        # The nearest is the one that all the others post-dominate.
        nearest = [one for one in strict if all(o == one or not _reaches_end(successors, one, o) for o in strict)]
        assert [found[node]] == nearest


def test_a_loop_s_exit_is_where_its_lanes_meet() -> None:
    # 0 -> 1 -> 2 -> 1 or 3 -> EXIT
    assert postdominators([[1], [2], [1, 3], [EXIT]]) == [1, 2, 3, EXIT]
