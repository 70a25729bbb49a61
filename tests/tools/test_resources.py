#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Registers, stack and shared memory of kernels under `understudy run`, against what the toolkit says about the same program:
`ptxas -v`, and `cuobjdump -res-usage` where it is present. usage: test_resources.py BUILD NVCC"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, NVCC = pathlib.Path(sys.argv[1]), sys.argv[2]
SOURCE = r"""
#include <cstdio>
#include <cuda_runtime.h>
template <int N> __device__ void work(volatile float* p) {
  float x[N];
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = p[i * 32];
#pragma unroll
  for (int i = 0; i < N; ++i) p[(N - 1 - i) * 32] = x[i] * x[(i * 7 + 3) % N] + 1;
}
template <int N> __global__ void keeps(float* p) { work<N>(p); }
template <int N, int T> __global__ void __launch_bounds__(T) bounded(float* p) { work<N>(p); }
template <int S> __global__ void shares(float* p) {
  __shared__ volatile char s[S];
  s[threadIdx.x % S] = (char)p[0];
  __syncthreads();
  p[1] = s[(threadIdx.x + 1) % S];
}
template <int N> __global__ void local(float* p) {
  float a[N];
  for (int i = 0; i < (int)p[1]; i++) a[(int)p[i]] = i;
  p[0] = a[(int)p[3]];
}
__constant__ float table[75];
__global__ void looks(float* p) { p[0] = table[(int)p[0]]; }
__device__ __noinline__ int deep(int n, const float* p) { int a[100]; for (int i = 0; i < n; i++) a[(int)p[i]] = i; return a[(int)p[n]]; }
__global__ void calls(float* p) { p[0] = deep((int)p[0], p); }
template <class K> void show(K k) {
  cudaFuncAttributes a;
  const char* name;
  if (cudaFuncGetAttributes(&a, k) || cudaFuncGetName(&name, (const void*)k)) return;
  printf("%s %d %zu %zu %zu %d\n", name, a.numRegs, a.localSizeBytes, a.sharedSizeBytes, a.constSizeBytes, a.maxThreadsPerBlock);
}
int main(int argc, char**) {
  float* p;
  cudaMalloc(&p, 1 << 16);
  cudaMemset(p, 0, 1 << 16);
  keeps<10><<<1, 1024>>>(p);
  printf("%d\n", cudaGetLastError());
  keeps<100><<<1, 1024>>>(p);
  printf("%d\n", cudaGetLastError());
  if (argc > 1) return 0;
  show(keeps<10>); show(keeps<30>); show(keeps<60>); show(keeps<100>); show(keeps<150>); show(keeps<250>);
  show(bounded<100, 512>); show(bounded<60, 1024>); show(shares<1>); show(shares<1000>); show(shares<30000>);
  show(local<10>); show(local<777>); show(looks); show(calls);
  return cudaDeviceSynchronize();
}
"""
WHOLE = ("-gencode", "arch=compute_90,code=[sm_90,compute_90]")
PTX = ("-gencode", "arch=compute_90,code=compute_90")


def facts_of_ptxas(text):
    """{kernel: (registers, stack, shared)} from the messages of ptxas -v."""
    facts = {}
    kernel = None
    for line in text.splitlines():
        if m := re.search(r"Compiling entry function '(\w+)'", line):
            kernel = m[1]
        elif m := re.search(r"Used (\d+) registers", line):
            stack = re.search(r"(\d+) bytes cumulative stack size", line)
            shared = re.search(r"(\d+) bytes smem", line)
            facts[kernel] = (int(m[1]), int(stack[1]) if stack else 0, int(shared[1]) if shared else 0)
    return facts


