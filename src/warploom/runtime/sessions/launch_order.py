"""Order of launches on streams with events, synchronizations and programmatic dependencies.

Every launch has a number. A set of launches is an integer with one bit for each launch.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class OrderedLaunch:
    """Launch with the launches that have certainly ended before it.

    `before` is the set of launches that end before this one because of streams, events or the host. `prerequisites` are
    launches with which it may overlap: it may start when every CTA of them has executed a trigger or has ended, and
    its wait for them lasts until they have ended.

    After `end`, four sets are known: the launches that have ended when this launch starts (`ended_at_start`), after its
    wait (`ended_at_wait`), when all its CTAs have triggered (`ended_at_trigger`), and at its end (`ended_at_end`).
    """

    number: int
    before: int
    prerequisites: tuple[OrderedLaunch, ...] = ()
    ended_at_trigger: int = 0
    ended_at_start: int = 0
    ended_at_wait: int = 0
    ended_at_end: int = 0

    def end(self, waits: bool, triggers_late: bool) -> None:
        """Compute the sets after the run, and after those of all prerequisites.

        `LaunchAccesses` describes the arguments.
        """
        start = wait = self.before
        for each in self.prerequisites:
            start |= each.ended_at_trigger
            wait |= each.ended_at_trigger | each.ended_at_end | 1 << each.number
        self.ended_at_start, self.ended_at_wait = start, wait
        self.ended_at_trigger = wait if triggers_late else start
        self.ended_at_end = wait if waits else start
        self.prerequisites = ()


@dataclass(eq=False)
class Mark:
    """Point in a stream.

    `ended` is the set of the launches that have ended there. `triggered` are launches that have only triggered their
    dependents.
    """

    ended: int = 0
    triggered: tuple[OrderedLaunch, ...] = ()


@dataclass(eq=False)
class StreamOrder:
    """Order of one stream.

    `ended` is the set of the launches that have ended before the next operation. `triggered` are launches for whose
    triggers the next launch waits. `last` is the launch that was the last operation, or None after another operation.
    """

    ended: int = 0
    triggered: tuple[OrderedLaunch, ...] = ()
    last: OrderedLaunch | None = None


@dataclass(eq=False)
class LaunchOrder:
    """Order of all launches of a device.

    `host` is the set of the launches for which the host has waited: they precede all later launches.
    """

    host: int = 0
    _next: int = 0
    _ended_with: dict[int, OrderedLaunch] = field(default_factory=dict[int, OrderedLaunch])

    def launch(self, stream: StreamOrder, programmatic: bool) -> OrderedLaunch:
        """Add a launch to a stream. `programmatic` lets it start before the previous launch has ended."""
        number, last = self._next, stream.last
        self._next += 1
        if programmatic and last is not None:
            added = OrderedLaunch(number, self.host, (last, *stream.triggered))
        else:
            added = OrderedLaunch(number, self._closure(self.host | stream.ended), stream.triggered)
        if stream.triggered:
            self._ended_with[number] = added
        stream.ended |= 1 << number
        stream.triggered, stream.last = (), added
        return added

    def _closure(self, ended: int) -> int:
        """Return a set with the launches that ended before its members.

        The set already has the earlier launches on the stream of each member, so that only prerequisites on other
        streams are added.
        """
        for number, each in self._ended_with.items():
            if ended >> number & 1:
                ended |= each.ended_at_end
        return ended

    def record(self, stream: StreamOrder, *, trigger: bool = False) -> Mark:
        """Return the present point of a stream. With `trigger`, it is the trigger of the last launch."""
        if trigger and stream.last is not None:
            return Mark(stream.last.before, (stream.last,))
        return Mark(stream.ended, stream.triggered)

    def wait(self, stream: StreamOrder, mark: Mark) -> None:
        """Let the later operations of a stream wait for a point of another stream."""
        stream.ended |= mark.ended
        stream.triggered = tuple(dict.fromkeys((*stream.triggered, *mark.triggered)))
        stream.last = None

    def operation(self, stream: StreamOrder) -> None:
        """Add an operation other than a launch to a stream."""
        stream.last = None

    def synchronize(self, mark: Mark | None = None) -> None:
        """Let the host wait for a point of a stream, or for the whole device."""
        self.host |= (1 << self._next) - 1 if mark is None else self._closure(mark.ended)
        self._ended_with = {n: each for n, each in self._ended_with.items() if not self.host >> n & 1}
