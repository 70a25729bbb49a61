#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs and libraries with the static CUDA runtime, as nvcc makes them. usage: test_static_runtime.py BUILD_DIR NVCC

US_CUDA12: a directory with include/ and lib/libcudart_static.a of CUDA 12, for the tests that need one.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from common import CLEAN, UNDERSTUDY, Case, understudy

NVCC = sys.argv[2]
CUDA12 = os.environ.get("US_CUDA12")

# Variables of the device, a constructor that calls CUDA, a kernel.
PLUGIN = r"""
__device__ int state = NUMBER;
__constant__ int table[4] = {1, 2, 3, NUMBER};
__global__ void add(int* out) { *out = state + table[3]; }
struct Early {
  int* p = nullptr;
  Early() { cudaMalloc(&p, sizeof(int)); }
} early;
extern "C" int answer() {
  int result = -1, more = 100;
  cudaMemcpyToSymbol(state, &more, sizeof more);
  add<<<1, 1>>>(early.p);
  cudaMemcpy(&result, early.p, sizeof result, cudaMemcpyDeviceToHost);
  return result;
}
"""
HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  for (int round = 0; round < 2; ++round)
    for (int i = 1; i < argc; ++i) {
      void* library = dlopen(argv[i], RTLD_NOW);
      if (!library) return puts(dlerror()), 1;
      printf("%d\n", ((int (*)(void))dlsym(library, "answer"))());
      if (i == 1) dlclose(library);
    }
  return 0;
}
"""
PROGRAM = PLUGIN.replace("early.p, sizeof result", "early.p, 4") + r"""
#include <cstdio>
int main() { return std::printf("%d\n", answer()), 0; }
"""
FORKS = r"""
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
__global__ void fill(int* p, int value) { *p = value; }
int run(int value) {
  int* p;
  int got = 0;
  if (cudaMalloc(&p, sizeof got) != cudaSuccess) return -cudaGetLastError();
  fill<<<1, 1>>>(p, value);
  cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost);
  return got;
}
int main(int argc, char** argv) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc > 1) return std::printf("executed %d\n", run(3)), 0;
  if (fork() == 0) return std::printf("forked early %d\n", run(1)), 0;
  wait(nullptr);
  std::printf("parent %d\n", run(2));
  if (fork() == 0) return std::printf("forked late %d\n", run(1)), 0;
  wait(nullptr);
  if (fork() == 0) return execl(argv[0], argv[0], "x", nullptr);
  wait(nullptr);
}
"""
# A failing call, and who of three runtimes has it as its last error, in this thread and in another.
FAILS = r"""
__global__ void kernel() {}
extern "C" int fail() { return cudaSetDevice(77); }
extern "C" int last() { return cudaGetLastError(); }
"""
LAST_ERRORS = r"""
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <cstdio>
#include <thread>
using Function = int (*)();
int main(int, char** argv) {
  Function fail[2], last[2];
  for (int i = 0; i < 2; ++i) {
    void* library = dlopen(argv[i + 1], RTLD_NOW);
    fail[i] = (Function)dlsym(library, "fail"), last[i] = (Function)dlsym(library, "last");
  }
  const auto tell = [&] { std::printf("%d %d %d\n", last[0](), last[1](), cudaGetLastError()); };
  fail[0](), tell();
  fail[1](), tell();
  cudaMemcpy(nullptr, argv, 4, cudaMemcpyHostToDevice), tell();
  fail[0](), fail[1](), cudaMalloc(nullptr, 1);
  std::thread(tell).join();
  tell();
  tell();
}
"""
# What looks like a runtime of CUDA 12 to the loader, to show what is changed and what is not.
PRETENDER = r"""
int {prefix}inner(void) {{ return 1; }}
int cudaRuntimeGetVersion(int* v) {{ return *v = {prefix}inner(), 0; }}
int {marker}(void) {{ return 1; }}
int cudaMine(void) {{ return 1234; }}
asm(".balign 16\n.globl cudaDeviceSynchronize\n.type cudaDeviceSynchronize, @function\ncudaDeviceSynchronize:\n xorl %eax, %eax\n ret\n"
    ".size cudaDeviceSynchronize, .-cudaDeviceSynchronize\n"
    ".globl neighbour\n.type neighbour, @function\nneighbour:\n movl $55, %eax\n ret\n.size neighbour, .-neighbour\n");
