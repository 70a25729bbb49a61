#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--count on kernels of gallery/, against counts by hand: each comment derives them from the source and the sizes of a
run without --h200. usage: test_count_gallery.py BUILD_DIR"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
GALLERY = pathlib.Path(__file__).resolve().parents[2] / "gallery"
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("UNDERSTUDY_")}
WORD = 4  # bytes


class Kernel:
    def __init__(self, source, record):
        self.source, self.lines, self.launches = source, record["lines"], record["launches"]

    def total(self, what):
        return sum(line[what] for line in self.lines)

    def at(self, what, text):
        """Of the source line that holds the text, with what was inlined there."""
        places = {f"{self.source.name}:{n}" for n, line in enumerate(self.source.read_text().splitlines(), 1) if text in line}
        assert len(places) == 1, f"{text}: {places}"
        return sum(l[what] for l in self.lines if places & set(re.split(r"[ ,]+", l["line"])))


class CountGallery(unittest.TestCase):
    def run_program(self, path):
        source = GALLERY / path
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "r.json"
            done = subprocess.run([BUILD / "bin" / "understudy", "run", "--count", "--json", report, BUILD / "programs" /
                                   f"program_gallery_{source.stem}", "--no-time"], env=CLEAN, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            kernels = json.loads(report.read_text())["executed"]
        return {re.sub(r"^void |\(.*$", "", k["kernel"].replace("(Way)", "").replace("(Where)", "")): Kernel(source, k)
                for k in kernels}

    def check(self, kernel, **expected):
        self.assertEqual({what: kernel.total(what) for what in expected}, expected)

    runs = {}

    def run_once(self, path):
        if path not in self.runs:
            self.runs[path] = self.run_program(path)
        return self.runs[path]

    def test_transpose(self):
        # A matrix of 96 x 96 words, one warp for each of 9 tiles of 32 x 32. Each word is read once from global and
        # written once to shared memory, read there in each of two rounds (through a volatile pointer), and its sum
        # written once to global memory. The warp's own barrier is none of the block.
        words = 96 * 96
        for way in ("0", "1", "2"):
            kernel = self.run_once("sort/bank_conflicts.cu")[f"transpose<{way}>"]
            self.check(kernel, global_bytes_read=WORD * words, shared_bytes_written=WORD * words, barriers=0, copies=0,
                       shared_bytes_read=WORD * words * 2, global_bytes_written=WORD * words)
            self.assertEqual(kernel.at("shared_bytes_read", "sum[column] = sum[column] * 5"), WORD * words * 2)
        # The fourth way: one lane of each warp asks for the whole tile, whose bytes no instruction of the kernel reads.
        kernel = self.run_once("sort/bank_conflicts.cu")["transpose<3>"]
        self.check(kernel, global_bytes_read=0, shared_bytes_written=0, copies=9, shared_bytes_read=WORD * words * 2)
        self.assertEqual(kernel.at("copies", "load_tile(tile, &map, x, y, &full);"), 9)

    def test_divergent_commit(self):
        # 3 blocks of 64 threads (2 warps each), 7 batches of a word per thread: even lanes copy what odd ones do not.
        # blend() reads four words of the tile for each word of output. Two barriers for each batch.
        words, warps, batches = 3 * 64 * 7, 3 * 2, 7
        kernels = [self.run_once("pipeline/divergent_commit.cu")[f"fetch<{where}>"] for where in range(3)]
        for kernel in kernels:
            self.check(kernel, copies=words, global_bytes_read=0, global_bytes_written=WORD * words,
                       shared_bytes_read=4 * WORD * words, barriers=2 * warps * batches)
            self.assertEqual(kernel.at("global_bytes_written", "blend(slots[batch & 1]"), WORD * words)
        # start() runs once before the loop and in each turn of it, also where nothing is left to copy. Its commit is
        # one instruction of the whole warp behind the branches, and one of each lane alone in the loop over lanes.
        starts = warps * (batches + 1)
        self.assertEqual(self.commits(kernels[0]), (starts, 32 * starts))
        self.assertEqual(self.commits(kernels[2]), (32 * starts, 32 * starts))

    @staticmethod
    def commits(kernel):
        lines = [l for l in kernel.lines if re.match(r"\S+ in \S*pipeline_commit\(\), called", l["line"])]
        return sum(l["warp_instructions"] for l in lines), sum(l["lanes"] for l in lines)

    def test_store_ring(self):
        # 3 clusters of 8 CTAs of 64 threads, launched for 1, 2, 7, 8 and 33 rounds. A thread reads its 16 bytes once in
        # a launch and writes them once; in each round it sends them with one st.async and reads what came. The
        # cluster meets at the beginning and at the end.
        threads, launches, rounds = 3 * 8 * 64, 5, 1 + 2 + 7 + 8 + 33
        kernel = self.run_once("clusters/store_ring.cu")["ring"]
        self.assertEqual(kernel.launches, launches)
        self.check(kernel, global_bytes_read=16 * threads * launches, global_bytes_written=16 * threads * launches,
                   shared_bytes_read=16 * threads * rounds, copies=threads * rounds,
                   barriers=2 * launches * threads // 32)
        self.assertEqual(kernel.at("shared_bytes_read", "v = slots[s][t];"), 16 * threads * rounds)
        # One thread of each CTA prepares two barriers of each kind, and expects the bytes of each round.
        self.assertEqual(kernel.at("lanes", "fence_mbarrier_init();"), 3 * 8 * launches)

    def test_cluster_histogram(self):
        # 20000 words by clusters of 1 to 16 CTAs: each word is read once and counted by one atomic in the shared memory
        # of some CTA, whose address is generic. An atomic reads and writes. A CTA of a cluster of n clears
        # ceil(480 / n) bins, and adds them to global memory with one atomic each. 16 / n * n CTAs of two warps; the
        # cluster meets twice.
        sizes = (1, 2, 3, 4, 6, 8, 10, 12, 16)
        words, ctas = 20000 * len(sizes), sum(16 // n * n for n in sizes)
        bins = sum(16 // n * n * -(-480 // n) for n in sizes)
        kernel = self.run_once("clusters/cluster_histogram.cu")["histogram"]
        self.assertEqual(kernel.launches, len(sizes))
        self.check(kernel, global_bytes_read=WORD * (words + bins), global_bytes_written=WORD * bins,
                   generic_bytes_read=WORD * words, generic_bytes_written=WORD * words,
                   shared_bytes_read=WORD * bins, shared_bytes_written=WORD * bins, barriers=2 * 2 * ctas)
        self.assertEqual(kernel.at("global_bytes_read", "const unsigned bin = in[i] % all;"), WORD * words)
        self.assertEqual(kernel.at("shared_bytes_written", "mine[k] = 0;"), WORD * bins)

    def test_halo_stencil(self):
        # A volume of 96 x 40 x 7; 7 * 3 * 5 tiles of 32 x 8, each with a halo of 8: 48 x 24 words, by 8 warps. Of the
        # words of a tile those inside the volume are read: in x 40, 48 and 40 of the three tiles of a row, in y 16,
        # 24, 24, 24 and 16 of the five of a column. The star has 1 + 4 * 8 words. Two barriers for each tile.
        tiles, staged, threads = 7 * 3 * 5, 48 * 24, 32 * 8
        inside = 7 * (40 + 48 + 40) * (16 + 24 + 24 + 24 + 16)
        kernels = self.run_once("stencil/halo_stencil.cu")
        star = dict(shared_bytes_read=WORD * 33 * threads * tiles, global_bytes_written=WORD * threads * tiles)
        self.check(kernels["sync_copy"], global_bytes_read=WORD * inside, shared_bytes_written=WORD * staged * tiles,
                   barriers=2 * 8 * tiles, copies=0, **star)
        for stages in (1, 2, 3):
            # cp.async fills what is outside with zeros: it is asked for, too.
            self.check(kernels[f"staged<{stages}>"], global_bytes_read=0, copies=staged * tiles, barriers=2 * 8 * tiles, **star)
            # One lane asks for a tile; one barrier for each, and one at the beginning of each of the 3 * 5 * 2 CTAs.
            self.check(kernels[f"bulk_tensor<{stages}>"], copies=tiles, barriers=8 * (tiles + 3 * 5 * 2), **star)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
