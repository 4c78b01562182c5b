"""The notebooks of examples/ run with the outputs that they contain."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_outputs_of_the_notebooks_are_current() -> None:
    command = [sys.executable, str(ROOT / "tools" / "make_notebooks.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\npython tools/make_notebooks.py updates them"
