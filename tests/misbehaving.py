"""What other processes are made to do: it stands where they can import it from."""

from __future__ import annotations

import os
import time


def act(work: str) -> str:
    """Do a piece of work, or die or hang at it."""
    if work == "die":
        os._exit(1)
    if work == "hang":
        time.sleep(60)
    return f"{work} done"
