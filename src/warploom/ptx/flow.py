"""Control flow over statements in a row: what may follow each, and where diverged lanes meet again.

Which statements jump or leave is the caller's knowledge.
"""

from __future__ import annotations

from collections.abc import Sequence

EXIT = -1


def successors(
    place: int,
    end: int,
    targets: Sequence[int],
    *,
    leaves: bool = False,
    guarded: bool = False,
    returns: bool = False,
) -> list[int]:
    """What may follow the statement at `place` of a body that ends at `end`.

    `targets` is where it may jump to. It falls through when it neither jumps nor leaves, when a guard may
    skip it, or when what it jumps to `returns`.
    """
    following = [EXIT] if leaves else list(targets)
    if not (leaves or targets) or guarded or returns:
        following.append(place + 1 if place + 1 < end else EXIT)
    return following


def postdominators(successors: Sequence[Sequence[int]]) -> list[int]:
    """The immediate post-dominator of every node; EXIT where only the end (or nothing) is common to all ways.

    `successors[n]` lists the nodes that may follow n; EXIT among them leaves the graph. Method: Cooper,
    Harvey and Kennedy, on the reversed graph.
    """
    count = len(successors)
    end = count
    predecessors: list[list[int]] = [[] for _ in range(count + 1)]
    for node, nexts in enumerate(successors):
        for following in nexts:
            predecessors[end if following == EXIT else following].append(node)
    order = _postorder(predecessors, end)
    number = {node: place for place, node in enumerate(order)}
    immediate: dict[int, int] = {end: end}
    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            known = [
                target
                for target in (end if following == EXIT else following for following in successors[node])
                if target in immediate
            ]
            if not known:
                continue
            best = known[0]
            for other in known[1:]:
                best = _meet(best, other, immediate, number)
            if immediate.get(node) != best:
                immediate[node] = best
                changed = True
    return [EXIT if immediate.get(node, end) == end else immediate[node] for node in range(count)]


def _postorder(edges: Sequence[Sequence[int]], root: int) -> list[int]:
    order: list[int] = []
    seen = {root}
    stack = [(root, iter(edges[root]))]
    while stack:
        node, following = stack[-1]
        for target in following:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(edges[target])))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def _meet(one: int, other: int, immediate: dict[int, int], number: dict[int, int]) -> int:
    while one != other:
        while number[one] < number[other]:
            one = immediate[one]
        while number[other] < number[one]:
            other = immediate[other]
    return one
