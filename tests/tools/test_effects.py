#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Effects that the documents tell of (oracle/timing/effects): what the programs print under --virtual-time, against what they
printed on an H200 (recorded.txt). What is clearly faster there must be faster here, and times must be near where LIMITS says.
usage: test_effects.py BUILD_DIR NVCC"""
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2]
EFFECTS = pathlib.Path(__file__).resolve().parents[2] / "oracle/timing/effects"
FLAGS = "-O3 -std=c++20 -arch=sm_90a -lcuda".split()
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("UNDERSTUDY_") and k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
LINE = re.compile(r"^([a-z]\w*) ([0-9.]+)$", re.M)
CLEAR = 1.1  # times as long


def recorded():
    """{program and arguments: {name: us}}"""
    out = {}
    for part in (EFFECTS / "recorded.txt").read_text().split("\n== ")[1:]:
        title, text = part.split("\n", 1)
        out[title] = {name: float(us) for name, us in LINE.findall(text)}
    return out


class Effects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.dir.name)
        cls.h200 = recorded()

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def build(self, program):
        app = self.path / program
        subprocess.run([NVCC, *FLAGS, "-o", app, EFFECTS / f"{program}.cu"], check=True)
        return app

    def profile(self, app, *options, arguments=(), code=0):
        r = subprocess.run([BUILD / "bin/understudy", "profile", *options, app, *arguments], capture_output=True, text=True, timeout=500,
                           env={**CLEAN, "UNDERSTUDY_CACHE": str(self.path / "cache")})
        self.assertEqual(r.returncode, code, r.stderr + r.stdout)
        return r.stdout

    def compare(self, program, title, limit, *arguments, wrong=lambda name: False, clear=CLEAR):
        """`limit`: relative error, for all or by beginning of the name; `wrong`: names that the model gets wrong, docs/profile.md says so."""
        text = self.profile(self.build(program), "--virtual-time", arguments=arguments)
        self.assertIn("\nok\n", text)
        ours, theirs = {name: float(us) for name, us in LINE.findall(text)}, self.h200[title]
        self.assertEqual(set(ours), set(theirs))
        right = [n for n in theirs if not wrong(n)]
        for a, b in itertools.permutations(right, 2):
            if theirs[a] * clear < theirs[b]:
                self.assertLess(ours[a], ours[b], f"{program}: on an H200 {a} takes {theirs[a]} us and {b} {theirs[b]}")
        for name in right:
            of = limit if isinstance(limit, float) else next((v for k, v in limit.items() if name.startswith(k)), None)
            if of:
                self.assertLess(abs(ours[name] / theirs[name] - 1), of, f"{program} {name}: {ours[name]} us, on an H200 {theirs[name]}")
        return ours

    def test_f1_halo_stencil(self):
        """Stages gain; cp.async of one stage does not, with a compiler that has all loads of a thread under way."""
        self.compare("halo_stencil", "halo_stencil 21", 0.35, "2")

    def test_f3_segmented_sort(self):
        """Through registers, cp.async, cp.async and swizzle, bulk tensor copies: each is faster than the one before."""
        t = self.compare("segmented_sort", "segmented_sort 262144", 0.2, "262144")
        names = ("sync_padded", "cp_async_padded", "cp_async_swizzled", "bulk_tensor")
        self.assertEqual(sorted(names, key=t.get, reverse=True), list(names))

    def test_f4_bank_conflicts(self):
        self.compare("bank_conflicts", "bank_conflicts 21", 0.13, "2")
        # A read of w ways has w - 1 wavefronts more: 132 blocks of 8 warps, 2048 reads.
        for ways in (1, 2, 4, 8, 16, 32):
            self.profile(self.path / "bank_conflicts", "-k", f"regex:columns<{ways}, .Cure.0>", "--assert",
                         f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum == {132 * 8 * 2048 * (ways - 1)}", arguments=["1"])
        self.profile(self.path / "bank_conflicts", "-k", "regex:columns<32, .Cure.[12]>", "--assert",
                     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum == 0", arguments=["1"])

    def test_f5_compressible_memory(self):
        """Contents that fit a quarter of a line gain; others, and other memory, do not. Pieces of odd blocks begin at half lines, which
        costs on an H200: the model replays even ones only."""
        t = self.compare("compressible", "compressible 11", {"usual_equal_no": 0.1, "usual_random_no": 0.1, "compressible": 0.15}, "2",
                         wrong=lambda n: n.endswith("block_stride") or n == "compressible_equal_grid_stride")
        # On an H200 1.6 times as fast as without, but slower than without a loop: here as fast.
        self.assertGreater(t["usual_equal_grid_stride"] / t["compressible_equal_grid_stride"], 1.5)
        self.assertAlmostEqual(t["compressible_random_no_loop"] / t["usual_random_no_loop"], 1, delta=0.02)

    def test_f5_bytes_of_dram(self):
        """Nsight Compute: 100.67 of 402.66 MB are read, and of what is not compressed all."""
        app = self.build("compressible")
        for fill, least, most in (("equal", 0.24, 0.27), ("random", 0.99, 1.01)):
            # Launches of no_loop: usual equal, usual random, compressible equal, compressible random, two of each.
            skip = {"equal": "4", "random": "6"}[fill]
            for op, part in ((">=", least), ("<=", most)):
                self.profile(app, "-k", "regex:no_loop", "-s", skip, "-c", "1", "--assert", f"dram__bytes_read.sum {op} {int(part * 402653184)}",
                             arguments=["1"])

    def test_f7_stages_until_saturation(self):
        t = self.compare("stages", "stages 3", 0.12, "2")
        self.assertAlmostEqual(t["stages_24"] / t["stages_12"], 1, delta=0.05)

    def test_f8_a_graph_against_streams(self):
        """The document's figure is 5 times."""
        t = self.compare("graph_of_small_kernels", "graph_of_small_kernels 3", 0.25, "3")
        self.assertGreater(t["streams"] / t["graph"], 5)

    def test_f9_distributed_shared_memory(self):
        """Slower than local shared memory, faster than global memory, for a chain of loads."""
        self.compare("distributed_shared", "distributed_shared 3", {"chase": 0.15}, "2")

    def test_a6_cache_configurations(self):
        """Kernels that want L1 divided otherwise are not beside each other on a multiprocessor."""
        t = self.compare("cache_config", "cache_config 21", 0.15, "2")
        self.assertGreater(t["configs_differ"], 1.5 * t["configs_equal"])
        self.assertGreater(t["hints_differ"], 1.5 * t["hints_equal"])

    def test_a10_l2_between_launches(self):
        """What L2 keeps of one launch for the next. Below 24 MiB an H200's host is slower than the launches."""
        def wrong(name):
            kind, mib = name.split("_")[0], int(name.split("_")[1])
            return mib < 24 or mib in {"updates": (28, 32, 36, 40), "adds": (48, 52, 56), "reads": (48,), "swaps": (24, 28, 32, 36)}.get(kind, ())
        self.compare("l2_kept", "l2_kept", 0.2, wrong=wrong, clear=1.3)

    def test_c7_fences_and_memory_of_the_host(self):
        """Fences wait for what other kernels write to the host's memory, in whatever domain."""
        t = self.compare("domains", "domains 21", 0.08, "2", wrong=lambda n: n.endswith("cycles"))
        self.assertGreater(t["fences_beside_other_domain"], 5 * t["fences_alone"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
