#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the judge makes of a program's output."""
import unittest

from judge import judge


def state(stdout, code=0, stderr="", suite="HeCBench", report=None):
    return judge({"stdout": stdout, "stderr": stderr, "code": code, "timed_out": False}, report or {}, suite)[0]


class Judge(unittest.TestCase):
    def test_a_failed_check_is_wrong(self):
        for line in ("verify = FAIL", "Verification: FAIL", "verify=FAILED", "diff: FAIL", "specific test failed", "shift check: fail",
                     "PASS\nverify = FAIL", "2 errors: mismatch at 3"):
            self.assertEqual(state(line), "wrong", line)

    def test_talk_of_failure_is_not_one(self):
        for line in ("verify = PASS", "0 failures", "failed: 0", "mismatches = 0", "no errors", "prints FAIL only if the check would fail",
                     "If this fails, look at the log", "Assertion `x` failed, as expected"):
            self.assertEqual(state(line), "pass", line)

    def test_what_is_missing_is_named(self):
        self.assertEqual(state("", 1, report={"unimplemented": {"multimem.red": 1}}), "unsupported:multimem.red")
        self.assertEqual(state("", 1, report={"refused": {"the CUDA runtime in libcublas.so.13": 1}}),
                         "unsupported:the CUDA runtime in libcublas.so.13")

    def test_a_missing_file_is_no_pass(self):
        self.assertEqual(state("Starting ..\nFile output.tns does not exist!"), "no-input")
        self.assertEqual(state("File output.tns does not exist! Made it. PASS", report={"counts": {"grids launched": 1}}), "pass")

    def test_exit_codes(self):
        self.assertEqual(state("fine", 1), "wrong")
        self.assertEqual(state("fine", -11), "crash")
        self.assertEqual(state("fine", 139), "crash")


if __name__ == "__main__":
    unittest.main()
