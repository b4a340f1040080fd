"""A copy of the example repository, and the program as `layercake` in the search path."""

import os
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = os.environ["LAYERCAKE_PROGRAM"]

# The machine may be slow and busy.
PATIENCE = 60


class Repository:
    def __init__(self, root):
        self.root = root
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words):
        command = ["git", "-C", self.root, "-c", "user.name=Test", "-c", "user.email=test@example.org", *words]
        return subprocess.run(command, check=True, text=True, capture_output=True).stdout

    def commit(self):
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "Add sites")

    def changed(self):
        """Returns the files that differ from the commit, ignored ones included."""
        return self.git("status", "--porcelain", "--ignored", "--untracked-files=all").splitlines()

    def uri(self, path=""):
        return (self.root / path).as_uri()

    def text(self, path):
        return (self.root / path).read_text()


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "sites"
    subprocess.run(["cp", "-r", ROOT / "examples/sites", root], check=True)
    repository = Repository(root)
    yield repository
    assert repository.changed() == []


class Servers:
    """Servers that were started by the name `layercake`."""

    def __init__(self, folder):
        self.folder = folder / "programs"
        self.folder.mkdir()
        self.starts = folder / "starts"
        self.starts.touch()
        script = self.folder / "layercake"
        script.write_text(f'#!/bin/sh\necho $$ >>"{self.starts}"\nexec "{PROGRAM}" "$@"\n')
        script.chmod(0o755)
        self.path = f"{self.folder}{os.pathsep}{os.environ['PATH']}"

    def processes(self):
        return [int(line) for line in self.starts.read_text().splitlines()]

    def end_within(self, seconds):
        """Whether all of them ended."""
        return wait_for(lambda: not any(is_running(it) for it in self.processes()), seconds)


@pytest.fixture
def servers(tmp_path):
    return Servers(tmp_path)


def is_running(process):
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    # The name before the state can contain spaces.
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_for(holds, seconds=PATIENCE):
    """Waits until a condition holds, and returns whether it does."""
    end = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return found
