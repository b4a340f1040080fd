"""Runs the action outside GitHub: every step of `action.yml`, with the events,
the checkouts and the server that it would meet there. `.ci/action` calls it, with
the program to test in `LAYERCAKE_PROGRAM`.
"""

import hashlib
import io
import itertools
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

import yaml

from github import GitHub
from runner import BASH, commands, pairs, run, shown, substituted
from sites import HOSTILE, KEYSTONE, NULL, ROOT, Sites, git

TOKEN = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"

PLATFORMS = {
    ("Linux", "x86_64"): ("Linux", "X64", "x86_64-unknown-linux-musl"),
    ("Linux", "aarch64"): ("Linux", "ARM64", "aarch64-unknown-linux-musl"),
    ("Darwin", "x86_64"): ("macOS", "X64", "x86_64-apple-darwin"),
    ("Darwin", "arm64"): ("macOS", "ARM64", "aarch64-apple-darwin"),
}
SYSTEM, ARCHITECTURE, TARGET = PLATFORMS[platform.system(), platform.machine()]
VERSION = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M).group(1)
ARCHIVE = f"layercake-{VERSION}-{TARGET}.tar.gz"
RELEASE = f"/acme/layercake/releases/download/v{VERSION}/{ARCHIVE}"


class Case(unittest.TestCase):
    """A job with its own folder, a server, and the action as released."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="layercake-action-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.github = GitHub(TOKEN)
        self.addCleanup(self.github.close)
        self.temp = self.folder / "temp with a space"
        self.temp.mkdir()
        self.home = self.folder / "home"
        self.home.mkdir()
        self.called = self.folder / "called"
        self.called.touch()
        self.make_programs()
        self.release()

    def make_programs(self):
        """Puts programs before those of the system, which record their arguments without
        secrets."""
        self.programs = self.folder / "programs"
        self.programs.mkdir()
        self.leaked = self.folder / "leaked"
        for name in ("awk", "base64", "cat", "curl", "git", "grep", "jq", "sed", "tr"):
            write_program(
                self.programs / name,
                f"printf '%s\\n' \"{name} $*\" >>'{self.called}'\n"
                f"{self.watch(name)}exec '{shutil.which(name)}' \"$@\"\n",
            )

    def watch(self, name):
        """Records that a program inherits the token, which only `git fetch` may have."""
        return (
            f"case \"{name} $*\" in 'git '*' fetch '*) ;; *)\n"
            "[ -z \"${GIT_CONFIG_COUNT-}\" ] ||\n"
            f"printf '%s\\n' \"{name} $*\" >>'{self.leaked}' ;; esac\n"
            f"[ -z \"${{INPUT_TOKEN+set}}\" ] || printf '%s\\n' \"{name} $*\" >>'{self.leaked}'\n"
        )

    def release(self):
        """Creates the action in its own folder, with a release on the server that contains the
        program to test."""
        self.action = self.folder / "action"
        self.action.mkdir()
        shutil.copy(ROOT / "action.yml", self.action)
        shutil.copytree(ROOT / "action", self.action / "action")
        for name in ("Cargo.toml", "Cargo.lock"):
            shutil.copy(ROOT / name, self.action)
        for name in ("src", "docs", "examples", ".cargo"):
            (self.action / name).mkdir()
        content = archive(self.program())
        self.github.files[RELEASE] = content
        checksum = hashlib.sha256(content).hexdigest()
        with (self.action / "action/releases.txt").open("a") as file:
            for path in (RELEASE.replace(VERSION, "9.9.9"), RELEASE):
                file.write(f"{checksum}  {self.github.url}{path}\n")

    def program(self):
        """Creates a wrapper of the program to test that records its arguments."""
        return (
            "#!/bin/sh\n"
            f"for it in \"$@\"; do printf 'layercake: %s\\n' \"$it\" >>'{self.called}'; done\n"
            f"{self.watch('layercake')}"
            f"exec '{os.environ['LAYERCAKE_PROGRAM']}' \"$@\"\n"
        )

    def building(self):
        """Creates a cargo that builds the program if it runs in the folder of the sources. It
        honours settings files in parent folders."""
        made = self.folder / "made"
        write_program(made, self.program())
        return (
            f"printf '%s\\n' \"cargo $*\" >>'{self.called}'\n"
            f"{self.settings_above()}"
            "[ -f Cargo.lock ] && [ -d src ] && mkdir -p \"$CARGO_TARGET_DIR/release\" &&\n"
            f"cp '{made}' \"$CARGO_TARGET_DIR/release/layercake\"\n"
        )

    def settings_above(self):
        """Runs the toolchain named by a file in a parent folder, like rustup."""
        return (
            "folder=$PWD\n"
            "while [ -n \"$folder\" ]; do\n"
            f"[ ! -e \"$folder/rust-toolchain.toml\" ] || touch '{self.folder}/pwned'\n"
            "folder=${folder%/*}\ndone\n"
        )

    def environment(self, workspace, event_name, event, actor="somebody"):
        """Returns the variables that the runner sets for every step."""
        event_file = self.folder / "event.json"
        event_file.write_text(json.dumps(event))
        environment = {
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTOR": actor,
            "GITHUB_API_URL": self.github.url,
            "GITHUB_GRAPHQL_URL": f"{self.github.url}/graphql",
            "GITHUB_SERVER_URL": self.github.url,
            "GITHUB_EVENT_NAME": event_name,
            "GITHUB_EVENT_PATH": str(event_file),
            "GITHUB_JOB": "lint",
            "GITHUB_REPOSITORY": "acme/sites",
            "GITHUB_WORKFLOW": "Site -- lint -->",
            "GITHUB_WORKSPACE": str(workspace),
            "RUNNER_ARCH": ARCHITECTURE,
            "RUNNER_OS": SYSTEM,
            "RUNNER_TEMP": str(self.temp),
        }
        if event_name.startswith("pull_request"):
            environment["GITHUB_BASE_REF"] = event["pull_request"]["base"]["ref"]
        return environment

    def run_action(self, workspace, event_name, event, answers=None, actor="somebody",
                   variables=None, **inputs):
        """Runs the action on an event; the workspace is the checkout."""
        environment = {**self.environment(workspace, event_name, event, actor),
                       **(variables or {})}
        given = {name.replace("_", "-"): text for name, text in inputs.items()}
        context = {"token": TOKEN}
        ran = run(self.action, given, workspace, context, environment, answers)
        self.assertNotIn(TOKEN, ran.log, "the token is in the log")
        self.assertNotIn(TOKEN, self.called.read_text(), "the token is in an argument")
        self.assertEqual([], [*self.folder.rglob("pwned")], "an input was run")
        self.assertFalse(self.leaked.exists(), "a program inherits the token")
        self.assertNotIn("pwned", ran.said("error"))
        for used in ran.used:
            self.assertRegex(used.action, r"^[\w/-]+@[0-9a-f]{40}$")
        return ran

    def run_script(self, name, workspace, event_name="push", event=None, **variables):
        """Runs one script; returns its exit code, its log and its outputs."""
        files = {it: self.folder / it for it in ("GITHUB_OUTPUT", "GITHUB_PATH")}
        for file in files.values():
            file.write_text("")
        done = subprocess.run(
            [BASH, str(self.action / "action" / name)],
            cwd=workspace,
            env={**self.environment(workspace, event_name, event or {}),
                 **{it: str(file) for it, file in files.items()}, **variables},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        self.assertEqual([], [*self.folder.rglob("pwned")], done.stdout)
        self.assertFalse(self.leaked.exists(), "a program inherits the token")
        outputs = pairs(files["GITHUB_OUTPUT"].read_text())
        return done.returncode, done.stdout, outputs

    def assert_steps(self, ran, **expected):
        """Checks the results of some steps, by the first word of their name."""
        found = {name.split()[0].lower(): outcome for name, outcome in ran.steps}
        self.assertEqual(expected, {name: found[name] for name in expected}, ran.log)

    def calls(self, program):
        """Returns the calls of a program."""
        return [
            line.removeprefix(f"{program} ")
            for line in self.called.read_text().splitlines()
            if line.startswith(f"{program} ")
        ]


class SitesCase(Case):
    """A job on a repository of sites."""

    def setUp(self):
        super().setUp()
        self.sites = Sites(self.folder / "server")
        self.start = self.sites.id("main")
        self.sites.push(heads__main="main")
        self.checkouts = 0

    def checkout(self, commit, **more):
        self.checkouts += 1
        return self.sites.checkout(self.folder / f"checkout {self.checkouts}", commit, **more)

    def pull_request(self, edit=Sites.upgrade, branch="topic", base="main", fork=False):
        """Creates a pull request; returns its event and GitHub's merge of it."""
        self.sites.branch("topic")
        edit(self.sites)
        self.sites.branch("main")
        self.sites.edit("global/charts/horizon.yaml", "---\n", "---\n# somebody else's\n")
        self.sites.commit("somebody else's")
        merge = self.sites.merge("topic")
        self.sites.push(heads__main="main", pull__7__merge=merge, pull__7__head="topic")
        owner = "stranger" if fork else "acme"
        event = {
            "action": "synchronize",
            "number": 7,
            "pull_request": {
                "number": 7,
                "title": HOSTILE,
                "head": {
                    "ref": branch,
                    "sha": self.sites.id("topic"),
                    "user": {"login": owner},
                    "repo": {"full_name": f"{owner}/sites", "fork": fork},
                },
                # the target branch when the request was opened
                "base": {"ref": base, "sha": self.start, "repo": {"full_name": "acme/sites"}},
            },
        }
        return event, merge

    def push_event(self, before, after):
        return {"ref": "refs/heads/main", "before": before, "after": after}

    def report(self, ran):
        return json.loads(Path(ran.outputs["report-json"]).read_text())


