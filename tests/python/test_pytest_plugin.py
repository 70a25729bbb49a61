#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pytest --understudy from outside. usage: test_pytest_plugin.py BUILD_DIR; exit code 77: there is no pytest here."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE / "device_programs.py"


def run_pytest(*options, ini=None, addopts=None, program=BUILD / "bin" / "understudy"):
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(TESTS, pathlib.Path(directory) / "test_device.py")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("UNDERSTUDY_PY", "LD_"))}
        environment["UNDERSTUDY_PROGRAM"] = str(program)
        environment["PYTHONPATH"] = str(HERE.parent.parent / "python")
        if ini:
            (pathlib.Path(directory) / "pytest.ini").write_text(f"[pytest]\naddopts = {ini}\n")
        if addopts:
            environment["PYTEST_ADDOPTS"] = addopts
        command = [sys.executable, "-m", "pytest", "-p", "understudy.pytest_plugin", "-p", "no:cacheprovider", "-v", *options]
        return subprocess.run([*command, "test_device.py"], cwd=directory, env=environment, capture_output=True, text=True)


def verdicts(result):
    words = (line.split() for line in result.stdout.splitlines() if line.startswith("test_device.py::"))
    return {w[0].split("::")[1]: w[1] for w in words}


class PytestPlugin(unittest.TestCase):
    def test_runs_under_the_device(self):
        result = run_pytest("--understudy")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(set(verdicts(result).values()), {"PASSED"})
        self.assertEqual(len(verdicts(result)), 3)

    def test_an_unknown_mode_is_refused(self):
        result = run_pytest("--understudy=chek")
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        self.assertIn("--understudy=check", result.stderr)

    def test_options_from_elsewhere(self):
        expected = {"test_clean": "PASSED", "test_race": "FAILED", "test_clean_again": "PASSED"}
        for where in ({"ini": "--understudy=check"}, {"addopts": "--understudy=check"}):
            with self.subTest(where):
                self.assertEqual(verdicts(run_pytest(**where)), expected)

    def test_findings_that_cannot_be_read_are_no_silence(self):
        with tempfile.TemporaryDirectory() as directory:
            program = pathlib.Path(directory) / "understudy"
            program.write_text(f'#!/bin/sh\n[ "$1" = check ] && {{ echo broken >&2; exit 125; }}\nexec {BUILD}/bin/understudy "$@"\n')
            program.chmod(0o755)
            result = run_pytest("--understudy=check", program=program)
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertIn("failed with 125: broken", result.stdout + result.stderr)

    def test_findings_fail_the_test_that_caused_them(self):
        result = run_pytest("--understudy=check")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        expected = {"test_clean": "PASSED", "test_race": "FAILED", "test_clean_again": "PASSED"}
        self.assertEqual(verdicts(result), expected)
        self.assertIn("[race-global]", result.stdout)
        self.assertIn("kernel race", result.stdout)


if importlib.util.find_spec("pytest") is None:
    print("skipped: this Python has no pytest (Debian: python3-pytest)")
    sys.exit(77)
unittest.main(argv=sys.argv[:1])
