"""Pages as HTML, and in a real Chromium without a window: a page may ask for nothing, and nothing may be complained of.

Screenshots are kept where WARPLOOM_SCREENSHOTS names a folder (tests/evidence/pages/README.md).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
_BUILT = Path(__file__).parents[1] / "build" / "chromium"  # `make test-evidence` unpacks it
_EXECUTABLE = next(filter(None, map(shutil.which, (*_NAMES, _BUILT / "chromium"))), None)

needs_browser = pytest.mark.skipif(_EXECUTABLE is None, reason=f"there is no {', '.join(_NAMES)} here")


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


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser. Its loop must be closed before other tests make theirs, so it serves one module."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        libraries = {"LD_LIBRARY_PATH": str(_BUILT / "lib")} if str(_BUILT / "chromium") == _EXECUTABLE else {}
        browser = playwright.chromium.launch(executable_path=_EXECUTABLE, env=os.environ | libraries)
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser,
    text: str,
    file: Path,
    fragment: str = "",
    *,
    dark: bool = False,
    size: tuple[int, int] = (1200, 800),
) -> Iterator[Page]:
    """A page that is shown. At the end it must have asked for its own file alone, and the console be empty."""
    file.write_text(text, "utf-8")
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light", offline=True
    )
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{file.as_uri()}{fragment}")
    yield page
    page.close()
    assert complaints == []
    assert asked == [file.as_uri()]


def keep(page: Page, name: str) -> None:
    """Keep what is to be seen, for people to look at, where that was asked for."""
    folder = os.environ.get("WARPLOOM_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")