class Installing(Case):
    """Installation of the program: released, refused, built."""

    def install(self, cargo=None, answers=None, **inputs):
        workspace = self.folder / "workspace"
        workspace.mkdir(exist_ok=True)
        if cargo is not None:
            write_program(self.programs / "cargo", cargo)
        return self.run_action(
            workspace, "push", {}, answers=answers, install_only="true", **inputs
        )

    def test_release_with_its_checksum(self):
        ran = self.install()
        self.assertEqual(0, ran.code, ran.log)
        self.assertEqual(VERSION, ran.outputs["version"])
        [folder] = ran.path
        self.assertEqual(["layercake"], os.listdir(folder))
        self.assert_steps(ran, download="passed", restore="skipped", build="skipped",
                          lint="skipped", verdict="skipped", comment="skipped")
        self.assertEqual([], ran.used)

    def test_modified_release_is_refused(self):
        self.github.files[RELEASE] = archive("#!/bin/sh\ntouch pwned\n")
        ran = self.install(cargo="touch pwned\n")
        self.assertEqual(2, ran.code, ran.log)
        [message] = ran.said("error")
        self.assertIn("is not the released file", message)
        self.assert_steps(ran, download="failed", restore="skipped", build="skipped", put="skipped")
        self.assertEqual([], [*self.temp.rglob("*.tar.gz")])

    def test_missing_release_is_built_from_source(self):
        del self.github.files[RELEASE]
        ran = self.install(cargo=self.building())
        self.assertEqual(0, ran.code, ran.log)
        [notice] = ran.said("notice")
        self.assertIn("no release found at", notice)
        self.assertIn("building it from the action's checkout", notice)
        self.assertEqual(["build --release --locked --bin layercake"], self.calls("cargo"))
        look, keep = ran.used
        self.assertEqual("actions/cache/restore", look.action.split("@")[0])
        self.assertEqual("actions/cache/save", keep.action.split("@")[0])
        self.assertEqual(look.inputs, keep.inputs)
        self.assertRegex(look.inputs["key"], r"^layercake-\w+-\w+-[0-9a-f]{64}$")
        self.assertEqual([look.inputs["path"]], ran.path)
        self.assertEqual(VERSION, ran.outputs["version"])

        # the cache key is the sources
        key = look.inputs["key"]
        self.assertEqual(key, self.install(cargo=self.building()).used[0].inputs["key"])
        (self.action / "src/main.rs").write_text("fn main() {}")
        self.assertNotEqual(key, self.install(cargo=self.building()).used[0].inputs["key"])

    def test_cached_build_is_used(self):
        del self.github.files[RELEASE]
        first = self.install(cargo=self.building())
        write_program(Path(first.path[0]) / "git", "touch pwned\n")
        hit = {"cache": {"cache-hit": "true"}}
        ran = self.install(cargo="exit 1\n", answers=hit)
        self.assertEqual((0, first.path), (ran.code, ran.path), ran.log)
        self.assertEqual(["layercake"], os.listdir(first.path[0]))
        self.assert_steps(ran, restore="recorded", build="skipped", put="passed")

    def test_server_error(self):
        self.github.broken = True
        ran = self.install(cargo="touch pwned\n")
        self.assertEqual(2, ran.code, ran.log)
        self.assertIn("the server answered 500", ran.said("error")[0])
        self.assert_steps(ran, download="failed", build="skipped")

    def test_versions(self):
        ran = self.install(cargo=self.building(), version="source")
        self.assertEqual((0, 1), (ran.code, len(self.calls("cargo"))), ran.log)
        self.assertEqual([], [it for it in self.github.asked if ".tar.gz" in it[1]])
        self.assertEqual(0, self.install(version=VERSION).code)
        for version, message in [
            ("9.8.7", "this action has no checksum of layercake 9.8.7"),
            ("9.9.9", "no release found at"),
            ("latest", "`x.y.z` or `source`"),
            (HOSTILE, "`x.y.z` or `source`"),
            ("1.2.3\n::error::pwned", "`x.y.z` or `source`"),
        ]:
            ran = self.install(cargo="touch pwned\n", version=version)
            self.assertEqual(2, ran.code, ran.log)
            self.assertIn(message, ran.said("error")[0])

    def offer(self, content, checksum=None):
        """Releases a file on the server."""
        self.github.files[RELEASE] = content
        checksum = checksum or hashlib.sha256(content).hexdigest()
        (self.action / "action/releases.txt").write_text(
            f"{checksum}  {self.github.url}{RELEASE}\n")

    def test_files_that_were_not_released(self):
        page = b"<!DOCTYPE html><title>sign in</title>"
        for content in (b"", page, self.github.files[RELEASE][:-1]):
            self.offer(content, checksum="0" * 64)
            ran = self.install(cargo="touch pwned\n")
            self.assertEqual((2, []), (ran.code, ran.path), ran.log)
            self.assertIn("is not the released file", ran.said("error")[0])

    def test_archives_with_unexpected_content(self):
        trap = "#!/bin/sh\ntouch pwned\n"
        folder = ARCHIVE.removesuffix(".tar.gz")
        for content in (
            b"<!DOCTYPE html>",
            archive(self.program(), name="program"),
            archive(self.program(), name="../layercake"),
            archive("", link="/bin/true"),
            archive("\0" * (101 << 20)),
        ):
            self.offer(content)
            ran = self.install(cargo="touch pwned\n")
            self.assertEqual((2, []), (ran.code, ran.path), ran.log)
            self.assertIn(f"expected the program `{folder}/layercake`", ran.said("error")[0])
        # unexpected members are not unpacked
        others = {
            "../pwned": trap, "../../pwned": trap, f"{self.folder}/pwned": trap,
            f"{folder}/../../../pwned": trap, f"{folder}/git": trap,
            f"{folder}/layercake-git": trap, "jq": trap,
        }
        self.offer(archive(self.program(), others=others))
        ran = self.install()
        self.assertEqual(0, ran.code, ran.log)
        self.assertEqual([["layercake"]], [os.listdir(it) for it in ran.path])
        names = {Path(it).name for it in others}
        self.assertEqual([], [it for it in self.temp.rglob("*") if it.name in names])

    def test_endless_download(self):
        self.offer(b"")
        pieces = itertools.repeat(b"\0" * (1 << 20), 300)
        self.github.files[RELEASE] = pieces
        ran = self.install(cargo="touch pwned\n")
        self.assertEqual(2, ran.code, ran.log)
        self.assertIn("curl's error is above", ran.said("error")[0])
        self.assertGreater(len([*pieces]), 100, "more was read than the limit")
        [call] = self.calls("curl")
        self.assertRegex(call, r"--max-time \d+ --retry-max-time \d+")

    def test_invalid_checksum_lines(self):
        checksum, other = "0" * 64, RELEASE.replace(VERSION, "9.9.9")
        url = self.github.url
        for line in (
            f"# {checksum}  {url}{other}",
            f"#{checksum}  {url}{other}",
            f"{checksum[1:]}  {url}{other}",
            f"{checksum}0  {url}{other}",
            f"{'G' * 64}  {url}{other}",
            f"{checksum}  {url}{other} {url}{other}",
            f"{checksum}  {url}{other}?x",
            f"{checksum}  {url}{other}/",
            f"{checksum}  {url}{other.replace('/layercake-9', '/xlayercake-9')}",
            f"{checksum}  {url}{other.replace('9.9.9', '9x9x9')}",
            f"{checksum}  {url}{other.replace('v9.9.9', '19.9.9')}",
            f"{checksum}  {url}{other.replace('x86_64', '*').replace('aarch64', '*')}",
            f"{url}{other}",
        ):
            (self.action / "action/releases.txt").write_text(f"{line}\n")
            code, log, outputs = self.run_script(
                "download.sh", self.folder, INPUT_VERSION="9.9.9")
            self.assertEqual((2, {}, []), (code, outputs, self.github.asked), f"{line}\n{log}")
            self.assertIn("this action has no checksum of layercake 9.9.9", log)

    def test_preexisting_files_are_not_on_path(self):
        content = self.github.files.pop(RELEASE)
        built = self.install(cargo=self.building()).path[0]
        self.github.files[RELEASE] = content
        released = self.install().path[0]
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        for name in ("git", "layercake"):
            write_program(elsewhere / name, "touch pwned\n")
        for folder, version in ((released, ""), (built, "source")):
            shutil.rmtree(folder)
            os.symlink(elsewhere, folder)
            ran = self.install(cargo=self.building(), version=version)
            self.assertEqual((0, [folder]), (ran.code, ran.path), ran.log)
            self.assertEqual(["layercake"], os.listdir(folder))
            self.assertIn("pwned", (elsewhere / "layercake").read_text())

    def test_program_that_is_not_layercake(self):
        for said, code in [
            (f"layercake {VERSION}", 0),
            ("layercake 1.2.3-rc.1", 0),
            ("", 2),
            ("layercake", 2),
            ("git version 2.50.0", 2),
            ("layercake 1.2.3\n::error::pwned", 2),
            ("layercake 1.2.3 ##[error]pwned", 2),
            ("layercake 1.2.3$(touch pwned)", 2),
        ]:
            folder = self.folder / "program"
            folder.mkdir(exist_ok=True)
            write_program(folder / "layercake", f"cat <<'END'\n{said}\nEND\n")
            found, log, outputs = self.run_script("ready.sh", self.folder, FOLDER=str(folder))
            self.assertEqual(code, found, log)
            version = {} if code else {"version": said.removeprefix("layercake ")}
            self.assertEqual(version, outputs)
            paths = (self.folder / "GITHUB_PATH").read_text().splitlines()
            self.assertEqual([] if code else [str(folder)], paths)
            self.assertNotIn("pwned", [it.message for it in commands(log)])

    def test_build_next_to_a_hostile_checkout(self):
        """The action is checked out into the workspace, as from a private repository."""
        workspace = self.folder / "workspace"
        workspace.mkdir()
        (workspace / "rust-toolchain.toml").write_text('[toolchain]\npath = "pwned"\n')
        self.action = Path(shutil.move(self.action, workspace / "action"))
        write_program(self.programs / "rustc", self.settings_above() + "echo rustc 1.2.3\n")
        ran = self.install(cargo=self.building(), version="source")
        self.assertEqual((0, 1), (ran.code, len(self.calls("cargo"))), ran.log)
        self.assertEqual(VERSION, ran.outputs["version"])

    def test_build_without_rust(self):
        del self.github.files[RELEASE]
        without = [
            folder
            for folder in os.environ["PATH"].split(os.pathsep)
            if not (Path(folder) / "cargo").exists()
        ]
        path, os.environ["PATH"] = os.environ["PATH"], os.pathsep.join(without)
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        ran = self.install()
        self.assertEqual(2, ran.code, ran.log)
        self.assertIn("install Rust", ran.said("error")[0])


