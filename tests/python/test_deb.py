#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/build_deb, unpacked into a directory. usage: test_deb.py BUILD_DIR      Exit code 77: there is no dpkg-deb."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEVICE = "import ctypes; n = ctypes.c_int(); c = ctypes.CDLL('libcuda.so.1'); print(c.cuInit(0), c.cuDeviceGetCount(ctypes.byref(n)), n.value)"


class Deb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.home = pathlib.Path(cls.directory.name)
        out = subprocess.run([ROOT / "scripts/build_deb", "--build", BUILD, "--out", cls.home], check=True, capture_output=True, text=True)
        cls.deb = out.stdout.strip()
        cls.root = cls.home / "root"
        subprocess.run(["dpkg-deb", "-x", cls.deb, cls.root], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def run_it(self, *command):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("UNDERSTUDY_P", "LD_", "PYTHON"))}
        environment["PATH"] = f"{self.root}/usr/bin:{environment['PATH']}"
        environment["PYTHONPATH"] = str(self.root / "usr/lib/python3/dist-packages")
        return subprocess.run(command, cwd=self.home, env=environment, capture_output=True, text=True)

    def test_the_program_is_on_the_path(self):
        for command in (["understudy"], ["python3", "-m", "understudy"]):
            with self.subTest(command):
                self.assertTrue(self.run_it(*command, "--version").stdout.startswith("understudy "))
                result = self.run_it(*command, "run", "python3", "-c", DEVICE)
                self.assertEqual((result.returncode, result.stdout.split()), (0, ["0", "0", "1"]), result.stderr)

    def test_it_depends_on_what_its_libraries_load(self):
        depends = subprocess.run(["dpkg-deb", "-f", self.deb, "Depends"], check=True, capture_output=True, text=True).stdout
        names = set(re.findall(r"([\w.+-]+)(?: \(>= [\w.:+~-]+\))?(?:, |\n)", depends))
        self.assertLessEqual({"python3", "libc6", "libstdc++6", "libllvm19", "libzstd1"}, names)
        self.assertFalse([n for n in names if n.endswith("-dev")], depends)

    def test_users_find_what_they_include(self):
        for name in ("include/understudy.h", "include/understudy_test.h", "share/cmake/UnderstudyTest.cmake", "share/doc/understudy/copyright"):
            self.assertTrue((self.root / "usr" / name).exists(), name)


if not shutil.which("dpkg-deb"):
    print("skipped: there is no dpkg-deb")
    sys.exit(77)
unittest.main(argv=sys.argv[:1])
