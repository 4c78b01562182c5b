"""Verdicts from a shell: `python -m warploom_lab.ptxas.judge -t sm_90a,sm_100a -v all "ret;"`

Without texts, one probe a line from standard input. Prints target, version, `ok` or the refusal, probe.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from warploom_lab.ptxas.ask import Oracle
from warploom_lab.ptxas.points import DECIDING, OLD, TARGETS, Point, last_version, point, versions_of
from warploom_lab.ptxas.probe import Probe


def main(argv: Sequence[str] | None = None) -> int:
    """Ask and print; the exit status is 0 when everything is accepted, else 1."""
    parser = argparse.ArgumentParser(prog="python -m warploom_lab.ptxas.judge", description=__doc__)
    parser.add_argument("probe", nargs="*")
    parser.add_argument("-t", "--targets", default="sm_90a", help="targets with commas between, or all")
    parser.add_argument("-v", "--versions", default="9.1", help="PTX versions with commas between, or all")
    parser.add_argument(
        "--release", help=f"12.9, 13.1, newest or a path; without it {OLD} below sm_75, else {DECIDING}"
    )
    options = parser.parse_args(argv)
    texts = options.probe or [line.strip() for line in sys.stdin if line.strip()]
    targets = TARGETS if options.targets == "all" else options.targets.split(",")
    questions = [
        (Probe.of_key(text), Point(options.release, at.target, at.version) if options.release else at)
        for text in texts
        for target in targets
        for at in _points(target, options.versions)
    ]
    with Oracle() as oracle:
        verdicts = oracle.ask(questions)
    for (probe, at), verdict in zip(questions, verdicts, strict=True):
        said = "ok" if verdict.ok else f"REFUSED {verdict.message}"
        sys.stdout.write(f"{at.target} {at.version[0]}.{at.version[1]}  {said}   {probe.key}\n")
    return 0 if all(verdict.ok for verdict in verdicts) else 1


def _points(target: str, versions: str) -> list[Point]:
    if versions == "all":
        return [point(target, version) for version in versions_of(target)]
    chosen = [tuple(int(part) for part in text.split(".")) for text in versions.split(",")]
    return [point(target, min((major, minor), last_version(target))) for major, minor in chosen]


if __name__ == "__main__":
    sys.exit(main())
