#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`understudy doctor` on programs made here. usage: test_doctor.py BUILD_DIR NVCC"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2]
SOURCE = "__global__ void k(int* p) { *p = 1; }\nint main() { int* p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); return cudaGetLastError() | cudaDeviceSynchronize(); }\n"


class Doctor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.home = pathlib.Path(cls.directory.name)
        (cls.home / "a.cu").write_text(SOURCE)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def compile(self, name, *flags):
        subprocess.run([NVCC, "-o", self.home / name, self.home / "a.cu", *flags], check=True)
        return self.home / name

    def doctor(self, *arguments, **settings):
        environment = os.environ | settings
        result = subprocess.run([BUILD / "bin/understudy", "doctor", *arguments], capture_output=True, text=True, env=environment)
        return result.returncode, [line.split(None, 2) for line in result.stdout.splitlines()[1:]], result.stdout

    def test_plain_program(self):
        code, lines, text = self.doctor(self.compile("plain", "-arch=compute_90"))
        self.assertEqual(code, 0, text)
        self.assertIn(["good", "runtime", "inside (libcudart_static), with symbols: its calls are sent to ours"], lines)
        self.assertIn(["good", "code", "1 image with PTX: PTX for compute_90"], lines)

    def test_stripped_program(self):
        program = self.compile("stripped", "-arch=compute_90")
        subprocess.run(["strip", program], check=True)
        archive = pathlib.Path(NVCC).resolve().parent.parent / "lib64/libcudart_static.a"
        code, lines, text = self.doctor(program, UNDERSTUDY_STATIC_RUNTIME=str(archive))
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"good +runtime +inside \(libcudart_static\), without symbols, which \S*/libcudart_static.a has: its calls are sent to ours")
        code, lines, text = self.doctor(program, UNDERSTUDY_STATIC_RUNTIME="none")
        self.assertEqual(code, 1, text)
        self.assertIn(["bad", "runtime", "inside (libcudart_static), without symbols: its calls cannot be sent to ours"], lines)

    def test_shared_runtime_and_machine_code(self):
        code, lines, text = self.doctor(self.compile("machine", "-cudart", "shared", "-gencode=arch=compute_90,code=sm_90"))
        self.assertEqual(code, 1, text)
        self.assertIn(["good", "libraries", "libcudart.so.13: ours"], lines)
        bad = [what for answer, topic, what in lines if (answer, topic) == ("bad", "code")]
        self.assertEqual(len(bad), 1, text)  # nvcc adds an image of the device runtime with some releases
        self.assertRegex(bad[0], r"^\d images? without PTX for the device: (\d x )?machine code for sm_90$")

    def test_newer_ptx(self):
        flags = ["-gencode=arch=compute_90,code=sm_90", "-gencode=arch=compute_100,code=compute_100"]
        program = self.compile("newer", *flags)
        code, lines, text = self.doctor(program)
        self.assertEqual(code, 1, text)
        what = "1 image with PTX for newer devices only, which is run: PTX for compute_100, machine code for sm_90"
        self.assertIn(["partly", "code", what], lines)
        result = subprocess.run([BUILD / "bin/understudy", "run", program], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0)
        self.assertIn("has PTX for newer devices only, which is run: compute_100", result.stderr)
        self.assertEqual(self.report(program), (0, {"the program: compute_100": 1}, False))
        code, newer, exact = self.report(program, "--no-newer-ptx")
        self.assertEqual((newer, exact), ({}, False))
        self.assertNotEqual(code, 0)

    def test_newer_ptx_of_relocatable_code(self):
        flags = ["-rdc=true", "-gencode=arch=compute_90,code=sm_90", "-gencode=arch=compute_100,code=compute_100"]
        program = self.compile("newer_relocatable", *flags)
        self.assertEqual(self.report(program), (0, {"the program: compute_100": 1}, False))

    def test_linked_machine_code(self):
        """Linked code has no PTX; what it was linked from has some or all of it."""
        (self.home / "c.cu").write_text(SOURCE.replace("int main", "void launch(int*);\nint main").replace("return", "launch(p); return"))
        (self.home / "b.cu").write_text("__global__ void other(int* p) { *p = 2; }\nvoid launch(int* p) { other<<<1, 1>>>(p); }\n")
        both, machine = "-gencode=arch=compute_90,code=[sm_90,compute_90]", "-gencode=arch=compute_90,code=sm_90"
        for name, of_b in (("whole", both), ("half", machine)):
            objects = []
            for source, flag in (("c", both), ("b", of_b)):
                objects.append(self.home / f"{name}_{source}.o")
                subprocess.run([NVCC, "-rdc=true", "-c", flag, "-o", objects[-1], self.home / f"{source}.cu"], check=True)
            subprocess.run([NVCC, "-arch=sm_90", "-o", self.home / name, *objects], check=True)
        code, lines, text = self.doctor(self.home / "whole")
        self.assertEqual(code, 0, text)
        self.assertIn(["good", "code", "1 linked image: 2 of 2 kernels by PTX that was linked: machine code for sm_90"], lines, text)
        code, lines, text = self.doctor(self.home / "half")
        self.assertEqual(code, 1, text)
        self.assertIn(["partly", "code", "1 linked image: 1 of 2 kernels by PTX that was linked: machine code for sm_90"], lines, text)
        self.assertIn("without PTX: other(int*);", text)

    def report(self, program, *options):
        """Exit code, what was run from newer PTX, and whether all was exact."""
        file = self.home / "report.json"
        result = subprocess.run([BUILD / "bin/understudy", "run", *options, "--json", file, program], capture_output=True, check=False)
        report = json.loads(file.read_text())
        return result.returncode, report["newer_ptx"], report["exact"]

    def test_a_directory_and_the_installation(self):
        code, _, text = self.doctor(BUILD / "lib")
        self.assertIn("libraries, ", text)
        code, _, text = self.doctor()
        self.assertEqual(code, 0, text)
        self.assertIn("libunderstudy_loader.so", text)

    def test_a_name_in_this_directory(self):
        """A package's directory without a slash; what PATH has comes first."""
        (self.home / "some_package").mkdir()
        result = subprocess.run([BUILD / "bin/understudy", "doctor", "some_package"], cwd=self.home, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout), (0, "0 libraries, 0 with CUDA\n"), result.stderr)

    def test_neither_program_nor_library(self):
        code, _, text = self.doctor(self.home / "a.cu")
        self.assertEqual(code, 125, text)
        self.assertIn("it is no program or library", text)

    @unittest.skipIf(os.geteuid(), "only root can become somebody else")
    def test_closed_directories(self):
        """As a user who may not read them."""
        tree = self.home / "tree"
        (tree / "closed").mkdir(parents=True)
        (tree / "closed").chmod(0)
        self.home.chmod(0o755)
        for directory, code, stdout, stderr in ((tree, 1, "1 directories in it cannot be read", ""),
                                                (tree / "closed", 125, "", "Permission denied")):
            with self.subTest(directory):
                command = [BUILD / "bin/understudy", "doctor", directory]
                result = subprocess.run(command, capture_output=True, text=True, user=65534, extra_groups=[])
                self.assertEqual(result.returncode, code, result.stdout + result.stderr)
                self.assertIn(stdout, result.stdout)
                self.assertIn(stderr, result.stderr)

    def test_nothing_there(self):
        self.assertEqual(self.doctor(self.home / "missing")[0], 127)


unittest.main(argv=sys.argv[:1])
