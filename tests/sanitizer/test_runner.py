#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How findings are compared with the expect comments."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import bundles  # noqa: E402
import run_twins  # noqa: E402
import twins  # noqa: E402

SOURCE = """// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 4, 104
// may: deadlock
// A sentence.
a;  // expect: race-shared A
b;  // expect: race-shared B, misaligned
// expect: race-shared C
c;
d;  // expect: race-shared D
"""
SEVERITY = {"race-shared": "error", "misaligned": "error", "deadlock": "error", "race-same-value": "note"}


def finding(name, *lines, inlined=None):
    parties = [{"frames": [{"file": "/x/001_a_hit.cu", "line": line}]} for line in lines]
    if inlined:
        parties.append({"frames": [{"file": "/lib/x.h", "line": 5}, {"file": "001_a_hit.cu", "line": inlined}]})
    return {"check": name, "severity": SEVERITY[name], "parties": parties}


ALL = [finding("race-shared", 5, 6), finding("misaligned", 6), finding("race-shared", 9, inlined=8)]


class Runner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / "001_a_hit.cu"
        path.write_text(SOURCE)
        self.twin = twins.Twin(path)

    def tearDown(self):
        self.folder.cleanup()

    def complaints(self, findings):
        return run_twins.compare(self.twin, findings, SEVERITY)

    def test_comments_are_read(self):
        self.assertEqual(self.twin.expected, [("race-shared", {5, 6}), ("misaligned", {6}), ("race-shared", {8, 9})])
        self.assertEqual((self.twin.kinds, self.twin.may, self.twin.terminates), ([4, 104], {"deadlock"}, True))

    def test_all_expected_findings_and_nothing_else(self):
        self.assertEqual(self.complaints(ALL), [])

    def test_what_is_missing_is_named(self):
        self.assertEqual(self.complaints(ALL[1:]), ["not reported: race-shared at line 5, 6"])

    def test_one_party_is_not_enough(self):
        self.assertEqual(len(self.complaints([finding("race-shared", 5)] + ALL[1:])), 2)

    def test_what_nobody_expects_is_wrong_even_as_a_note(self):
        self.assertEqual(self.complaints(ALL + [finding("race-same-value", 7)]), ["not expected: race-same-value (note) at 001_a_hit.cu:7"])

    def test_a_consequence_may_be_reported(self):
        self.assertEqual(self.complaints(ALL + [finding("deadlock", 9)]), [])

    def test_exit_codes(self):
        self.assertEqual(run_twins.judge_exit(self.twin, "check", SEVERITY, 120, ""), [])
        self.assertEqual(len(run_twins.judge_exit(self.twin, "check", SEVERITY, 0, "")), 1)
        self.assertEqual(run_twins.judge_exit(self.twin, "run", SEVERITY, 0, "ended: cudaSuccess\n"), [])
        self.twin.is_hit = False
        self.assertEqual(len(run_twins.judge_exit(self.twin, "run", SEVERITY, 0, "wrong at 3")), 1)
        self.assertEqual(run_twins.judge_exit(self.twin, "run", SEVERITY, 0, "ok\n"), [])

    def test_a_bundle_keeps_twins_and_their_macros_apart(self):
        self.twin.path.write_text(SOURCE + "#include <cuda/atomic>\n#define WAIT(x) x\nint main() {}\n")
        text = bundles.source([self.twin])
        self.assertEqual(text.count("#include <cuda/atomic>"), 1)
        order = [text.index(part) for part in ("<cuda/atomic>", "namespace twin_0 {", "#define main", str(self.twin.path),
                                               "#undef main", "#undef WAIT", '{"001_a_hit", twin_0::run}')]
        self.assertEqual(order, sorted(order))

    def test_every_twin_without_flags_or_needs_is_in_one_bundle(self):
        all_twins = twins.all_twins()
        bundled = [t.name for f in sorted({t.family for t in all_twins}) for b in bundles.of_family(f) for t in b]
        self.assertEqual(sorted(bundled), sorted(t.name for t in all_twins if not {"flags", "needs"} & t.notes.keys()))


if __name__ == "__main__":
    unittest.main()
