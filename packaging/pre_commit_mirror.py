"""Writes the repository `layercake-pre-commit`: the hooks of this repository, installed from the wheel
on PyPI instead of compiled.

    pre_commit_mirror.py FOLDER    other files in FOLDER are kept
"""

import re
import sys
from pathlib import Path

from project import ROOT, repository, version

PYPROJECT = """\
# Written by packaging/pre_commit_mirror.py of {repository}.

[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "layercake-pre-commit"
version = "{version}"
requires-python = ">=3.8"
dependencies = ["layercake-lint=={version}"]

[tool.setuptools]
py-modules = []
"""

README = """\
# layercake-pre-commit

Hooks of [layercake]({repository}) for pre-commit and prek, with the program from PyPI
(`layercake-lint`): nothing is compiled.

```yaml
repos:
  - repo: {repository}-pre-commit
    rev: v{version}
    hooks:
      - id: layercake
```

[Hooks]({repository}/blob/main/docs/hooks.md) describes each of them. This repository is generated for every
release of layercake; please report issues [there]({repository}/issues).
"""


def main():
    folder = Path(sys.argv[1])
    values = {"repository": repository(), "version": version()}
    write(folder / "pyproject.toml", PYPROJECT.format(**values))
    write(folder / "README.md", README.format(**values))
    write(folder / "LICENSE", read("LICENSE"))
    write(folder / ".pre-commit-hooks.yaml", hooks(read(".pre-commit-hooks.yaml")))


def hooks(manifest):
    """Returns the compiled hooks of the manifest, changed to use the wheel."""
    blocks = re.split(r"^(?=- id: )", manifest, flags=re.M)[1:]
    # A comment above a hook is part of the block before it.
    blocks = [re.sub(r"^#.*\n", "", block, flags=re.M).rstrip() for block in blocks]
    compiled = [block for block in blocks if "\n  language: rust\n" in block]
    assert compiled, "no hook is compiled"
    head = f"# Written by packaging/pre_commit_mirror.py of {repository()}.\n\n"
    return head + "\n\n".join(compiled).replace("language: rust", "language: python") + "\n"


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


main()
