#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads of CUDA libraries by name, path and run path get ours. usage: test_libraries.py BUILD_DIR C++_COMPILER"""
import subprocess
import sys
import unittest

from common import CLEAN, LIB, UNDERSTUDY, Case, understudy

CXX = sys.argv[2]
# Prints 0, and where the library that was asked for comes from.
ASK = r"""
#include <dlfcn.h>
#include <link.h>
#include <cstdio>
int main(int, char** argv) {
  void* h = dlopen(argv[1], RTLD_NOW);
  if (!h) return std::puts(dlerror()), 1;
  link_map* m = nullptr;
  dlinfo(h, RTLD_DI_LINKMAP, &m);
  std::puts(m->l_name);
}
"""
# What the toolkit's would be: it says so.
OTHER = 'extern "C" int cudaGetDeviceCount(int* n) { return *n = 77, 0; }\n'
LINKED = r"""
#include <cstdio>
extern "C" int cudaGetDeviceCount(int*);
int main() { int n = 0; cudaGetDeviceCount(&n); std::printf("%d\n", n); }
"""
NVRTC = r"""
#include <dlfcn.h>
#include <cstdio>
int main(int, char** argv) {
  void* h = dlopen(argv[1], RTLD_NOW);
  int major = 0, minor = 0;
  int code = reinterpret_cast<int (*)(int*, int*)>(dlsym(h, "nvrtcVersion"))(&major, &minor);
  std::printf("%d %d.%d\n", code, major, minor);
}
"""


