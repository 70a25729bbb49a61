# SPDX-License-Identifier: Apache-2.0
import unittest

from gate import GateTest


class Format(GateTest):
    def setUp(self):
        super().setUp()
        self.write(".clang-format", "BasedOnStyle: Google\nColumnLimit: 120\n")
        self.write("src/base/good.h", "int Add(int a, int b);\n")

    def test_a_formatted_tree_passes(self):
        code, out = self.run_gate("check_format", "--mode", "error")
        self.assertEqual(code, 0, out)

    def test_an_unformatted_file_is_named(self):
        self.write("src/base/bad.cpp", "int   f( int a ){return a;}\n")
        code, out = self.run_gate("check_format", "--mode", "error")
        self.assertEqual(code, 1)
        self.assertIn("src/base/bad.cpp", out)

    def test_warn_mode_reports_and_succeeds(self):
        self.write("src/base/bad.cpp", "int   f( int a ){return a;}\n")
        code, out = self.run_gate("check_format", "--mode", "warn")
        self.assertEqual(code, 0)
        self.assertIn("1 not formatted", out)

    def test_fix_makes_it_pass(self):
        self.write("src/base/bad.cpp", "int   f( int a ){return a;}\n")
        self.run_gate("check_format", "--fix")
        self.assertEqual(self.run_gate("check_format", "--mode", "error")[0], 0)

    def test_other_files_are_left_alone(self):
        self.write("gallery/x.cpp", "int   f( int a ){return a;}\n")
        self.assertEqual(self.run_gate("check_format", "--mode", "error")[0], 0)


if __name__ == "__main__":
    unittest.main()
