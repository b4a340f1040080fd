"""Repositories to run the action in: the example sites with a history, on a
server and checked out as `actions/checkout` does it.
"""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

NULL = "0" * 40

# Names that would do harm if a shell, an output file or a log interpreted them.
HOSTILE = ("x\"; touch pwned; $(touch pwned) `touch pwned` ' && touch pwned "
           "::error::pwned ##[error]pwned %0A")

VERSIONS = "global/config/software-versions.yaml"
KEYSTONE = "type/cloud/charts/keystone.yaml"


def git(folder, *arguments, **more):
    """Returns the output of a git command."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=identity(),
        capture_output=True,
        check=True,
        **more,
    )
    return done.stdout.decode().strip()


def identity():
    """Returns an environment in which commits are reproducible."""
    names = {f"GIT_{who}_{what}": "somebody" for who in ("AUTHOR", "COMMITTER") for what in
             ("NAME", "EMAIL")}
    dates = {f"GIT_{who}_DATE": "1700000000 +0000" for who in ("AUTHOR", "COMMITTER")}
    return {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        **names,
        **dates,
    }


class Sites:
    """A server with one repository, `acme/sites`."""

    def __init__(self, folder):
        self.bare = Path(folder) / "acme/sites.git"
        self.bare.mkdir(parents=True)
        git(self.bare, "init", "--quiet", "--bare", "--initial-branch=main")
        git(self.bare, "config", "uploadpack.allowAnySHA1InWant", "true")
        self.work = Path(folder) / "work"
        shutil.copytree(ROOT / "examples/sites", self.work)
        git(self.work, "init", "--quiet", "--initial-branch=main")
        git(self.work, "remote", "add", "origin", self.bare.as_uri())
        self.commit("the sites")

    def commit(self, message):
        """Commits all files; returns the id of the commit."""
        git(self.work, "add", "--all")
        git(self.work, "commit", "--quiet", "--allow-empty", "-m", message)
        return self.id("HEAD")

    def id(self, revision):
        return git(self.work, "rev-parse", revision)

    def branch(self, name, start="main"):
        git(self.work, "checkout", "--quiet", "-B", name, start)

    def edit(self, file, old, new):
        """Replaces text in a file."""
        path = self.work / file
        text = path.read_text()
        assert old in text, f"{file} has no {old}"
        path.write_text(text.replace(old, new, 1))

    def upgrade(self):
        """Makes a change without findings that reaches outputs in three sites."""
        self.edit(VERSIONS, "keystone:2025.1", "keystone:2025.2")
        return self.commit("a new keystone")

    def misspell(self):
        """Makes a change with new errors: documents lose their parent."""
        self.edit(KEYSTONE, "name: keystone-global", "name: keystone-gobal")
        return self.commit("a mistake")

    def comment(self, text="a comment"):
        """Makes a change that affects no output."""
        self.edit(VERSIONS, "# All versions", f"# {text}\n# All versions")
        return self.commit("a comment")

    def grow(self, count):
        """Adds this many commits without changes."""
        branch = git(self.work, "rev-parse", "--abbrev-ref", "HEAD")
        stream = "".join(
            f"commit refs/heads/{branch}\n"
            f"committer somebody <somebody> {1700000001 + number} +0000\n"
            f"data {len(branch) + 1}\n{branch}\n\n"
            + (f"from refs/heads/{branch}^0\n" if number == 0 else "")
            for number in range(count)
        )
        git(self.work, "fast-import", "--quiet", "--force", input=stream.encode())
        git(self.work, "reset", "--quiet", "--hard")
        return self.id("HEAD")

    def merge(self, branch, into="main"):
        """Creates a test merge like GitHub."""
        git(self.work, "checkout", "--quiet", "--detach", into)
        git(self.work, "merge", "--quiet", "--no-ff", "-m", "on trial", branch)
        return self.id("HEAD")

    def push(self, **references):
        """Force-pushes commits to references."""
        for reference, commit in references.items():
            name = "refs/" + reference.replace("__", "/")
            git(self.work, "push", "--quiet", "--force", "origin", f"{commit}:{name}")

    def forget(self):
        """Deletes commits on the server that no branch contains."""
        git(self.bare, "reflog", "expire", "--expire=now", "--all")
        git(self.bare, "gc", "--quiet", "--prune=now")

    def checkout(self, folder, commit, depth=1, url=None):
        """Checks out a commit like `actions/checkout`; without a depth, with the full history."""
        folder = Path(folder)
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet", "--initial-branch=main")
        git(folder, "remote", "add", "origin", self.bare.as_uri())
        if depth:
            git(folder, "fetch", "--quiet", "--no-tags", f"--depth={depth}", "origin", commit)
        else:
            heads = "+refs/heads/*:refs/remotes/origin/*"
            git(folder, "fetch", "--quiet", "--no-tags", "origin", heads, commit)
        git(folder, "checkout", "--quiet", "--detach", commit)
        if url:
            git(folder, "remote", "set-url", "origin", url)
        return folder