class Releasing(Case):
    """The output of the release workflow is the input of the action."""

    def setUp(self):
        super().setUp()
        workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
        matrix = workflow["jobs"]["build"]["strategy"]["matrix"]
        self.targets = {it["target"] for it in matrix["include"]} | {TARGET}
        jobs = workflow["jobs"].values()
        self.scripts = {
            step["name"]: step["run"] for job in jobs for step in job["steps"] if "name" in step
            and "run" in step
        }
        self.origin = self.folder / "origin.git"
        self.clone = self.folder / "clone"
        self.origin.mkdir()
        git(self.origin, "init", "--quiet", "--bare", "--initial-branch=main")
        shutil.copytree(self.action, self.clone)
        (self.clone / "docs/changelog.md").write_text(
            f"# Changelog\n\n## Unreleased\n\n- later\n\n## {VERSION} - today\n\n- new\n\n"
            "## 0.0.1\n\n- old\n")
        for name in ("README.md", "LICENSE"):
            shutil.copy(ROOT / name, self.clone)
        shutil.copytree(ROOT / "packaging", self.clone / "packaging")
        shutil.copy(ROOT / "action/releases.txt", self.clone / "action")
        git(self.clone, "init", "--quiet", "--initial-branch=main")
        git(self.clone, "remote", "add", "origin", self.origin.as_uri())
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "--quiet", "-m", "what is released")
        git(self.clone, "push", "--quiet", "origin", "main")

    def step(self, name, **variables):
        """Runs the script of a step of the workflow."""
        output = self.folder / "output"
        output.touch()
        environment = {
            "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REPOSITORY": "acme/layercake",
            "GITHUB_SERVER_URL": self.github.url,
            "RUNNER_OS": SYSTEM,
            "TARGET": TARGET,
            "VERSION": VERSION,
            **variables,
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.scripts[name]],
            cwd=self.clone, env=environment, capture_output=True, text=True)
        return done, output.read_text()

    def test_from_the_build_to_the_action(self):
        done, output = self.step(
            "Check version and changelog")
        self.assertEqual((0, f"version={VERSION}\n"), (done.returncode, output), done)
        built = self.folder / "layercake"
        write_program(built, self.program())
        for target in self.targets:
            subprocess.run([sys.executable, "packaging/archive.py", "dist", target, built],
                           cwd=self.clone, check=True, capture_output=True)
        wheel = f"layercake_lint-{VERSION}-py3-none-manylinux2014_x86_64.whl"
        with zipfile.ZipFile(self.clone / "dist" / wheel, "w") as packed:
            packed.writestr("a.dist-info/sboms/layercake.cyclonedx.json", "{}")
        done, _ = self.step("SBOM, other package managers, checksums")
        self.assertEqual(0, done.returncode, done)
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"],
                       cwd=self.clone / "dist", check=True)
        write_program(self.programs / "gh", f"echo \"gh $*\" >>'{self.called}'\n")
        done, _ = self.step("Tag and release")
        self.assertEqual(0, done.returncode, done)

        tag = f"v{VERSION}"
        self.assertEqual("action/releases.txt", git(
            self.origin, "diff", "--name-only", "main", tag))
        major = f"v{VERSION.split('.')[0]}"
        self.assertEqual(git(self.origin, "rev-parse", tag), git(self.origin, "rev-parse", major))
        [create] = [call for call in self.calls("gh") if call.startswith("release create")]
        self.assertIn(f"release create {tag} --verify-tag", create)
        for name in (ARCHIVE, "SHA256SUMS", wheel, f"layercake-{VERSION}.cdx.json", "layercake.rb"):
            self.assertIn(f"dist/{name}", create)
        self.assertEqual("- new", (self.clone / "notes.md").read_text().strip())

        # the action of that tag installs that archive
        git(self.clone, "checkout", "--quiet", tag)
        shutil.copy(self.clone / "action/releases.txt", self.action / "action")
        self.github.files = {RELEASE: (self.clone / "dist" / ARCHIVE).read_bytes()}
        ran = self.run_action(self.clone, "push", {}, install_only="true")
        self.assertEqual((0, VERSION), (ran.code, ran.outputs["version"]), ran.log)
        self.assertEqual([], ran.used)

        # a second release is refused
        done, _ = self.step(
            "Check version and changelog")
        self.assertEqual(1, done.returncode, done)
        self.assertIn("is released already", done.stdout)


class Dogfood(Case):
    """The checks of the workflow on GitHub's own runners, run here."""

    def test_the_example(self):
        workflow = yaml.safe_load((ROOT / ".github/workflows/dogfood.yml").read_text())
        steps = {step.get("name"): step for step in workflow["jobs"]["action"]["steps"]}
        workspace = self.folder / "workspace"
        workspace.mkdir()
        subprocess.run([ROOT / ".github/example.sh", "example"], cwd=workspace, check=True,
                       capture_output=True)
        write_program(self.programs / "cargo", self.building())
        given = {name.replace("-", "_"): shown(it) for name, it in steps["Lint"]["with"].items()}
        ran = self.run_action(workspace, "push", {}, **given)
        self.assertEqual(0, ran.code, ran.log)
        check = steps["Check the results"]
        context = {"steps": {"layercake": ran.outputs}}
        variables = {name: substituted(text, context) for name, text in check["env"].items()}
        variables["PATH"] = f"{ran.path[0]}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(["bash", "-eo", "pipefail", "-c", check["run"]], cwd=workspace,
                       env=variables, check=True, capture_output=True)


