"""A hook of MkDocs: pages of the site that stand outside `docs/`.

`README.md` is the front page, `CHANGELOG.md` with the fragments of `changelog.d` the page on changes, and a file that a
page leads to beyond `docs/` gets a page of its own, so that every link holds on the site as it does in the repository.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(!?\[[^\]\n]*\]\()([^)#\s]+)(#[^)\s]*)?(\))")
LANGUAGES = {".py": "python", ".toml": "toml", ".ptx": "text", ".json": "json"}
KINDS = {"added": "Added", "changed": "Changed", "fixed": "Fixed", "removed": "Removed"}


def page_of(target: str) -> str:
    """Where on the site a file of the repository is: `docs/` is its root."""
    if target == "README.md":
        return "index.md"
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    return f"files/{target}" if target.endswith(".md") else f"files/{target}.md"


def leads_to(source: str, link: str) -> str | None:
    """The file of the repository that a link of one of its files leads to, if it does so."""
    if re.match(r"[a-z]+:", link):
        return None
    target = normpath((PurePosixPath(source).parent / link).as_posix())
    return target if (ROOT / target).is_file() else None


def moved(source: str, text: str) -> str:
    """The Markdown of a file with its links as they are on the site."""
    here = PurePosixPath(page_of(source)).parent.as_posix()

    def link(found: re.Match[str]) -> str:
        target = leads_to(source, found[2])
        to = relpath(page_of(target), here) if target else found[2]
        return f"{found[1]}{to}{found[3] or ''}{found[4]}"

    return LINK.sub(link, text)


def page_text(path: str) -> str:
    """A file of the repository as Markdown."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return moved(path, text)
    return f"# {path}\n\n````{LANGUAGES.get(Path(path).suffix, 'text')}\n{text}````\n"


def unreleased() -> str:
    """What `changelog.d` says, as the next version's part of the changelog will."""
    parts: list[str] = []
    for kind, title in KINDS.items():
        items = [
            textwrap.indent(path.read_text(encoding="utf-8").strip(), "  ").replace("  ", "- ", 1)
            for path in sorted((ROOT / "changelog.d").glob("*.md"))
            if kind in path.name.split(".")
        ]
        if items:
            parts.append(f"### {title}\n\n" + "\n".join(items))
    return "## Not yet released\n\n" + "\n\n".join(parts) + "\n"


def changes() -> str:
    """The changelog with what is not yet released."""
    head, mark, rest = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("<!-- towncrier")
    return moved("CHANGELOG.md", f"{head}{unreleased()}\n{mark}{rest}")


def outside(files: Files) -> dict[str, str]:
    """Files beyond `docs/` that its pages lead to, and those that these lead to: page to file."""
    sources = ["README.md", *(f"docs/{file.src_uri}" for file in files.documentation_pages())]
    found: dict[str, str] = {}
    for source in sources:
        for _, link, _, _ in LINK.findall((ROOT / source).read_text(encoding="utf-8")):
            target = leads_to(source, link)
            if target and not target.startswith("docs/") and page_of(target) not in found:
                found[page_of(target)] = target
                if target.endswith(".md") and target not in sources:
                    sources.append(target)
    return found


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in `docs/`."""
    pages = {page: page_text(source) for page, source in outside(files).items()}
    pages |= {"index.md": page_text("README.md"), "changelog.md": changes()}
    for page, text in pages.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links beyond `docs/` to their pages."""
    if page.file.generated_by:
        return markdown
    return moved(f"docs/{page.file.src_uri}", markdown)
