"""Pages as HTML, and in a headless Chromium where there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

BROWSER = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None
)

needs_browser = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")


class Elements(HTMLParser):
    """Every element with its attributes, and the text of scripts by their id."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str | None, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        tag, attributes = self.found[-1] if self.found else ("", {})
        if tag == "script" and data.strip():
            self.scripts[attributes.get("id")] = self.scripts.get(attributes.get("id"), "") + data


def read(text: str) -> Elements:
    """A page's elements."""
    elements = Elements()
    elements.feed(text)
    return elements


def browse(text: str, folder: Path, fragment: str = "", *options: str) -> tuple[str, str]:
    """What the page is after its scripts have run, and what the console says."""
    assert BROWSER is not None
    file = folder / "page.html"
    file.write_text(text, "utf-8")
    command = [
        BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={folder / 'user'}", "--enable-logging=stderr", *options, "--dump-dom",
        f"{file.as_uri()}{fragment}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


def told(after: str) -> Any:
    """What a script of a test left in the element `told`, as JSON."""
    found = re.search(r'<pre id="told">(.*?)</pre>', after, re.DOTALL)
    assert found is not None
    return json.loads(unescape(found[1]))
