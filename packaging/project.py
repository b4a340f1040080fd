"""Version and repository URL of the project, from Cargo.toml."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version():
    return setting("version")


def repository():
    """URL of the repository, such as https://github.com/OWNER/NAME."""
    return setting("repository")


def slug():
    """OWNER/NAME of the repository."""
    return "/".join(repository().split("/")[-2:])


def setting(key):
    """Value of a key of `workspace.package`. Python before 3.11 has no TOML parser."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    table = text.split("\n[workspace.package]\n", 1)[1].split("\n[", 1)[0]
    return re.search(rf'^{key} = "(.*)"$', table, re.M).group(1)
