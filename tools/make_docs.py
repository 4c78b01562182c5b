"""Write `docs/isa`, `docs/rules` and `docs/nvvm`: Forms, rule records, the dialect, the tables of texts.

    python tools/make_docs.py

A test fails while a page differs from what this writes.
"""

from __future__ import annotations

from pathlib import Path

from warploom_lab.pages.cicc import pages as cicc_pages
from warploom_lab.pages.nvvm import pages as dialect_pages

from warploom.check.pages import all_pages
from warploom.emulator.traps import pages as machine_pages
from warploom.gpu.rules import pages as gpu_pages
from warploom.observe.sanitize.rules import pages as sanitizer_pages

DOCS = Path(__file__).resolve().parents[1] / "docs"


def main() -> None:
    """Write every page, and remove those that no form or rule has any more."""
    pages = all_pages([*sanitizer_pages(), *machine_pages(), *gpu_pages()]) | dialect_pages() | cicc_pages()
    for folder in ("isa", "rules", "nvvm", "nvvm/dialect"):
        for path in (DOCS / folder).glob("*.md"):
            if f"{folder}/{path.name}" not in pages:
                path.unlink()
    for name, text in pages.items():
        path = DOCS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
