#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`understudy profile`: counts against hand counts, options, forms, assertions. usage: test_profile.py BUILD_DIR NVCC"""
import csv
import io
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
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("UNDERSTUDY_") and k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}

PROGRAM = r"""
#include <cuda_pipeline.h>
__global__ void columns(int* out, int stride) {
  __shared__ int tile[32 * 33];
  tile[threadIdx.x * stride] = threadIdx.x;              // line 5
  __syncthreads();
  out[threadIdx.x] = tile[(threadIdx.x ^ 1) * stride];   // line 7
}
__global__ void gather(const float* in, float* out, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * stride];
}
__global__ void copies(const float4* in, float4* out) {
  __shared__ float4 tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (threadIdx.x < 16) out[threadIdx.x] = tile[threadIdx.x];
}
template <class T> __global__ void half(T* out) { if (threadIdx.x % 2) atomicAdd(out + threadIdx.x, 1); }
__device__ __noinline__ int twice(int x) { return x * 2 + clock(); }
__global__ void calls(int* out) { out[threadIdx.x] = twice(threadIdx.x); }
int main(int argc, char**) {
  int* a;
  cudaMalloc(&a, 1 << 20);
  columns<<<2, 32>>>(a, 1);
  columns<<<2, 32>>>(a, 33);
  columns<<<2, 32>>>(a, 32);
  gather<<<64, 128>>>((float*)a, (float*)a + 65536, 8);
  copies<<<1, 64>>>((float4*)a, (float4*)a + 64);
  half<int><<<1, 64>>>(a);
  calls<<<1, 32>>>(a);
  return cudaDeviceSynchronize() != cudaSuccess ? 9 : argc > 1 ? 3 : 0;
}
"""


