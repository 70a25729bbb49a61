#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--trace and --stats. usage: test_trace.py BUILD_DIR NVCC"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2]
UNDERSTUDY = str(BUILD / "bin" / "understudy")
FLAGS = "-gencode arch=compute_90,code=compute_90 -cudart shared -std=c++17".split()
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("UNDERSTUDY_")}

DRIVER = r"""
#include <cuda.h>
int main() {
  CUdevice d;
  CUcontext c;
  CUdeviceptr p;
  if (cuInit(0) || cuDeviceGet(&d, 0) || cuDevicePrimaryCtxRetain(&c, d) || cuCtxSetCurrent(c)) return 1;
  if (cuMemAlloc(&p, 4096) || cuMemsetD32(p, 7, 1024)) return 2;
  void* address = nullptr;
  CUdriverProcAddressQueryResult r;
  if (cuGetProcAddress("cuMemFree", &address, 12000, 0, &r)) return 3;
  return reinterpret_cast<CUresult (*)(CUdeviceptr)>(address)(p);
}
"""
# One thread per stream, each calls on its own.
THREADS = r"""
#include <thread>
#include <vector>
__global__ void k(int* p) { *p = 1; }
int main() {
  int* p;
  cudaMalloc(&p, 4);
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) all.emplace_back([p] {
    for (int j = 0; j < 50; ++j) k<<<1, 1, 0, cudaStreamPerThread>>>(p);
    cudaStreamSynchronize(cudaStreamPerThread);
  });
  for (auto& t : all) t.join();
  return cudaDeviceSynchronize();
}
"""

# Each block launches a grid; those nobody's call stands for.
NESTED = r"""
__global__ void child(int* p) { atomicAdd(p, 1); }
__global__ void parent(int* p) { child<<<2, 32>>>(p); }
int main() {
  int* p;
  int sum = 0;
  cudaMalloc(&p, 4);
  cudaMemset(p, 0, 4);
  parent<<<5, 1>>>(p);
  cudaMemcpy(&sum, p, 4, cudaMemcpyDeviceToHost);
  return sum == 5 * 2 * 32 ? 0 : 1;
}
"""


