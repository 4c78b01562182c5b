"""The notebooks of examples/ run, and say what they said when they were made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_notebooks_say_what_is_in_them() -> None:
    command = [sys.executable, str(ROOT / "tools" / "make_notebooks.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (
        f"{done.stdout}{done.stderr}\npython tools/make_notebooks.py writes them anew"
    )
