# SPDX-License-Identifier: Apache-2.0
import unittest

from gate import GateTest


class Numbers(GateTest):
    def test_files_classes_and_units_that_use_each_other_are_counted(self):
        self.write("src/a/one.h", "// S\n// Opens.\nclass One {\n  void f();\n  int x, y;\n};\n")
        self.write("src/a/one.cpp", '// S\n#include "a/two.h"\n')
        self.write("src/a/two.cpp", '// S\n#include "a/one.h"\n')
        self.write("src/a/two.h", "// S\n#include <vector>\n")
        code, out = self.run_gate("house_numbers")
        self.assertEqual(code, 0, out)
        self.assertIn("files: 4, lines 12, median 2, p90 6, max 6, <= 300: 100.0%", out)
        self.assertIn("most functions: One 1; most fields: One 2", out)
        self.assertIn("a: units that use each other: [2]", out)
        self.assertIn("1 of 2 headers and 0 of 2 sources open with one", out)


if __name__ == "__main__":
    unittest.main()