class Events(SitesCase):
    """Compared sides of every event, with the shallowest possible checkout."""

    def sides(self, ran):
        """Returns the sides and how they were chosen."""
        comparison = self.report(ran)["comparison"]
        if comparison is None:
            return None
        return comparison["chosen_by"], comparison["base"]["commit"], comparison["head"]["commit"]

    def test_pull_request(self):
        event, merge = self.pull_request()
        main = self.sites.id("main")
        for depth in (1, 2, None):
            workspace = self.checkout(merge, depth=depth)
            ran = self.run_action(workspace, "pull_request", event)
            self.assertEqual(0, ran.code, ran.log)
            self.assertEqual(("github-merge-first-parent", main, merge), self.sides(ran))
            self.assertEqual((main, merge), (ran.outputs["base-sha"], ran.outputs["head-sha"]))
            shallow = git(workspace, "rev-parse", "--is-shallow-repository")
            self.assertEqual("true" if depth else "false", shallow)

    def test_pull_request_whose_own_commit_is_checked_out(self):
        self.sites.branch("topic")
        self.sites.grow(70)
        topic = self.sites.upgrade()
        self.sites.branch("main")
        self.sites.grow(100)
        self.sites.push(heads__main="main", pull__7__head=topic)
        event = {"pull_request": {
            "number": 7,
            "head": {"sha": topic, "repo": {"full_name": "acme/sites"}},
            "base": {"ref": "main", "sha": self.start},
        }}
        for depth in (1, None):
            workspace = self.checkout(topic, depth=depth)
            ran = self.run_action(workspace, "pull_request", event)
            self.assertEqual(0, ran.code, ran.log)
            expected = ("github-pull-request-merge-base", self.start, topic)
            self.assertEqual(expected, self.sides(ran))

    def test_history_over_the_fetch_limit(self):
        self.sites.branch("topic")
        topic = self.sites.upgrade()
        self.sites.branch("main")
        self.sites.grow(5000)
        self.sites.push(heads__main="main", pull__7__head=topic)
        event = {"pull_request": {
            "number": 7,
            "head": {"sha": topic, "repo": {"full_name": "acme/sites"}},
            "base": {"ref": "main", "sha": self.start},
        }}
        ran = self.run_action(self.checkout(topic), "pull_request", event)
        self.assertEqual(2, ran.code, ran.log)
        [warning] = ran.said("warning")
        self.assertIn("`fetch-depth: 0`", warning)
        self.assertIn("git fetch --unshallow", ran.said("error")[0])

    def test_push(self):
        after = self.sites.upgrade()
        self.sites.push(heads__main=after)
        event = self.push_event(self.start, after)
        for depth in (1, None):
            ran = self.run_action(self.checkout(after, depth=depth), "push", event)
            self.assertEqual(("github-push", self.start, after), self.sides(ran), ran.log)

    def test_first_push_of_a_branch(self):
        self.sites.comment()
        after = self.sites.upgrade()
        parent = self.sites.id("HEAD^")
        self.sites.push(heads__topic=after)
        event = self.push_event(NULL, after)
        ran = self.run_action(self.checkout(after), "push", event)
        self.assertEqual(("github-push-first-parent", parent, after), self.sides(ran), ran.log)

        # the first push of a repository has nothing to compare with
        ran = self.run_action(self.checkout(self.start), "push", self.push_event(NULL, self.start))
        self.assertEqual((1, None), (ran.code, self.sides(ran)), ran.log)
        self.assertEqual("false", ran.outputs["changed"])

    def test_force_push(self):
        self.sites.branch("old")
        before = self.sites.upgrade()
        self.sites.branch("new")
        after = self.sites.misspell()
        self.sites.push(heads__topic=before)
        self.sites.push(heads__topic=after)
        event = self.push_event(before, after)
        # the server still has commits that no branch contains
        ran = self.run_action(self.checkout(after), "push", event)
        self.assertEqual(("github-push", before, after), self.sides(ran), ran.log)

        self.sites.forget()
        ran = self.run_action(self.checkout(after), "push", event)
        self.assertEqual((self.start, after), self.sides(ran)[1:], ran.log)
        self.assertIn(f"the server no longer has {before}", " ".join(ran.said("notice")))
        ran = self.run_action(self.checkout(after, depth=None), "push", event)
        self.assertEqual((self.start, after), self.sides(ran)[1:], ran.log)

    def test_merge_group(self):
        event, merge = self.pull_request()
        main = self.sites.id("main")
        event = {"merge_group": {"base_sha": main, "head_sha": merge}}
        ran = self.run_action(self.checkout(merge), "merge_group", event)
        self.assertEqual(("github-merge-group", main, merge), self.sides(ran), ran.log)

    def test_schedule(self):
        ran = self.run_action(self.checkout(self.start), "schedule", {})
        self.assertEqual((1, None), (ran.code, self.sides(ran)), ran.log)
        self.assertEqual("", ran.outputs["base-sha"])
        self.assertEqual(self.start, ran.outputs["head-sha"])
        self.assertEqual("error", ran.outputs["worst-severity"])

    def test_full_checkouts_stay_full(self):
        event, merge = self.pull_request()
        self.run_action(self.checkout(merge, depth=None), "pull_request", event, base="main")
        self.run_action(self.checkout(merge, depth=None), "merge_group", {"merge_group": {
            "base_sha": self.sites.id("main"), "head_sha": merge}})
        # commits that no branch of the checkout contains must be fetched
        self.sites.branch("old", self.start)
        before = self.sites.misspell()
        self.sites.push(heads__topic=before)
        self.sites.push(heads__topic=merge)
        workspace = self.checkout(merge, depth=None)
        ran = self.run_action(workspace, "push", self.push_event(before, merge))
        self.assertEqual(("github-push", before, merge), self.sides(ran), ran.log)
        self.assertEqual("false", git(workspace, "rev-parse", "--is-shallow-repository"))
        fetches = [call for call in self.calls("git") if " fetch " in call]
        self.assertTrue(fetches)
        self.assertEqual([], [call for call in fetches if "--depth" in call or "--deepen" in call])

    def test_explicit_bases(self):
        self.sites.branch("topic")
        self.sites.grow(50)
        topic = self.sites.upgrade()
        git(self.sites.work, "tag", "v1", self.start)
        self.sites.push(tags__v1=self.start, heads__topic=topic)
        for base in ("main", "origin/main", "v1", self.start):
            workspace = self.checkout(topic)
            ran = self.run_action(workspace, "workflow_dispatch", {}, base=base)
            self.assertEqual(0, ran.code, f"{base}\n{ran.log}")
            self.assertEqual(("since", self.start), self.sides(ran)[:2], base)
        for base in ("nowhere", HOSTILE, "-x", "--upload-pack=touch pwned", "a\n::error::pwned"):
            ran = self.run_action(self.checkout(topic), "workflow_dispatch", {}, base=base)
            self.assertEqual(2, ran.code, f"{base}\n{ran.log}")
            self.assertEqual(1, len(ran.said("error")), ran.log)

    def test_private_repository_without_kept_credentials(self):
        event, merge = self.pull_request()
        git(self.sites.bare, "config", "http.receivepack", "false")
        self.github.repositories = self.sites.bare.parents[1]
        url = f"{self.github.url}/acme/sites.git"
        ran = self.run_action(self.checkout(merge, url=url), "pull_request", event)
        self.assertEqual(0, ran.code, ran.log)
        self.assertEqual(self.sites.id("main"), ran.outputs["base-sha"])
        secret = subprocess.run(["base64"], input=f"x-access-token:{TOKEN}".encode(),
                                capture_output=True, check=True).stdout.decode()
        self.assertNotIn(secret[:40], ran.log + self.called.read_text())


