#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/build_wheel, installed in an environment of its own. usage: test_wheel.py BUILD_DIR

Exit code 77: this Python cannot make environments.
"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEVICE = "import ctypes; n = ctypes.c_int(); c = ctypes.CDLL('libcuda.so.1'); print(c.cuInit(0), c.cuDeviceGetCount(ctypes.byref(n)), n.value)"


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.home = pathlib.Path(cls.directory.name)
        out = subprocess.run([ROOT / "scripts/build_wheel", "--build", BUILD, "--out", cls.home], check=True, capture_output=True, text=True)
        cls.wheel = out.stdout.strip()
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", cls.home / "venv"], check=True)
        pip = [cls.home / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", cls.wheel]
        subprocess.run(pip, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def run_it(self, *command, **more):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("UNDERSTUDY_P", "LD_", "PYTHON"))}
        environment["PATH"] = f"{self.home}/venv/bin:{environment['PATH']}"
        return subprocess.run(command, cwd=self.home, env=environment, capture_output=True, text=True, **more)

    def test_the_program_is_on_the_path(self):
        for command in (["understudy"], ["python", "-m", "understudy"]):
            with self.subTest(command):
                self.assertTrue(self.run_it(*command, "--version").stdout.startswith("understudy "))
                result = self.run_it(*command, "run", "python", "-c", DEVICE)
                self.assertEqual((result.returncode, result.stdout.split()), (0, ["0", "0", "1"]), result.stderr)

    def test_its_libraries_are_taken(self):
        code = "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0); print([l.split()[-1] for l in open('/proc/self/maps') if 'libcuda.so.1' in l or 'zstd' in l])"
        result = self.run_it("understudy", "run", "python", "-c", code)
        paths = set(eval(result.stdout))
        self.assertTrue(any(p.endswith("/understudy/lib/libcuda.so.1") for p in paths), paths)
        self.assertTrue(all(p.startswith(str(self.home)) for p in paths), paths)

    def test_assemblers_are_stood_in_for(self):
        ptxas = self.home / "ptxas"
        ptxas.write_text("#!/bin/sh\necho release 99.1\n")
        ptxas.chmod(0o755)
        result = self.run_it("understudy", "run", "sh", "-c", f"{ptxas} --version")
        self.assertEqual((result.returncode, result.stdout.splitlines()[:1]), (0, ["release 99.1"]), result.stderr)
        self.assertIn("hands on PTX in the place of machine code", result.stdout)

    def test_it_says_its_licence(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            names = wheel.namelist()
            metadata = wheel.read(next(n for n in names if n.endswith("/METADATA"))).decode()
        self.assertIn("understudy/LICENSE", names)
        self.assertRegex(metadata, r"\nLicense: Apache-2.0; ")
        self.assertEqual(any("libfftw3" in n for n in names), "libfftw3 GPL-2.0-or-later" in metadata)

    @unittest.skipIf(importlib.util.find_spec("pytest") is None, "there is no pytest")
    def test_pytest_finds_the_plugin(self):
        shutil.copy(HERE / "device_programs.py", self.home / "test_device.py")
        result = self.run_it("python", "-m", "pytest", "--understudy=check", "-q", "test_device.py")
        self.assertIn("1 failed, 2 passed", result.stdout, result.stderr)


if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
    print("skipped: this Python has no venv or no ensurepip, which make environments (Debian: python3-venv)")
    sys.exit(77)
unittest.main(argv=sys.argv[:1])
