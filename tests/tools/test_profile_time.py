#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`understudy profile`'s model of time: loops whose turns others decide, bodies and slow ways that some lanes go through, another
device. usage:
test_profile_time.py BUILD_DIR NVCC"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2]
FLAGS = "-gencode arch=compute_90,code=compute_90 -cudart shared -std=c++17 -lineinfo".split()
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("UNDERSTUDY_") and k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}

# A body of arithmetic alone, which not all lanes go through: nothing in it is an access.
SOME_LANES = r"""
__global__ void some_lanes(float* out, float x, int some) {
  float v = x;
#pragma unroll 1
  for (int k = 0; k < 100; ++k)
    if (int(threadIdx.x % 32) < some) {
#pragma unroll
      for (int j = 0; j < 12; ++j) v = sqrtf(v) * x;
    }
  out[threadIdx.x] = v;
}
int main() {
  float* out;
  cudaMalloc(&out, 4096);
  for (int some : {0, 16, 32}) some_lanes<<<1, 128>>>(out, 0.5f, some);
  return cudaDeviceSynchronize();
}
"""

# The least of all threads' numbers: who has a larger one than is there goes at once.
LEAST = r"""
__global__ void least(unsigned long long* to) {
  const unsigned long long mine = threadIdx.x + blockIdx.x * blockDim.x + 1;
  unsigned long long there = *(volatile unsigned long long*)to;
  while (mine < there) {
    const unsigned long long old = there;
    if ((there = atomicCAS(to, old, mine)) == old) break;
  }
}
int main() {
  unsigned long long* to;
  cudaMalloc(&to, 8);
  cudaMemset(to, 0xff, 8);
  least<<<1024, 256>>>(to);
  return cudaDeviceSynchronize();
}
"""

# As oracle/timing/mixes.cu has it; and of 64-bit integers, of which only some lanes have more than 32 bits.
QUOTIENTS = r"""
#include <cstdint>
__global__ void quotients(const float* in, float* out, int turns) {
  const float a = in[threadIdx.x % 32], b = in[32 + threadIdx.x % 32];
  float v = 0;
#pragma unroll 1
  for (int t = 0; t < turns; ++t) v += (a * v + a) / (b + v * a);
  if (v == 12345.f) *out = v;
}
__global__ void remainders(uint64_t* a, int turns, int some) {
  const uint64_t high = uint64_t(int(threadIdx.x % 32) < some) << 40;
  uint64_t v = a[threadIdx.x] + threadIdx.x;
#pragma unroll 1
  for (int t = 0; t < turns; ++t) v = (v + high) % (a[32 + threadIdx.x] + 7 + high);
  a[threadIdx.x] = v;
}
int main() {
  float *a, in[64];
  cudaMalloc(&a, 4096);
  for (float x : {1e-3f, 0.0f, 1e-40f}) {
    for (int k = 0; k < 64; ++k) in[k] = k < 32 ? x : 2.0f;
    cudaMemcpy(a, in, sizeof in, cudaMemcpyHostToDevice);
    for (int threads : {32, 512}) quotients<<<132, threads>>>(a, a + 512, 64);
  }
  cudaMemset(a, 0, 4096);
  for (int some : {0, 8, 32}) remainders<<<1, 128>>>(reinterpret_cast<uint64_t*>(a), 10, some);
  return cudaDeviceSynchronize();
}
"""

READ_AND_EMPTY = r"""
#include <cstdint>
__global__ void read_one(const uint4* a, uint32_t* out) {
  const uint4 v = a[size_t(blockIdx.x) * blockDim.x + threadIdx.x];
  if (v.x + v.y + v.z + v.w == 0x9e3779b9u) *out = v.x;
}
__global__ void empty() {}
int main() {
  uint4* a;
  uint32_t* out;
  cudaMalloc(&a, 1 << 26), cudaMalloc(&out, 4);
  cudaMemset(a, 0, 1 << 26);
  read_one<<<16384, 256>>>(a, out);
  empty<<<132, 256>>>();
  return cudaDeviceSynchronize();
}
"""

SHARED_LOOPS = r"""
#include <cstdint>
__global__ void queue(uint32_t* next, uint32_t* out, uint32_t jobs, int work) {
  __shared__ uint32_t job;
  float v = threadIdx.x;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) job = atomicAdd(next, 1);
    __syncthreads();
    if (job >= jobs) break;
    for (int k = 0; k < work * int(1 + job % 4); k++) v = v * 0.999f + job;
  }
  if (v == 12345.f) *out = 1;
}
__global__ void chain(uint32_t* flags, uint32_t* sums) {
  if (threadIdx.x) return;
  uint32_t before = 0;
  if (blockIdx.x) {
    uint32_t there;
    do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(there) : "l"(flags + blockIdx.x - 1) : "memory");
    while (!there);
    before = sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = before + 1;
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(flags + blockIdx.x), "r"(1) : "memory");
}
__global__ void lock(uint32_t* word, uint32_t* value, int each) {
  if (threadIdx.x) return;
  for (int k = 0; k < each; k++) {
    while (atomicCAS(word, 0, 1)) {}
    __threadfence();
    *reinterpret_cast<volatile uint32_t*>(value) += 1;
    __threadfence();
    atomicExch(word, 0);
  }
}
__global__ void shared_swap_add(uint32_t* out, int each) {
  __shared__ uint32_t word;
  if (threadIdx.x == 0) word = 0;
  __syncthreads();
  for (int k = 0; k < each; k++) {
    uint32_t seen = word, before;
    do before = seen, seen = atomicCAS(&word, before, before + 3);
    while (seen != before);
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = word;
}
int main() {
  uint32_t *a, got = 0;
  cudaMalloc(&a, 1 << 16);
  cudaMemset(a, 0, 1 << 16);
  queue<<<264, 128>>>(a, a + 64, 1000, 256);
  chain<<<132, 32>>>(a + 1024, a + 2048);
  lock<<<132, 32>>>(a + 4096, a + 4160, 16);
  shared_swap_add<<<132, 512>>>(a + 8192, 1);
  cudaMemcpy(&got, a + 2048 + 131, 4, cudaMemcpyDeviceToHost);
  if (got != 132) return 1;
  cudaMemcpy(&got, a + 4160, 4, cudaMemcpyDeviceToHost);
  if (got != 132 * 16) return 2;
  cudaMemcpy(&got, a + 8192, 4, cudaMemcpyDeviceToHost);
  return got == 512 * 3 ? 0 : 3;
}
"""


