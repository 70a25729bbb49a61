# SPDX-License-Identifier: Apache-2.0
import unittest

from gate import GateTest


class Docs(GateTest):
    def setUp(self):
        super().setUp()
        self.write("src/isa/instructions.inc", '#include "isa/inst/integer.inc"\n'
                   '// US_INST(comment, "not.a.row", "", 0, "x")\n'
                   'US_INST(bra, "bra{.uni}", "t", kControl | kSide, sem_todo)\n')
        self.write("src/isa/inst/integer.inc", 'US_INST(add_int, "add{.sat}.s32", "d,a,b",\n        kPure, sem_add)\n')
        for library in ("libcudart", "libcuda"):
            self.write(f"src/cuda/{library}/entry_points.inc",
                       'US_ENTRY(aFull, Full, "")\nUS_ENTRY(aPart, Partial, "no (3-D, yet)")\nUS_ENTRY(aStub, Stub, "")\n')

    def test_the_tables_are_counted(self):
        self.assertEqual(self.run_gate("generate_docs")[0], 0)
        text = (self.root / "docs/coverage.md").read_text()
        self.assertIn("1 of 2 forms", text)
        self.assertIn("| add | 1 | 1 |  |", text)
        self.assertIn("| bra | 1 | 0 | `bra{.uni}` |", text)
        self.assertIn("3 symbols: 1 Full, 1 Partial, 1 Stub", text)
        self.assertIn("| `aPart` | Partial | no (3-D, yet) |", text)

    def test_settings_are_listed(self):
        self.write("src/base/settings.inc", '// US_SETTING(field, kind, ...)\n'
                   'US_SETTING(threads, Count, "US_THREADS", "--threads", "N", "workers; 0: all")\n')
        self.run_gate("generate_docs")
        self.assertIn("| `--threads N` | `US_THREADS` | workers; 0: all |", (self.root / "docs/settings.md").read_text())

    def test_a_stale_document_is_noticed(self):
        self.assertEqual(self.run_gate("generate_docs", "--check")[0], 1)
        self.run_gate("generate_docs")
        self.assertEqual(self.run_gate("generate_docs", "--check")[0], 0)
        self.write("src/isa/inst/integer.inc", 'US_INST(add_int, "add{.sat}.s32", "d,a,b", kPure, sem_todo)\n')
        code, out = self.run_gate("generate_docs", "--check")
        self.assertEqual(code, 1)
        self.assertIn("stale", out)


if __name__ == "__main__":
    unittest.main()
