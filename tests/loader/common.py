# SPDX-License-Identifier: Apache-2.0
"""What the tests of this directory share: `understudy run` in a clean environment, files in a directory of the test's own."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
LIB = BUILD / "lib"
UNDERSTUDY = str(BUILD / "bin" / "understudy")
CLEAN = {k: v for k, v in os.environ.items()
         if not k.startswith("UNDERSTUDY_") and k not in ("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT")}


def understudy(*args, **more):
    """`understudy run` without LD_LIBRARY_PATH: what is found is found by the audit library."""
    return subprocess.run([UNDERSTUDY, "run", "env", "-u", "LD_LIBRARY_PATH", *map(str, args)], capture_output=True, text=True,
                          timeout=120, env=CLEAN, **more)


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name)

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def build(self, *command):
        result = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=self.dir)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def expect(self, result, stdout, code=0):
        self.assertEqual((result.stdout, result.returncode), (stdout, code), result.stderr)
