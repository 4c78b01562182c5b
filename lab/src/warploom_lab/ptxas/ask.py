"""Asking: questions of a probe at a point, answered from the cache or by the assemblers, two at a time.

What is answered is in the cache at once, so that asking again, after whatever ended it, asks what is missing.

with Oracle() as oracle:
    oracle.ask([(Probe("ret;"), point("sm_90a", (9, 1)))])      # -> [Verdict(ok=True, ...)]
    oracle.judge("ret;", "sm_90a", (9, 1))                      # -> Verdict, for one
"""

from __future__ import annotations

import hashlib
import platform
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from warploom.diagnostics import UsageError
from warploom.gpu.cache import cache_directory
from warploom_lab.ptxas.assembler import Assembler, Verdict, provide
from warploom_lab.ptxas.points import Point, Version, point
from warploom_lab.ptxas.probe import Probe

Question = tuple[Probe, Point]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Probes that are asked at one point, of the release that the assembler itself names."""

    release: str
    point: Point
    probes: tuple[Probe, ...]


def judge_chunk(_shared: None, chunk: Chunk, _tell: object) -> list[Verdict]:
    """A verdict for each probe, by the assembler of this process's machine.

    Errors: UsageError where that cannot be had, or is of another release.
    """
    at = chunk.point
    assembler = provide(at.release)
    if assembler.release != chunk.release:
        raise UsageError(
            f"{assembler.path} on {platform.node()} is ptxas {assembler.release}; expected {chunk.release}, as where "
            "it is asked from"
        )
    return assembler.judge(chunk.probes, at.target, at.version)


Spread = Callable[[Sequence[Chunk]], Iterator[tuple[int, list[Verdict]]]]
"""Has chunks judged somewhere, by `judge_chunk`: the verdicts of each with its number, as they come."""

_CHUNK = 400
_STORE = "verdicts-2.sqlite"  # another number when probes come to be asked in another way
_READ = "select ok, message from verdicts where key = ?"
_WRITE = "insert or replace into verdicts values (?, ?, ?)"


class Oracle:
    """Assemblers and the cache of what they have said. A context manager.

    `workers` assemblers run here at a time, unless `spread` has others asked.
    """

    def __init__(self, cache: Path | None = None, *, workers: int = 2, spread: Spread | None = None) -> None:
        path = cache or cache_directory() / _STORE
        path.parent.mkdir(parents=True, exist_ok=True)
        self._store = sqlite3.connect(path, timeout=60)
        self._store.execute(
            "create table if not exists verdicts (key blob primary key, ok integer, message text)"
        )
        self._workers = workers
        self._spread = spread or self._here

    def __enter__(self) -> Oracle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.close()

    def judge(self, text: str | Probe, target: str, version: Version) -> Verdict:
        """The verdict on one probe by the assembler that decides its target."""
        probe = text if isinstance(text, Probe) else Probe(text)
        return self.ask([(probe, point(target, version))])[0]

    def ask(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Verdict]:
        """A verdict for each question. `progress` is told how many of how many are answered.

        Errors: UsageError where an assembler cannot be had.
        """
        assemblers = {release: provide(release) for release in {at.release for _, at in questions}}
        keys = [_key(assemblers[at.release].release, probe, at) for probe, at in questions]
        verdicts: dict[bytes, Verdict] = {}
        open_: dict[bytes, Question] = {}
        for key, question in zip(keys, questions, strict=True):
            if key in verdicts or key in open_:
                continue
            row = self._store.execute(_READ, (key,)).fetchone()
            if row is None:
                open_[key] = question
            else:
                verdicts[key] = Verdict(bool(row[0]), row[1])
        done = 0
        for found in self._answer(open_, assemblers):
            verdicts.update(found)
            self._store.executemany(_WRITE, [(key, int(v.ok), v.message) for key, v in found.items()])
            self._store.commit()
            done += len(found)
            if progress:
                progress(done, len(open_))
        return [verdicts[key] for key in keys]

    def _answer(
        self, questions: dict[bytes, Question], assemblers: dict[str, Assembler]
    ) -> Iterator[dict[bytes, Verdict]]:
        by_point: dict[Point, list[bytes]] = {}
        for key, (_, at) in questions.items():
            by_point.setdefault(at, []).append(key)

        together = [
            (at, keys[start : start + _CHUNK])
            for at, keys in by_point.items()
            for start in range(0, len(keys), _CHUNK)
        ]
        chunks = [
            Chunk(assemblers[at.release].release, at, tuple(questions[key][0] for key in keys))
            for at, keys in together
        ]
        if chunks:
            for number, found in self._spread(chunks):
                yield dict(zip(together[number][1], found, strict=True))

    def _here(self, chunks: Sequence[Chunk]) -> Iterator[tuple[int, list[Verdict]]]:
        with ThreadPoolExecutor(self._workers) as pool:
            asked = {pool.submit(judge_chunk, None, chunk, None): k for k, chunk in enumerate(chunks)}
            for done in as_completed(asked):
                yield asked[done], done.result()


def _key(release: str, probe: Probe, at: Point) -> bytes:
    text = f"{release}\n{at.target}\n{at.version}\n{probe.module(at.target, at.version)}"
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