class Reporting(SitesCase):
    """The log, annotations, summary, outputs, artifact, SARIF, exit codes."""

    def test_change_that_reaches_several_sites(self):
        event, merge = self.pull_request()
        ran = self.run_action(self.checkout(merge), "pull_request", event)
        outputs = ran.outputs
        self.assertEqual(0, ran.code, ran.log)
        self.assertEqual("true", outputs["changed"])
        self.assertEqual(["lab", "north", "south"], json.loads(outputs["sites"]))
        self.assertEqual(("3", "5"), (outputs["sites-changed"], outputs["outputs-changed"]))
        self.assertEqual(("0", "0"), (outputs["findings-new"], outputs["findings-fixed"]))
        self.assertEqual(("none", "true"), (outputs["worst-severity"], outputs["trusted"]))
        self.assertEqual("", outputs["sarif-file"])
        [artifact] = ran.used
        self.assertEqual("actions/upload-artifact", artifact.action.split("@")[0])
        self.assertEqual("30", artifact.inputs["retention-days"])
        self.assertEqual("layercake-report", artifact.inputs["name"])
        paths = artifact.inputs["path"].splitlines()
        self.assertEqual([outputs[f"report-{it}"] for it in ("json", "md", "html")], paths)
        self.assertTrue(all(Path(path).stat().st_size > 0 for path in paths))
        self.assertIn("keystone:2025.2", ran.summary)
        self.assertEqual(Path(outputs["report-md"]).read_text(), ran.summary)
        self.assertTrue(Path(outputs["report-html"]).read_text().startswith("<!"))

    def test_new_findings_fail_the_job(self):
        event, merge = self.pull_request(Sites.misspell)
        workspace = self.checkout(merge)
        ran = self.run_action(workspace, "pull_request", event)
        self.assertEqual(1, ran.code, ran.log)
        self.assert_steps(ran, lint="passed", upload="recorded", verdict="failed")
        self.assertEqual("error", ran.outputs["worst-severity"])
        new = int(ran.outputs["findings-new"])
        self.assertGreater(new, 0)
        [placed] = ran.annotations("error")
        self.assertEqual(KEYSTONE, placed.properties["file"])
        self.assertEqual("12", placed.properties["line"])
        self.assertIn("missing-parent", ran.summary)
        for level in ("warning", "note"):
            self.assertEqual(1, self.run_action(
                workspace, "pull_request", event, fail_on=level).code)
        quiet = self.run_action(workspace, "pull_request", event, fail_on="never",
                                annotations="false", job_summary="false", artifact="false")
        self.assertEqual((0, "", []), (quiet.code, quiet.summary, quiet.used), quiet.log)
        self.assertEqual([], quiet.commands_at_places())
        self.assertEqual(str(new), quiet.outputs["findings-new"])

    def test_commands_are_within_the_limits_of_a_step(self):
        ran = self.run_action(self.checkout(self.start), "schedule", {})
        for kind in ("error", "warning", "notice"):
            shown = len(ran.said(kind)) + len(ran.annotations(kind))
            self.assertLessEqual(shown, 10, ran.log)
        self.assertEqual(3, len(ran.annotations("error")), ran.log)

    def test_program_output_is_not_treated_as_commands(self):
        event, merge = self.pull_request(Sites.misspell)
        ran = self.run_action(self.checkout(merge), "pull_request", event)
        inside = re.search(r"^::stop-commands::(\w{32})\n(.*?)^::\1::$", ran.log, re.M | re.S)
        self.assertIn("error[missing-parent]", inside.group(2))
        again = self.run_action(self.checkout(merge), "pull_request", event)
        self.assertNotIn(inside.group(1), again.log, "the word can be known before")

    def test_gates(self):
        event, merge = self.pull_request()
        workspace = self.checkout(merge)
        for inputs, code in [
            ({"expect_unchanged": "true"}, 1),
            ({"expect_unchanged": "west\nlab"}, 1),
            ({"expect_unchanged": "west\n\n"}, 0),
            ({"args": "--max-sites=2"}, 1),
            ({"args": "--max-sites=3\n"}, 0),
            ({"all_findings": "true"}, 1),
            ({"all_findings": "true", "sites": "north\nsouth", "args": "--ignore=unmatched-pattern"},
             1),
        ]:
            ran = self.run_action(workspace, "pull_request", event, **inputs)
            self.assertEqual(code, ran.code, f"{inputs}\n{ran.log}")

    def test_arguments_are_lines(self):
        event, merge = self.pull_request()
        ran = self.run_action(
            self.checkout(merge), "pull_request", event,
            args="--limit\n3\n\n--list-key=a b\r\n  --site=x",
            sites="no*\n$(touch pwned)",
        )
        given = [line.removeprefix("layercake: ") for line in self.called.read_text().splitlines()]
        self.assertIn("--list-key=a b", given)
        self.assertIn("--site=$(touch pwned)", given)
        self.assertIn("  --site=x", given, "no line is cut or trimmed")
        self.assertEqual("3", given[given.index("--limit") + 1])
        # an argument with leading spaces is a file
        self.assertEqual(2, ran.code, ran.log)

    def test_repositories_are_lines(self):
        self.divide()
        event, merge = self.pull_request()
        workspace = self.checkout(merge)
        missing = self.run_action(workspace, "pull_request", event, all_findings="true")
        self.assertEqual(1, missing.code, missing.log)
        self.assertIn("missing-repository", missing.log)
        shutil.copytree(self.base, workspace / "a clone")
        for given in ("base=a clone", "\r\nbase=a clone\r\n", f"base={self.base}",
                      f"base={self.base}@main", "base=site/../a clone"):
            ran = self.run_action(workspace, "pull_request", event, all_findings="true",
                                  repositories=given)
            self.assertNotIn("missing-repository", ran.log, given)
            self.assertEqual("true", ran.outputs["changed"], ran.log)
        # the path is relative to the folder `path`
        ran = self.run_action(workspace, "pull_request", event, path="site",
                              repositories="base=../a clone")
        self.assertNotIn("missing-repository", ran.log)

    def divide(self):
        """Moves part of the sites into a further repository, which is cloned next to them."""
        self.base = self.folder / "a clone of base"
        self.base.mkdir()
        git(self.base, "init", "--quiet", "--initial-branch=main")
        (self.base / "global/charts").mkdir(parents=True)
        chart = "global/charts/keystone.yaml"
        shutil.move(self.sites.work / chart, self.base / chart)
        git(self.base, "add", "--all")
        git(self.base, "commit", "--quiet", "-m", "base")
        for definition in self.sites.work.glob("site/*/site-definition.yaml"):
            with definition.open("a") as file:
                file.write("  repositories: {base: {url: https://x.invalid, revision: main}}\n")
        self.start = self.sites.commit("divided")
        self.sites.push(heads__main="main")

    def test_invalid_inputs_are_errors(self):
        event, merge = self.pull_request()
        for inputs, message in [
            ({"args": "--no-such-flag"}, "--no-such-flag"),
            ({"config": "nowhere.yaml"}, "nowhere.yaml"),
            ({"repositories": "base"}, "NAME=PATH"),
            ({"repositories": "base=nowhere"}, "nowhere"),
            ({"repositories": HOSTILE}, "touch pwned"),
            ({"repositories": f"base={HOSTILE}\n::error::pwned"}, "touch pwned"),
            ({"path": "nowhere"}, "nowhere"),
            ({"fail_on": "sometimes"}, "sometimes"),
            ({"annotations": "yes"}, "expected `true` or `false` for the input `annotations`, found `yes`"),
            ({"upload_sarif": HOSTILE}, f"found `{HOSTILE}`"),
            ({"path": HOSTILE}, "touch pwned"),
            ({"config": HOSTILE}, "touch pwned"),
            ({"fail_on": HOSTILE}, "touch pwned"),
            ({"args": HOSTILE + "\n::error::pwned"}, "touch pwned"),
        ]:
            ran = self.run_action(self.checkout(merge), "pull_request", event, **inputs)
            self.assertEqual(2, ran.code, f"{inputs}\n{ran.log}")
            [error] = ran.said("error")
            self.assertIn(message, error)
            self.assert_steps(ran, lint="failed", comment="skipped", verdict="skipped")

    def test_configuration_of_the_base(self):
        (self.sites.work / "layercake.yaml").write_text(
            "rules:\n  levels: {missing-parent: error}\n")
        self.start = self.sites.commit("a configuration")

        def weaken(sites):
            sites.edit("layercake.yaml", "missing-parent: error", "missing-parent: off")
            sites.misspell()

        event, merge = self.pull_request(weaken)
        workspace = self.checkout(merge)
        self.assertEqual(0, self.run_action(workspace, "pull_request", event).code)
        ran = self.run_action(workspace, "pull_request", event, config_from_base="true")
        self.assertEqual(1, ran.code, ran.log)

    def results(self, ran):
        sarif = json.loads(Path(ran.outputs["sarif-file"]).read_text())
        self.assertEqual("2.1.0", sarif["version"])
        return [result["ruleId"] for run in sarif["runs"] for result in run["results"]]

    def test_code_scanning(self):
        event, merge = self.pull_request(Sites.misspell)
        ran = self.run_action(self.checkout(merge), "pull_request", event, upload_sarif="true")
        new = self.results(ran)
        self.assertIn("missing-parent", new)
        self.assertNotIn("unmatched-pattern", new, "an old finding")
        [upload] = [used for used in ran.used if "upload-sarif" in used.action]
        self.assertEqual(ran.outputs["sarif-file"], upload.inputs["sarif_file"])

        # a saved report without old findings would close their alerts
        workspace = self.checkout(merge)
        saved = shutil.copy(ran.outputs["report-json"], workspace)
        refused = self.run_action(workspace, "workflow_run", {"workflow_run": {}},
                                  report=str(saved), sarif="true")
        self.assertEqual(2, refused.code, refused.log)
        [error] = refused.said("error")
        self.assertIn("was saved without its", error)

        # a push uploads all findings of the branch, otherwise alerts would be closed
        self.sites.branch("main", merge)
        push = self.push_event(self.start, merge)
        ran = self.run_action(self.checkout(merge), "push", push, sarif="true")
        pushed = self.results(ran)
        self.assertIn("unmatched-pattern", pushed)
        self.assertIn("missing-parent", pushed)
        self.assertEqual([], [used for used in ran.used if "upload-sarif" in used.action])
        ran = self.run_action(self.checkout(self.start), "schedule", {}, sarif="true")
        self.assertIn("unmatched-pattern", self.results(ran))

    def test_forks_and_dependabot(self):
        event, merge = self.pull_request(Sites.misspell, fork=True, branch=HOSTILE, base="main")
        self.github.may_write = False
        workspace = self.checkout(merge)
        ran = self.run_action(
            workspace, "pull_request", event, comment="true", upload_sarif="true")
        self.assertEqual(1, ran.code, ran.log)
        self.assertEqual("false", ran.outputs["trusted"])
        self.assertIn("missing-parent", ran.summary)
        self.assertIn("no findings are sent to code scanning", " ".join(ran.said("notice")))
        self.assertIn("`pull-requests: write`", " ".join(ran.said("notice")))
        self.assertEqual(["actions/upload-artifact"], [it.action.split("@")[0] for it in ran.used])
        self.assertEqual({}, {key: it for key, it in self.github.comments.items() if it})
        event["pull_request"]["head"]["repo"] = None  # the fork is gone
        ran = self.run_action(workspace, "pull_request", event)
        self.assertEqual("false", ran.outputs["trusted"])
        event, merge = self.pull_request(Sites.comment)
        ran = self.run_action(self.checkout(merge), "pull_request", event, actor="dependabot[bot]")
        self.assertEqual("false", ran.outputs["trusted"])

    def test_site_names_cannot_break_outputs(self):
        self.sites.branch("main")
        name = 'x"$(touch pwned)%0A`::error::pwned'
        shutil.copytree(self.sites.work / "site/north", self.sites.work / "site" / name)
        definition = self.sites.work / "site" / name / "site-definition.yaml"
        definition.write_text(definition.read_text().replace("name: north", f"name: '{name}'"))
        self.sites.commit("a name")
        self.start = self.sites.id("main")
        event, merge = self.pull_request()
        ran = self.run_action(self.checkout(merge), "pull_request", event, comment="true")
        self.assertEqual(0, ran.code, ran.log)
        self.assertIn(name, json.loads(ran.outputs["sites"]))
        self.assertEqual("true", ran.outputs["changed"])


