"""Measure how long the playground of the documentation takes to load, to check 300 lines and to run `vector_add`.

    make docs && python bench/playground.py [--times N]

A new headless Chromium opens `build/site/playground/index.html` each time, without a network. Every command runs twice
after each load: the first run also imports modules.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGE = Path(__file__).parents[1] / "build" / "site" / "playground" / "index.html"
LIMITS = {"load": 10.0, "check 300 lines": 2.0}
"""Largest times. Units: s."""
LINE = "    add.rn.f32 %f2, %f0, %f1;\n"


def main() -> int:
    """Print the table; return 1 if a limit is exceeded, otherwise 0."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--times", type=int, default=5)
    times = arguments.parse_args().times
    taken: dict[str, list[float]] = {}
    with chromium() as browser:
        for _ in range(times):
            page = browser.new_page(offline=True)
            timed(taken, page, "load", lambda page=page: page.goto(PAGE.as_uri()))
            text = page.input_value("#ptx")
            page.fill("#ptx", text.replace(LINE, LINE * (301 - text.count("\n"))))
            for name in ("check 300 lines", "check again"):
                timed(taken, page, name, lambda page=page: page.click("#check"))
            page.fill("#ptx", text)
            for name in ("run vector_add", "run again"):
                timed(taken, page, name, lambda page=page: page.click("#run"))
            page.close()
    table = Table(title=f"playground in a headless Chromium, {times} times each")
    for heading in ("", "median s", "worst s"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, seconds in taken.items():
        table.add_row(name, f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}")
    Console().print(table)
    return int(any(max(taken[name]) > limit for name, limit in LIMITS.items()))


def timed(taken: dict[str, list[float]], page: Page, name: str, action: Callable[[], object]) -> None:
    """Add the time from an action until the page is ready."""
    began = time.perf_counter()
    action()
    page.wait_for_selector("#state[data-name=ready]", timeout=120_000)
    taken.setdefault(name, []).append(time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
