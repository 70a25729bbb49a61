#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bugs that the usual schedule does not show: --explore finds them, and --seed shows them again, every time.
usage: test_explore.py BUILD_DIR NVCC"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import run_twins  # noqa: E402
import twins  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2]
REPLAYS = 20
HITS = [t for t in twins.all_twins() if t.family == "schedules" and t.is_hit]


class Explore(unittest.TestCase):
    def check(self, program, *options):
        with tempfile.TemporaryDirectory() as folder:
            report, sarif = pathlib.Path(folder) / "report.json", pathlib.Path(folder) / "report.sarif"
            command = [BUILD / "bin" / "understudy", "check", *options, "--json", report, "--sarif", sarif, program]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
            results = json.loads(sarif.read_text())["runs"][0]["results"]
            return done, json.loads(report.read_text())["findings"], [r["properties"]["seed"] for r in results]

    def test_bugs_of_other_schedules(self):
        self.assertGreaterEqual(len(HITS), 2)
        for twin in HITS:
            program, error = run_twins.build(twin, NVCC, BUILD / "tests" / "sanitizer")
            self.assertIsNone(error)
            done, found, _ = self.check(program)
            self.assertEqual((done.returncode, found), (0, []), twin.source)
            done, found, seeds = self.check(program, *twin.notes["options"].split())
            self.assertEqual(done.returncode, 120, twin.source)
            self.assertEqual(len(found), 1, twin.source)
            seed = found[0]["seed"]
            self.assertGreater(seed, 0)
            self.assertEqual(seeds, [seed])
            self.assertRegex(done.stderr, rf"check --seed {seed}\b")
            self.assertEqual(run_twins.compare(twin, found, {}), [])
            for _ in range(REPLAYS):
                again, replayed, _ = self.check(program, "--seed", str(seed))
                self.assertEqual(again.returncode, 120, twin.source)
                self.assertEqual(replayed, found, twin.source)

    def test_a_finding_of_the_usual_schedule_has_no_seed(self):
        twin = next(t for t in twins.all_twins() if t.source == "races/118b_write_after_read_hit.cu")
        program, error = run_twins.build(twin, NVCC, BUILD / "tests" / "sanitizer")
        self.assertIsNone(error)
        done, found, _ = self.check(program, "--explore", "3")
        self.assertEqual([f["seed"] for f in found], [0])
        self.assertIsNone(re.search("--seed", done.stderr))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
