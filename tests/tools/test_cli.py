#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`understudy` from outside: exit codes, messages, environment. usage: test_cli.py BUILD_DIR [NVCC]"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2] if len(sys.argv) > 2 and os.access(sys.argv[2], os.X_OK) else None
UNDERSTUDY = str(BUILD / "bin" / "understudy")
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("UNDERSTUDY_") and k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}

HOST_ONLY = r"""
#include <cstdio>
#include <cuda_runtime_api.h>
int main(int argc, char** argv) {
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) return 9;
  std::printf("%s %d\n", p.name, argc);
  if (argc > 1) std::printf("%s\n", cudaGetErrorName(cudaEGLStreamConsumerDisconnect(nullptr)));
  return 5;
}
"""
# cudaEGLStreamConsumerDisconnect is declared in a header that wants those of EGL.
HOST_ONLY = HOST_ONLY.replace("int main", 'extern "C" cudaError_t cudaEGLStreamConsumerDisconnect(void*);\nint main', 1)
KERNEL = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 0; }\n"
# A kernel whose one branch has an instruction without semantics: nothing makes multicast objects.
UNIMPLEMENTED = r"""
__global__ void k(int* p, bool wrong) {
  if (!wrong) return;
  asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(p), "r"(1));
}
int main(int argc, char**) {
  int* p;
  cudaMalloc(&p, 4);
  for (int i = 0; i < 3; ++i) k<<<1, 32>>>(p, argc > 1 && i == 2);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
# A kernel in a library that has the CUDA runtime in it, and a program that knows nothing of CUDA.
PLUGIN = r"""
__global__ void k(int* p) { *p = 42; }
extern "C" int go() {
  int *p = 0, h = 0;
  if (cudaMalloc(&p, 4) != cudaSuccess) return 1;
  k<<<1, 1>>>(p);
  return cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost) != cudaSuccess || h != 42;
}
"""
PLUGIN_HOST = r"""
#include <dlfcn.h>
int main(int, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  return library ? reinterpret_cast<int (*)()>(dlsym(library, "go"))() : 2;
}
"""
FAULTS = r"""
#include <cassert>
#include <cstring>
namespace space {
template <class T> __global__ void fault(T* p, int kind) {
  if (kind == 0) assert(*p != 0);
  if (kind == 1) *reinterpret_cast<int*>(16) = 1;
  if (kind == 2 && threadIdx.x < 32) asm volatile("bar.sync 1, 96;");
}
}
int main(int, char** argv) {
  int* p;
  cudaMalloc(&p, 4);
  cudaMemset(p, 0, 4);
  const char* kinds[] = {"assert", "wild", "hang"};
  for (int k = 0; k < 3; ++k)
    if (!strcmp(argv[1], kinds[k])) space::fault<<<1, k == 2 ? 96 : 1>>>(p, k);
  return cudaDeviceSynchronize() == cudaSuccess;
}
"""


def understudy(*args, env=None, **more):
    return subprocess.run([UNDERSTUDY, *args], env={**CLEAN, **(env or {})}, capture_output=True, text=True, timeout=120, **more)


class Cli(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)

    def expect(self, result, code, err=""):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertIn(err, result.stderr)

    def compile(self, name, text, *flags):
        if not NVCC:
            self.skipTest("no nvcc")
        source, program = self.dir / name, self.dir / (name + ".out")
        source.write_text(text)
        subprocess.run([NVCC, "-std=c++17", *flags, "-o", program, source], check=True, capture_output=True, timeout=120)
        return str(program)

    # Help and usage
    def test_help_of_everything(self):
        for verb in ((), ("run",), ("info",), ("ptx",)):
            self.expect(understudy(*verb, "--help"), 0)
        self.assertRegex(understudy("--version").stdout, r"^understudy \d+\.\d+\.\d+ \(CUDA 13\.0\)\n$")

    def test_wrong_command_lines(self):
        for args in ((), ("fly",), ("run",), ("run", "--foo", "true"), ("info", "--what"), ("ptx",)):
            self.expect(understudy(*args), 125)

    def test_unknown_commands(self):
        self.expect(understudy("rum"), 125, "unknown command `rum`: did you mean `run`?")
        self.expect(understudy("inof", "--json"), 125, "did you mean `info`?")
        self.expect(understudy("foo"), 125, "unknown command `foo`: expected run, check, profile, info, ptx or doctor.")
        self.expect(understudy("/bin/true"), 125, "a program is started by `understudy run /bin/true`.")

    def test_wrong_values(self):
        self.expect(understudy("run", "--threads", "many", "true"), 125, "UNDERSTUDY_THREADS=many: expected a whole number")
        self.expect(understudy("run", "--math=loose", "true"), 125, "expected `exact` or `fast`")
        self.expect(understudy("run", "--device", "voodoo", "true"), 125, "unknown device `voodoo`: expected one of h200")
        self.expect(understudy("run", "true", env={"UNDERSTUDY_VERBOSE": "yes"}), 125, "expected 0 or 1")
        self.expect(understudy("run", "--dump-after", "nonsense", "true"), 125,
                    "UNDERSTUDY_DUMP_AFTER=nonsense: expected one of dependencies, reachable, separate_loops, late_results, ssa, copies, dead, "
                    "analyze, inline_calls, its_form, whole_cta, regions, inserted_barriers, region_loops, alignment, bounds, settled, in_place, unheard, strides, emit, mem2reg, inline, combine, "
                    "loops, split, asm, all")
        self.expect(understudy("run", "--disable-pass", "dead,ssa", "true"), 125,
                    "UNDERSTUDY_DISABLE_PASS=dead,ssa: expected passes that code is correct without, separated by commas: copies, dead, "
                    "whole_cta, region_loops, alignment, bounds, settled, in_place, unheard, strides, combine, loops")
        self.expect(understudy("run", "--devices", "1000", "true"), 125, "1000 virtual GPUs: at most 16 are possible")
        self.expect(understudy("run", "--devices", "4097", "true"), 125, "expected a whole number from 0 to 4096")

    def test_places_that_cannot_be_written(self):
        left = self.dir / "the program ran"
        for option, place, why in (("--trace", self.dir / "none" / "t.json", "No such file or directory"), ("--trace", self.dir, "Is a directory"),
                                   ("--json", self.dir / "none" / "%p.json", "No such file or directory"), ("--json", f"{self.dir}/", "Is a directory"),
                                   ("--record", self.dir / "none", "No such file or directory"), ("--record", "/dev/null", "Not a directory")):
            result = understudy("run", option, str(place), "touch", str(left))
            self.expect(result, 125)
            self.assertRegex(result.stderr, rf"understudy: {option} {place}: {why}\n")
            self.assertFalse(left.exists())
        (self.dir / "t.json").write_text("old")
        self.expect(understudy("run", "--trace", "/dev/null", "--json", str(self.dir / "t.json"), "--record", str(self.dir), "touch", str(left)), 0)
        self.assertTrue(left.exists())
        self.assertEqual(sorted(self.dir.iterdir()), [self.dir / "t.json", left])

    # Starting a program
    def test_exit_code_is_the_programs(self):
        for code in (0, 1, 42, 255):
            self.expect(understudy("run", "sh", "-c", f"exit {code}"), code)

    def test_signals_become_128_plus_n(self):
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
            self.expect(understudy("run", "sh", "-c", f"kill -{int(number)} $$"), 128 + number)

    def test_missing_and_not_executable(self):
        plain = self.dir / "plain"
        plain.write_text("echo no\n")
        self.expect(understudy("run", "no-such-program"), 127, "no-such-program: not found")
        self.expect(understudy("run", "./no-such-program"), 127, "not found")
        self.expect(understudy("run", str(plain)), 126, "not executable")
        self.expect(understudy("run", str(self.dir)), 126, "not executable")

    def test_scripts_run_even_without_an_interpreter_line(self):
        script = self.dir / "script"
        script.write_text("echo $1 $LD_LIBRARY_PATH; exit 3\n")
        script.chmod(0o755)
        result = understudy("run", str(script), "--help", env={"LD_LIBRARY_PATH": "/old"})
        self.expect(result, 3)
        self.assertEqual(result.stdout, f"--help {BUILD}/lib:/old\n")

    def test_options_become_variables(self):
        result = understudy("run", "--device=a100,h200", "--threads", "2", "--deterministic", "--no-cache", "--dump-after=loops", "--json",
                            "r.json", "--", "env", cwd=self.dir)
        self.expect(result, 0)
        seen = dict(line.split("=", 1) for line in result.stdout.splitlines() if line.startswith("UNDERSTUDY_"))
        self.assertEqual(seen, {"UNDERSTUDY_DEVICE": "a100,h200", "UNDERSTUDY_THREADS": "2", "UNDERSTUDY_DETERMINISTIC": "1",
                                "UNDERSTUDY_CACHE": "none", "UNDERSTUDY_DUMP_AFTER": "loops", "UNDERSTUDY_JSON": str(self.dir / "r.json")})

    def test_input_and_arguments_reach_the_program(self):
        result = understudy("run", "sh", "-c", 'cat; echo "$0|$1"', "a b", "--verbose", input="in\n")
        self.assertEqual(result.stdout, "in\na b|--verbose\n")
        result = understudy("run", "--threads", "1", "--", "sh", "-c", 'echo "$*"', "-", "--", "x")
        self.assertEqual(result.stdout, "-- x\n")

    def test_terminate_is_passed_on(self):
        process = subprocess.Popen([UNDERSTUDY, "run", "sh", "-c", "trap 'exit 17' TERM; echo ready; while :; do sleep 0.05; done"],
                                   env=CLEAN, stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(0.1)
        process.terminate()
        self.assertEqual(process.wait(timeout=30), 17)
        process.stdout.close()

    # CUDA programs
    def test_static_runtime_needs_its_symbols(self):
        program = self.compile("s.cu", KERNEL, "-cudart", "static", "-gencode", "arch=compute_90,code=compute_90")
        self.expect(understudy("run", program), 0)
        subprocess.run(["strip", program], check=True)
        self.expect(understudy("run", "--static-runtime", "none", program), 121, "-cudart shared")
        archive = pathlib.Path(NVCC or "/").resolve().parent.parent / "lib64/libcudart_static.a"
        self.expect(understudy("run", "--static-runtime", archive, program), 0)

    def test_shared_runtime_is_ours_even_with_rpath(self):
        stock = pathlib.Path(NVCC or "/").resolve().parent.parent / "lib64"
        for flags in ((), ("-Xlinker", f"-rpath={stock}"), ("-Xlinker", f"--disable-new-dtags,-rpath={stock}")):
            program = self.compile("h.cpp", HOST_ONLY, "-cudart", "shared", *flags)
            result = understudy("run", "--device", "a100", program)
            self.expect(result, 5)
            self.assertEqual(result.stdout, "NVIDIA A100-SXM4-80GB 1\n")

    def test_report_names_stubs(self):
        program = self.compile("h.cpp", HOST_ONLY, "-cudart", "shared")
        report = self.dir / "report-%p.json"
        result = understudy("run", "--verbose", "--json", str(report), program, "egl")
        self.expect(result, 5, "cudaEGLStreamConsumerDisconnect (1 time)")
        self.assertIn("cudaErrorNotSupported", result.stdout)
        [written] = self.dir.glob("report-*.json")
        data = json.loads(written.read_text())
        self.assertEqual(data["stubbed_calls"], {"cudaEGLStreamConsumerDisconnect": 1})
        self.assertFalse(data["exact"])
        self.assertEqual(data["facts"]["devices"], "h200")
        self.assertEqual(data["facts"]["process"], written.stem.split("-")[1])

    def load_plugin(self, name, *before):
        plugin = self.dir / name
        shutil.copy(self.compile("plug.cu", PLUGIN, "-cudart", "static", "-Xcompiler", "-fPIC", "-shared"), plugin)
        subprocess.run(["strip", plugin], check=True)
        host = self.compile("host.cpp", PLUGIN_HOST, "-cudart", "none", "-ldl")
        result = understudy("run", "--static-runtime", "none", "--json", str(self.dir / "r.json"), *before, host, str(plugin))
        data = json.loads((self.dir / "r.json").read_text())
        self.assertFalse(data["exact"])
        self.assertEqual(data["refused"], {f"the CUDA runtime in {plugin}": 1})
        self.assertEqual(result.stderr.count(str(plugin)), 1, result.stderr)
        self.assertNotEqual(result.returncode, 0)
        return result.stderr

    def test_static_runtime_in_a_library_is_named(self):
        self.assertIn("libcudart_static", self.load_plugin("libplug.so"))

    def test_static_runtime_behind_a_script_is_named(self):
        script = self.dir / "script"
        script.write_text('#!/bin/sh\n"$@"\n')
        script.chmod(0o755)
        self.assertIn("nvcc -cudart shared", self.load_plugin("libplug.so", str(script)))

    def test_library_of_the_toolkit_is_named(self):
        self.assertIn("is a library of the CUDA toolkit", self.load_plugin("libcusparse.so.12"))
        self.assertIn("is the CUDA toolkit's runtime", self.load_plugin("libcudart.so.11.0"))

    def test_library_that_wants_private_functions_is_named(self):
        source = (
            '#include <cuda_runtime.h>\nextern "C" int go() { const void* table; cudaUUID_t id{}; '
            "return (cudaGetExportTable(&table, &id) == 801 && cudaGetExportTable(&table, &id) == 801) ? 0 : 1; }"
        )
        library = self.compile("wants.cu", source, "-cudart", "shared", "-Xcompiler", "-fPIC", "-shared")
        host = self.compile("host.cpp", PLUGIN_HOST, "-cudart", "none", "-ldl")
        for option in ("--no-cache", "--stats"):
            result = understudy("run", option, host, str(library))
            self.assertEqual(result.returncode, 0)
            self.assertEqual(result.stderr.count(f"{library} asks for private functions"), 1, result.stderr)

    def test_refused_image_is_not_exact(self):
        program = self.compile("n.cu", KERNEL, "-cudart", "shared", "-gencode", "arch=compute_90,code=sm_90")
        self.expect(understudy("run", "--json", str(self.dir / "r.json"), program), 0, "there is no PTX for this device")
        data = json.loads((self.dir / "r.json").read_text())
        self.assertFalse(data["exact"])
        [(what, times)] = data["refused"].items()
        self.assertIn("the program: there is no PTX for this device", what)

    def test_report_of_an_exact_run(self):
        program = self.compile("h.cpp", HOST_ONLY, "-cudart", "shared")
        self.expect(understudy("run", "--json", str(self.dir / "r.json"), program), 5)
        self.assertTrue(json.loads((self.dir / "r.json").read_text())["exact"])

    def test_report_of_kernels(self):
        program = self.compile("n.cu", UNIMPLEMENTED, "-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90")
        report = self.dir / "r.json"
        self.expect(understudy("run", "--no-cache", "--json", str(report), program), 0)
        data = json.loads(report.read_text())
        self.assertEqual(data["counts"], {"grids launched": 3, "kernels compiled": 1})
        self.assertTrue(data["exact"])
        self.expect(understudy("run", "--no-cache", "--json", str(report), program, "x"), 1, "instruction not implemented: multimem.red")
        data = json.loads(report.read_text())
        self.assertFalse(data["exact"])
        [(name, times)] = data["unimplemented"].items()
        self.assertIn("multimem.red", name)
        self.assertEqual(times, 1)

    def test_wrong_setting_without_the_command_line_tool(self):
        program = self.compile("h.cpp", HOST_ONLY, "-cudart", "shared")
        result = subprocess.run([program], env={**CLEAN, "LD_LIBRARY_PATH": str(BUILD / "lib"), "UNDERSTUDY_DEVICE": "voodoo"},
                                capture_output=True, text=True)
        self.expect(result, 125, "unknown device `voodoo`")
        result = subprocess.run([program], env={**CLEAN, "LD_LIBRARY_PATH": str(BUILD / "lib"), "UNDERSTUDY_JSON": "/none/r.json"},
                                capture_output=True, text=True)
        self.expect(result, 125, "--json /none/r.json: No such file or directory")

    def test_reports_of_faults(self):
        program = self.compile("f.cu", FAULTS, "-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90")
        for fault, line in (("assert", "a device-side assertion failed"), ("wild", "illegal memory access"), ("hang", "deadlock")):
            result = understudy("run", program, fault)
            self.expect(result, 0, line)
            self.assertIn("kernel void space::fault<int>(int*, int)", result.stderr)
            self.assertNotIn("_Z", result.stderr)
            self.assertEqual(result.stderr.count("Assertion `*p != 0` failed"), fault == "assert")

    def test_unknown_processor(self):
        program = self.compile("k.cu", KERNEL, "-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90")
        result = understudy("run", "--no-cache", "--cpu", "nonsense", program)
        self.expect(result, 0)
        self.assertEqual(result.stderr, "understudy: kernel k() does not compile:\n  unknown CPU name `nonsense`: expected a name that LLVM "
                                        "knows, such as x86-64-v3 or znver4\n")

    def test_too_few_addresses(self):
        program = self.compile("h.cpp", HOST_ONLY.replace("return 9", "return std::printf(\"%d\\n\", cudaGetLastError()), 9"), "-cudart", "shared")
        report = self.dir / "r.json"
        result = understudy("run", "--json", str(report), "sh", "-c", f"ulimit -v 300000; exec {program}")
        self.expect(result, 9, "this process may map 292 MiB of addresses (ulimit -v)")
        self.assertEqual(result.stdout, "2\n")
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertFalse(json.loads(report.read_text())["exact"])
        self.expect(understudy("run", "sh", "-c", f"ulimit -v 100000000; exec {program}"), 5)

    # info
    def test_info_as_text(self):
        result = understudy("info", "--device", "h200,l40s", env={"UNDERSTUDY_CACHE": str(self.dir)})
        self.expect(result, 0)
        for part in ("NVIDIA H200", "NVIDIA L40S", "multiprocessors            132", "0, 8, 16, 32, 64, 100, 132, 164, 196, 228 KB",
                     f"{BUILD}/lib/libcudart.so.13", "cuFFT library", "NVRTC library", f"{self.dir} (0 files, 0 bytes)"):
            self.assertIn(part, result.stdout)
        self.assertNotIn("\x1b", result.stdout)

    def test_info_as_json(self):
        data = json.loads(understudy("info", "--json", "--device=h100").stdout)
        [device] = data["devices"]
        self.assertEqual(device["name"], "NVIDIA H100 80GB HBM3")
        self.assertEqual(device["attributes"]["L2_CACHE_SIZE"], {"value": 52428800, "origin": "documented"})
        self.assertEqual(device["attributes"]["IPC_EVENT_SUPPORTED"]["origin"], "assumed")
        self.assertEqual(len(device["attributes"]), 147)
        self.assertTrue(data["libraries"]["complete"])
        self.expect(understudy("info", "--device=voodoo"), 125, "unknown device")

    # ptx
    def test_ptx_of_a_text(self):
        good = self.dir / "good.ptx"
        good.write_text(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry _Z4fillPi(.param .u64 p)\n{\n.reg .b32 %r<3>;\n"
                        "add.s32 %r1, %r2, 1;\nret;\n}\n")
        result = understudy("ptx", str(good))
        self.expect(result, 0)
        for part in ("PTX 9.0, sm_90", "kernel fill(int*)", "parameters     8 bytes: u64 (8 bytes)", "coverage: 1 of 1 instruction implemented"):
            self.assertIn(part, result.stdout)
        [module] = json.loads(understudy("ptx", "--json", str(good)).stdout)["modules"]
        self.assertEqual(module["functions"][0]["name"], "_Z4fillPi")
        self.assertEqual(module["problems"], [])

    def test_ptx_with_errors(self):
        bad = self.dir / "bad.ptx"
        bad.write_text(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret\n}\n")
        result = understudy("ptx", str(bad))
        self.expect(result, 1)
        self.assertRegex(result.stdout, r"7:1: error: expected")
        self.expect(understudy("ptx", str(self.dir / "missing.ptx")), 125, "No such file")
        self.expect(understudy("ptx", "/bin/true"), 125, "/bin/true")

    def test_ptx_inside_programs(self):
        for flags in ((), ("--compress-mode=none",), ("--compress-mode=speed",), ("-rdc=true",)):
            program = self.compile("k.cu", KERNEL, "-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90", *flags)
            result = understudy("ptx", program)
            self.expect(result, 0)
            self.assertIn("kernel k()", result.stdout)

    def test_machine_code_alone_is_explained(self):
        program = self.compile("k.cu", KERNEL, "-cudart", "shared", "-gencode", "arch=compute_90,code=sm_90")
        result = understudy("ptx", program)
        self.expect(result, 1)
        self.assertIn("compile it with -gencode arch=compute_90,code=compute_90", result.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
