"""Reference pages on instructions, rules and the NVVM dialect, in `docs/isa`, `docs/rules`, `docs/nvvm`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from warploom.check.pages import all_pages
from warploom.emulator.traps import pages as trap_pages
from warploom.gpu.rules import pages as gpu_pages
from warploom.observe.sanitize.rules import pages as sanitizer_pages
from warploom_lab.pages.cicc import pages as cicc_pages
from warploom_lab.pages.nvvm import pages as dialect_pages

_FOLDERS = ("docs/isa", "docs/rules", "docs/nvvm", "docs/nvvm/dialect")


def texts() -> dict[str, str]:
    """Return the text of every page, by its path in the repository."""
    pages = all_pages([*sanitizer_pages(), *trap_pages(), *gpu_pages()]) | dialect_pages() | cicc_pages()
    return {f"docs/{name}": text for name, text in pages.items()}


def existing(repository: Path) -> Iterator[str]:
    """Yield the path of every page in the folders of generated pages."""
    for folder in _FOLDERS:
        for path in (repository / folder).glob("*.md"):
            yield path.relative_to(repository).as_posix()
