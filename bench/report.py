"""Measure the size of a report page and the time that a browser needs to draw it.

    python bench/report.py [LAUNCH.toml …] [--times N] [-- OPTION …]

`warploom report` writes the page with the options after `--`. A new headless Chromium opens it each time. The page
measures the time from the beginning of the navigation until the text is parsed, the scripts have drawn the timeline and
the layout is complete.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import chromium, opened

from warploom.cli import main as warploom

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EXAMPLE = Path(__file__).parents[1] / "examples" / "gemm_warp_specialised.toml"
LARGEST, LATEST = 3_000_000, 2_000
"""Bars, in bytes and milliseconds."""

PROBE = """<script>document.body.offsetHeight; document.title = `drawn ${performance.now()}`;</script></body>"""


def main() -> int:
    """Print the table; return 1 if a limit is exceeded, otherwise 0."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--times", type=int, default=7)
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    options = arguments.parse_args(given[:cut])
    table = Table(title=f"reports in a headless Chromium, {options.times} times each")
    for heading in ("launch", "kB", "median ms", "worst ms"):
        table.add_column(heading, justify="left" if heading == "launch" else "right")
    missed = False
    for path in options.files or [EXAMPLE]:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            if warploom(["report", str(path), "-o", str(page), *given[cut + 1 :]]) == 2:
                return 2
            size, taken = page.stat().st_size, timed(page.read_text("utf-8"), options.times)
        missed |= size > LARGEST or taken[-1] > LATEST
        table.add_row(path.stem, f"{size / 1e3:,.0f}", f"{statistics.median(taken):,.0f}", f"{taken[-1]:,.0f}")
    console = Console()
    console.print(table)
    console.print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    return int(missed)


def timed(page: str, times: int) -> list[float]:
    """Return the sorted times from navigation to the drawn page.

    Units: milliseconds.
    """
    found: list[float] = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder, chromium() as browser:
            file = Path(folder) / "page.html"
            found.append(drawn(browser, page.replace("</body>", PROBE), file))
    return sorted(found)


def drawn(browser: Browser, page: str, file: Path) -> float:
    """Return the time that the page reports after drawing.

    Units: milliseconds.
    """
    with opened(browser, page, file) as shown:
        return float(shown.title().removeprefix("drawn "))


if __name__ == "__main__":
    sys.exit(main())