class Profile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.dir.name)
        source = cls.path / "p.cu"
        source.write_text(PROGRAM)
        cls.app = cls.path / "p"
        subprocess.run([NVCC, *FLAGS, "-o", cls.app, source], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def run_verb(self, *options, program=None, code=0):
        r = subprocess.run([BUILD / "bin/understudy", "profile", *options, *([self.app] if program is None else program)],
                           env={**CLEAN, "UNDERSTUDY_CACHE": str(self.path / "cache")}, capture_output=True, text=True)
        self.assertEqual(r.returncode, code, r.stderr + r.stdout)
        return r

    def launches(self, *options):
        out = self.path / "out.json"
        self.run_verb("--json", out, *options)
        return json.loads(out.read_text())["launches"]

    def value(self, launch, metric):
        return launch["metrics"][metric]["value"]

    def test_counts_by_hand(self):
        of = self.launches()
        self.assertEqual([l["kernel"].split("(")[0] for l in of],
                         ["columns", "columns", "columns", "gather", "copies", "void half<int>", "calls"])
        # One warp of each of two blocks stores and loads a column: 1 word of each bank, or 32 of one.
        for k, each in ((0, 1), (1, 1), (2, 32)):
            self.assertEqual(self.value(of[k], "memory_l1_wavefronts_shared"), 2 * 2 * each)
            self.assertEqual(self.value(of[k], "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"), 2 * (each - 1))
            self.assertEqual(self.value(of[k], "memory_l2_theoretical_sectors_global"), 2 * 4)
        # 256 warps: each lane a sector of its own, and stores of 128 bytes.
        self.assertEqual(self.value(of[3], "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 256)
        self.assertEqual(self.value(of[3], "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 256 * 32)
        self.assertEqual(self.value(of[3], "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), 256 * 4)
        self.assertEqual(self.value(of[3], "derived__memory_l2_theoretical_sectors_global_excessive"), 256 * 28)
        # Two warps copy 512 bytes each and store them with four passes; half a warp loads and stores 256 bytes.
        self.assertEqual(self.value(of[4], "memory_l2_theoretical_sectors_global"), 2 * 16 + 8)
        self.assertEqual(self.value(of[4], "memory_l1_wavefronts_shared"), 2 * 4 + 2)
        # Every second lane of two warps adds.
        self.assertEqual(self.value(of[5], "memory_l2_theoretical_sectors_global"), 2 * 4)
        self.assertEqual(self.value(of[5], "launch__thread_count"), 64)

    def test_model_of_time(self):
        of = self.launches()
        for l in of[:6]:
            self.assertNotIn("no_time", l)
            self.assertEqual(l["metrics"]["gpu__time_duration.sum"]["quality"], "modelled")
        time = [self.value(l, "sm__cycles_active.max") for l in of[:6]]
        # A load with 32 ways of a conflict takes 62 cycles more on an H200; the store's may be hidden.
        self.assertGreaterEqual(time[2], time[0] + 62)
        self.assertLess(time[2], time[0] + 200)
        # A sector of its own for each lane of 256 warps comes from DRAM.
        self.assertEqual(self.value(of[3], "dram__bytes_read.sum"), 256 * 32 * 32)
        # The code of columns() is straight, so strides change nothing.
        self.assertEqual(self.value(of[0], "smsp__inst_executed.sum"), self.value(of[2], "smsp__inst_executed.sum"))
        self.assertEqual(self.value(of[0], "thread_inst_executed"), 32 * self.value(of[0], "smsp__inst_executed.sum"))

    def test_where_there_is_no_model(self):
        for options, why in ((["-k", "calls"], "calls functions"),
                             (["-k", "columns", "--ptxas", "none"], "no ptxas was found"),
                             (["-k", "columns", "--device", "h100"], "those of an NVIDIA H200")):
            l = self.launches(*options)[0]
            self.assertIn(why, l["no_time"])
            self.assertEqual(l["metrics"]["gpu__time_duration.sum"]["quality"], "n/a")
            self.assertIn("No model of time: ", self.run_verb(*options).stdout)

    def test_instructions_name_lines(self):
        rows = self.launches("-k", "columns")[2]["instructions"]
        conflicts = {r["line"]: r["bank_conflicts"] for r in rows if "bank_conflicts" in r}
        self.assertEqual(conflicts, {5: 62, 7: 62})

    def test_choice_of_launches(self):
        self.assertEqual([l["kernel"] for l in self.launches("-k", "columns", "-s", "1", "-c", "1")], ["columns(int*, int)"])
        self.assertEqual(len(self.launches("-k", "regex:^(gather|half)")), 2)
        self.assertEqual(len(self.launches("-k", "half")), 1)
        self.assertIn("no kernel was profiled", self.run_verb("-k", "none").stderr)

    def test_csv(self):
        rows = list(csv.reader(io.StringIO(self.run_verb("--csv", "-k", "gather").stdout)))
        self.assertEqual(rows[0][:5], ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name"])
        self.assertEqual(rows[0][-4:], ["Section Name", "Metric Name", "Metric Unit", "Metric Value"])
        self.assertIn(["Global Load Sectors", "sector", "8,192"], [r[-3:] for r in rows])
        raw = list(csv.reader(io.StringIO(self.run_verb("--csv", "--page", "raw", "--metrics",
                                                        "launch__grid_size,lts__t_sectors.sum", "-k", "gather").stdout)))
        self.assertEqual(raw[0][-2:], ["launch__grid_size", "lts__t_sectors.sum"])
        self.assertEqual(raw[2][-2:], ["64", "n/a"])

    def test_pages(self):
        text = self.run_verb("--section", "Occupancy", "-k", "columns", "-c", "1").stdout
        self.assertIn("Section: Occupancy", text)
        self.assertNotIn("Launch Statistics", text)
        self.assertIn("p.cu:7", self.run_verb("--page", "source", "-k", "columns").stdout)

    def test_kept(self):
        kept = self.path / "kept"
        first = self.run_verb("-o", kept).stdout
        self.assertEqual(self.run_verb("--import", kept, program=[]).stdout, first)
        self.assertIn("No such file", self.run_verb("--import", self.path / "none", program=[], code=125).stderr)

    def test_assertions(self):
        metric = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
        self.run_verb("--assert", f"gather:{metric} == 0", "--assert", "half<int>:launch__grid_size == 1", "--assert", "launch__thread_count > 1")
        r = self.run_verb("--assert", f"{metric} == 0", code=4)
        self.assertIn("launch 2 of columns(int*, int): it is 124", r.stderr)
        self.assertEqual(r.stderr.count("assertion violated"), 1)
        self.run_verb("-k", "none", "--assert", f"{metric} == 0", code=4)

    def test_exit_codes(self):
        self.run_verb(program=[self.app, "fails"], code=3)
        for options, expected in ((["--page", "no"], "expected one of details, raw, source"),
                                  (["-c", "x"], "UNDERSTUDY_PROFILE_COUNT=x: expected a whole number"),
                                  (["-k", "regex:("], "regular expression"),
                                  (["--section", "PmSampling"], "PmSampling: not there yet"),
                                  (["--section", "No"], "expected one of SpeedOfLight"),
                                  (["--csv", "--page", "source"], "no such form"),
                                  (["--assert", "a b"], "expected [KERNEL:]METRIC OP NUMBER"),
                                  (["--assert", "no_such == 1"], "no metric `no_such`"),
                                  (["--json", "/no/where/x"], "--json /no/where/x")):
            self.assertIn(expected, self.run_verb(*options, code=125).stderr)
        self.assertIn("which program", self.run_verb(program=[], code=125).stderr)
        self.run_verb(program=["/no/such/program"], code=127)
        run = subprocess.run([BUILD / "bin/understudy", "run", "--profile-to", "/no/where", self.app], env=CLEAN,
                             capture_output=True, text=True)
        self.assertEqual((run.returncode, "--profile-to /no/where" in run.stderr), (125, True), run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
