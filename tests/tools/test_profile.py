#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`understudy profile`: counts against hand counts, options, forms, assertions. usage: test_profile.py BUILD_DIR NVCC"""
import csv
import html
import html.parser
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

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
__global__ void calls(int* out) {
  void* p = malloc(16);
  out[threadIdx.x] = p != nullptr;
  free(p);
}
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

STREAMS = r"""
__global__ void a(float* x) { for (int i = 0; i < 5000; ++i) x[threadIdx.x] = x[threadIdx.x] * 3 + 1; }
__global__ void b(float* x) { x[threadIdx.x] = 1; }
__global__ void c(float* x) { x[threadIdx.x] += 1; }
__global__ void d(float* x) { x[threadIdx.x] += 2; }
int main() {
  float* x;
  cudaMalloc(&x, 4096);
  cudaStream_t s, t;
  cudaStreamCreate(&s), cudaStreamCreate(&t);
  cudaEvent_t e;
  cudaEventCreate(&e);
  a<<<1, 1, 0, s>>>(x), b<<<1, 1, 0, s>>>(x), c<<<1, 1, 0, s>>>(x), d<<<1, 1, 0, s>>>(x);
  cudaDeviceSynchronize();  // their code is loaded
  a<<<1, 32, 0, s>>>(x);
  b<<<1, 32, 0, t>>>(x + 32);
  cudaEventRecord(e, t);
  cudaStreamWaitEvent(s, e);
  c<<<1, 32, 0, s>>>(x);
  cudaStreamSynchronize(s);
  d<<<1, 32, 0, t>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


class Tree(html.parser.HTMLParser):
    """Whether elements are closed; titles of pictures; cells of tables."""
    VOID = {"meta", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.titles, self.tables = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.open[-1:] == ["title"]:
            self.titles.append(data)
        elif self.open[-1:] and self.open[-1] in ("td", "th", "a") and self.tables:
            self.tables[-1][-1][-1] += data


# Of oracle/timing/turns.cu: queue, chain, lock, and shared_swap_add.
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
                             (["-k", "columns", "--ptxas", "none"], "pip install nvidia-cuda-nvcc")):
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

    def test_log_file_and_options_of_ncu(self):
        out = self.path / "log.csv"
        r = self.run_verb("--csv", "--log-file", out, "--set", "full", "--clock-control=base", "--replay-mode", "kernel", "-f",
                          "--metrics", "gpu__time_duration.sum", "-k", "gather")
        self.assertEqual(r.stdout, "")
        rows = list(csv.reader(io.StringIO(out.read_text())))
        self.assertEqual([len(rows), rows[1][4].split("(")[0], rows[1][-3:-1]], [2, "gather", ["gpu__time_duration.sum", "ns"]])

    def test_tables_of_nsys(self):
        source = self.path / "work.cu"
        source.write_text("""
