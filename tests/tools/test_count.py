#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--count, against counts by hand. usage: test_count.py BUILD_DIR NVCC"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2]
FLAGS = "-gencode arch=compute_90,code=compute_90 -cudart shared -std=c++17 -lineinfo".split()
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("UNDERSTUDY_")}
LAUNCHES, BLOCKS, THREADS, WRITERS = 3, 6, 128, 40

PROGRAM = r"""
__device__ __forceinline__ float twice(float x) { return x + x; }
__global__ void reversed(const float* in, float* out) {
  __shared__ float s[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = in[i];
  __syncthreads();
  if (t < 40)
    out[i] = twice(s[127 - t]);
}
int main() {
  float *in, *out;
  if (cudaMalloc(&in, 4096) || cudaMalloc(&out, 4096)) return 1;
  for (int k = 0; k < 3; ++k) reversed<<<6, 128>>>(in, out);
  return cudaDeviceSynchronize();
}
"""


def line_of(text):
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


class Count(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        (folder / "x.cu").write_text(PROGRAM)
        subprocess.run([NVCC, *FLAGS, folder / "x.cu", "-o", folder / "x"], check=True, capture_output=True)
        done = subprocess.run([BUILD / "bin" / "understudy", "run", "--cache", folder / "cache", "--count", "--json",
                               folder / "r.json", folder / "x"], env=CLEAN, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        cls.text = done.stderr
        cls.kernels = json.loads((folder / "r.json").read_text())["executed"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def total(self, what, text):
        place = f"x.cu:{line_of(text)}"
        return sum(l[what] for l in self.kernels[0]["lines"] if l["line"].split()[0] == place)

    def test_launches(self):
        self.assertEqual([k["kernel"] for k in self.kernels], ["reversed(float const*, float*)"])
        self.assertEqual(self.kernels[0]["launches"], LAUNCHES)
        self.assertIn("reversed(float const*, float*): 3 launches", self.text)

    def test_bytes(self):
        all_threads = LAUNCHES * BLOCKS * THREADS * 4
        self.assertEqual(self.total("global_bytes_read", "s[t] = in[i]"), all_threads)
        self.assertEqual(self.total("shared_bytes_written", "s[t] = in[i]"), all_threads)
        writers = LAUNCHES * BLOCKS * WRITERS * 4
        self.assertEqual(self.total("shared_bytes_read", "out[i] ="), writers)
        self.assertEqual(self.total("global_bytes_written", "out[i] ="), writers)
        self.assertEqual(sum(l["global_bytes_read"] for l in self.kernels[0]["lines"]), all_threads)

    def test_barriers(self):
        self.assertEqual(self.total("barriers", "__syncthreads"), LAUNCHES * BLOCKS * THREADS // 32)

    def test_inlined_functions_are_named(self):
        places = [l for l in self.kernels[0]["lines"] if "in twice(float)" in l["line"]]
        self.assertEqual([l["line"] for l in places],
                         [f"x.cu:{line_of('twice(float x)')} in twice(float), called at x.cu:{line_of('out[i] =')}"])
        # One addition, by two of the four warps.
        self.assertEqual(places[0]["warp_instructions"], LAUNCHES * BLOCKS * 2)
        self.assertEqual(places[0]["lanes"], LAUNCHES * BLOCKS * WRITERS)

    def test_no_kernel(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "none.cu").write_text("int main() { return cudaFree(0); }\n")
        subprocess.run([NVCC, *FLAGS, folder / "none.cu", "-o", folder / "none"], check=True, capture_output=True)
        done = subprocess.run([BUILD / "bin" / "understudy", "run", "--count", folder / "none"], env=CLEAN,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, "no kernel was executed\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
