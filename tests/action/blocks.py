"""Extracts every script of `action.yml` or a workflow into a file for shellcheck, and
rejects scripts with an embedded expression: its value could be arbitrary code and belongs
in `env:`. Workflows in a page, `*.md`, are checked too and written to the folder; the
inputs that they pass to the action must exist in `action.yml`.

    blocks.py FOLDER FILE...
"""

import re
import sys
from pathlib import Path

import yaml


def main():
    folder, files = Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]
    folder.mkdir()
    inputs = set(yaml.safe_load(Path("action.yml").read_text())["inputs"])
    count = 0
    for file in files:
        for text in definitions(file, folder):
            for step in steps(yaml.safe_load(text)):
                check_action(file, step, inputs)
                if "run" not in step:
                    continue
                if "${{" in step["run"]:
                    sys.exit(f"{file}: an expression in the script of {step}")
                count += 1
                script = f"#!/usr/bin/env bash\nset -eo pipefail\n{step['run']}\n"
                (folder / f"{file.stem}-{count}.sh").write_text(script)
    assert count > 0, "no script found"


def definitions(file, folder):
    """Returns the action or workflow in a file, or the workflows and single steps of a page."""
    if file.suffix != ".md":
        return [file.read_text()]
    blocks = re.findall(r"^```yaml\n(.*?)^```$", file.read_text(), re.M | re.S)
    # Other blocks are other files, such as a configuration.
    blocks = [it for it in blocks if re.search(r"^ *- (uses|run):", it, re.M)]
    assert blocks, f"{file} has no workflow"
    for number, block in enumerate(blocks):
        if "\njobs:\n" in block:
            (folder / f"{file.stem}-{number}.yml").write_text(block)
    return blocks


def steps(definition):
    """Returns the steps of an action, of all jobs of a workflow, or of a list."""
    if isinstance(definition, list):
        return definition
    if "runs" in definition:
        return definition["runs"]["steps"]
    return [step for job in definition["jobs"].values() for step in job["steps"]]


def check_action(file, step, inputs):
    """Checks that foreign actions are pinned to a commit and ours gets existing inputs."""
    used = step.get("uses")
    if used is None:
        return
    if used == "./" or used.startswith("layercake-lint/layercake@"):
        unknown = set(step.get("with", {})) - inputs
        if unknown:
            sys.exit(f"{file}: no inputs of the action: {unknown}")
    elif not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", used):
        sys.exit(f"{file}: {used} is not pinned to a commit")


main()
