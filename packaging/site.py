"""Builds the docs as a site, and checks all of its links. `.ci/site` runs it.

    site.py MDBOOK FOLDER    build with the program MDBOOK, and write to FOLDER

mdBook gets a copy of the pages in one folder, with links adapted, since it has no pages outside it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from project import ROOT, repository, slug

REF = os.environ.get("LAYERCAKE_REF", "main")
# Destinations of Markdown links, and the attributes of HTML in Markdown.
LINK = re.compile(r'(?<=\]\()[^)\s]+|(?<=\ssrc=")[^"]+|(?<=\shref=")[^"]+')
# Languages that mdBook's highlighter knows. It prints a warning for others, so they become plain text.
LANGUAGES = ("console", "diff", "ini", "json", "lua", "python", "rust", "sh", "toml", "yaml")
SIDES = {"base": " at the base", "head": " at the head"}


def main():
    mdbook, folder = sys.argv[1], Path(sys.argv[2])
    pages = find_pages()
    with tempfile.TemporaryDirectory() as stage:
        copy(pages, Path(stage))
        build(mdbook, Path(stage), folder)
    correct_edit_links(pages, folder)
    broken, count = check(folder)
    if broken:
        sys.exit("\n".join(f"error: {it}" for it in broken))
    print(f"{len(pages) - 1} pages, {count} links; none is broken")


def find_pages():
    """Path in the book of each page, by its file."""
    pages = {ROOT / "README.md": "index.md"}
    docs = ROOT / "docs"
    pages |= {file: file.relative_to(docs).as_posix() for file in sorted(docs.rglob("*.md"))}
    for file in sorted((ROOT / "src/rules").rglob("*.md"), key=lambda it: it.name):
        pages[file] = f"rules/{file.name}"
    if len(set(pages.values())) < len(pages):
        sys.exit("error: two pages have the same name")
    return pages


def copy(pages, stage):
    shutil.copytree(ROOT / "docs", stage / "docs")
    (stage / "docs/book.toml").rename(stage / "book.toml")
    (stage / "docs/rules").mkdir()
    for file, path in pages.items():
        text = adapt(file.read_text(encoding="utf-8"), file, pages)
        if path == "SUMMARY.md":
            rules = [it for it in pages.values() if it.startswith("rules/")]
            listed = "".join(f"  - [{Path(it).stem}]({it})\n" for it in rules)
            text = text.replace("(rules.md)\n", f"(rules.md)\n{listed}")
        (stage / "docs" / path).write_text(text, encoding="utf-8")


def adapt(text, file, pages):
    """Text of a page for mdBook: with links adapted, and names of files above their blocks."""
    lines, is_inside = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            is_inside = not is_inside
            if is_inside:
                lines += opening(line)
                continue
        lines.append(line if is_inside else LINK.sub(lambda it: adapt_link(it[0], file, pages), line))
    return "\n".join(lines) + "\n"


def opening(line):
    """Start of a block. Its words may be a language, a file after `base:` or `head:`, and a mark."""
    indent, fence = line.split("```")
    language, *words = fence.split() or [""]
    if words:
        side, _, name = words[0].rpartition(":")
        yield f"{indent}`{name}`{SIDES.get(side, '')}:\n"
    yield f"{indent}```{language if language in LANGUAGES else 'text'}"


def adapt_link(link, file, pages):
    address, hash_, anchor = link.partition("#")
    if not address or urlsplit(address).scheme:
        return link
    target = Path(os.path.normpath(file.parent / address))
    if not target.exists():
        return link
    here = os.path.dirname(pages[file])
    if target.name == "SUMMARY.md":
        return os.path.relpath("toc.html", here or ".")
    if target in pages:
        return os.path.relpath(pages[target], here or ".") + hash_ + anchor
    if target.is_file() and target.is_relative_to(ROOT / "docs"):
        return os.path.relpath(target.relative_to(ROOT / "docs"), here or ".") + hash_ + anchor
    kind = "tree" if target.is_dir() else "blob"
    return f"{repository()}/{kind}/{REF}/{target.relative_to(ROOT).as_posix()}{hash_}{anchor}"


def build(mdbook, stage, folder):
    settings = {
        "GIT_REPOSITORY_URL": repository(),
        "EDIT_URL_TEMPLATE": f"{repository()}/edit/main/{{path}}",
        "SITE_URL": f"/{slug().split('/')[1]}/",
    }
    added = {f"MDBOOK_OUTPUT__HTML__{key}": value for key, value in settings.items()}
    command = [mdbook, "build", stage, "--dest-dir", folder.absolute()]
    result = subprocess.run(
        command, env=os.environ | added, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True, check=False
    )
    if result.returncode or "WARN" in result.stdout or "ERROR" in result.stdout:
        sys.exit(f"{result.stdout}error: mdBook failed or warned")


def correct_edit_links(pages, folder):
    """mdBook derives them from the copies."""
    for file, path in pages.items():
        if path == "SUMMARY.md":
            continue
        page = (folder / path).with_suffix(".html")
        if not page.exists():
            sys.exit(f"error: docs/SUMMARY.md does not list {path}")
        text = page.read_text(encoding="utf-8")
        link = f"/edit/main/{file.relative_to(ROOT).as_posix()}"
        page.write_text(text.replace(f"/edit/main/docs/{path}", link), encoding="utf-8")


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("href", "src") and tag != "base":
                self.links.append(value)
            elif key in ("id", "name"):
                self.anchors.add(value)


def check(folder):
    """Broken links of all pages, and the number of all links."""
    files = sorted(folder.rglob("*.html"))
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in files}
    broken = [
        f"{file.relative_to(folder)}: {link}"
        for file, page in pages.items()
        for link in page.links
        if is_broken(link, file, folder, pages)
    ]
    return broken, sum(len(page.links) for page in pages.values())


def is_broken(link, file, folder, pages):
    own = re.fullmatch(rf"{re.escape(repository())}/(?:blob|tree|edit)/[^/]+/([^#]*).*", link)
    if own:
        return not (ROOT / own[1]).exists()
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = Path(os.path.normpath(file.parent / unquote(parts.path))) if parts.path else file
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(folder) or not target.is_file():
        return True
    return target in pages and unquote(parts.fragment) not in pages[target].anchors


if __name__ == "__main__":
    main()
