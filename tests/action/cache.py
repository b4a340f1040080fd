"""Tests `.ci/cache`: a defective entry only causes a cold run."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from sites import ROOT

ARTIFACT = Path("debug/deps/libserde-1.rlib")


class Cache(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="layercake-cache-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.entries = self.folder / "cache" / "layercake-ci"
        self.programs = self.folder / "programs"
        self.programs.mkdir()

    def command(self, verb, target):
        return ["bash", str(ROOT / ".ci/cache"), verb, str(self.folder / target)]

    def environment(self):
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "PATH": path}

    def run_cache(self, verb, target):
        """Returns what the cache prints; it never fails."""
        done = subprocess.run(
            self.command(verb, target), env=self.environment(), text=True, capture_output=True
        )
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def compile(self, target):
        """Creates a target folder like cargo, with a dependency and this package in it."""
        folder = self.folder / target
        for path in (ARTIFACT, Path("debug/.fingerprint/serde-1/lib-serde"), Path("doc/index.html")):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(f"{path}\n")
        (folder / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n")
        return folder

    def entry(self):
        [entry] = [it for it in self.entries.iterdir() if not it.name.startswith(".")]
        return entry

    def stored(self):
        self.compile("first")
        self.assertIn("dependencies stored", self.run_cache("save", "first"))
        return self.entry()

    def assert_cold(self, reason):
        self.assertIn(reason, self.run_cache("restore", "second"))
        self.assertFalse((self.folder / "second").exists())

    def test_without_an_entry_the_run_is_cold(self):
        self.assert_cold("no entry")

    def test_dependencies_are_restored_with_their_times(self):
        self.stored()
        self.assertIn("restored", self.run_cache("restore", "second"))
        first, second = (self.folder / name / ARTIFACT for name in ("first", "second"))
        self.assertEqual(second.read_text(), first.read_text())
        self.assertEqual(second.stat().st_mtime_ns, first.stat().st_mtime_ns)
        self.assertFalse((self.folder / "second" / "doc").exists())

    def test_restored_folder_is_a_copy(self):
        entry = self.stored()
        self.run_cache("restore", "second")
        (self.folder / "second" / ARTIFACT).write_text("changed")
        self.assertEqual((entry / ARTIFACT).read_text(), f"{ARTIFACT}\n")

    def test_existing_target_folder_is_not_changed(self):
        self.stored()
        second = self.compile("second")
        (second / ARTIFACT).write_text("newer")
        self.assertIn("used unchanged", self.run_cache("restore", "second"))
        self.assertEqual((second / ARTIFACT).read_text(), "newer")

    def test_damaged_entries_are_removed(self):
        damages = {
            "a changed file": lambda entry: (entry / ARTIFACT).write_text("rust\n"),
            "an empty file": lambda entry: (entry / ARTIFACT).write_text(""),
            "a missing file": lambda entry: (entry / ARTIFACT).unlink(),
            "one file more": lambda entry: (entry / "debug/deps/libserde-2.rlib").touch(),
            "no digest": lambda entry: (entry / "DIGEST").unlink(),
            "half a digest": lambda entry: (entry / "DIGEST").write_text(
                (entry / "DIGEST").read_text()[:20]
            ),
            "a file for a folder": lambda entry: (shutil.rmtree(entry), entry.touch()),
        }
        for name, damage in damages.items():
            with self.subTest(name):
                damage(self.stored())
                self.assert_cold("no entry" if "folder" in name else "is damaged")
                self.assertEqual(self.run_cache("restore", "third").split()[1], "no")
                shutil.rmtree(self.entries)

    def test_killed_run_leaves_no_entry(self):
        half = self.entries / ".new.1"
        half.mkdir(parents=True)
        (half / "half").touch()
        os.utime(half, (0, 0))
        self.assert_cold("no entry")
        self.stored()
        self.assertFalse(half.exists())

    def test_each_compiler_has_its_own_entry(self):
        self.stored()
        rustc = self.programs / "rustc"
        rustc.write_text("#!/bin/sh\necho rustc 1.0.0\n")
        rustc.chmod(0o755)
        self.assert_cold("no entry")

    def test_last_used_entries_are_kept(self):
        for age in range(4):
            old = self.entries / f"old-{age}"
            old.mkdir(parents=True)
            os.utime(old, (age, age))
        self.compile("first")
        self.assertIn("dependencies stored", self.run_cache("save", "first"))
        left = sorted(it.name for it in self.entries.iterdir())
        self.assertEqual((len(left), left[-2:]), (3, ["old-2", "old-3"]))

    def test_concurrent_runs_store_one_complete_entry(self):
        names = [f"run-{number}" for number in range(4)]
        for name in names:
            self.compile(name)
        runs = [
            subprocess.Popen(self.command("save", name), env=self.environment()) for name in names
        ]
        self.assertEqual([run.wait() for run in runs], [0] * len(runs))
        self.assertEqual([self.entry()], list(self.entries.iterdir()))
        self.assertIn("restored", self.run_cache("restore", "second"))

    def test_read_only_cache_stores_nothing(self):
        self.compile("first")
        (self.folder / "cache").write_text("a file")
        self.assertIn("nothing was stored", self.run_cache("save", "first"))
