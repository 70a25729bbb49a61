# SPDX-License-Identifier: Apache-2.0
"""A throw-away repository to run a gate script on."""
import pathlib
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


class GateTest(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)
        self.root = pathlib.Path(self.tmp.name)
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def run_gate(self, gate, *args):
        """(exit code, everything printed)"""
        subprocess.run(["git", "-C", str(self.root), "add", "-A"], check=True)
        done = subprocess.run([str(SCRIPTS / gate), "--root", str(self.root), *args], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr
