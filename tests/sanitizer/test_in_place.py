#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What compiled code judges where it stands is found as by calls: in_place.cu, with the pass and without it.
usage: test_in_place.py BUILD_DIR NVCC"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2]
SOURCE = pathlib.Path(__file__).resolve().parent / "in_place.cu"
FLAGS = ["-std=c++17", "-lineinfo", "-gencode", "arch=compute_90,code=compute_90", "-cudart", "shared"]


class InPlace(unittest.TestCase):
    def setUp(self):
        folder = BUILD / "tests" / "sanitizer"
        folder.mkdir(parents=True, exist_ok=True)
        self.program = folder / "in_place"
        subprocess.run([NVCC, *FLAGS, str(SOURCE), "-o", str(self.program)], check=True, timeout=300)

    def findings(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            command = [BUILD / "bin" / "understudy", "check", *options, "--json", report, self.program]
            subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
            report = json.loads(report.read_text())
            self.assertEqual(report["not_judged"], [])
            return report["findings"]

    def test_like_calls(self):
        here, called = self.findings(), self.findings("--disable-pass", "in_place")
        self.assertEqual(here, called)
        lines = SOURCE.read_text().splitlines()
        expected = {(m[1], n) for n, line in enumerate(lines, 1) if (m := re.search(r"// expect: ([\w-]+)", line))}
        def line(finding):
            return next(at["line"] for at in finding["parties"][0]["frames"] if at["file"].endswith(SOURCE.name))
        found = {(f["check"], line(f)) for f in here}
        self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