__global__ void k(int* x) { x[threadIdx.x] += 1; }
int main() {
  int *a, h[1024] = {};
  cudaMalloc(&a, 8192);
  cudaMemset(a, 0, 8192);
  cudaMemcpy(a, h, 4000, cudaMemcpyHostToDevice), cudaMemcpy(a, h, 2000, cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i) k<<<1, 32>>>(a);
  return cudaMemcpy(h, a, 1000, cudaMemcpyDeviceToHost) != cudaSuccess;
}
""")
        app = self.path / "work"
        subprocess.run([NVCC, *FLAGS, "-o", app, source], check=True)

        def table(page):
            return list(csv.DictReader(io.StringIO(self.run_verb("--csv", "--page", page, program=[app]).stdout)))
        (kernel,) = table("cuda_gpu_kern_sum")
        self.assertEqual((kernel["Name"], kernel["Instances"], kernel["Time (%)"]), ("k(int*)", "3", "100.0"))
        self.assertAlmostEqual(float(kernel["Total Time (ns)"]), 3 * float(kernel["Avg (ns)"]), delta=1)
        self.assertLessEqual(int(kernel["Min (ns)"]), float(kernel["Med (ns)"]))
        self.assertLessEqual(float(kernel["Med (ns)"]), int(kernel["Max (ns)"]))
        sizes = {r["Operation"]: (r["Total (MB)"], r["Count"], r["Med (MB)"], r["Max (MB)"]) for r in table("cuda_gpu_mem_size_sum")}
        self.assertEqual(sizes, {"[CUDA memset]": ("0.008", "1", "0.008", "0.008"),
                                 "[CUDA memcpy Host-to-Device]": ("0.006", "2", "0.003", "0.004"),
                                 "[CUDA memcpy Device-to-Host]": ("0.001", "1", "0.001", "0.001")})
        self.assertEqual({r["Operation"]: r["Count"] for r in table("cuda_gpu_mem_time_sum")}, {k: v[1] for k, v in sizes.items()})
        trace = table("cuda_gpu_trace")
        self.assertEqual([r["Name"] for r in trace], ["[CUDA memset]", *["[CUDA memcpy Host-to-Device]"] * 2, *["k(int*)"] * 3,
                                                      "[CUDA memcpy Device-to-Host]"])
        self.assertEqual([(r["GrdX"], r["BlkX"], r["Bytes (MB)"], r["SrcMemKd"]) for r in trace[2:4]],
                         [("", "", "0.002", "Pageable"), ("1", "32", "", "")])
        self.assertEqual(sum(int(r["Duration (ns)"]) for r in trace[3:6]), int(kernel["Total Time (ns)"]))
        self.assertIn("CUDA GPU Kernel Summary (cuda_gpu_kern_sum)", self.run_verb("--page", "cuda_gpu_kern_sum", program=[app]).stdout)

    def test_pages(self):
        text = self.run_verb("--section", "Occupancy", "-k", "columns", "-c", "1").stdout
        self.assertIn("Section: Occupancy", text)
        self.assertNotIn("Launch Statistics", text)
        self.assertIn("p.cu:7", self.run_verb("--page", "source", "-k", "columns").stdout)

    def source_rows(self, view):
        """Of the page's CSV for the launch of columns() with conflicts: dictionaries."""
        text = self.run_verb("--page", "source", "--csv", "--print-source", view, "-k", "columns", "-s", "2").stdout
        rows = list(csv.reader(io.StringIO(text)))
        self.assertEqual(rows[0], ["Kernel Name", "columns(int*, int)"])
        return [dict(zip(rows[1], r)) for r in rows[2:]]

    def test_source_views(self):
        sass, ptx, cuda = (self.source_rows(view) for view in ("sass", "ptx", "cuda"))
        # Two warps run through straight code; what lies behind EXIT only fills a line.
        opcodes = [r["Source"].split()[0] for r in sass]
        code = sass[:opcodes.index("EXIT") + 1]
        self.assertEqual({(r["Instructions Executed"], r["Thread Instructions Executed"]) for r in code}, {("2", "64")})
        self.assertEqual({r["Instructions Executed"] for r in sass[len(code):]}, {"0"})
        # Both warps store a column and load one: 32 passes each, where one is enough.
        for opcode, line in (("STS", "5"), ("LDS", "7")):
            row = next(r for r in sass if r["Source"].startswith(opcode))
            self.assertEqual((row["L1 Wavefronts Shared"], row["L1 Wavefronts Shared Excessive"]), ("64", "62"))
            for view in (ptx, cuda):
                of = [r for r in view if r["L1 Wavefronts Shared"] == "64"]
                self.assertEqual(len(of), 2)
            at = next(r for r in cuda if r["Line"] == line)
            self.assertTrue(at["File"].endswith("p.cu"))
            self.assertEqual((at["L1 Wavefronts Shared"], at["Source"]), ("64", PROGRAM.splitlines()[int(line) - 1].strip()))
        self.assertTrue(next(r for r in ptx if r["Source"].startswith("st.shared"))["PTX Instructions Executed"], "2")
        # A warp issues once for each instruction; all views have the same cycles.
        self.assertEqual({r["stall_selected"] for r in code}, {"2"})
        for column in ("Warp Stall Cycles", "stall_short_sb", "stall_barrier", "Instructions Executed"):
            sums = [sum(int(r[column]) for r in view) for view in (sass, ptx, cuda)]
            self.assertEqual((sums[0], sums[0]), (sums[1], sums[2]), column)
        self.assertGreater(sum(int(r["stall_short_sb"]) for r in sass), 0)

    def test_source_text(self):
        both = self.run_verb("--page", "source", "--print-source", "cuda,sass", "-k", "columns", "-s", "2").stdout.splitlines()
        store = next(k for k, line in enumerate(both) if " STS " in line)
        above = [line for line in both[:store] if "p.cu:" in line]
        self.assertIn("p.cu:5  tile[threadIdx.x * stride]", above[-1])
        self.assertTrue(any("Machine code made by" in line and "ptxas" in line for line in both))
        sass = self.run_verb("--page", "source", "--print-source", "sass", "-k", "columns", "-s", "2").stdout
        self.assertRegex(sass, r"LDS R\d+, \[R\d+\] +// p.cu:7")
        for options, why in ((["--ptxas", "none"], "There is no machine code"), (["-k", "calls"], "calls functions")):
            self.assertIn(why, self.run_verb("--page", "source", "--print-source", "sass", *options).stdout)

    def test_machine_code_in_json(self):
        for l in self.launches("-k", "regex:columns|half"):
            self.assertEqual(sum(i["warps"] for i in l["machine_code"]), self.value(l, "smsp__inst_executed.sum"))
            self.assertEqual(sum(i["lanes"] for i in l["machine_code"]), self.value(l, "thread_inst_executed"))
            self.assertTrue(any(i["instruction"].startswith("EXIT") for i in l["machine_code"]))

    def test_kept(self):
        kept = self.path / "kept"
        first = self.run_verb("-o", kept).stdout
        self.assertEqual(self.run_verb("--import", kept, program=[]).stdout, first)
        self.assertIn(" STS ", self.run_verb("--import", kept, "--page", "source", "--print-source", "sass", program=[]).stdout)
        self.assertIn("No such file", self.run_verb("--import", self.path / "none", program=[], code=125).stderr)
        kept.write_bytes(kept.read_bytes().replace(b"profiles", b"profiles 1", 1))
        self.assertIn("expected a file that --save", self.run_verb("--import", kept, program=[], code=125).stderr)

    def test_assertions(self):
        metric = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
        self.run_verb("--assert", f"gather:{metric} == 0", "--assert", "half<int>:launch__grid_size == 1", "--assert", "launch__thread_count > 1")
        r = self.run_verb("--assert", f"{metric} == 0", code=4)
        self.assertIn("launch 2 of columns(int*, int): it is 124", r.stderr)
        self.assertEqual(r.stderr.count("assertion violated"), 1)
        self.run_verb("-k", "none", "--assert", f"{metric} == 0", code=4)
        self.assertIn("there is no launch of colums", self.run_verb("--assert", f"colums:{metric} == 0", code=4).stderr)

    def test_baseline(self):
        kept = self.path / "before"
        self.run_verb("-k", "columns", "-c", "1", "-o", kept)
        same = self.run_verb("-k", "columns", "-c", "1", "--baseline", kept, "--assert", "columns:gpu__time_duration.sum == baseline",
                             "--assert", "gpu__time_duration.sum < 1.01 * baseline").stdout
        self.assertRegex(same, r"block|columns")
        self.assertNotIn("Metric Name", same)
        # The launch with conflicts against that without.
        options = ["-k", "columns", "-s", "2", "--baseline", kept]
        worse = self.run_verb(*options).stdout
        self.assertRegex(worse, r"Shared Bank Conflicts +0 +124\n")
        self.assertRegex(worse, r"L1 Wavefronts Shared +wavefront +4 +128 +\+3100.0 %")
        self.assertNotIn("# SMs", worse)
        r = self.run_verb(*options, "--assert", "memory_l1_wavefronts_shared <= 31.5*baseline", "--assert", "launch__grid_size == baseline", code=4)
        self.assertIn("launch 0 of columns(int*, int): it is 128, the baseline has 4", r.stderr)
        self.assertEqual(r.stderr.count("assertion violated"), 1)
        self.run_verb(*options, "--assert", "memory_l1_wavefronts_shared <= 32 * baseline")
        out = self.path / "compared.json"
        self.run_verb(*options, "--json", out)
        wavefronts = json.loads(out.read_text())["launches"][0]["metrics"]["memory_l1_wavefronts_shared"]
        self.assertEqual((wavefronts["baseline"], wavefronts["value"]), (4, 128))
        more = self.run_verb("-k", "columns", "--baseline", kept, "--assert", "launch__grid_size >= baseline", code=4)
        self.assertEqual(more.stdout.count("The baseline has no such launch."), 2)
        self.assertEqual(more.stderr.count("the baseline has no such launch"), 2)

    def test_junit(self):
        out = self.path / "r.xml"
        metric = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
        self.run_verb("--junit", out, "--assert", f"columns:{metric} == 0", "--assert", "launch__grid_size < 65", "-k", "regex:columns|gather", code=4)
        suite = xml.etree.ElementTree.parse(out).getroot()[0]
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "1"))
        cases = {(c.get("classname"), c.get("name")): c.find("failure") for c in suite}
        failure = cases.pop(("columns(int*, int)", f"columns:{metric} == 0"))
        self.assertIn("launch 2 of columns(int*, int): it is 124", failure.text)
        self.assertEqual(set(cases.values()), {None})
        self.assertEqual({name for _, name in cases}, {"launch__grid_size < 65"})

    def test_timeline(self):
        out = self.path / "t.json"
        self.run_verb("--timeline", out, "-k", "regex:columns|gather|calls")
        events = json.loads(out.read_text())["traceEvents"]
        kernels = [e for e in events if e.get("cat") == "kernel"]
        self.assertEqual([e["name"].split("(")[0] for e in kernels], ["columns"] * 3 + ["gather", "calls"])
        of = self.launches("-k", "regex:columns|gather|calls")
        for e, l in zip(kernels[:4], of):
            self.assertAlmostEqual(e["dur"] * 1000, self.value(l, "gpu__time_duration.sum"), delta=1)
        # One stream: none begins before the one before it has ended, or before the host has submitted it: 3.65 us
        # apart.
        for before, e in zip(kernels, kernels[1:]):
            self.assertGreaterEqual(e["ts"], before["ts"] + before["dur"] - 0.001)
            self.assertGreaterEqual(e["ts"], before["ts"] + 3.649)
        self.assertEqual(kernels[4]["dur"], 0)
        self.assertIn("calls functions", kernels[4]["args"]["no_time"])
        # Two CTAs of a warp each, on two multiprocessors; all within their launch.
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        first = [e for e in events if e.get("cat") == "replay" and "in launch" in names[e["pid"]] and names[e["pid"]].endswith("columns(int*, int)")
                 and e["ts"] < kernels[0]["ts"] + kernels[0]["dur"]]
        self.assertEqual(sorted(e["name"] for e in first), ["CTA 0", "CTA 1", "warp 0 of CTA 0", "warp 0 of CTA 1"])
        for e in first:
            self.assertLessEqual(e["ts"] + e["dur"], kernels[0]["ts"] + kernels[0]["dur"])

    def test_streams_in_the_timeline(self):
        source = self.path / "s.cu"
        source.write_text(STREAMS)
        app = self.path / "s"
        subprocess.run([NVCC, *FLAGS, "-o", app, source], check=True)
        out = self.path / "s.json"
        self.run_verb("--timeline", out, program=[app])
        spans = {e["name"].split("(")[0]: (e["ts"], e["ts"] + e["dur"], e["tid"])
                 for e in json.loads(out.read_text())["traceEvents"] if e.get("cat") == "kernel"}
        # Of two streams, with nothing between them but a launch of the host. Behind an event, and a. The host
        # waited: it needs 2.5 us to go on, 3.65 us to launch, and half of one until the device begins.
        self.assertAlmostEqual(spans["b"][0] - spans["a"][0], 3.65, delta=0.01)
        self.assertNotEqual(spans["a"][2], spans["b"][2])
        self.assertGreater(spans["a"][1], spans["b"][1])
        self.assertAlmostEqual(spans["c"][0], spans["a"][1], delta=0.01)
        self.assertAlmostEqual(spans["d"][0] - spans["c"][1], 2.5 + 3.65 + 0.5, delta=0.01)

    def html(self, *options):
        out = self.path / "r.html"
        self.run_verb("--html", out, *options)
        return out

    def test_html_is_whole(self):
        """Well-formed, loads nothing, and has the numbers of the JSON report."""
        out = self.html("-k", "regex:columns|gather|calls")
        text = out.read_text()
        self.assertNotRegex(text, r"https?:|src=|@import|url\(")
        tree = Tree()
        tree.feed(text)
        self.assertEqual(tree.open, [])
        for title in ("Memory", "Stalls", "Waves"):
            self.assertIn(title, tree.titles)
        self.assertEqual(tree.titles.count("registers of a thread"), 5)
        overview = tree.tables[0]
        for l, row in zip(self.launches("-k", "regex:columns|gather|calls"), overview[1:]):
            self.assertEqual(row[1], l["kernel"])
            time = l["metrics"]["gpu__time_duration.sum"].get("value")
            self.assertEqual(row[4], "n/a" if time is None else f"{time / 1000:.2f} µs")
        self.assertIn("calls functions", text)
        self.assertIn("STS [", text)
        self.assertIn("tile[threadIdx.x * stride] = threadIdx.x;", text)

    @unittest.skipUnless(shutil.which("chromium"), "no chromium")
    def test_html_in_a_browser(self):
        out = self.html("-k", "columns")
        page = out.read_text().replace("</body>", """<script>
          const shown = [...document.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().height > 50).length;
          const row = [...document.querySelectorAll('.source tr')].find(r => r.textContent.includes('STS ['));
          row.click();
          const lit = [...row.closest('.source').querySelectorAll('tr.lit')].map(r => r.cells[r.cells.length - 1].textContent);
          const launch = document.querySelector('#launch-0'), link = document.querySelector('#overview a');
          launch.open = false, link.click();
          const pictures = [...launch.querySelectorAll('svg title')].map(t => t.textContent);
          const views = [...launch.querySelectorAll('.source th.name')].map(t => t.textContent);
          const wide = [...document.querySelectorAll('.metrics td')].filter(d => d.scrollWidth > d.clientWidth + 1).length;
          const right = e => e.getBoundingClientRect().right;
          const seen = [...launch.querySelectorAll('.source > div')].every(d => right(d.querySelector('td')) <= right(d));
          document.title = JSON.stringify({shown, lit, opened: launch.open, pictures, views, wide, seen});
        </script></body>""")
        (self.path / "tested.html").write_text(page)
        dom = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.path}/browser", "--dump-dom",
                              f"file://{self.path}/tested.html"], capture_output=True, text=True, timeout=120).stdout
        said = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", dom)[1]))
        self.assertGreaterEqual(said["shown"], 6)
        self.assertTrue(any("p.cu:5" in text for text in said["lit"]), said)
        self.assertTrue(any("st.shared" in text for text in said["lit"]), said)
        self.assertFalse(any("p.cu:7" in text for text in said["lit"]), said)
        self.assertTrue(said["opened"] and said["seen"], said)  # a link opens its launch; costs are inside their view
        self.assertLessEqual({"Memory", "Stalls", "Waves", "registers of a thread"}, set(said["pictures"]))
        self.assertEqual(said["views"], ["CUDA", "PTX", "SASS"])
        self.assertEqual(said["wide"], 0, "no number of the metrics lies over its neighbour")

    def test_advice(self):
        of = self.launches()
        rules = [{a["rule"]: a.get("saved") for a in l["advice"]} for l in of]
        # Strides of 1 and 33 have no conflicts; with 32 each warp waits for 62 wavefronts more.
        self.assertNotIn("SharedMemoryConflicts", rules[0])
        text = self.run_verb("-k", "columns", "-s", "2").stdout
        self.assertRegex(text, r"OPT   Est. Speedup: \d+\.\d %: Shared Memory Bank Conflicts")
        self.assertIn("124 of 128 wavefronts", text)
        # With metrics the model is not asked again: no estimates of it.
        asked, few = ({x["rule"] for x in self.launches("-k", "columns", "-s", "2", *more)[0]["advice"] if x.get("saved")}
                      for more in ((), ("--metrics", "gpu__time_duration.sum")))
        self.assertIn("SharedMemoryConflicts", asked)
        self.assertNotIn("SharedMemoryConflicts", few)
        self.assertRegex(text, r"st.shared.*p.cu:5|ld.shared.*p.cu:7")
        # What it saves is the time of the launch without conflicts.
        alone = self.launches("-k", "columns", "-s", "2")[0]
        saved = next(a["saved"] for a in alone["advice"] if a["rule"] == "SharedMemoryConflicts")
        free = self.value(of[0], "gpu__time_duration.sum") / self.value(of[2], "gpu__time_duration.sum")
        self.assertAlmostEqual(1 - saved, free, places=2)
        # 64 CTAs on 132 multiprocessors; loads of 32 sectors where 4 would do.
        gather = {a["title"]: a for a in of[3]["advice"]}
        self.assertAlmostEqual(gather["Small Grid"]["saved"], 1 - 64 / 132)
        self.assertIn("9216 sectors, where 2048", gather["Uncoalesced Global Accesses"]["text"])
        self.assertIn("p.cu:11", gather["Uncoalesced Global Accesses"]["text"])
        self.assertNotIn("Uncoalesced Global Accesses", [a["title"] for a in of[0]["advice"]])
        self.assertNotIn("OPT", self.run_verb("-k", "gather", "--section", "Occupancy").stdout)
        self.assertEqual(gather["Small Grid"]["rule"], "LaunchConfiguration")

    def test_exit_codes(self):
        self.run_verb(program=[self.app, "fails"], code=3)
        for options, expected in ((["--page", "no"], "expected one of details, raw, source"),
                                  (["-c", "x"], "UNDERSTUDY_PROFILE_COUNT=x: expected a whole number"),
                                  (["-k", "regex:("], "regular expression"),
                                  (["--section", "PmSampling"], "PmSampling: not there yet"),
                                  (["--section", "No"], "expected one of SpeedOfLight"),
                                  (["--csv", "--page", "source", "--print-source", "cuda,sass"], "no such form"),
                                  (["--print-source", "c"], "expected sass, ptx, cuda, or"),
                                  (["--assert", "a b"], "expected [KERNEL:]METRIC OP NUMBER"),
                                  (["--assert", "launch__grid_size == 2 baseline"], "expected [KERNEL:]METRIC OP NUMBER"),
                                  (["--assert", "launch__grid_size == 1-2"], "`1-2` is no number"),
                                  (["--assert", "launch__grid_size == baseline"], "which --baseline?"),
                                  (["--junit", "x"], "give some by --assert"),
                                  (["--baseline", "/no/where/x"], "--baseline /no/where/x: No such file"),
                                  (["--baseline", "/dev/null"], "expected a file that --save"),
                                  (["--baseline", __file__], "expected a file that --save"),
                                  (["--assert", "no_such == 1"], "no metric `no_such`"),
                                  (["--json", "/no/where/x"], "--json /no/where/x"),
                                  (["--virtual-host-clock"], "the host's clocks follow --virtual-time"),
                                  (["--virtual-time", "-k", "gather"], "--kernel-name leaves some out"),
                                  (["--virtual-time", "-c", "1"], "--launch-count leaves some out"),
                                  (["--virtual-time", "--ptxas", "none"], "without ptxas there is none"),
                                  (["--virtual-time", "--device", "h200,h100"], "--device is h200 and h100"),
                                  (["--virtual-time", "--device", "a100"], "the model knows h200, h100"),
                                  (["--virtual-time", "--import", "/dev/null"], "--import runs nothing"),
                                  (["--cache-control", "some"], "expected all"),
                                  (["--csv", "--page", "summary"], "no such form of --page summary")):
            self.assertIn(expected, self.run_verb(*options, code=125).stderr)
        self.assertIn("which program", self.run_verb(program=[], code=125).stderr)
        self.run_verb(program=["/no/such/program"], code=127)
        run = subprocess.run([BUILD / "bin/understudy", "run", "--profile-to", "/no/where", self.app], env=CLEAN,
                             capture_output=True, text=True)
        self.assertEqual((run.returncode, "--profile-to /no/where" in run.stderr), (125, True), run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