class Libraries(Case):
    def setUp(self):
        super().setUp()
        self.elsewhere = self.dir / "elsewhere"
        self.elsewhere.mkdir()

    def program(self, name, text, *flags):
        source = self.write(f"{name}.cpp", text)
        self.build(CXX, source, "-o", self.dir / name, *flags, "-ldl")
        return self.dir / name

    def library(self, path, text=OTHER):
        source = self.write(f"{path.name}.cpp", text)
        self.build(CXX, "-shared", "-fPIC", source, f"-Wl,-soname,{path.name}", "-o", path)
        return path

    def test_by_name(self):
        ask = self.program("ask", ASK)
        names = {"libcuda.so.1": "libcuda.so.1", "libcuda.so": "libcuda.so.1", "libcuda.so.580.65.06": "libcuda.so.1",
                 "libcudart.so.13": "libcudart.so.13", "libcudart.so": "libcudart.so.13", "libcudart.so.12": "libcudart.so.12",
                 "libcudart.so.12.9.79": "libcudart.so.12", "libnvidia-ml.so.1": "libnvidia-ml.so.1", "libnvidia-ml.so.580.65.06": "libnvidia-ml.so.1",
                 "libnvJitLink.so.13": "libnvJitLink.so.13", "libnvJitLink.so.12": "libnvJitLink.so.12"}
        for optional in ("libnvrtc.so.13", "libnvrtc.so.12", "libcufft.so.12", "libcufft.so.11"):
            if (LIB / optional).exists():
                names[optional] = optional
        for name, ours in names.items():
            self.expect(understudy(ask, name), f"{LIB}/{ours}\n")

    def test_by_path(self):
        ask = self.program("ask", ASK)
        for name in ("libcudart.so.13", "libcudart.so.12"):
            self.expect(understudy(ask, self.library(self.elsewhere / name)), f"{LIB}/{name}\n")
            self.expect(understudy(ask, f"./{name}", cwd=self.elsewhere), f"{LIB}/{name}\n")

    def test_nccl_where_there_is_none(self):
        """The program's own library wins, wherever it lies; ours tells its version and refuses the rest by name."""
        asked = """
            #include <dlfcn.h>
            #include <cstdio>
            int main(int, char** argv) {
              void* h = dlopen(argv[1], RTLD_NOW);
              if (!h) return std::puts(dlerror()), 1;
              int version = 0;
              const int told = reinterpret_cast<int (*)(int*)>(dlsym(h, "ncclGetVersion"))(&version);
              const auto init = reinterpret_cast<int (*)(void**, int, int*)>(dlsym(h, "ncclCommInitAll"));
              void* communicator;
              std::printf("%d %d %d\\n", told, version, init ? init(&communicator, 1, nullptr) : -1);
            }
            """
        program = self.program("asked", asked)
        installed = "libnccl.so.2" in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
        for name in ["/nowhere/libnccl.so.2"] + ([] if installed else ["libnccl.so.2"]):
            result = understudy(program, name)
            self.expect(result, "0 22800 5\n")
            self.assertIn("ncclCommInitAll is refused: of libnccl.so.2 Understudy has the names only", result.stderr)
        own = """extern "C" int ncclGetVersion(int* v) { return *v = 77, 0; }
                 extern "C" int ncclCommInitAll(void**, int, int*) { return 0; }"""
        self.library(self.elsewhere / "libnccl.so.2", own)
        self.expect(understudy(program, self.elsewhere / "libnccl.so.2"), "0 77 0\n")
        with_run_path = self.program("with_run_path", asked, f"-Wl,-rpath,{self.elsewhere}")
        self.expect(understudy(with_run_path, "libnccl.so.2"), "0 77 0\n")

    def test_others_are_left_alone(self):
        ask = self.program("ask", ASK)
        for name in ("libcudart.so.11.0", "libcudart.so.130", "libcudartoon.so", "libcudaq.so.1", "libmine.so"):
            path = self.library(self.elsewhere / name)
            self.expect(understudy(ask, path), f"{path}\n")

    def test_by_run_path(self):
        other = self.library(self.elsewhere / "libcudart.so.13")
        for flags in ("-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"):
            self.expect(understudy(self.program("linked", LINKED, flags, f"-Wl,-rpath,{self.elsewhere}", other)), "1\n")

    def test_children_and_scripts(self):
        other = self.library(self.elsewhere / "libcudart.so.13")
        linked = self.program("linked", LINKED, f"-Wl,-rpath,{self.elsewhere}", other)
        self.expect(understudy("sh", "-c", f"{linked}; env -u LD_LIBRARY_PATH {linked}"), "1\n1\n")
        self.expect(understudy("env", "-u", "LD_AUDIT", linked), "77\n")

    def test_thread_local_data(self):
        """Of libraries that a program is linked with: of an allocator's size, and the thread sanitizer's."""
        text = 'extern "C" __attribute__((tls_model("initial-exec"))) thread_local char data[3000] = {1};\nextern "C" int first() { return data[0]; }\n'
        self.library(self.elsewhere / "liblocal.so", text)
        program = self.program("local", '#include <cstdio>\nextern "C" int first();\nint main() { std::printf("%d\\n", first()); }\n',
                               self.elsewhere / "liblocal.so", f"-Wl,-rpath,{self.elsewhere}")
        self.expect(understudy(program), "1\n")
        source = self.write("sanitized.cpp", "int main() {}")
        if subprocess.run([CXX, "-fsanitize=thread", source, "-o", self.dir / "sanitized"], capture_output=True).returncode == 0:
            result = subprocess.run([UNDERSTUDY, "run", self.dir / "sanitized"], capture_output=True, text=True, env=CLEAN)
            self.assertEqual(result.returncode, 0, result.stderr)

    @unittest.skipUnless((LIB / "libnvrtc.so.12").exists(), "NVRTC was not built")
    def test_ours_reaches_the_stock_library(self):
        """The one that the program meant: by its path, or by the run path of who asked."""
        version = 'extern "C" int nvrtcVersion(int* a, int* b) { return *a = %d, *b = 34, 0; }\n'
        for name, major in (("libnvrtc.so.12", 12), ("libnvrtc.so.13", 13)):
            path = self.library(self.elsewhere / name, version % major)
            self.expect(understudy(self.program("ask", NVRTC), path), f"0 {major}.34\n")
            for rpath in (str(self.elsewhere), "/none:$ORIGIN/elsewhere", "${ORIGIN}/elsewhere:/none"):
                for flags in ("-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"):
                    program = self.program("by_name", NVRTC, flags, f"-Wl,-rpath,{rpath}")
                    self.expect(understudy(program, name), f"0 {major}.34\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
