"""Record of ptxas verdicts, one file for each family, and the comparison of a checker with it.

    for case, verdicts in read(directory): ...             # verdicts: dict[Point, bool]
    grouped(disagreements(directory, judge))               # judge(probes, target, version) -> verdicts

A file is xz-compressed text. Equal verdicts give equal bytes:

    @0 13.1:sm_90a@8.0 13.1:sm_90a@9.1     a numbered set of points (ptxas release, target, PTX version)
    = mma.half dtype                       the form and the modifier that the probes below test
    0<TAB>2<TAB>f16 to bf16<TAB>mma…       set of points, accepted points as hexadecimal bits, change, probe
"""

import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from warploom.diagnostics import UsageError
from warploom_lab.ptxas.assembler import NO_ANSWER, Verdict, provide
from warploom_lab.ptxas.cached import CachedAssemblers, Progress
from warploom_lab.ptxas.cases import Case
from warploom_lab.ptxas.points import NEWEST, Point, Version
from warploom_lab.ptxas.probe import Probe, write_module

HEADER = "record.json"
_SUFFIX = ".txt.xz"
_CHUNK = 500

Verdicts = Mapping[Point, bool]
Judge = Callable[[Sequence[Probe], str, Version], Sequence[bool]]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Recorded verdict of ptxas that differs from the verdict of another judge."""

    case: Case
    point: Point
    accepted: bool  # the recorded verdict

    def __str__(self) -> str:
        at = f"{self.point.target} {self.point.version[0]}.{self.point.version[1]}"
        verdict = "accepts" if self.accepted else "refuses"
        case = self.case
        return f"{case.form}/{case.slot} ({case.change}): ptxas {verdict} at {at}: {case.probe.key}"


# Writing --------------------------------------------------------------------------------------------------


def record(
    assemblers: CachedAssemblers, cases: Iterable[Case], directory: Path, *, progress: Progress | None = None
) -> Counter[Point]:
    """Judge cases by ptxas and write one file for each family of Forms into a folder.

    Return the number of verdicts at each point (ptxas release, target, PTX version).
    """
    by_family: dict[str, list[Case]] = {}
    for case in cases:
        by_family.setdefault(case.family, []).append(case)
    questions = [(case.probe, at) for listed in by_family.values() for case in listed for at in case.points]
    verdicts = iter(assemblers.judge_all(questions, progress))
    directory.mkdir(parents=True, exist_ok=True)
    counts: Counter[Point] = Counter()
    for family, listed in by_family.items():
        text = _write_family(listed, verdicts, counts)
        (directory / f"{family}{_SUFFIX}").write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    return counts


def _write_family(cases: Sequence[Case], verdicts: Iterator[Verdict], counts: Counter[Point]) -> str:
    sets: dict[tuple[Point, ...], int] = {}
    body: list[str] = []
    about = ("", "")
    for case in cases:
        if (case.form, case.slot) != about:
            about = (case.form, case.slot)
            body.append(f"= {case.form} {case.slot}")
        answered = [(point, v) for point in case.points if (v := next(verdicts)).message != NO_ANSWER]
        if not answered:
            continue
        counts.update(point for point, _ in answered)
        bits = sum(int(verdict.ok) << k for k, (_, verdict) in enumerate(answered))
        at = sets.setdefault(tuple(point for point, _ in answered), len(sets))
        body.append(f"{at}\t{bits:x}\t{case.change}\t{case.probe.key}")
    head = [f"@{at} {' '.join(str(point) for point in points)}" for points, at in sets.items()]
    return "\n".join([*head, *body]) + "\n"


def write_header(directory: Path, counts: Counter[Point], command: str, date: str) -> None:
    """Write the command, the date, the ptxas releases and the numbers of verdicts into `record.json`.

    `counts` has the number of verdicts at each point (ptxas release, target, PTX version).
    """
    releases = sorted({at.release for at in counts})
    targets: Counter[str] = Counter()
    versions: Counter[Version] = Counter()
    for at, count in counts.items():
        targets[at.target] += count
        versions[at.version] += count
    header = {
        "command": command,
        "date": date,
        "ptxas": {release: provide(release).release for release in releases},
        "verdicts": sum(counts.values()),
        "targets": dict(sorted(targets.items())),
        "versions": {f"{major}.{minor}": count for (major, minor), count in sorted(versions.items())},
    }
    (directory / HEADER).write_text(json.dumps(header, indent=1) + "\n")


# Reading --------------------------------------------------------------------------------------------------


def families(directory: Path) -> tuple[str, ...]:
    """Return the families of Forms in the record.

    Errors: UsageError if the folder has no recorded verdicts.
    """
    found = tuple(sorted(path.name.removesuffix(_SUFFIX) for path in directory.glob(f"*{_SUFFIX}")))
    if not found:
        raise UsageError(f"{directory} has no recorded verdicts")
    return found


def read(directory: Path, wanted: Iterable[str] = ()) -> Iterator[tuple[Case, Verdicts]]:
    """Yield every recorded case with its verdicts, for all or the `wanted` families of Forms."""
    for family in tuple(wanted) or families(directory):
        text = lzma.decompress((directory / f"{family}{_SUFFIX}").read_bytes()).decode()
        sets: list[tuple[Point, ...]] = []
        form = slot = ""
        for line in text.splitlines():
            if line.startswith("@"):
                sets.append(tuple(Point.read(word) for word in line.split()[1:]))
            elif line.startswith("= "):
                form, _, slot = line[2:].partition(" ")
            else:
                at, bits, change, key = line.split("\t")
                points, accepted = sets[int(at)], int(bits, 16)
                case = Case(form, slot, change, Probe.of_key(key), points)
                yield case, {point: bool(accepted >> k & 1) for k, point in enumerate(points)}


def counted(directory: Path, wanted: Iterable[str] = ()) -> Counter[Point]:
    """Return the number of recorded verdicts at each point, for all or the `wanted` families of Forms.

    A point is a ptxas release, a target and a PTX version.
    """
    counts: Counter[Point] = Counter()
    for _, verdicts in read(directory, wanted):
        counts.update(verdicts.keys())
    return counts


# Comparing ------------------------------------------------------------------------------------------------


def disagreements(
    directory: Path, judge: Judge, wanted: Iterable[str] = (), *, newest: bool = False, every: int = 1
) -> Iterator[Disagreement]:
    """Yield the recorded verdicts from which the verdicts of `judge` differ.

    `wanted` selects families of Forms, and `every` = N every Nth PTX text. `newest` includes the verdicts of the newest
    ptxas.
    """
    waiting: dict[tuple[Point, ...], list[tuple[Case, Verdicts]]] = {}
    for case, verdicts in islice(read(directory, wanted), None, None, every):
        points = tuple(at for at in verdicts if newest or at.release != NEWEST)
        batch = waiting.setdefault(points, [])
        batch.append((case, verdicts))
        if len(batch) == _CHUNK:
            yield from _differing(judge, points, batch)
            waiting[points] = []
    for points, batch in waiting.items():
        yield from _differing(judge, points, batch)


def grouped(found: Iterable[Disagreement]) -> dict[tuple[str, str, bool], list[Disagreement]]:
    """Return disagreements by (Form, changed modifier, recorded verdict). The largest groups are first."""
    groups: dict[tuple[str, str, bool], list[Disagreement]] = {}
    for each in found:
        groups.setdefault((each.case.form, each.case.slot, each.accepted), []).append(each)
    return dict(sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])))


def _differing(judge: Judge, points: Iterable[Point], batch: Sequence[tuple[Case, Verdicts]]) -> Iterator[Disagreement]:
    probes = [case.probe for case, _ in batch]
    for at in points:
        judged = judge(probes, at.target, at.version)
        for (case, verdicts), verdict in zip(batch, judged, strict=True):
            if verdict != verdicts[at]:
                yield Disagreement(case, at, verdicts[at])


def by_text(check: Callable[[str, str, Version], bool]) -> Judge:
    """Return a judge that calls `check` with one module for each PTX text.

    `check(module, target, PTX version)` returns True for a legal module.
    """

    def judge(probes: Sequence[Probe], target: str, version: Version) -> list[bool]:
        return [check(probe.module(target, version), target, version) for probe in probes]

    return judge


def by_lines(check: Callable[[str, str, Version], Iterable[int]]) -> Judge:
    """Return a judge that calls `check` with one module for many PTX texts.

    `check(module, target, PTX version)` returns the numbers, from 1, of all lines with errors. `check` must continue
    after each error.
    """

    def judge(probes: Sequence[Probe], target: str, version: Version) -> list[bool]:
        text, owners = write_module(probes, target, version)
        at_fault = {owners[line - 1] for line in check(text, target, version)}
        return [-1 not in at_fault and k not in at_fault for k in range(len(probes))]

    return judge
