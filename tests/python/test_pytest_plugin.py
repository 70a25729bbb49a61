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


def run_pytest(*options):
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(TESTS, pathlib.Path(directory) / "test_device.py")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("UNDERSTUDY_PY", "LD_"))}
        environment["UNDERSTUDY_PROGRAM"] = str(BUILD / "bin" / "understudy")
        environment["PYTHONPATH"] = str(HERE.parent.parent / "python")
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

    def test_findings_fail_the_test_that_caused_them(self):
        result = run_pytest("--understudy=check")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        expected = {"test_clean": "PASSED", "test_race": "FAILED", "test_clean_again": "PASSED"}
        self.assertEqual(verdicts(result), expected)
        self.assertIn("[race-global]", result.stdout)
        self.assertIn("kernel race", result.stdout)


if importlib.util.find_spec("pytest") is None:
    sys.exit(77)
unittest.main(argv=sys.argv[:1])
