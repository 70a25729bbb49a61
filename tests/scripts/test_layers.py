# SPDX-License-Identifier: Apache-2.0
import unittest

from gate import GateTest

LAYERS = "# ground to roof\nbase\nisa\nleft right # one floor\nroof\n"


class Layers(GateTest):
    def gate(self, name, *includes):
        self.write("src/LAYERS", LAYERS)
        self.write(name, "".join(f"#include {i}\n" for i in includes))
        return self.run_gate("check_layers")

    def test_lower_rooms_and_the_own_room_are_seen(self):
        code, out = self.gate("src/left/a.cpp", '"base/types.h"', '"isa/isa.h"', '"left/b.h"', "<vector>")
        self.assertEqual(code, 0, out)
        self.assertIn("4 includes", out)

    def test_a_higher_room_is_refused_with_file_and_line(self):
        code, out = self.gate("src/base/a.h", "<vector>", '"isa/isa.h"')
        self.assertEqual(code, 1)
        self.assertIn("src/base/a.h:2", out)
        self.assertIn("isa is above base", out)

    def test_rooms_of_one_floor_do_not_see_each_other(self):
        code, out = self.gate("src/left/a.cpp", '"right/r.h"')
        self.assertEqual(code, 1)
        self.assertIn("same floor", out)

    def test_the_roof_sees_both_of_them(self):
        self.assertEqual(self.gate("src/roof/a.cpp", '"right/r.h"', '"left/l.h"')[0], 0)

    def test_relative_includes_are_refused(self):
        self.assertEqual(self.gate("src/roof/a.cpp", '"../base/types.h"')[0], 1)

    def test_an_include_without_a_room_is_refused(self):
        self.assertEqual(self.gate("src/roof/a.cpp", '"other.h"')[0], 1)

    def test_an_unlisted_room_is_refused(self):
        self.assertEqual(self.gate("src/attic/a.cpp", '"base/types.h"')[0], 1)

    def test_a_room_with_a_door_sees_only_what_is_behind_it(self):
        self.write("src/LAYERS", LAYERS + "roof : base isa/abi isa/plans\n")
        self.write("src/isa/isa.h", '#include "isa/abi/a.h"\n#include "isa/inner.h"\n')
        self.write("src/roof/a.cpp", '#include "isa/abi/a.h"\n#include "isa/plans/p.h"\n#include "base/types.h"\n')
        self.assertEqual(self.run_gate("check_layers")[0], 0)
        self.write("src/roof/b.cpp", '#include "isa/abi/a.h"\n#include "isa/isa.h"\n')
        code, out = self.run_gate("check_layers")
        self.assertEqual(code, 1)
        self.assertIn("src/roof/b.cpp:2", out)
        self.assertIn("roof includes only base isa/abi isa/plans", out)

    def test_a_door_is_no_prefix_of_names(self):
        self.write("src/LAYERS", LAYERS + "roof : isa/abi\n")
        self.write("src/roof/a.cpp", '#include "isa/abi_more.h"\n')
        self.assertEqual(self.run_gate("check_layers")[0], 1)

    def test_llvm_stays_in_its_corner(self):
        self.assertEqual(self.gate("src/isa/a.cpp", "<llvm/IR/Module.h>")[0], 1)

    def test_indented_includes_are_seen_too(self):
        self.write("src/LAYERS", LAYERS)
        self.write("src/base/a.h", '  #  include "roof/r.h"\n')
        self.assertEqual(self.run_gate("check_layers")[0], 1)

    def rules(self, rules, name, *includes):
        self.write("src/LAYERS", LAYERS + rules)
        self.write(name, "".join(f"#include {i}\n" for i in includes))
        return self.run_gate("check_layers")

    def test_a_room_below_can_be_forbidden(self):
        code, out = self.rules("roof ! isa left/inner\n", "src/roof/a.cpp", '"base/b.h"', '"isa/i.h"')
        self.assertEqual(code, 1)
        self.assertIn("src/roof/a.cpp:2", out)
        self.assertIn("roof must not include isa", out)

    def test_a_folder_below_can_be_forbidden_and_the_rest_of_its_room_not(self):
        rule = "roof ! left/inner  # why\n"
        self.assertEqual(self.rules(rule, "src/roof/a.cpp", '"left/l.h"')[0], 0)
        self.assertEqual(self.rules(rule, "src/roof/a.cpp", '"left/inner/l.h"')[0], 1)

    def test_a_list_of_rooms_allows_nothing_else(self):
        rule = "left/part : base isa/facts\n"
        self.assertEqual(self.rules(rule, "src/left/part/a.cpp", '"base/b.h"', '"isa/facts/i.h"', '"left/part/b.h"')[0], 0)
        code, out = self.rules(rule, "src/left/part/a.cpp", '"left/l.h"')
        self.assertEqual(code, 1)
        self.assertIn("left/part includes only base isa/facts", out)
        self.assertEqual(self.rules(rule, "src/left/part/a.cpp", '"isa/i.h"')[0], 1)

    def test_a_rule_needs_a_room_of_the_file(self):
        self.assertNotEqual(self.rules("attic ! base\n", "src/roof/a.cpp")[0], 0)

    def inside(self, name, *includes):
        self.write("src/roof/LAYERS", "facts\nowner.h\nparts\nowner other\n")
        return self.gate(name, *includes)

    def test_parts_of_a_room_include_downwards(self):
        self.assertEqual(self.inside("src/roof/parts/a.cpp", '"roof/facts.h"', '"roof/owner.h"', '"roof/parts/b.h"')[0], 0)
        self.assertEqual(self.inside("src/roof/owner.cpp", '"roof/owner.h"', '"roof/parts/b.h"')[0], 0)

    def test_parts_of_a_room_do_not_include_upwards(self):
        code, out = self.inside("src/roof/owner.h", "<vector>", '"roof/parts/b.h"')
        self.assertEqual(code, 1)
        self.assertIn("src/roof/owner.h:2", out)
        self.assertIn("parts is above owner.h in src/roof/LAYERS", out)

    def test_parts_of_one_floor_do_not_see_each_other(self):
        self.assertIn("same floor", self.inside("src/roof/owner.cpp", '"roof/other.h"')[1])

    def test_every_file_of_a_room_with_floors_is_on_one(self):
        code, out = self.inside("src/roof/stray.cpp", '"roof/facts.h"')
        self.assertEqual(code, 1)
        self.assertIn("src/roof/stray.cpp: this file is no part", out)
        self.assertEqual(self.inside("src/roof/facts.cpp", '"roof/stray.h"')[0], 1)


if __name__ == "__main__":
    unittest.main()
