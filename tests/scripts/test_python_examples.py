#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/setup_python_examples: its help and what it refuses. Nothing is installed here."""
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*arguments):
    return subprocess.run([ROOT / "scripts/setup_python_examples", *arguments], capture_output=True, text=True, timeout=60)


class Arguments(unittest.TestCase):
    def test_help(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0, result.stderr)
        for part in ("scripts/setup_python_examples [--install-only] [CLIENT...]", "default: numba cuda.core", "tilelang"):
            self.assertIn(part, result.stdout)

    def test_what_is_not_known_is_refused_before_anything_is_installed(self):
        for arguments, text in ((("--fast",), "unknown option --fast"), (("numba", "nunba"), "unknown client nunba"), (("n",), "unknown client n")):
            result = run(*arguments)
            self.assertEqual(result.returncode, 1)
            self.assertIn(text, result.stderr)

    def test_each_client_of_the_help_has_programs(self):
        text = (ROOT / "scripts/setup_python_examples").read_text()
        table = text[text.index("table='") + 7 :].split("'")[0]
        for row in table.splitlines():
            client, wheels, programs = row.split("|")
            self.assertIn(client, run("--help").stdout)
            for program in programs.split():
                self.assertTrue((ROOT / "tests/clients" / f"{program}.py").is_file(), program)


unittest.main()