class ScriptOutput(Case):
    """Text that the scripts print and set, for any input."""

    TEXTS = ("", "a", "%", "%0A", "a\nb", "a\r\nb", "::error::pwned", " ::error::pwned",
             "a\n::error::pwned", "a\r::error::pwned", "##[error]pwned", "a ##[error]pwned",
             "###[error]pwned", "####[[error]##[error]pwned", "a\n##[add-mask]a", HOSTILE, "-n",
             "--", "\\n::error::pwned", "%s", "$(touch pwned)", "name=pwned", "a\nname<<b\nc\nb",
             "&", "*")

    def call(self, function, *arguments):
        """Returns the output of a function of `commands.sh`, and the outputs that it sets."""
        outputs = self.folder / "outputs"
        outputs.write_text("")
        done = subprocess.run(
            [BASH, "-euo", "pipefail", "-c", '. "$0"; "$@"',
             str(self.action / "action/commands.sh"), function, *arguments],
            cwd=self.folder, env={"PATH": os.environ["PATH"], "GITHUB_OUTPUT": str(outputs)},
            stdout=subprocess.PIPE)
        self.assertEqual([], [*self.folder.rglob("pwned")])
        self.assertEqual(2 if function == "fail" else 0, done.returncode)
        return done.stdout.decode(), pairs(outputs.read_bytes().decode())

    def test_folders_of_the_workspace_are_removed_from_path(self):
        workspace = self.folder / "workspace"
        (workspace / "bin").mkdir(parents=True)
        for name, empty in (("PATH", "/usr/bin:/bin"), ("LD_LIBRARY_PATH", "")):
            for given, left in [
                ("/usr/bin:/usr/lib", "/usr/bin:/usr/lib"),
                (":/usr/lib", "/usr/lib"),
                ("/usr/lib:", "/usr/lib"),
                (".:bin:./bin:../bin::/usr/lib:..", "/usr/lib"),
                (f"{workspace}:{workspace}/bin/:/usr/lib", "/usr/lib"),
                (f"{self.temp}:{self.folder}", f"{self.temp}:{self.folder}"),
                (f"{workspace}/bin", empty),
                (":", empty),
            ]:
                done = subprocess.run(
                    [BASH, "-euo", "pipefail", "-c", '. "$0"; printf %s "${!1}"',
                     str(self.action / "action/commands.sh"), name],
                    cwd=workspace, env={"GITHUB_WORKSPACE": str(workspace), name: given},
                    stdout=subprocess.PIPE, check=True, text=True)
                self.assertEqual(left, done.stdout, (name, given))

    def test_message_is_one_command_with_the_text(self):
        kinds = {"notice": "notice", "warning": "warning", "error": "error", "fail": "error"}
        for (function, kind), text in itertools.product(kinds.items(), self.TEXTS):
            log, _ = self.call(function, text)
            found = [(it.kind, it.message) for it in commands(log)]
            self.assertEqual([(kind, text)], found, log)

    def test_log_line_is_not_a_command(self):
        for text in self.TEXTS:
            log, _ = self.call("log", text)
            self.assertEqual(([], 1), (commands(log), len(log.splitlines())), log)

    def test_shown_file_has_no_command(self):
        for text in self.TEXTS:
            (self.folder / "shown").write_text(text)
            log, _ = self.call("show", "shown")
            self.assertEqual([], commands(log), log)
            self.assertIn(text, log)

    def test_output_has_the_text_and_adds_no_other(self):
        for text in self.TEXTS:
            _, outputs = self.call("output", "name", text)
            self.assertEqual({"name": text}, outputs)

    def test_verdict_is_0_1_or_2(self):
        for code, expected in [
            ("0", 0), ("1", 1), ("2", 2), ("101", 2), ("141", 2), ("256", 2), ("-256", 2),
            ("", 2), ("00", 2), ("0\n", 2), (" 0", 2), ("0 1", 2), ("*", 2), ("[0]", 2),
            ("a[$(touch pwned)]", 2), (HOSTILE, 2),
        ]:
            for fail_on in ("error", HOSTILE, "x\n::error::pwned\n##[error]pwned"):
                found, log, _ = self.run_script(
                    "decide.sh", self.folder, EXIT_CODE=code, INPUT_FAIL_ON=fail_on)
                self.assertEqual((expected, []), (found, commands(log)), (code, log))


class Commenting(SitesCase):
    """The comment on a pull request."""

    MARKER = "<!-- layercake:Site-lint-/lint -->"

    def comment(self, edit=Sites.upgrade, **inputs):
        event, merge = self.pull_request(edit)
        ran = self.run_action(
            self.checkout(merge), "pull_request", event, comment="true", fail_on="never", **inputs)
        self.assertEqual(0, ran.code, ran.log)
        return ran

    def comments(self, number=7):
        return [it["body"] for it in self.github.comments.get(number, [])]

    def test_comment_is_created_and_updated(self):
        self.comment()
        [body] = self.comments()
        self.assertEqual(self.MARKER, body.splitlines()[0])
        self.assertIn("keystone:2025.2", body)
        self.assertLessEqual(len(body), 65536)
        self.comment(Sites.misspell)
        [body] = self.comments()
        self.assertEqual(self.MARKER, body.splitlines()[0])
        self.assertIn("missing-parent", body)
        # also if there is nothing to report any more
        self.start = self.sites.id("main")
        self.comment(Sites.comment)
        [body] = self.comments()
        self.assertNotIn("missing-parent", body)

    def test_no_comment_without_changes(self):
        for when in ("changed", "findings"):
            self.comment(Sites.comment, comment_when=when)
            self.assertEqual([], self.comments())
        self.comment(Sites.upgrade, comment_when="findings")
        self.assertEqual([], self.comments())
        self.comment(Sites.misspell, comment_when="findings")
        self.assertEqual(1, len(self.comments()))

    def test_always(self):
        self.comment(Sites.comment, comment_when="always")
        self.assertEqual(1, len(self.comments()))

    def test_comments_of_others_are_not_changed(self):
        others = [
            ("mallory", "User", f"{self.MARKER}\nmine"),
            ("github-actions", "User", f"{self.MARKER}\nmine too"),
            ("other[bot]", "Bot", f"{self.MARKER}\na bot's"),
            ("github-actions[bot]", "Bot", f"quoting {self.MARKER}"),
            ("github-actions[bot]", "Bot", "<!-- layercake:other -->\nof another job"),
            ("github-actions[bot]", "Bot", ""),
        ]
        for login, kind, body in others:
            self.github.add_comment(7, login, kind, body)
        for number in range(230):
            self.github.add_comment(7, "somebody", "User", f"comment {number}")
        ours = self.github.add_comment(7, self.github.login, "Bot", f"{self.MARKER}\r\nold")
        before = self.comments()
        self.comment()
        self.assertEqual(before[:-1], self.comments()[:-1])
        self.assertIn("keystone:2025.2", ours["body"])
        pages = [path for method, path in self.github.asked if "/comments?" in path]
        self.assertEqual(3, len(pages))
        self.assertTrue(all("per_page=100" in page for page in pages))

    def test_full_pages_are_followed_by_another(self):
        for number in range(100):
            self.github.add_comment(7, "somebody", "User", f"comment {number}")
        self.comment()
        self.comment()
        self.assertEqual(101, len(self.comments()))

    def test_tokens_of_apps_and_people(self):
        for login, author in [("a-person", "User"), ("some-app[bot]", "Bot")]:
            self.github.comments.clear()
            self.github.login = login
            self.github.add_comment(7, login, author, f"{self.MARKER}\nold")
            self.comment()
            self.assertEqual(1, len(self.comments()), login)

    def test_ids(self):
        self.comment(comment_id="one")
        self.comment(comment_id="other")
        self.comment(comment_id=HOSTILE + "\n--><script>")
        self.comment(comment_id=HOSTILE + "\n--><script>")
        self.assertEqual(3, len(self.comments()))
        first = [body.splitlines()[0] for body in self.comments()]
        self.assertEqual("<!-- layercake:one -->", first[0])
        for marker in first:
            self.assertRegex(marker, r"^<!-- layercake:[A-Za-z0-9._/-]+ -->$")
            self.assertNotIn("--", marker[4:-3])

    def test_tokens_without_permission(self):
        self.github.may_write = False
        ran = self.comment()
        self.assertEqual([], self.comments())
        self.assertIn("403", ran.said("notice")[0])
        self.assertIn("`pull-requests: write`", ran.said("notice")[0])
        self.github.may_read = False
        self.assertIn("404", self.comment().said("notice")[0])
        self.github.token = "another"
        ran = self.comment()
        self.assertIn("401", ran.said("warning")[0])
        ran = self.comment(token="")
        self.assertIn("`token` is empty", ran.said("notice")[0])

    def test_other_events_have_nothing_to_comment_on(self):
        after = self.sites.upgrade()
        self.sites.push(heads__main=after)
        ran = self.run_action(
            self.checkout(after), "push", self.push_event(self.start, after), comment="true")
        self.assertEqual(0, ran.code, ran.log)
        self.assertIn("there is no pull request", ran.said("notice")[0])

    def test_counts_are_not_evaluated(self):
        for when, name, count in itertools.product(
                ("changed", "findings"), ("FINDINGS_NEW", "FINDINGS_FIXED", "CHANGED"),
                (f"a[$(touch '{self.folder}/pwned')]", "pwned", HOSTILE)):
            counts = {"FINDINGS_NEW": "0", "FINDINGS_FIXED": "0", "CHANGED": "false", name: count}
            code, log, _ = self.run_script(
                "comment.sh", self.folder, INPUT_COMMENT_ID="", INPUT_COMMENT_WHEN=when,
                INPUT_TOKEN=TOKEN, COMMENT_FILE="none", **counts)
            self.assertEqual((0, {}), (code, self.github.comments), log)

    def test_symlinks_at_output_paths_are_not_followed(self):
        victim = self.folder / "victim"
        victim.write_text("as it was")
        for name in ("answer", "request"):
            os.symlink(victim, self.temp / f"layercake-{name}.json")
        self.comment()
        self.assertEqual((1, "as it was"), (len(self.comments()), victim.read_text()))

    def test_when_it_is_misspelled(self):
        event, merge = self.pull_request()
        ran = self.run_action(self.checkout(merge), "pull_request", event, comment="true",
                              comment_when=HOSTILE)
        self.assertEqual(2, ran.code, ran.log)
        self.assertIn("`comment-when`", ran.said("error")[0])


