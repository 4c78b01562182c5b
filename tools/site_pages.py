"""MkDocs hook that adds pages for files outside `docs/`.

`README.md` becomes the front page. `CHANGELOG.md` and the fragments of `changelog.d` become the page on changes. Each
other file outside `docs/` that a page links to gets a page of its own, so that all links work on the site.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PLAYGROUND = ROOT / "build" / "playground" / "files.js"  # tools/playground/build.py
LINK = re.compile(r"(!?\[[^\]\n]*\]\()([^)#\s]+)(#[^)\s]*)?(\))")
LANGUAGES = {".py": "python", ".toml": "toml", ".ptx": "text", ".json": "json"}
KINDS = {"added": "Added", "changed": "Changed", "fixed": "Fixed", "removed": "Removed"}


def page_of(target: str) -> str:
    """Return the path that a repository file has on the site."""
    if target == "README.md":
        return "index.md"
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    return f"files/{target}" if target.endswith(".md") else f"files/{target}.md"


def link_target(source: str, link: str) -> str | None:
    """Return the repository file to which a link in a repository file points, or None for other links."""
    if re.match(r"[a-z]+:", link):
        return None
    target = normpath((PurePosixPath(source).parent / link).as_posix())
    return target if (ROOT / target).is_file() else None


def with_site_links(source: str, text: str) -> str:
    """Return the Markdown of a file with its links changed to paths on the site."""
    here = PurePosixPath(page_of(source)).parent.as_posix()

    def link(found: re.Match[str]) -> str:
        target = link_target(source, found[2])
        to = relpath(page_of(target), here) if target else found[2]
        return f"{found[1]}{to}{found[3] or ''}{found[4]}"

    return LINK.sub(link, text)


def page_text(path: str) -> str:
    """Return the content of a repository file as Markdown."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return with_site_links(path, text)
    return f"# {path}\n\n````{LANGUAGES.get(Path(path).suffix, 'text')}\n{text}````\n"


def unreleased() -> str:
    """Return the fragments of `changelog.d` as the changelog section of the next version."""
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
    """Return the changelog, including the section of unreleased changes."""
    head, mark, rest = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("<!-- towncrier")
    return with_site_links("CHANGELOG.md", f"{head}{unreleased()}\n{mark}{rest}")


def outside(files: Files) -> dict[str, str]:
    """Return the files outside `docs/` that pages link to, by the path of their page on the site."""
    sources = ["README.md", *(f"docs/{file.src_uri}" for file in files.documentation_pages())]
    found: dict[str, str] = {}
    for source in sources:
        for _, link, _, _ in LINK.findall((ROOT / source).read_text(encoding="utf-8")):
            target = link_target(source, link)
            if target and not target.startswith("docs/") and page_of(target) not in found:
                found[page_of(target)] = target
                if target.endswith(".md") and target not in sources:
                    sources.append(target)
    return found


def on_files(files: Files, config: Any) -> Files:
    """Add the pages for files outside `docs/` to the site, and the files of the playground if they are built."""
    pages = {page: page_text(source) for page, source in outside(files).items()}
    pages |= {"index.md": page_text("README.md"), "changelog.md": changes()}
    for page, text in pages.items():
        files.append(File.generated(config, page, content=text))
    if PLAYGROUND.is_file():
        files.append(File.generated(config, "playground/files.js", abs_src_path=str(PLAYGROUND)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Change links to files outside `docs/` into links to their pages."""
    if page.file.generated_by:
        return markdown
    return with_site_links(f"docs/{page.file.src_uri}", markdown)