int neighbour(void);
#include <stdio.h>
int main(void) {{
  int v = 0;
  cudaRuntimeGetVersion(&v);
  return printf("%d %d %d\n", v, cudaMine(), neighbour()), 0;
}}
"""


class StaticRuntime(Case):
    def nvcc(self, name, text, *flags):
        source = self.write(f"{name}.cu", text)
        self.build(NVCC, source, "-o", self.dir / name, *flags)
        return self.dir / name

    def plugin(self, number):
        return self.nvcc(f"plugin{number}.so", PLUGIN, f"-DNUMBER={number}", "-shared", "-Xcompiler", "-fPIC")

    def host(self):
        self.build("cc", self.write("host.c", HOST), "-o", self.dir / "host", "-ldl")
        return self.dir / "host"

    def test_as_nvcc_makes_it(self):
        program = self.nvcc("program", PROGRAM, "-DNUMBER=7")
        before = hashlib.sha256(program.read_bytes()).digest()
        self.expect(understudy(program), "107\n")
        self.assertEqual(hashlib.sha256(program.read_bytes()).digest(), before)
        self.expect(understudy("sh", "-c", f"cd {self.dir} && exec ./program"), "107\n")

    def test_position_dependent_and_linked_by_others(self):
        self.expect(understudy(self.nvcc("fixed", PROGRAM, "-DNUMBER=7", "-Xcompiler", "-fno-pie", "-Xlinker", "-no-pie")), "107\n")
        self.expect(understudy(self.nvcc("now", PROGRAM, "-DNUMBER=7", "-Xlinker", "-z,now", "-Xlinker", "--gc-sections")), "107\n")
        if shutil.which("ld.lld"):
            self.expect(understudy(self.nvcc("lld", PROGRAM, "-DNUMBER=7", "-Xcompiler", "-fuse-ld=lld")), "107\n")

    def test_plugins(self):
        """Several runtimes in one process; the first one comes, goes and comes again."""
        plugins = [self.plugin(n) for n in (1, 2, 3)]
        self.expect(understudy(self.host(), *plugins), "101\n102\n103\n" * 2)

    def test_each_runtime_has_its_last_error(self):
        """What a library with a static runtime does leaves the errors of the others alone (101: cudaErrorInvalidDevice)."""
        plugins = [self.nvcc(f"fails{n}.so", FAILS, "-shared", "-Xcompiler", "-fPIC") for n in (1, 2)]
        want = "101 0 0\n0 101 0\n0 0 1\n0 0 0\n101 101 1\n0 0 0\n"
        for kind in ("shared", "static"):
            program = self.nvcc(f"last_{kind}", LAST_ERRORS, "-cudart", kind, "-ldl")
            self.expect(understudy(program, *plugins), want)
        self.build("strip", plugins[0])  # an archive tells where its functions are
        self.expect(self.run_by_archive(str(self.archive()), program, *plugins), want)

    def test_python(self):
        script = "import ctypes, sys\nfor p in sys.argv[1:]: print(ctypes.CDLL(p).answer())"
        self.expect(understudy(sys.executable, "-c", script, self.plugin(4), self.plugin(5)), "104\n105\n")

    def test_libraries_of_a_program(self):
        """A constructor of a library runs before those of a runtime it does not know of."""
        library = self.plugin(6)
        shutil.copy(library, self.dir / "libplugin6.so")
        text = 'extern "C" int answer();\n#include <cstdio>\nint main() { int n = 0; cudaGetDeviceCount(&n); std::printf("%d %d\\n", n, answer()); }\n'
        here = (f"-L{self.dir}", "-Xlinker", f"-rpath={self.dir}")
        for kind, libraries in (("static", ("-lplugin6",)), ("shared", ("-lplugin6",)), ("none", ("-lcudart", "-lplugin6"))):
            program = self.nvcc(f"linked_{kind}", text, "-cudart", kind, *here, *libraries)
            self.expect(understudy(program), "1 106\n")

    def test_forks_and_programs_that_are_started(self):
        # After the parent used CUDA a forked child gets cudaErrorInitializationError (3), as from the shared runtime.
        self.expect(understudy(self.nvcc("forks", FORKS)), "forked early 1\nparent 2\nforked late -3\nexecuted 3\n")

    def archive(self):
        """The one that NVCC links."""
        home = pathlib.Path(NVCC).resolve().parent.parent
        for place in ("lib64", "lib", "targets/x86_64-linux/lib"):
            if (home / place / "libcudart_static.a").exists():
                return home / place / "libcudart_static.a"
        self.skipTest("nvcc's libcudart_static.a is in no known place")

    def run_by_archive(self, archives, *command, verb="run"):
        more = {"UNDERSTUDY_STATIC_RUNTIME": archives}
        return subprocess.run([UNDERSTUDY, verb, *map(str, command)], capture_output=True, text=True, env=CLEAN | more, timeout=120)

    def test_stripped_of_a_known_archive(self):
        """The archive tells where the functions are: in programs, whatever linked them, and in libraries."""
        archive = str(self.archive())
        linkers = [(), ("-Xcompiler", "-fno-pie", "-Xlinker", "-no-pie")] + ([("-Xcompiler", "-fuse-ld=lld")] if shutil.which("ld.lld") else [])
        for i, flags in enumerate(linkers):
            program = self.nvcc(f"program{i}", PROGRAM, "-DNUMBER=7", *flags)
            self.build("strip", program)
            self.expect(self.run_by_archive(archive, program), "107\n")
        named = [UNDERSTUDY, "run", "--static-runtime", f"/nowhere.a:{archive}", program]
        self.expect(subprocess.run(named, capture_output=True, text=True, env=CLEAN), "107\n")
        plugins = [self.plugin(n) for n in (1, 2)]
        self.build("strip", *plugins)
        self.expect(self.run_by_archive(archive, self.host(), *plugins), "101\n102\n" * 2)
        told = self.run_by_archive(archive, program, verb="doctor")
        self.assertIn(f"without symbols, which {archive} has: its calls are sent to ours", told.stdout)
        # Beside the file, where a Python package has it.
        site = self.dir / "site/nvidia/cu13/lib"
        site.mkdir(parents=True)
        shutil.copy(archive, site)
        (self.dir / "site/client").mkdir()
        shutil.copy(program, self.dir / "site/client")
        self.assertIn(str(site), self.run_by_archive("", self.dir / "site/client" / program.name, verb="doctor").stdout)

    def test_archives_of_others(self):
        """Of another version, cut short, or no archive: nothing is found, and nothing breaks."""
        program = self.nvcc("program", PROGRAM, "-DNUMBER=7")
        self.build("strip", program)
        whole, bad = self.archive().read_bytes(), self.dir / "bad.a"
        other = bytearray(whole)
        code = whole.index(b"\x7fELF") + 64  # the section of code comes first
        for at in range(code + 0x10000, code + 0x10100):
            other[at] ^= 1
        damaged = [bytes(other), whole[:7], whole[:68], whole[:200], whole[: len(whole) // 2], whole[:-1], b"!<arch>\n" * 99, b"",
                   whole.replace(b".text\0", b".tixt\0"), whole[:8] + whole[200:]]
        for i, content in enumerate(damaged):
            bad.write_bytes(content)
            told = self.run_by_archive(bad, program, verb="doctor")
            self.assertIn("without symbols: its calls cannot be sent to ours", told.stdout, (i, told.stderr))
            if i % 4 == 0:
                self.assertEqual(self.run_by_archive(bad, program).returncode, 121)

    def test_stripped(self):
        program = self.nvcc("program", PROGRAM, "-DNUMBER=7")
        self.build("strip", program)
        CLEAN["UNDERSTUDY_STATIC_RUNTIME"] = "none"
        self.addCleanup(lambda: CLEAN.pop("UNDERSTUDY_STATIC_RUNTIME"))
        result = subprocess.run([UNDERSTUDY, "run", program], capture_output=True, text=True, env=CLEAN)
        self.assertEqual(result.returncode, 121)
        for part in (str(program), "its symbol table was stripped", "Run it unstripped", "-cudart shared", "--static-runtime"):
            self.assertIn(part, result.stderr)
        behind_a_script = understudy("sh", "-c", str(program))
        self.assertIn(f"{program} contains a CUDA runtime of its own", behind_a_script.stderr)
        self.assertIn("do not strip the file", behind_a_script.stderr)
        plugin = self.plugin(1)
        self.build("strip", plugin)
        self.assertIn(f"{plugin} contains a CUDA runtime of its own", understudy(self.host(), plugin).stderr)

    def test_debug_information_may_go(self):
        program = self.nvcc("program", PROGRAM, "-DNUMBER=7", "-g")
        self.build("strip", "--strip-debug", program)
        self.expect(understudy(program), "107\n")

    def test_statically_linked_as_a_whole(self):
        source = self.write("whole.cu", PROGRAM)
        made = subprocess.run([NVCC, source, "-DNUMBER=7", "-Xcompiler", "-static", "-o", self.dir / "whole"], capture_output=True)
        if made.returncode != 0:
            self.skipTest("no static C library")
        result = subprocess.run([UNDERSTUDY, "run", self.dir / "whole"], capture_output=True, text=True, env=CLEAN)
        self.assertEqual(result.returncode, 121)
        self.assertIn("it is linked statically as a whole", result.stderr)

    def test_what_is_replaced(self):
        """Public functions that ours has, of the right version; nothing else, and no neighbours of short functions."""
        def run(prefix, marker):
            source = self.write("pretender.c", PRETENDER.format(prefix=prefix, marker=marker))
            self.build("cc", "-O1", "-fno-inline", "-falign-functions=32", source, "-o", self.dir / "pretender")
            return understudy(self.dir / "pretender")
        self.expect(run("libcudart_static_", "cudaGetDeviceProperties_v2"), "12090 1234 55\n")
        self.expect(run("libcudart_static_", "something"), "13000 1234 55\n")
        self.expect(run("libcudart_static_", "cudaBindTexture"), "1 1234 55\n")  # CUDA 11
        self.expect(run("another_", "cudaGetDeviceProperties_v2"), "1 1234 55\n")  # somebody's own

    def test_calls_are_traced(self):
        program, trace = self.nvcc("program", PROGRAM, "-DNUMBER=7"), self.dir / "t.json"
        subprocess.run([UNDERSTUDY, "run", f"--trace={trace}", program], check=True, capture_output=True, env=CLEAN)
        for name in ("cudaMalloc", "cudaMemcpyToSymbol", "cudaLaunchKernel"):
            self.assertIn(f'"{name}"', trace.read_text())

    @unittest.skipUnless(CUDA12, "US_CUDA12 names no CUDA 12")
    def test_runtime_of_cuda_12(self):
        home = pathlib.Path(CUDA12)
        text = PROGRAM.replace("return std", r"""cudaDeviceProp p;
  int v = 0;
  if (cudaGetDeviceProperties(&p, 0) || cudaRuntimeGetVersion(&v)) return 1;
  std::printf("%d %d %d %zu\n", v, p.clockRate > 0, p.multiProcessorCount, sizeof p);
  return std""")
        program = self.nvcc("program", text, "-DNUMBER=7", f"-I{home}/include", "-cudart", "none", f"-L{home}/lib", "-lcudart_static",
                            "-lpthread", "-ldl", "-lrt")
        self.expect(understudy(program), "12090 1 132 1032\n107\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