class SecondStep(SitesCase):
    """Pull requests from forks: a read-only run saves the report, and a run on the default
    branch, which executes nothing of the request, posts it."""

    def setUp(self):
        super().setUp()
        event, merge = self.pull_request(Sites.misspell, fork=True)
        self.github.may_write = False
        ran = self.run_action(self.checkout(merge), "pull_request", event)
        self.github.may_write = True
        self.downloaded = self.folder / "downloaded/report.json"
        self.downloaded.parent.mkdir()
        shutil.copy(ran.outputs["report-json"], self.downloaded)
        head = event["pull_request"]["head"]
        self.event = {"workflow_run": {
            "event": "pull_request",
            "head_sha": head["sha"],
            "head_branch": "topic&state=closed",
            "head_repository": {"full_name": "stranger/sites", "owner": {"login": "stranger"}},
            "pull_requests": [],
        }}
        self.github.pulls = [
            {"number": number, "head": {"sha": sha, "ref": "topic&state=closed",
                                        "user": {"login": user}},
             "base": {"repo": {"full_name": "acme/sites"}}}
            for number, sha, user in [(6, head["sha"], "acme"), (7, head["sha"], "stranger"),
                                      (8, NULL, "stranger")]
        ]

    def post(self):
        workspace = self.folder / "empty"
        workspace.mkdir(exist_ok=True)
        return self.run_action(
            workspace, "workflow_run", self.event, comment="true", report=str(self.downloaded))

    def test_comment_is_posted_on_the_pull_request(self):
        ran = self.post()
        self.assertEqual(0, ran.code, ran.log)
        self.assert_steps(ran, fetch="skipped", lint="passed", comment="passed")
        [comment] = self.github.comments[7]
        self.assertIn("missing-parent", comment["body"])
        self.assertEqual([7], [*self.github.comments])
        self.assertIn("missing-parent", ran.summary)
        self.assertEqual([], ran.commands_at_places(), "annotations are the first run's")
        self.assertEqual([], ran.used)
        self.post()
        self.assertEqual(1, len(self.github.comments[7]))

    def test_requests_with_newer_commits_are_skipped(self):
        self.event["workflow_run"]["head_sha"] = "1" * 40
        ran = self.post()
        self.assertEqual((0, {}), (ran.code, self.github.comments), ran.log)
        self.assertIn("it has newer commits", ran.said("notice")[0])

    def test_invalid_reports_are_refused(self):
        for text in ("", "{}", "[", '{"schema": "urn:layercake:report:1"}', "\x00"):
            self.downloaded.write_text(text)
            ran = self.post()
            self.assertEqual((2, {}), (ran.code, self.github.comments), ran.log)
            self.assertEqual(1, len(ran.said("error")), ran.log)


