#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which machine code `understudy ptx --sass` shows, and what it says where there is none. usage: test_sass.py BUILD NVCC"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD, NVCC = pathlib.Path(sys.argv[1]), sys.argv[2]
UNDERSTUDY, PTXAS = BUILD / "bin/understudy", pathlib.Path(NVCC).resolve().parent / "ptxas"
SOURCE = "__global__ void twice(int* p) { p[threadIdx.x] *= 2; }\nint main() { twice<<<1, 32>>>(nullptr); }\n"
HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
BOTH = ["-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]"]


def run(*words):
    return subprocess.run([UNDERSTUDY, "ptx", *words], capture_output=True, text=True)


class Sass(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def modules(self, *flags):
        source, program = self.folder / "twice.cu", self.folder / "twice"
        source.write_text(SOURCE)
        subprocess.run([NVCC, *flags, source, "-o", program], check=True, capture_output=True)
        result = run("--sass", "--json", "--ptxas", PTXAS, program)
        self.assertEqual(result.returncode, 0, result.stderr)
        # The CUDA runtime brings machine code of its own.
        return [m for m in json.loads(result.stdout)["modules"] if any("twice" in f["name"] for f in m["functions"])]

    def lines(self, module):
        return [i.get("ptx_line", 0) for f in module["functions"] for i in f["instructions"]]

    def test_shipped_with_lines(self):
        (module,) = self.modules(*BOTH, "-lineinfo")
        self.assertEqual(module["origin"], "as shipped")
        self.assertTrue(any(self.lines(module)))

    def test_shipped_without_lines_is_assembled_again_and_equal(self):
        (module,) = self.modules(*BOTH)
        self.assertEqual(module["origin"], "as shipped, recompiled and equal")
        self.assertTrue(any(self.lines(module)))

    def test_only_ptx(self):
        (module,) = self.modules("-gencode", "arch=compute_90a,code=compute_90a")
        self.assertEqual(module["origin"], "assembled here")
        self.assertTrue(any(self.lines(module)))

    def test_what_ptxas_complains_about(self):
        ptx = self.folder / "bad.ptx"
        ptx.write_text(HEAD + ".visible .entry k()\n{\n\tadd.s32 %r1, %r2;\n\tret;\n}\n")
        result = run("--sass", "--ptxas", PTXAS, ptx)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("makes no machine code for -arch=sm_90a of the PTX: line 6: ", result.stderr)

    def test_ptxas_without_sass(self):
        ptx = self.folder / "good.ptx"
        ptx.write_text(HEAD + ".visible .entry k()\n{\n\tret;\n}\n")
        result = run("--ptxas", PTXAS, ptx)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("only with --sass", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
