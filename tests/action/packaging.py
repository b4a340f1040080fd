"""Tests the release scripts in `packaging/`, on archives of a dummy program."""

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import unittest
from pathlib import Path

import yaml
from sites import ROOT

sys.path.insert(0, str(ROOT / "packaging"))
import project  # noqa: E402

RELEASE = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
TARGETS = [it["target"] for it in RELEASE["jobs"]["build"]["strategy"]["matrix"]["include"]]


class Packaging(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="layercake-packaging-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.dist = self.folder / "dist"

    def run_script(self, script, *arguments):
        command = [sys.executable, str(ROOT / "packaging" / script), *map(str, arguments)]
        return subprocess.run(command, text=True, capture_output=True, cwd=self.folder)

    def pack(self, target, content):
        program = self.folder / "layercake"
        program.write_bytes(content)
        done = self.run_script("archive.py", self.dist, target, program)
        self.assertEqual(done.returncode, 0, done)
        return Path(done.stdout.strip())

    def test_archive_has_one_folder_of_its_name(self):
        archive = self.pack("some-target", b"program")
        name = f"layercake-{project.version()}-some-target"
        self.assertEqual(archive.name, f"{name}.tar.gz")
        with tarfile.open(archive) as opened:
            modes = {it.name.removeprefix(f"{name}/"): it.mode for it in opened}
        files = {"LICENSE": 0o644, "README.md": 0o644, "changelog.md": 0o644, "layercake": 0o755}
        self.assertEqual(modes, files)

    def test_archives_are_reproducible(self):
        first = self.pack("some-target", b"program").read_bytes()
        self.assertEqual(first, self.pack("some-target", b"program").read_bytes())
        self.assertNotEqual(first, self.pack("some-target", b"another").read_bytes())

    def test_templates_name_the_archives_of_the_release(self):
        archives = [self.pack(target, target.encode()) for target in TARGETS]
        done = self.run_script("render.py", self.dist, self.folder / "rendered")
        self.assertEqual(done.returncode, 0, done)
        rendered = self.folder / "rendered"

        formula = (rendered / "layercake.rb").read_text()
        self.assertIsNone(re.search("@[A-Z]", formula), formula)
        start = f"{project.repository()}/releases/download/v{project.version()}/"
        pairs = re.findall(r'url "(.*)"\n *sha256 "(.*)"', formula)
        expected = {
            (start + it.name, hashlib.sha256(it.read_bytes()).hexdigest())
            for it in archives
            if "windows" not in it.name
        }
        self.assertEqual(set(pairs), expected)
        self.assertEqual(len(pairs), len(expected))

        entry = yaml.safe_load((rendered / "aqua.yaml").read_text())["packages"][0]
        self.assertEqual(f"{entry['repo_owner']}/{entry['repo_name']}", project.slug())
        systems = {"linux": ("amd64", "arm64"), "darwin": ("amd64", "arm64"), "windows": ("amd64",)}
        names = entry["replacements"]
        targets = {f"{names[cpu]}-{names[system]}" for system in systems for cpu in systems[system]}
        self.assertEqual(targets, set(TARGETS))
        self.assertEqual(entry["asset"], "layercake-{{trimV .Version}}-{{.Arch}}-{{.OS}}.tar.gz")

        tools = tomllib.loads((rendered / "mise.toml").read_text())["tools"]
        self.assertEqual(tools, {f"github:{project.slug()}": project.version()})

    def test_release_without_an_archive_is_refused(self):
        self.pack(TARGETS[0], b"program")
        done = self.run_script("render.py", self.dist, self.folder / "rendered")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("is an archive missing?", done.stderr)

    def test_mirror_has_the_compiled_hooks_and_one_dependency(self):
        mirror = self.folder / "mirror"
        done = self.run_script("pre_commit_mirror.py", mirror)
        self.assertEqual(done.returncode, 0, done)
        hooks = yaml.safe_load((mirror / ".pre-commit-hooks.yaml").read_text())
        own = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
        compiled = [it for it in own if it["language"] == "rust"]
        self.assertEqual(hooks, [{**it, "language": "python"} for it in compiled])
        manifest = tomllib.loads((mirror / "pyproject.toml").read_text())
        expected = [f"layercake-lint=={project.version()}"]
        self.assertEqual(manifest["project"]["dependencies"], expected)
        readme = (mirror / "README.md").read_text()
        self.assertIn(f"  - repo: {project.repository()}-pre-commit\n", readme)

    def test_project_metadata_is_read_as_toml(self):
        package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
        self.assertEqual(project.version(), package["version"])
        self.assertEqual(project.repository(), package["repository"])
