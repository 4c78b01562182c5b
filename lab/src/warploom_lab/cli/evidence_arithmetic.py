"""`warploom-lab evidence arithmetic`: outputs of matrix instructions, compared with MMA-Sim."""

from __future__ import annotations

import argparse
import datetime as dt
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warploom_lab.cli import campaign_options
from warploom_lab.cli.status import DIFFERENT, OK, SHOWN, add_verb, counting

_RECORD = Path("tests/evidence/arithmetic")

if TYPE_CHECKING:
    from warploom_lab.arithmetic.cases import Case
    from warploom_lab.arithmetic.mmasim import Peer

_BATCH = 1 << 17
"""Number of outputs that are compared at a time with --outputs."""

_DESCRIPTION = """\
Compute each `mma` and `tcgen05.mma` instruction that MMA-Sim models, on each of its architectures, with Warploom and
with MMA-Sim, for random operands of ten kinds. Compare every output bit for bit, and write one digest for each
instruction and kind. Of f64 results, NaN is compared with NaN.

With --outputs N, compare at least N outputs for each kind of instruction, such as tcgen05.mma.kind::mxf4, and write
their counts instead of digests. --family FAMILY selects kinds of instructions.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add `arithmetic` to the kinds of evidence."""
    parser = add_verb(
        add,
        "arithmetic",
        run,
        summary="outputs of matrix instructions, compared with MMA-Sim",
        description=_DESCRIPTION,
        exit_status="0 success; 1 differences; 2 MMA-Sim is not installed",
    )
    campaign_options.declare_record_folder(parser, _RECORD)
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the operands (1)")
    parser.add_argument(
        "--groups",
        type=int,
        default=40,
        metavar="N",
        help="executions of each m16n8 instruction and kind of operands (40); for other shapes, as many outputs",
    )
    parser.add_argument("--fresh", action="store_true", help="compare, and write nothing")
    parser.add_argument("--outputs", type=int, metavar="N", help="compare N outputs for each kind of instruction")
    parser.add_argument(
        "--family", nargs="*", default=(), metavar="TEXT", help="with --outputs: parts of the names of kinds"
    )


def run(options: argparse.Namespace) -> int:
    """Compare all cases, write the record, and return the exit status. Errors: UsageError without MMA-Sim."""
    from warploom_lab.arithmetic.cases import ALL_KINDS, inputs, outputs
    from warploom_lab.arithmetic.mmasim import modelled, release
    from warploom_lab.arithmetic.record import Record, digest

    peer_release = release()
    cases = list(modelled())
    if options.outputs is not None:
        return _count(options, cases, peer_release)
    digests: dict[str, list[str]] = {}
    compared = different = 0
    with counting("instructions", len(cases)) as tell:
        for done, (case, peer) in enumerate(cases, 1):
            digests[case.name] = []
            for kind in ALL_KINDS:
                given = inputs(case, kind, options.seed, case.executions(options.groups))
                ours, theirs = outputs(case, given), peer(given)
                wrong = np.argwhere(ours != theirs)
                compared += ours.size
                different += len(wrong)
                for g, m, n in wrong[: max(0, SHOWN - different + len(wrong))]:
                    at = f"operands {kind!r}, execution {g}, row {m}, column {n}"
                    print(f"{case.name}: {at}: {ours[g, m, n]:#x} here, {theirs[g, m, n]:#x} in MMA-Sim")
                digests[case.name].append(digest(ours))
            tell(done)
    print(f"{different} of {compared:,} outputs of {len(cases)} instructions differ from MMA-Sim {peer_release}")
    if different:
        return DIFFERENT
    if not options.fresh:
        header = {
            "command": f"warploom-lab evidence arithmetic --seed {options.seed} --groups {options.groups}",
            "recorded": dt.datetime.now(dt.UTC).date().isoformat(),
            "peer": f"mmasim {peer_release}",
            "seed": options.seed,
            "groups": options.groups,
            "outputs": compared,
        }
        Record(header, digests).write(options.record)
    return OK


def _count(options: argparse.Namespace, cases: Sequence[tuple[Case, Peer]], peer_release: str) -> int:
    """Compare outputs of each family of instructions, write their counts, and return the exit status."""
    from warploom_lab.arithmetic.cases import inputs, outputs
    from warploom_lab.arithmetic.record import COUNTS, Counts, batches

    families: dict[str, dict[Case, Peer]] = {}
    for case, peer in cases:
        name = f"{case.arch} {case.family}"
        if all(text in name for text in options.family):
            families.setdefault(name, {})[case] = peer
    path: Path = options.record / COUNTS
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    different = 0
    for name, members in families.items():
        counts = Counts(len(members))
        with counting(name, options.outputs) as tell:
            for case, kind, number, groups in batches(members, options.outputs, _BATCH):
                given = inputs(case, kind, options.seed + (number << 16), groups)
                counts.add(case, outputs(case, given), members[case](given))
                tell(min(counts.outputs, options.outputs))
        different += counts.different
        summary = f"{counts.different} of {counts.outputs:,} outputs differ"
        print(f"{name}: {summary} from MMA-Sim {peer_release}", flush=True)
        if not options.fresh:
            date = dt.datetime.now(dt.UTC).date().isoformat()
            record[name] = {"peer": f"mmasim {peer_release}", "date": date, "seed": options.seed, **counts.row()}
            path.write_text(json.dumps(dict(sorted(record.items())), indent=1) + "\n", encoding="utf-8")
    return DIFFERENT if different else OK