class Trace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.program = cls.compile("traced", (HERE / "traced.cu").read_text())

    @classmethod
    def compile(cls, name, text, *flags):
        source = cls.dir / f"{name}.cu"
        source.write_text(text)
        subprocess.run([NVCC, *FLAGS, str(source), "-o", str(cls.dir / name), *flags], check=True, timeout=300)
        return str(cls.dir / name)

    def run_program(self, *command, code=0):
        trace, report = self.dir / "trace.json", self.dir / "report.json"
        for f in (trace, report):
            f.unlink(missing_ok=True)
        result = subprocess.run([UNDERSTUDY, "run", f"--trace={trace}", "--stats", "--json", str(report), *command],
                                env=CLEAN, capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.text = result.stderr
        self.events = json.loads(trace.read_text())["traceEvents"]
        self.report = json.loads(report.read_text())
        self.calls = [e for e in self.events if e["ph"] == "X" and e["cat"] == "api"]
        self.work = [e for e in self.events if e["ph"] == "X" and e["cat"] == "gpu"]
        self.compiled = [e for e in self.events if e["ph"] == "X" and e["cat"] == "compile"]
        self.check_structure()
        self.check_statistics()
        return result

    def named(self, name):
        return [e for e in self.calls + self.work if e["name"].startswith(name)]

    def check_structure(self):
        """Every track has a name, nothing on a track overlaps without being inside, arrows lead from calls to work."""
        names = {(e["pid"], e["tid"]) for e in self.events if e["ph"] == "M" and e["name"] == "thread_name"}
        tracks = {}
        for e in self.calls + self.work:
            self.assertIn((e["pid"], e["tid"]), names)
            self.assertGreaterEqual(e["dur"], 0)
            tracks.setdefault((e["pid"], e["tid"]), []).append(e)
        for events in tracks.values():
            open_until = []
            for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
                while open_until and open_until[-1] <= e["ts"] + 1e-4:
                    open_until.pop()
                end = e["ts"] + e["dur"]
                if open_until:
                    self.assertLessEqual(end, open_until[-1] + 1e-3, e)
                open_until.append(end)
        starts = {e["id"]: e for e in self.events if e["ph"] == "s"}
        ends = {e["id"]: e for e in self.events if e["ph"] == "f"}
        self.assertEqual(starts.keys(), ends.keys())
        self.assertEqual(len(starts), len([w for w in self.work if w["args"]["call"]]))
        spans = {(c["pid"], c["args"]["call"]): c for c in self.calls}
        for i, s in starts.items():
            self.assertTrue(any(c["tid"] == s["tid"] and c["ts"] <= s["ts"] <= c["ts"] + c["dur"] for c in spans.values()))
            self.assertTrue(any((w["pid"], w["tid"], w["ts"]) == (ends[i]["pid"], ends[i]["tid"], ends[i]["ts"]) for w in self.work))

    def check_statistics(self):
        tables = self.report["statistics"]
        for key, of in (("api", self.calls), ("kernels", [w for w in self.work if "grid" in w["args"]]),
                        ("memory_time", [w for w in self.work if "bytes" in w["args"]])):
            self.assertEqual(sum(r["count"] for r in tables[key]["rows"]), len(of), key)
            self.assertAlmostEqual(sum(r["total"] for r in tables[key]["rows"]), sum(e["dur"] for e in of) * 1000, delta=1)
            for r in tables[key]["rows"]:
                durations = sorted(round(e["dur"] * 1000) for e in of if e["name"] == r["name"])
                self.assertEqual((r["min"], r["max"], r["count"]), (durations[0], durations[-1], len(durations)))
                self.assertAlmostEqual(r["average"], sum(durations) / len(durations), places=1)
                middle = (durations[(len(durations) - 1) // 2] + durations[len(durations) // 2]) / 2
                self.assertEqual(r["median"], middle)
                self.assertIn(r["name"], self.text)
            if of:
                self.assertAlmostEqual(sum(r["percent"] for r in tables[key]["rows"]), 100, places=3)
        bytes_moved = sum(w["args"]["bytes"] for w in self.work if "bytes" in w["args"])
        self.assertEqual(sum(r["total"] for r in tables["memory_size"]["rows"]), bytes_moved)

    def check_traced(self):
        self.assertEqual(len(self.named("cudaGraphLaunch")), 3)
        self.assertEqual(len(self.named("cudaMalloc")), 2)
        fills = self.named("fill_values(int*, int, int)")
        self.assertEqual(len(fills), 1 + 3 * 2)
        self.assertEqual(len([f for f in fills if "graph_node" in f["args"]]), 6)
        self.assertEqual(len({f["args"].get("graph_node") for f in fills}), 3)
        self.assertEqual(fills[0]["args"]["grid"], [64, 1, 1])
        add = self.named("add_shared")[0]["args"]
        self.assertEqual((add["grid"], add["block"], add["static_shared"], add["dynamic_shared"]), ([128, 1, 1], [64, 2, 1], 64, 1024))
        self.assertNotEqual(add["stream"], fills[0]["args"]["stream"])
        self.assertEqual(len(self.named("graph 1")), 3)
        self.assertEqual([e["args"]["bytes"] for e in self.named("copy host to device")], [65536])
        self.assertEqual([e["args"]["bytes"] for e in self.named("copy device to device")], [16384] * 3)
        self.assertEqual([e["args"]["bytes"] for e in self.named("copy device to pinned host")], [65536])
        self.assertEqual([e["args"]["bytes"] for e in self.named("set device")], [32768] + [65536] * 3)
        self.assertEqual(len(self.named("host function")), 3)
        self.assertEqual([e["args"]["error"] for e in self.named("cudaFree")], [1])
        graph, node = self.named("graph 1")[0], self.named("copy device to device")[0]
        self.assertTrue(graph["ts"] <= node["ts"] and node["ts"] + node["dur"] <= graph["ts"] + graph["dur"])
        launches = {c["args"]["call"]: c["name"] for c in self.calls}
        self.assertEqual(launches[fills[0]["args"]["call"]], "cudaLaunchKernel")
        self.assertEqual(launches[node["args"]["call"]], "cudaGraphLaunch")

    def test_return_from_main(self):
        self.run_program(self.program)
        self.check_traced()

    def test_exit(self):
        self.run_program(self.program, "exit", code=3)
        self.check_traced()

    def test_abort(self):
        self.run_program(self.program, "abort", code=128 + 6)
        self.check_traced()

    def test_exit_without_destructors(self):
        self.run_program(self.program, "_exit", code=4)
        self.check_traced()

    def test_fault_of_a_kernel(self):
        self.run_program(self.program, "fault", code=5)
        self.check_traced()
        self.assertEqual([w["args"]["failed"] for w in self.named("store_wild")], [True])

    def test_driver_api(self):
        self.run_program(self.compile("driver_calls", DRIVER, "-lcuda"))
        names = [c["name"] for c in self.calls]
        for n in ("cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemAlloc_v2", "cuMemsetD32_v2", "cuMemFree_v2"):
            self.assertEqual(names.count(n), 1, names)
        self.assertEqual([w["args"]["bytes"] for w in self.work], [4096])

    def test_threads(self):
        self.run_program(self.compile("threads", THREADS))
        kernels = self.named("k(int*)")
        self.assertEqual(len(kernels), 200)
        by_call = {c["args"]["call"]: c["tid"] for c in self.calls}
        self.assertEqual(len({by_call[k["args"]["call"]] for k in kernels}), 4)

    def test_kernels_that_kernels_launch(self):
        self.run_program(self.compile("nested", NESTED, "-rdc=true", "-lcudadevrt"))
        parents, children = self.named("parent"), self.named("child")
        self.assertEqual((len(parents), len(children)), (1, 5))
        for c in children:
            self.assertEqual((c["args"]["grid"], c["args"]["block"]), ([2, 1, 1], [32, 1, 1]))
            self.assertGreaterEqual(c["ts"], parents[0]["ts"])
            self.assertEqual(c["args"]["call"], 0)

    def test_compilation(self):
        cache = self.dir / "cache"
        for from_cache in (False, True):
            self.run_program("--cache", str(cache), self.program)
            names = sorted(e["name"] for e in self.compiled)
            self.assertEqual(names, sorted(set("compile " + w["name"] for w in self.work if "grid" in w["args"])))
            self.assertEqual({e["args"]["from_cache"] for e in self.compiled}, {from_cache})
            spans = {c["args"]["call"]: c for c in self.calls}
            for e in self.compiled:
                call = spans[e["args"]["call"]]
                self.assertEqual(call["tid"], e["tid"])
                self.assertTrue(call["ts"] <= e["ts"] and e["ts"] + e["dur"] <= call["ts"] + call["dur"] + 1e-3)
            rows = self.report["statistics"]["compile"]["rows"]
            self.assertEqual(sum(r["count"] for r in rows), len(self.compiled))
            self.assertAlmostEqual(sum(r["total"] for r in rows), sum(e["dur"] for e in self.compiled) * 1000, delta=1)
            self.assertEqual([r["name"] for r in rows] == ["(from the cache)"], from_cache)
            self.assertIn("Kernels compiled (ns)", self.text)

    def test_nothing_recorded(self):
        self.run_program("/bin/true")
        self.assertEqual(self.events, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