class Time(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.dir.name)

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def build(self, name, text, *options):
        source, app = self.path / f"{name}.cu", self.path / name
        source.write_text(text)
        subprocess.run([NVCC, *FLAGS, *options, "-o", app, source], check=True)
        return app

    def launches(self, app, *options):
        out = self.path / "out.json"
        r = subprocess.run([BUILD / "bin/understudy", "profile", "--json", out, *options, app],
                           env={**CLEAN, "UNDERSTUDY_CACHE": str(self.path / "cache")}, capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stderr + r.stdout)
        return json.loads(out.read_text())["launches"]

    def value(self, launch, metric):
        return launch["metrics"][metric]["value"]

    def test_loops_that_others_decide(self):
        """Threads take turns, as on the device: jobs of a queue go to all blocks, and who waits looks again and again."""
        launches = self.launches(self.build("loops", SHARED_LOOPS))
        recorded = dict(line.split(" | ") for line in (ROOT / "oracle/timing/turns.txt").read_text().splitlines()[2:])
        for l, name, limit in zip(launches,
                                  ("queue 1000 256 264 128", "chain 0 0 132 32", "lock 16 0 132 32", "shared_swap_add 1 0 132 512"),
                                  (0.6, 0.6, 0.4, 0.3), strict=True):
            h200 = float(recorded[name].split()[0])
            self.assertLess(abs(self.value(l, "gpu__time_duration.sum") / h200 - 1), limit, name)

    def test_who_swaps_a_word(self):
        """Not whoever has the largest number in each pass: 205 us and 284466 instructions on an H200 (oracle/timing/public, hec_atomicCAS)."""
        [l] = self.launches(self.build("least", LEAST))
        self.assertLess(self.value(l, "gpu__time_duration.sum"), 4 * 205248)
        self.assertLess(self.value(l, "smsp__inst_executed.sum"), 4 * 284466)

    def test_arithmetic_of_some_lanes(self):
        app = self.build("some_lanes", SOME_LANES, "-use_fast_math")
        for l, some in zip(self.launches(app), (0, 16, 32), strict=True):
            roots = [i for i in l["machine_code"] if i["instruction"].startswith("MUFU") and i.get("warps", 1)]
            self.assertEqual(sum(i.get("warps", 0) for i in roots), 4 * 100 * 12 * bool(some), some)
            self.assertEqual(sum(i.get("lanes", 0) for i in roots), 4 * 100 * 12 * some, some)

    def test_slow_ways_of_quotients(self):
        """Which way machine code goes inside of one instruction depends on each lane's operands."""
        launches = self.launches(self.build("quotients", QUOTIENTS))
        lines = [line.split() for line in (ROOT / "oracle/timing/mixes.txt").read_text().splitlines() if line.startswith("quotients")]
        for l, recorded in zip(launches[:6], lines, strict=True):
            exactly = 0.1 if recorded[1] == "1" else 0.001  # of zero: the subroutine's way is too long
            for metric, value, limit in (("smsp__inst_executed.sum", recorded[-1], exactly), ("gpu__time_duration.sum", recorded[6], 0.12)):
                self.assertLess(abs(self.value(l, metric) / float(value) - 1), limit, (recorded[:5], metric))
        for l, some in zip(launches[6:], (0, 8, 32), strict=True):
            for name, lanes in (("I2F.U64.RP", some), ("I2F.U32.RP", 32 - some)):
                all = [i for i in l["machine_code"] if i["instruction"].startswith(name)]
                self.assertEqual(sum(i.get("warps", 0) for i in all), 4 * 10 * bool(lanes), (some, name))
                self.assertEqual(sum(i.get("lanes", 0) for i in all), 4 * 10 * lanes, (some, name))

    def test_another_device(self):
        """An H100 against its own recording: a launch takes longer there than on an H200, and DRAM gives less."""
        app, time = self.build("read_and_empty", READ_AND_EMPTY, "-gencode", "arch=compute_80,code=compute_80"), {}
        for device, folder in (("h200", ""), ("h100", "h100/")):
            recorded = dict(line.split(" | ") for line in (ROOT / f"oracle/timing/{folder}load.txt").read_text().splitlines()[2:])
            for l, name in zip(self.launches(app, "--device", device), ("read_one 16 4194304 16384 256 0", "empty 0 0 132 256 1"), strict=True):
                time[device, name[:5]] = self.value(l, "gpu__time_duration.sum")
                self.assertLess(abs(time[device, name[:5]] / float(recorded[name].split()[2]) - 1), 0.2, (device, name))
        for kind in ("read_", "empty"):
            self.assertGreater(time["h100", kind], 1.1 * time["h200", kind])
        for l in self.launches(app, "--device", "a100"):
            self.assertIn("only sm_90 is known", l["no_time"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
