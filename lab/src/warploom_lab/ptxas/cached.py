"""Assemblers whose verdicts on PTX texts are kept in a database.

    with CachedAssemblers() as assemblers:
        assemblers.judge("ret;", "sm_90a", (9, 1))                           # -> Verdict
        assemblers.judge_all([(Probe("ret;"), point("sm_90a", (9, 1)))])     # -> [Verdict(ok=True, ...)]

A probe is a short PTX text.
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

from warploom.caches import cache_directory
from warploom.diagnostics import UsageError
from warploom_lab.ptxas.assembler import Assembler, Verdict, provide
from warploom_lab.ptxas.points import Point, Version, point
from warploom_lab.ptxas.probe import Probe

Question = tuple[Probe, Point]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Chunk:
    """PTX texts that one assembler judges for one target and PTX version."""

    release: str  # full release that the assembler must have
    point: Point
    probes: tuple[Probe, ...]


def judge_chunk(_shared: None, chunk: Chunk, _report: object) -> list[Verdict]:
    """Return the verdict of this computer's assembler on each PTX text of a chunk.

    Errors: UsageError if the assembler is missing or has another release.
    """
    at = chunk.point
    assembler = provide(at.release)
    if assembler.release != chunk.release:
        raise UsageError(
            f"{assembler.path} on {platform.node()} is ptxas {assembler.release}; expected {chunk.release}"
        )
    return assembler.judge(chunk.probes, at.target, at.version)


ChunkExecutor = Callable[[Sequence[Chunk]], Iterator[tuple[int, list[Verdict]]]]
"""Function that applies `judge_chunk` to chunks and yields (chunk number, verdicts) as they finish."""

_CHUNK = 400
_DATABASE = "verdicts-2.sqlite"  # increase the number if `write_module` changes
_READ = "select ok, message from verdicts where key = ?"
_WRITE = "insert or replace into verdicts values (?, ?, ?)"


class CachedAssemblers:
    """Assemblers of all releases with a cache of their verdicts. It is a context manager.

    `workers` is the number of processes on this computer. `executor` runs the assemblers elsewhere.
    """

    def __init__(self, cache: Path | None = None, *, workers: int = 2, executor: ChunkExecutor | None = None) -> None:
        path = cache or cache_directory() / _DATABASE
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, timeout=60)
        self._database.execute("create table if not exists verdicts (key blob primary key, ok integer, message text)")
        self._workers = workers
        self._executor = executor or self._run_here

    def __enter__(self) -> CachedAssemblers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def judge(self, text: str | Probe, target: str, version: Version) -> Verdict:
        """Return the verdict on a PTX text."""
        # sm_70 and sm_72 are judged by ptxas 12.9, all other targets by 13.1.
        probe = text if isinstance(text, Probe) else Probe(text)
        return self.judge_all([(probe, point(target, version))])[0]

    def judge_all(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Verdict]:
        """Return the verdicts on pairs of a PTX text and a point (ptxas release, target, PTX version).

        `progress` receives the number of new verdicts and their total.

        Errors: UsageError if an assembler is missing.
        """
        assemblers = {release: provide(release) for release in {at.release for _, at in questions}}
        keys = [_key(assemblers[at.release].release, probe, at) for probe, at in questions]
        verdicts: dict[bytes, Verdict] = {}
        missing: dict[bytes, Question] = {}
        for key, question in zip(keys, questions, strict=True):
            if key in verdicts or key in missing:
                continue
            row = self._database.execute(_READ, (key,)).fetchone()
            if row is None:
                missing[key] = question
            else:
                verdicts[key] = Verdict(bool(row[0]), row[1])
        done = 0
        for batch in self._run(missing, assemblers):
            verdicts.update(batch)
            self._database.executemany(_WRITE, [(key, int(v.ok), v.message) for key, v in batch.items()])
            self._database.commit()
            done += len(batch)
            if progress:
                progress(done, len(missing))
        return [verdicts[key] for key in keys]

    def _run(
        self, questions: dict[bytes, Question], assemblers: dict[str, Assembler]
    ) -> Iterator[dict[bytes, Verdict]]:
        by_point: dict[Point, list[bytes]] = {}
        for key, (_, at) in questions.items():
            by_point.setdefault(at, []).append(key)

        batches = [
            (at, keys[start : start + _CHUNK]) for at, keys in by_point.items() for start in range(0, len(keys), _CHUNK)
        ]
        chunks = [
            Chunk(assemblers[at.release].release, at, tuple(questions[key][0] for key in keys)) for at, keys in batches
        ]
        if chunks:
            for number, verdicts in self._executor(chunks):
                yield dict(zip(batches[number][1], verdicts, strict=True))

    def _run_here(self, chunks: Sequence[Chunk]) -> Iterator[tuple[int, list[Verdict]]]:
        with ThreadPoolExecutor(self._workers) as pool:
            numbers = {pool.submit(judge_chunk, None, chunk, None): k for k, chunk in enumerate(chunks)}
            for done in as_completed(numbers):
                yield numbers[done], done.result()


def _key(release: str, probe: Probe, at: Point) -> bytes:
    text = f"{release}\n{at.target}\n{at.version}\n{probe.module(at.target, at.version)}"
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
