"""Drives the server from Neovim: each file in `neovim/` is a session of the current version, and each in
`neovim/old/` one of a version that has neither pulled diagnostics nor watched files."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import PATIENCE, ROOT, wait_for

FOLDER = Path(__file__).parent / "neovim"
CURRENT = os.environ["NEOVIM"]
OLD = os.environ["OLD_NEOVIM"]


class Neovim:
    def __init__(self, servers, repository, folder):
        self.log = folder / "state/nvim/lsp.log"
        self.servers = servers
        self.repository = repository
        # The blocks of the page: the configuration, and the commands.
        blocks = re.findall(r"^```lua\n(.*?)^```$", (ROOT / "docs/editors.md").read_text(), re.MULTILINE | re.DOTALL)
        for name, block in zip(("configuration", "commands"), blocks, strict=True):
            (folder / f"{name}.lua").write_text(block)
        self.environment = {
            **os.environ,
            "PATH": servers.path,
            "PAGE": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_DATA_HOME": str(folder / "data"),
        }

    def start(self, program, session):
        return subprocess.Popen(
            [program, "--headless", "--clean", "-u", FOLDER / "editor.lua"],
            cwd=self.repository.root,
            env={**self.environment, "SESSION": str(session)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, program, session):
        with self.start(program, session) as process:
            try:
                printed, _ = process.communicate(timeout=2 * PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                printed, _ = process.communicate()
                pytest.fail(f"it does not end: {printed}")
        assert process.returncode == 0, printed
        assert self.logged() == []
        assert self.servers.processes(), "no server was started"
        assert self.servers.end_within(2)

    def logged(self):
        """Returns problems that Neovim logged, with what servers wrote to standard error."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if re.match(r"\[(ERROR|WARN)\]", line)]


@pytest.fixture
def neovim(servers, repository, tmp_path):
    return Neovim(servers, repository, tmp_path)


def sessions(folder):
    return sorted(it.name for it in folder.glob("*.lua") if it.name != "editor.lua")


@pytest.mark.parametrize("session", sessions(FOLDER))
def test_current(neovim, session):
    neovim.run(CURRENT, FOLDER / session)


@pytest.mark.parametrize("session", sessions(FOLDER / "old"))
def test_old(neovim, session):
    neovim.run(OLD, FOLDER / "old" / session)


def test_server_ends_with_a_killed_client(neovim, servers, tmp_path):
    session = tmp_path / "idle.lua"
    session.write_text(
        "local editor = require('editor')\n"
        "editor.open('site/lab/charts/keystone.yaml')\n"
        "editor.finds(0, { '11:7 missing-parent' })\n"
        f"vim.fn.writefile({{}}, '{tmp_path}/ready')\n"
        "editor.wait('the end', function() return false end)\n"
    )
    with neovim.start(CURRENT, session) as process:
        assert wait_for((tmp_path / "ready").exists)
        assert servers.processes() and not servers.end_within(0)
        process.kill()
        assert servers.end_within(2)
