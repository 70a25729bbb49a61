#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`understudy profile` of programs with many launches: what is kept of them, which are profiled, what is said meanwhile; units. usage:
test_profile_launches.py BUILD_DIR NVCC"""
import csv
import io
import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2]
FLAGS = "-gencode arch=compute_90,code=compute_90 -cudart shared -std=c++17 -lineinfo".split()
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("UNDERSTUDY_") and k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}

SHAPES = r"""
__global__ void scale(const float* in, float* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 2 * in[blockIdx.x * blockDim.x + threadIdx.x]; }
__global__ void clear(float* x) { x[threadIdx.x] = 0; }
int main() {
  float* a;
  cudaMalloc(&a, 1 << 20);
  for (int k = 0; k < 3; ++k) scale<<<8, 128>>>(a, a + 65536);
  scale<<<16, 128>>>(a, a + 65536);
  clear<<<1, 32>>>(a);
  clear<<<1, 32>>>(a);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""

MANY = r"""
__global__ void strided(const float* in, float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[(blockIdx.x * blockDim.x + threadIdx.x) * 8];  // line 3
}
int main() {
  float* a;
  cudaMalloc(&a, 8 << 20);
  for (int k = 0; k < 100; ++k) strided<<<132, 128>>>(a, a + (1 << 20));
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""

# Accesses whose lanes lie apart in each of the ways that compiled code knows, or learns from the first.
SHARED = r"""
__global__ void shared(const int* in, int* out, int step) {
  __shared__ int words[1056];
  __shared__ short halves[256];
  __shared__ double pairs[256];
  const int t = threadIdx.x, at = blockIdx.x * blockDim.x + t, k = in[at];
  int own[8], sum = 0;
  for (int i = 0; i < 8; ++i) own[(i + k) & 7] = i * k;  // local memory
  words[t] = k, halves[t] = k, pairs[t] = k;
  __syncthreads();
  for (int i = 0; i < 8; ++i) {
    sum += words[t * 33 % 256 + i] + words[i] + words[t * step & 1023] + halves[(t + i) & 255] + (int)pairs[(t * step + i) & 255];
    sum += own[(sum + i) & 7] + words[(k * 7 + i * i * t) & 1023];  // i: lanes lie apart differently each time
    if (t & 1) words[t] += sum;
    atomicAdd(&words[(t * i) & 255], 1);
  }
  out[at] = sum;
}
int main() {
  int* a;
  cudaMalloc(&a, 8 << 20);
  cudaMemset(a, 1, 8 << 20);
  for (int step = 1; step < 5; ++step) shared<<<800, 256>>>(a, a + (1 << 20), step);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""

SLOW = r"""
#include <unistd.h>
__global__ void one(int* x) { *x = 1; }
int main() {
  int* x;
  cudaMalloc(&x, 4);
  for (int k = 0; k < 3; ++k) one<<<1, 1>>>(x);
  const bool failed = cudaDeviceSynchronize() != cudaSuccess;
  sleep(4);
  return failed;
}
"""


class Launches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.dir.name)
        for name, text in (("many", MANY), ("slow", SLOW), ("shapes", SHAPES), ("shared", SHARED)):
            (cls.path / f"{name}.cu").write_text(text)
            subprocess.run([NVCC, *FLAGS, "-o", cls.path / name, cls.path / f"{name}.cu"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def profile(self, *options, code=0):
        r = subprocess.run([BUILD / "bin/understudy", "profile", *options], env=CLEAN, capture_output=True, text=True)
        self.assertEqual(r.returncode, code, r.stderr + r.stdout)
        return r

    def launches(self, *options):
        out = self.path / "out.json"
        self.profile("--json", out, *options)
        return json.loads(out.read_text())["launches"]

    def test_many_launches(self):
        """Forty launches of a kernel are kept in full, the others with their metrics."""
        kept, part = self.path / "many.profile", self.path / "part.profile"
        launches = self.launches("-o", kept, self.path / "many")
        self.assertEqual([l.get("detailed", True) for l in launches], [True] * 40 + [False] * 60)
        first, last = launches[0], launches[-1]
        self.assertIn("machine_code", first)
        self.assertNotIn("machine_code", last)
        self.assertEqual(first["metrics"].keys(), last["metrics"].keys())
        for name, value in first["metrics"].items():
            if value["quality"] == "exact":
                self.assertEqual(value, last["metrics"][name], name)
        self.assertEqual(last["metrics"]["smsp__inst_executed.sum"], first["metrics"]["smsp__inst_executed.sum"])
        page = self.profile("-i", kept).stdout
        self.assertEqual(page.count("Section: Occupancy"), 100)
        self.assertIn("ld.global.f32 at many.cu:3", page)
        source = self.profile("-i", kept, "--page", "source").stdout
        self.assertEqual(source.count("stall cycles"), 40)
        self.assertIn("60 more launches of strided(float const*, float*)", source)
        self.profile("-c", "40", "-o", part, self.path / "many")
        self.assertLess(kept.stat().st_size - part.stat().st_size, 60 * 1500)

    def test_filter_mode(self):
        def of(*options):
            return [(l["kernel"].split("(")[0], l["grid"][0]) for l in self.launches(*options, self.path / "shapes")]
        self.assertEqual(of("--filter-mode", "per-launch-config", "-c", "1"), [("scale", 8), ("scale", 16), ("clear", 1)])
        self.assertEqual(of("--filter-mode", "per-launch-config", "-s", "1"), [("scale", 8), ("scale", 8), ("clear", 1)])
        self.assertEqual(of("--filter-mode", "per-launch-config", "-c", "1", "-k", "regex:^cl"), [("clear", 1)])
        self.assertEqual(of("--filter-mode", "global", "-s", "2", "-c", "2"), [("scale", 8), ("scale", 16)])
        self.assertIn("expected global", self.profile("--filter-mode", "each", self.path / "shapes", code=125).stderr)

    def test_unheard(self):
        """What compiled code counts without a record changes nothing in the report, and it does count."""
        def report(*options):
            launches = self.launches("--no-cache", *options, self.path / "shared")
            return [{k: v for k, v in l.items() if k != "process"} for l in launches]
        self.assertEqual(report(), report("--disable-pass", "unheard"))
        said = self.profile("--no-cache", "--dump-after", "unheard", "-c", "1", self.path / "shared").stderr
        self.assertIn("counted where nobody replays", said)

    def test_units(self):
        """With prefixes, as scripts find them that read Nsight Compute's usual output."""
        def values(*options):
            text = self.profile("--csv", "-c", "1", *options, self.path / "many").stdout
            return {r["Metric Name"]: (r["Metric Value"], r["Metric Unit"]) for r in csv.DictReader(io.StringIO(text))}
        base, scaled = values(), values("--print-units", "auto")
        self.assertEqual((base["Duration"][1], scaled["Duration"][1]), ("ns", "us"))
        self.assertAlmostEqual(float(scaled["Duration"][0]), float(base["Duration"][0].replace(",", "")) / 1000, delta=0.006)
        self.assertRegex(scaled["Memory Throughput"][1], "^[KMGT]byte/s")
        self.assertEqual(base["Elapsed Cycles"], scaled["Elapsed Cycles"])
        self.assertIn("expected base", self.profile("--print-units", "si", self.path / "many", code=125).stderr)

    def test_progress_on_a_terminal_only(self):
        options = ["--quiet", "--log-file", os.devnull, self.path / "slow"]
        self.assertEqual(self.profile(*options).stderr, "")
        ours, theirs = pty.openpty()
        with subprocess.Popen([BUILD / "bin/understudy", "profile", *options], env=CLEAN, stdout=subprocess.DEVNULL, stderr=theirs) as p:
            self.assertEqual(p.wait(timeout=120), 0)
        os.close(theirs)
        said = os.read(ours, 65536).decode()
        os.close(ours)
        self.assertRegex(said, r"understudy profile: \d+ s, 3 launches")
        self.assertTrue(said.endswith("\r\x1b[K"), said)  # and gone at the end


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
