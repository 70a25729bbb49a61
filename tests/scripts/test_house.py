# SPDX-License-Identifier: Apache-2.0
import unittest

from gate import GateTest

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


class House(GateTest):
    def setUp(self):
        super().setUp()
        self.write("src/base/README.md", "the ground\n")

    def gate(self, name, text):
        self.write(name, text)
        return self.run_gate("check_house")

    def test_a_good_file_passes(self):
        code, out = self.gate("src/base/a.h", SPDX + "int a;\n")
        self.assertEqual(code, 0, out)

    def test_the_spdx_line_is_asked_for(self):
        code, out = self.gate("src/base/a.cpp", "int a;\n")
        self.assertEqual(code, 1)
        self.assertIn("src/base/a.cpp: the SPDX line is missing", out)

    def test_scripts_carry_it_too(self):
        self.assertEqual(self.gate("scripts/tool", "#!/bin/sh\nexit 0\n")[0], 1)

    def test_long_files_are_refused_but_not_tables(self):
        self.assertEqual(self.gate("src/base/t.inc", SPDX + "ROW\n" * 700)[0], 0)
        self.assertEqual(self.gate("src/base/a.cpp", SPDX + "int a;\n" * 700)[0], 1)

    def test_comments_end_at_column_120(self):
        long = "word " * 24 + "!"  # 121 characters
        self.assertEqual(self.gate("src/base/a.h", SPDX + "// " + long[:117] + "\n")[0], 0)
        code, out = self.gate("src/base/a.h", SPDX + "int a;\n// " + long + "\n")
        self.assertEqual(code, 1)
        self.assertIn("src/base/a.h: line 3: the comment ends behind column 120", out)

    def test_comments_behind_code_and_of_scripts_count(self):
        behind = "int a;  // " + "word " * 24
        for name, text in (("src/base/a.cpp", SPDX + behind), ("tests/p.cu", SPDX + behind), ("oracle/r.cu", behind),
                           ("src/base/t.inc", SPDX + behind), ("scripts/s.py", SPDX + "# " + "word " * 24)):
            self.assertEqual(self.gate(name, text.rstrip() + "\n")[0], 1, name)
            (self.root / name).unlink()

    def test_long_code_is_not_blamed_on_comments(self):
        string = 'const char* a = "' + "http://example.org/ " * 8 + '";\n'
        self.assertEqual(self.gate("src/base/a.cpp", SPDX + string)[0], 0)
        self.assertEqual(self.gate("src/base/t.inc", SPDX + "ROW(" + "x, " * 50 + "y)  // z\n")[0], 0)
        self.assertEqual(self.gate("scripts/s.py", "# " + SPDX + "\na = '" + "x" * 100 + "'  .split('#')" + " " * 9 + "\n")[0], 0)

    def test_binaries_are_refused(self):
        self.assertEqual(self.gate("tests/blob", b"\x7fELF\0\0")[0], 1)

    def test_links_must_lead_somewhere(self):
        self.write("docs/there.md", "x\n")
        self.assertEqual(self.gate("docs/a.md", "[t](there.md) [w](https://example.org/x) [s](../src/base/README.md#x)\n")[0], 0)
        code, out = self.gate("docs/a.md", "[t](gone.md)\n")
        self.assertEqual(code, 1)
        self.assertIn("docs/gone.md does not exist", out)

    def test_documents_named_in_code_must_exist(self):
        self.assertEqual(self.gate("src/base/a.h", SPDX + "// see docs/gone.md\n")[0], 1)

    def test_a_room_without_readme_is_refused(self):
        code, out = self.gate("src/isa/a.h", SPDX)
        self.assertEqual(code, 1)
        self.assertIn("src/isa: no README.md", out)

    def sized(self, functions, fields, head="class A", extra=""):
        body = "".join(f"  int f{k}(std::map<int, int> m, int n = 0) {{ return g(n); }}\n" for k in range(functions))
        body += "".join(f"  std::function<int(int, int)> m{k}_ = {{}};\n" for k in range(fields))
        self.write("src/codegen/README.md", "x\n")
        return self.gate("src/codegen/a.h", SPDX + extra + f"{head} {{\n public:\n{body}}};\n")

    def test_large_classes_of_codegen_are_refused(self):
        self.assertEqual(self.sized(40, 25)[0], 0)
        code, out = self.sized(41, 3)
        self.assertEqual(code, 1)
        self.assertIn("class A has 41 functions; the limit is 40", out)
        self.assertIn("class A has 26 data members; the limit is 25", self.sized(3, 26)[1])

    def test_data_members_of_one_declaration_count_each(self):
        nested = "struct Z {\n int q;\n};\n"  # its members are its own
        names = ", ".join(f"x{k} = 0" for k in range(26))
        self.write("src/codegen/README.md", "x\n")
        out = self.gate("src/codegen/a.h", SPDX + "struct A {\n" + nested + "int " + names + ";\n};\n")[1]
        self.assertIn("class A has 26 data members", out)

    def test_implementers_of_the_builder_may_have_ten_more(self):
        builder = "class Builder {\n" + "".join(f"  virtual int f{k}() = 0;\n" for k in range(45)) + "};\n"
        self.assertEqual(self.sized(55, 1, "class A final : public Builder", builder)[0], 0)
        self.assertEqual(self.sized(56, 1, "class A final : public Builder", builder)[0], 1)


if __name__ == "__main__":
    unittest.main()
