"""Record of the sequences of launches on an H100.

`runtime/programmatic/sessions.py` makes it.
"""

from __future__ import annotations

import json
from pathlib import Path

from runtime.programmatic.programs import CORRECT, FAULTY

RECORD = json.loads((Path(__file__).parent / "sequences/h100.json").read_text(encoding="utf-8"))


def test_correct_sequences_had_the_expected_results_in_all_runs() -> None:
    assert RECORD["correct"] == dict.fromkeys(CORRECT, RECORD["runs"])


def test_the_record_has_all_faulty_sequences() -> None:
    assert RECORD["faulty"].keys() == FAULTY.keys()