class Hostile(SitesCase):
    """Checkouts of a pull request that attacks the job."""

    def program_that_must_not_run(self):
        """Creates a command for configurations that records whether it sees the token."""
        script = self.folder / "command"
        write_program(script, f"env >>'{self.folder}/pwned'; exit 1\n")
        return str(script)

    def embed(self, folder):
        """Commits a bare repository as files, with a command to run on fetch."""
        for name in ("objects/.keep", "refs/heads/.keep"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
        (folder / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / "config").write_text(
            "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
            f'\tsshCommand = "{self.program_that_must_not_run()}"\n'
            f'\tfsmonitor = "{self.program_that_must_not_run()}"\n'
            '[remote "origin"]\n\turl = ssh://example.invalid/x\n'
        )

    def embedding(self, sites):
        self.embed(sites.work / "site")
        self.embed(sites.work / "type/cloud/charts")
        git(sites.work, "add", "--all", "--force")
        return sites.misspell()

    def test_committed_repository_is_not_used(self):
        event, merge = self.pull_request(self.embedding)
        main = self.sites.id("main")
        for path in ("site", "type/cloud/charts", "site/lab", "."):
            ran = self.run_action(self.checkout(merge), "pull_request", event, path=path)
            self.assertEqual(1, ran.code, ran.log)
            self.assertEqual((main, merge), (ran.outputs["base-sha"], ran.outputs["head-sha"]))
            self.assertNotEqual("0", ran.outputs["findings-new"], "the gate is talked away")

    def test_committed_repository_is_not_fetched_from(self):
        event, merge = self.pull_request(self.embedding)
        event["pull_request"]["head"]["sha"] = "1" * 40
        workspace = self.checkout(merge)
        code, log, _ = self.run_script(
            "history.sh", workspace, "pull_request", event, INPUT_PATH="site", INPUT_BASE="auto",
            INPUT_TOKEN=TOKEN, GITHUB_SERVER_URL="https://github.com")
        self.assertEqual(0, code, log)
        git(workspace, "cat-file", "-e", self.sites.id("main"))

    # All programs that the scripts run.
    PROGRAMS = set(re.findall(r"\b(?:awk|base64|bash|cargo|cat|chmod|cp|curl|cut|dirname|env|find|git"
                              r"|grep|gzip|head|jq|layercake|mkdir|mktemp|mv|od|rm|rustc|sed"
                              r"|sha256sum|shasum|sort|ssh|tail|tar|touch|tr|uname|wc)\b",
                              "".join(it.read_text() for it in (ROOT / "action").glob("*.sh"))))

    def test_no_program_of_the_checkout_is_run(self):
        event, merge = self.pull_request(Sites.misspell)
        workspace = self.checkout(merge)
        beside = self.folder / "link"
        os.symlink(workspace / "bin", beside)
        (workspace / "bin").mkdir()
        for folder, name in itertools.product((workspace, workspace / "bin"), self.PROGRAMS):
            write_program(folder / name, f"/usr/bin/touch '{self.folder}/pwned'\nexit 1\n")
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        write_program(self.programs / "cargo", self.building())
        for first in (".", "", "bin", "./bin", str(workspace), f"{workspace}/bin",
                      f"{self.temp}/../{workspace.name}/bin", str(beside)):
            ran = self.run_action(
                workspace, "pull_request", event, comment="true", version="source",
                variables={"PATH": f"{first}:{path}"})
            self.assertEqual(1, ran.code, f"{first}\n{ran.log}")
            self.assertEqual(merge, ran.outputs["head-sha"])
        self.assertEqual(1, len(self.github.comments[7]))

    def test_settings_of_the_checkout_are_not_read(self):
        event, merge = self.pull_request(Sites.misspell)
        # a server of the attacker, whose `main` already has the finding
        other = Sites(self.folder / "other")
        other.misspell()
        other.push(heads__main="main")
        workspace = self.checkout(merge)
        settings = (f'[url "{other.bare.as_uri()}"]\n\tinsteadOf = {self.sites.bare.as_uri()}\n')
        for name, text in [
            (".gitconfig", settings), ("git/config", settings),
            (".curlrc", f'dump-header = "{self.folder}/pwned"\n'),
            ("curlrc", f'dump-header = "{self.folder}/pwned"\n'),
            (".jq", "def length: 0;\n"),
        ]:
            (workspace / name).parent.mkdir(exist_ok=True)
            (workspace / name).write_text(text)
            shutil.copy(workspace / name, self.home / Path(name).name)
        for name in ("config", ".gitconfig", ".jq"):
            (self.home / name).unlink()
        event["pull_request"]["head"]["sha"] = "1" * 40
        git(workspace, "update-ref", "-d", "refs/remotes/origin/main")
        for variables in ({"HOME": str(workspace)}, {"HOME": "."}, {"HOME": f"{workspace}/site/.."},
                          {"XDG_CONFIG_HOME": str(workspace)}, {"CURL_HOME": "."}, {}):
            ran = self.run_action(workspace, "pull_request", event, base="main", comment="true",
                                  variables=variables)
            self.assertEqual(1, ran.code, f"{variables}\n{ran.log}")
            self.assertNotEqual("0", ran.outputs["findings-new"])
            git(workspace, "update-ref", "-d", "refs/remotes/origin/main")

    def test_link_to_another_checkout_is_not_followed(self):
        other = self.sites.checkout(self.folder / "other", self.sites.id("main"))

        def link(sites):
            shutil.rmtree(sites.work / "site")
            os.symlink(other, sites.work / "site")
            return sites.commit("a link")

        event, merge = self.pull_request(link)
        for path in ("site", "site/.", "site/site/lab"):
            before = len(self.calls("git"))
            ran = self.run_action(self.checkout(merge), "pull_request", event, path=path)
            self.assertEqual(2, ran.code, ran.log)
            self.assertIn("a symbolic link leads out of it", ran.log)
            self.assertEqual([], [it for it in self.calls("git")[before:] if str(other) in it])

    def test_link_in_place_of_a_clone_is_not_followed(self):
        other = self.sites.checkout(self.folder / "other", self.sites.id("main"))

        def link(sites):
            (sites.work / "clones").mkdir()
            os.symlink(other, sites.work / "clones/base")
            os.symlink(self.folder, sites.work / "above")
            os.symlink("global", sites.work / "inside")
            return sites.commit("links")

        event, merge = self.pull_request(link)
        workspace = self.checkout(merge)
        for place in ("clones/base", "clones/base/", "./clones/base@main", "clones/base/global",
                      "above/other", "site/../clones/base", f"{workspace}/clones/base",
                      "clones/base/../other"):
            before = len(self.calls("layercake:"))
            ran = self.run_action(workspace, "pull_request", event,
                                  repositories=f"one=global\nbase={place}")
            self.assertEqual(2, ran.code, f"{place}\n{ran.log}")
            [error] = ran.said("error")
            self.assertIn("leads out of the workspace", error)
            given = self.calls("layercake:")[before:]
            self.assertEqual([], [it for it in given if "--repository" in it], place)
        # a link inside the workspace, and a clone that the workflow placed elsewhere
        for place in ("inside", str(other)):
            ran = self.run_action(workspace, "pull_request", event, repositories=f"base={place}")
            self.assertLess(ran.code, 2, f"{place}\n{ran.log}")

    def test_code_scanning_runs_git_in_no_committed_repository(self):
        event, merge = self.pull_request(self.embedding)
        workspace = self.checkout(merge)
        for path in (".", "site", "type/cloud/charts"):
            ran = self.run_action(workspace, "pull_request", event, path=path, upload_sarif="true",
                                  all_findings="true")
            [upload] = [used for used in ran.used if "upload-sarif" in used.action]
            self.assertEqual(str(workspace), upload.inputs["checkout_path"])
        # nor in the folder in which an artifact was unpacked
        saved = shutil.copy(ran.outputs["report-json"], workspace)
        ran = self.run_action(workspace, "workflow_run", {"workflow_run": {}}, report=str(saved),
                              upload_sarif="true")
        [upload] = [used for used in ran.used if "upload-sarif" in used.action]
        folder = Path(upload.inputs["checkout_path"])
        self.assertTrue(folder.is_relative_to(self.temp) and folder.is_dir(), folder)

    def test_no_program_of_a_configuration_is_run(self):
        event, merge = self.pull_request()
        command = self.program_that_must_not_run()
        self.github.repositories = self.sites.bare.parents[1]
        for url in (None, f"{self.github.url}/acme/sites.git", "ssh://example.invalid/x",
                    f"ext::{command}", "git@127.0.0.1:acme/sites.git"):
            workspace = self.checkout(merge)
            for key in ("core.sshCommand", "core.fsmonitor", "core.pager", "core.askPass",
                        "core.gitProxy", "core.alternateRefsCommand", "remote.origin.uploadpack",
                        "remote.origin.vcs", "credential.helper", "diff.external"):
                git(workspace, "config", key, command)
            git(workspace, "config", "credential.helper", f"!{command}")
            git(workspace, "config", "protocol.ext.allow", "always")
            hooks = workspace / ".git/hooks"
            hooks.mkdir(exist_ok=True)
            for hook in ("reference-transaction", "post-checkout", "post-index-change"):
                shutil.copy(command, hooks / hook)
            if url:
                git(workspace, "config", "remote.origin.url", url)
            ran = self.run_action(workspace, "pull_request", event)
            self.assertIn(ran.code, (0, 2), ran.log)
        done = subprocess.run(command)
        self.assertEqual(1, done.returncode)
        self.assertTrue((self.folder / "pwned").exists(), "the trap itself works")

    def test_token_is_sent_only_to_its_own_server(self):
        event, merge = self.pull_request()
        self.github.repositories = self.sites.bare.parents[1]
        elsewhere = GitHub(TOKEN)
        self.addCleanup(elsewhere.close)
        elsewhere.repositories = self.sites.bare.parents[1]
        url = f"{self.github.url}/acme/sites.git"
        for key, text in [
            (f"url.{elsewhere.url}/.insteadOf", f"{self.github.url}/"),
            ("http.proxy", elsewhere.url),
            (f"http.{self.github.url}.proxy", elsewhere.url),
            ("remote.origin.proxy", elsewhere.url),
        ]:
            workspace = self.checkout(merge, url=url)
            git(workspace, "config", key, text)
            self.run_action(workspace, "pull_request", event)
        workspace = self.checkout(merge, url=f"{elsewhere.url}/acme/sites.git")
        self.run_action(workspace, "pull_request", event)
        self.assertTrue(elsewhere.asked)
        self.assertEqual([], elsewhere.authorized)

    def test_submodules_are_not_fetched(self):
        def add(sites):
            git(sites.work, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
                sites.bare.as_uri(), "vendored")
            git(sites.work, "config", "-f", ".gitmodules",
                "submodule.vendored.fetchRecurseSubmodules", "true")
            git(sites.work, "config", "-f", ".gitmodules", "submodule.vendored.update",
                "checkout")
            return sites.commit("a submodule")

        event, merge = self.pull_request(add)
        ran = self.run_action(self.checkout(merge), "pull_request", event)
        self.assertEqual(0, ran.code, ran.log)
        fetches = [call for call in self.calls("git") if " fetch " in call]
        self.assertTrue(fetches)
        self.assertEqual([], [it for it in fetches if "--no-recurse-submodules" not in it])

    def test_hostile_names_of_files_and_branches(self):
        name = HOSTILE.replace("/", "-") + "\n::error::pwned"

        def add(sites):
            broken = (sites.work / KEYSTONE).read_text().replace("name: keystone-global", "name: x")
            (sites.work / "type/cloud/charts" / f"{name}.yaml").write_text(broken)
            (sites.work / "layercake.yaml").write_text(
                'output: {default: ["json=pwned", "html=.git/pwned"]}\n')
            return sites.commit(HOSTILE)

        event, merge = self.pull_request(add, branch=HOSTILE)
        ran = self.run_action(self.checkout(merge), "pull_request", event, comment="true")
        self.assertIn(ran.code, (0, 1, 2), ran.log)
        for said in ran.said("error"):
            self.assertNotEqual("pwned", said)

    def test_ids_of_a_report_are_ids(self):
        event, merge = self.pull_request()
        ran = self.run_action(self.checkout(merge), "pull_request", event)
        report = json.loads(Path(ran.outputs["report-json"]).read_text())
        report["comparison"]["base"]["commit"] = HOSTILE
        report["comparison"]["head"]["commit"] = "../../x\nname=pwned"
        saved = self.folder / "saved.json"
        saved.write_text(json.dumps(report))
        workspace = self.folder / "empty"
        workspace.mkdir()
        ran = self.run_action(workspace, "workflow_run", {"workflow_run": {}}, report=str(saved))
        self.assertEqual(2, ran.code, ran.log)
        self.assertEqual(("", ""), (ran.outputs["base-sha"], ran.outputs["head-sha"]))


class ReportValues(unittest.TestCase):
    """Outputs derived from a report, which may be untrusted."""

    FORMS = dict(re.findall(r"^output_checked ([a-z-]+) '([^']*)'", (ROOT / "action/lint.sh").read_text(), re.M))
    COMMIT = re.search(r"^commit='(.*)'$", (ROOT / "action/lint.sh").read_text(), re.M).group(1)

    def set_output(self, form, value):
        with tempfile.NamedTemporaryFile("r") as outputs:
            script = 'source action/commands.sh; output_checked name "$1" "$2"'
            ran = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script, "bash", form, value],
                cwd=ROOT, env={**os.environ, "GITHUB_OUTPUT": outputs.name},
                capture_output=True, text=True, check=False)
            return ran, outputs.read()

    def test_valid_values_are_set(self):
        for form, value in [
            (self.COMMIT, "0" * 40), (self.COMMIT, "f" * 64), (self.COMMIT, ""),
            (self.FORMS["sites"], '[]'), (self.FORMS["sites"], '["lab","a\\"b\\\\","$(id)"]'),
            (self.FORMS["findings-new"], "12"), (self.FORMS["changed"], "false"),
            (self.FORMS["worst-severity"], "none"),
        ]:
            ran, outputs = self.set_output(form, value)
            self.assertEqual(0, ran.returncode, (value, ran))
            self.assertIn(f"\n{value}\n", outputs)

    def test_invalid_values_end_the_step(self):
        for form, value in [
            (self.COMMIT, "main"), (self.COMMIT, "--upload-pack=x"), (self.COMMIT, "0" * 39),
            (self.COMMIT, "0" * 40 + "\nx=1"), (self.COMMIT, "A" * 40),
            (self.FORMS["sites"], '["a"]\n["b"]x'), (self.FORMS["sites"], "[1]"), (self.FORMS["sites"], '{"a":1}'),
            (self.FORMS["findings-new"], "-1"), (self.FORMS["findings-new"], "1\n2"),
            (self.FORMS["findings-new"], ""), (self.FORMS["worst-severity"], "fatal"),
        ]:
            ran, outputs = self.set_output(form, value)
            self.assertEqual((2, ""), (ran.returncode, outputs), (value, ran))
            self.assertIn("::error ", ran.stdout)


def write_program(path, text):
    path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}")
    path.chmod(0o755)


def archive(program, name="layercake", link="", others=None):
    """Creates a release archive with one folder, like the release workflow."""
    folder = ARCHIVE.removesuffix(".tar.gz")
    members = {f"{folder}/{name}": program, f"{folder}/LICENSE": "", **(others or {})}
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as tar:
        for path, text in members.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(text.encode()), 0o755
            if link and text == program:
                member.type, member.linkname = tarfile.SYMTYPE, link
            tar.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()