class Resources(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.scratch.name)
        (cls.dir / "k.cu").write_text(SOURCE)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def compile(self, name, *flags):
        out = self.dir / name
        subprocess.run([NVCC, "-std=c++17", "-cudart", "shared", "-o", out, self.dir / "k.cu", *flags], check=True,
                       stderr=subprocess.PIPE)
        return out

    def expected(self, *flags):
        done = subprocess.run([NVCC, "-std=c++17", "-arch=sm_90", "-cubin", "-Xptxas", "-v", "-o", self.dir / "k.cubin",
                               self.dir / "k.cu", *flags], check=True, capture_output=True, text=True)
        facts = facts_of_ptxas(done.stderr)
        self.assertEqual(len(facts), 15)
        return facts

    def run_it(self, program, *arguments, options=(), **environment):
        """(what it printed, report)"""
        report = self.dir / "report.json"
        env = dict(os.environ, UNDERSTUDY_CACHE=str(self.dir / "cache")) | environment
        done = subprocess.run([BUILD / "bin/understudy", "run", "--json", report, *options, program, *arguments], env=env,
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines(), json.loads(report.read_text())

    def judge(self, program, origin, want, **environment):
        lines, report = self.run_it(program, **environment)
        self.assertEqual(lines[:2], ["0", "701"])  # a block of 1024 threads has 64 registers for each
        got = {n: tuple(map(int, rest)) for n, *rest in (line.split() for line in lines[2:])}
        self.assertEqual({k: v[:3] for k, v in got.items()}, want)
        self.assertEqual({v[3] for v in got.values()}, {300})
        for registers, _, _, _, threads in got.values():
            self.assertLessEqual(threads * registers, 65536)
        self.assertEqual(sorted(report["resources"]), [origin])
        self.assertEqual(sorted(report["resources"][origin]), sorted(want))
        self.assertTrue(report["exact"])

    def test_machine_code_of_the_program(self):
        want = self.expected()
        for packing in ("none", "size", "speed"):
            program = self.compile("whole", *WHOLE, f"--compress-mode={packing}")
            self.judge(program, "cubin", want, UNDERSTUDY_PTXAS="none")

    def test_machine_code_that_was_linked(self):
        program = self.compile("linked", *WHOLE, "-rdc=true")
        lines, report = self.run_it(program, UNDERSTUDY_PTXAS="none")
        self.assertEqual(lines[:2], ["0", "701"])
        self.assertEqual(list(report["resources"]), ["cubin"])

    def test_ptx_alone(self):
        program = self.compile("ptx", *PTX)
        self.judge(program, "ptxas", self.expected())
        self.judge(program, "ptxas", self.expected())  # from the cache

    def test_the_compilers_options_count(self):
        want = self.expected("-maxrregcount=72")
        self.assertNotEqual(want, self.expected())
        lines, report = self.run_it(self.compile("few", *PTX, "-maxrregcount=72"))
        self.assertEqual({n: tuple(map(int, rest[:3])) for n, *rest in (line.split() for line in lines[2:])}, want)
        self.assertEqual(list(report["resources"]), ["ptxas"])

    def test_ptx_of_several_files(self):
        program = self.compile("parts", *PTX, "-rdc=true")
        linked = self.compile("linked", *WHOLE, "-rdc=true")
        ours, report = self.run_it(program)
        self.assertEqual(list(report["resources"]), ["ptxas"])
        self.assertEqual(ours, self.run_it(linked)[0])

    def test_without_either_it_is_an_estimate(self):
        program = self.compile("ptx", *PTX)
        for assembler in ("none", "/bin/false", str(self.dir / "absent")):
            lines, report = self.run_it(program, UNDERSTUDY_PTXAS=assembler)
            self.assertEqual(len(lines), 17)
            self.assertEqual(list(report["resources"]), ["estimate"])
            self.assertEqual(len(report["estimated"]), 15)
            self.assertFalse(report["exact"])

    def test_a_launch_alone_asks_where_it_matters(self):
        _, report = self.run_it(self.compile("ptx", *PTX), "launches")
        self.assertIn("_Z5keepsILi100EEvPf", report["resources"]["ptxas"])

    @unittest.skipUnless(shutil.which("cuobjdump"), "the toolkit here has no cuobjdump")
    def test_cuobjdump_agrees(self):
        want = self.expected()
        text = subprocess.run(["cuobjdump", "-res-usage", self.dir / "k.cubin"], check=True, capture_output=True, text=True).stdout
        rows = re.findall(r"Function (\w+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", text)
        self.assertEqual({n: int(r) for n, r, _, _ in rows}, {n: v[0] for n, v in want.items()})
        lines, _ = self.run_it(self.compile("whole", *WHOLE))
        shared = {n: int(v) - 1024 if int(v) >= 1024 else 0 for n, _, _, v in rows}  # the system's part is in it
        self.assertEqual({n: int(rest[2]) for n, *rest in (line.split() for line in lines[2:])}, shared)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
