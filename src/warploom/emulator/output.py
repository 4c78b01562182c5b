"""Text that the threads of a launch print."""

from threading import Lock

from warploom.diagnostics import Diagnostic, Severity

MOST_BYTES = 1 << 20  # of a launch, as in the buffer of a GPU


class Output:
    """Text that the threads of a launch print, ordered by CTA.

    The CTAs follow each other in the order of their linear indices; x varies fastest in these indices. The text of a
    CTA is in the order in which its threads print. The order therefore does not depend on the division of the grid into
    waves and workers. `limit` bounds the size of the whole text in bytes. The first call of printf that exceeds the
    limit and all later ones in this order print nothing.
    """

    STATE = ("_texts", "_size", "_end")

    def __init__(self, limit: int = MOST_BYTES) -> None:
        self._limit = limit
        self._texts: dict[int, list[bytes]] = {}  # by linear index of the CTA
        self._size = 0
        self._end: int | None = None  # first CTA whose further text exceeds the limit, if that is known
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["Output"], tuple[int], dict[str, object]]:
        """Return a copy for another process, with its own lock."""
        return Output, (self._limit,), {"_texts": self._texts, "_size": self._size, "_end": self._end}

    def add(self, cta: int, text: bytes) -> None:
        """Add the text of one call of printf. `cta` is the linear index of the CTA."""
        with self._lock:
            if self._end is not None and cta >= self._end:
                return
            self._texts.setdefault(cta, []).append(text)
            self._size += len(text)
            if self._size > 2 * self._limit:
                self._cut()

    def extend(self, other: "Output") -> None:
        """Add the output of other CTAs of the same launch."""
        with self._lock:
            self._texts.update(other._texts)
            self._size += other._size
            ends = [end for end in (self._end, other._end) if end is not None]
            self._end = min(ends, default=None)
            self._cut()

    def _cut(self) -> None:
        """Drop the text after the limit."""
        texts: dict[int, list[bytes]] = {}
        size = 0
        for cta in sorted(self._texts):
            for position, text in enumerate(self._texts[cta]):
                if size + len(text) > self._limit:
                    texts[cta] = self._texts[cta][:position]
                    self._end = cta
                    break
                size += len(text)
            else:
                texts[cta] = self._texts[cta]
                if cta != self._end:
                    continue
            break
        self._texts, self._size = texts, size

    def text(self) -> str:
        """Return the whole text. Bytes that are not UTF-8 become U+FFFD."""
        with self._lock:
            self._cut()
            found = b"".join(text for cta in sorted(self._texts) for text in self._texts[cta])
        return found.decode(errors="replace")

    def warnings(self) -> tuple[Diagnostic, ...]:
        """Return a warning if the output was cut at the limit."""
        if self._end is None:
            return ()
        message = (
            f"the output of the kernel was cut: only its first {self._size} bytes are kept, because more exceed the "
            f"limit of {self._limit} bytes"
        )
        return (Diagnostic("emulator.output", Severity.WARNING, message, None, None, "print less", ""),)
