"""Renders the templates for other package managers: a Homebrew formula, an entry for an aqua registry,
and lines for a `mise.toml`.

    render.py DIST FOLDER    write to FOLDER, for the archives in DIST
"""

import hashlib
import re
import sys
from pathlib import Path

from project import ROOT, repository, slug, version


def main():
    dist, folder = Path(sys.argv[1]), Path(sys.argv[2])
    values = collect(dist)
    folder.mkdir(parents=True, exist_ok=True)
    for template in sorted((ROOT / "packaging/templates").iterdir()):
        text = template.read_text(encoding="utf-8")
        path = folder / template.name
        path.write_text(fill(text, values), encoding="utf-8", newline="\n")
        print(path)


def collect(dist):
    """Values of all placeholders."""
    owner, name = slug().split("/")
    values = {"VERSION": version(), "REPOSITORY": repository(), "OWNER": owner, "NAME": name}
    start, end = f"layercake-{version()}-", ".tar.gz"
    for archive in dist.glob(f"{start}*{end}"):
        target = archive.name[len(start) : -len(end)]
        values[f"URL_{target}"] = f"{repository()}/releases/download/v{version()}/{archive.name}"
        values[f"SHA256_{target}"] = hashlib.sha256(archive.read_bytes()).hexdigest()
    return values


def fill(text, values):
    """Replaces placeholders. One without a value is an error: an archive is missing."""

    def value(match):
        if match[1] not in values:
            sys.exit(f"error: no value for {match[0]}; is an archive missing?")
        return values[match[1]]

    return re.sub(r"@([A-Z0-9]+(?:_[a-z0-9_-]+)?)@", value, text)


main()
