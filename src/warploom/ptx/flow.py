"""Control-flow graph of a list of statements: successors and post-dominators."""

from collections.abc import Sequence
from functools import partial, reduce

EXIT = -1


def successors(
    index: int, end: int, targets: Sequence[int], *, leaves: bool = False, guarded: bool = False, returns: bool = False
) -> list[int]:
    """Return the indices of the statements that may execute after the statement at `index`.

    EXIT stands for leaving the function. The function ends before the index `end`. `targets` are the statements to
    which the statement may jump. The flags tell that the statement leaves the function (`leaves`), has a guard
    (`guarded`), or is a call that returns (`returns`).
    """
    following = [EXIT] if leaves else list(targets)
    if not (leaves or targets) or guarded or returns:
        following.append(index + 1 if index + 1 < end else EXIT)
    return following


def postdominators(successors: Sequence[Sequence[int]]) -> list[int]:
    """Return the immediate post-dominator of every node, or EXIT for a node without one.

    `successors[n]` lists the nodes that may follow node n. EXIT in the list leaves the graph.
    """
    count = len(successors)
    heads = [True] * (count + 1)  # first nodes of chains, in which each node precedes the next one
    ends: list[int] = []
    for node, nexts in enumerate(successors):
        if len(nexts) == 1 and nexts[0] == node + 1:
            heads[node + 1] = False
        else:
            ends.append(node)
    for node in ends:
        heads[node + 1] = True
        for following in successors[node]:
            heads[following] = True  # EXIT marks the unused last entry
    starts = [node for node in range(count) if heads[node]]
    number = {EXIT: EXIT} | {start: position for position, start in enumerate(starts)}
    lasts = [start - 1 for start in (*starts, count)][1:]
    chains = [[number[following] for following in successors[last]] for last in lasts]
    found = [*range(1, count + 1)]
    for start, last, (after, reaches_end) in zip(starts, lasts, _postdominators(chains), strict=True):
        found[last] = EXIT if after == EXIT else starts[after]
        if not reaches_end:
            found[start : last + 1] = [EXIT] * (last + 1 - start)
    return found


def _postdominators(successors: Sequence[Sequence[int]]) -> list[tuple[int, bool]]:
    """Return the immediate post-dominator of every node, and True if a path from it leaves the graph.

    EXIT stands for a node without a post-dominator.
    """
    # Algorithm of Cooper, Harvey and Kennedy on the reversed graph.
    count = len(successors)
    end = count
    predecessors: list[list[int]] = [[] for _ in range(count + 1)]
    targets = [[end if following == EXIT else following for following in nexts] for nexts in successors]
    for node, nexts in enumerate(targets):
        for following in nexts:
            predecessors[following].append(node)
    order = postorder(predecessors, end)
    number = {node: position for position, node in enumerate(order)}
    immediate: dict[int, int] = {end: end}
    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            known = [target for target in targets[node] if target in immediate]
            if not known:
                continue
            best = reduce(partial(_meet, immediate, number), known)
            if immediate.get(node) != best:
                immediate[node] = best
                changed = True
    return [(EXIT if immediate.get(node, end) == end else immediate[node], node in immediate) for node in range(count)]


def postorder(edges: Sequence[Sequence[int]], root: int) -> list[int]:
    """Return the nodes that edges from the root reach, each after those first reached from it."""
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


def _meet(immediate: dict[int, int], number: dict[int, int], one: int, other: int) -> int:
    while one != other:
        while number[one] < number[other]:
            one = immediate[one]
        while number[other] < number[one]:
            other = immediate[other]
    return one
