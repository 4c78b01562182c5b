"""`warploom-lab evidence arithmetic`: outputs of matrix instructions, compared with MMA-Sim."""

import argparse
import datetime as dt
from collections.abc import Callable
from pathlib import Path

import numpy as np

from warploom_lab.cli import campaign_options
from warploom_lab.cli.status import DIFFERENT, OK, SHOWN, add_verb, counting

_RECORD = Path("tests/evidence/arithmetic")

_DESCRIPTION = """\
Compute each `mma` instruction that MMA-Sim models, on each of its architectures, with Warploom and with MMA-Sim, for
random operands of nine kinds. Compare every output bit for bit, and write one digest for each instruction and kind.
Of f64 results, NaN is compared with NaN.
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
        "--groups", type=int, default=54, metavar="N", help="executions of each instruction and kind of operands (54)"
    )
    parser.add_argument("--fresh", action="store_true", help="compare, and write nothing")


def run(options: argparse.Namespace) -> int:
    """Compare all cases, write the record, and return the exit status. Errors: UsageError without MMA-Sim."""
    from warploom_lab.arithmetic.cases import ALL_KINDS, inputs, outputs
    from warploom_lab.arithmetic.mmasim import modelled, release
    from warploom_lab.arithmetic.record import Record, digest

    peer_release = release()
    cases = list(modelled())
    digests: dict[str, list[str]] = {}
    compared = different = 0
    with counting("instructions", len(cases)) as tell:
        for done, (case, peer) in enumerate(cases, 1):
            digests[case.name] = []
            for kind in ALL_KINDS:
                given = inputs(case, kind, options.seed, options.groups)
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
