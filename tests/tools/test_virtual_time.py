#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`understudy profile --virtual-time`: what programs print, against what they print on an H200.
usage: test_virtual_time.py BUILD_DIR NVCC"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2]
FLAGS = "-gencode arch=compute_90,code=compute_90 -cudart shared -std=c++20".split()
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("UNDERSTUDY_") and k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}

PROGRAM = r"""
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/time.h>
#include <cuda_runtime.h>
__global__ void nothing() {}
__global__ void add(float* y, const float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += 2 * x[i];
}
__global__ void calls(int* out) {
  void* p = malloc(16);
  out[threadIdx.x] = p != nullptr;
  free(p);
}
cudaStream_t s;
void tell(const char* what, auto&& f) {
  cudaEvent_t a, b;
  cudaEventCreate(&a), cudaEventCreate(&b);
  cudaDeviceSynchronize();
  cudaEventRecord(a, s);
  f();
  cudaEventRecord(b, s);
  cudaEventSynchronize(b);
  float ms = 0;
  cudaEventElapsedTime(&ms, a, b);
  std::printf("%s %.4f\n", what, ms * 1000);
}
double seconds() {
  timeval t;
  gettimeofday(&t, nullptr);
  return double(t.tv_sec) + 1e-6 * double(t.tv_usec);
}
int main(int argc, char**) {
  constexpr size_t kBytes = 64 << 20;
  char *pinned, *device;
  char* const pageable = static_cast<char*>(std::calloc(kBytes, 1));
  cudaMallocHost(&pinned, kBytes), cudaMalloc(&device, kBytes);
  cudaStreamCreate(&s);
  const auto launch = [] { nothing<<<1, 32, 0, s>>>(); };
  launch();
  tell("in", [&] { cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice, s); });
  tell("out", [&] { cudaMemcpyAsync(pinned, device, kBytes, cudaMemcpyDeviceToHost, s); });
  tell("pageable", [&] { cudaMemcpyAsync(device, pageable, kBytes, cudaMemcpyHostToDevice, s); });
  tell("within", [&] { cudaMemcpyAsync(device, device + kBytes / 2, kBytes / 2, cudaMemcpyDeviceToDevice, s); });
  tell("set", [&] { cudaMemsetAsync(device, 0, kBytes, s); });
  tell("one", launch);
  tell("stream", [&] { for (int k = 0; k < 200; ++k) launch(); });
  cudaGraph_t g;
  cudaGraphExec_t e;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  for (int k = 0; k < 200; ++k) launch();
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&e, g, 0);
  tell("graph", [&] { cudaGraphLaunch(e, s); });
  const int n = 1 << 20;
  float *x = (float*)device, *y = x + n;
  add<<<132, 1024, 0, s>>>(y, x, n);  // its code is loaded
  cudaMemsetAsync(device + kBytes / 8, 0, kBytes / 8 * 7, s);  // 56 MiB: x and y are no more in L2
  for (int k = 0; k < 6; ++k) tell("add", [&] { add<<<132, 1024, 0, s>>>(y, x, n); });
  tell("adds", [&] { for (int k = 0; k < 50; ++k) add<<<132, 1024, 0, s>>>(y, x, n); });
  if (argc > 1) calls<<<1, 32, 0, s>>>((int*)device);
  cudaDeviceSynchronize();
  const auto t = std::chrono::steady_clock::now();
  const double at = seconds();
  for (int k = 0; k < 100; ++k) launch();
  cudaDeviceSynchronize();
  const double took = seconds() - at;
  std::printf("chrono %.4f\n", std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - t).count());
  std::printf("timeofday %.4f\n", took * 1e6);
  return cudaGetLastError() != cudaSuccess;
}
"""


class VirtualTime(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.dir.name)
        (cls.path / "v.cu").write_text(PROGRAM)
        cls.app = cls.path / "v"
        subprocess.run([NVCC, *FLAGS, "-o", cls.app, cls.path / "v.cu"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def profile(self, *options, arguments=()):
        r = subprocess.run([BUILD / "bin/understudy", "profile", *options, self.app, *arguments], capture_output=True, text=True, timeout=300,
                           env={**CLEAN, "UNDERSTUDY_CACHE": str(self.path / "cache")})
        self.assertEqual(r.returncode, 0, r.stderr + r.stdout)
        times = {}
        for what, us in re.findall(r"^(\w+) ([0-9.]+)$", r.stdout, re.M):
            times.setdefault(what, []).append(float(us))
        return times, r.stdout

    def test_what_the_program_prints(self):
        times, text = self.profile("--virtual-time")
        (one,) = times["one"]
        # oracle/timing/effects/recorded.txt, host_and_copies: the same with 64 MiB, pageable memory in two runs; the
        # set of an idle stream from oracle/timing/api.txt, memset and memset_async.
        for what, least, most in (("in", 1215.5, 1219.4), ("out", 1215.1, 1222), ("set", 20.10, 20.70), ("one", 5.18, 5.73),
                                  ("pageable", 4896, 10061), ("stream", 688.6, 832.3)):
            self.assertGreater(times[what][0], least * 0.97, what)
            self.assertLess(times[what][0], most * 1.03, what)
        # 0.683 us for each node behind the first, for which it is 3.55 to 3.78 us.
        self.assertAlmostEqual(times["graph"][0], 3.66 + 199 * 0.683, delta=0.12 * (3.66 + 199 * 0.683))
        # 12 MiB from DRAM the first time; then L2 has them.
        cold, warm = times["add"][0], times["add"][-1]
        self.assertGreater(cold, warm + 0.4)
        self.assertEqual(times["add"][3:], [warm] * 3)
        self.assertAlmostEqual(times["adds"][0], max(49 * 3.65 + warm, 50 * (warm - 3.65)), delta=8)
        self.assertRegex(text, r"\n    nothing\(\) +\d+ +3 ")  # launches, those that were modelled
        self.assertRegex(text, r"copy, pinned host to device +1 +67.109 ")
        self.assertIn("took what those like them before took", text)
        self.assertNotIn("no figure", text)
        self.assertEqual(self.profile("--virtual-time")[0]["adds"], times["adds"])

    def test_caches_between_launches(self):
        times, _ = self.profile("--virtual-time", "--cache-control", "all")
        self.assertEqual(times["add"], [times["add"][0]] * 6)

    def test_what_has_no_figure_is_said(self):
        _, text = self.profile("--virtual-time", arguments=["calls"])
        self.assertRegex(text, r"There is no figure for 1 launch of calls\(int\*\), which took no time here: the kernel calls functions")

    def test_clocks_of_the_host(self):
        times, _ = self.profile("--virtual-time", "--virtual-host-clock")
        # 100 launches, the last kernel, and waking up; what the program itself needs is measured: microseconds.
        for clock in ("chrono", "timeofday"):
            self.assertGreater(times[clock][0], 100 * 3.65 + 2)
            self.assertLess(times[clock][0], 2 * (100 * 3.65 + 6))

    def test_timeline_has_the_same_times(self):
        out = self.path / "t.json"
        times, _ = self.profile("--virtual-time", "--timeline", out)
        events = [e for e in json.loads(out.read_text())["traceEvents"] if e["ph"] == "X"]
        copy = next(e for e in events if e["name"] == "copy, pinned to device")
        self.assertAlmostEqual(copy["dur"], times["in"][0] - 1.25 - 2 * 1.35, delta=0.2)
        self.assertTrue(any(e["args"].get("as") == "launches before it" for e in events))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
