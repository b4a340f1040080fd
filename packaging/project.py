"""What Cargo.toml says of the project: its version and its address."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def version():
    return setting("version")


def repository():
    """The address of the repository, as in https://github.com/OWNER/NAME."""
    return setting("repository")


def slug():
    """OWNER/NAME of the repository."""
    return "/".join(repository().split("/")[-2:])


def setting(key):
    """A setting of `workspace.package`. Python before 3.11 reads no TOML."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    table = text.split("\n[workspace.package]\n", 1)[1].split("\n[", 1)[0]
    return re.search(rf'^{key} = "(.*)"$', table, re.M).group(1)
