#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`understudy check`: options, exit codes, reports, suppressions, crashes, children. usage: test_check.py BUILD_DIR NVCC"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

BUILD = pathlib.Path(sys.argv[1]).resolve()
NVCC = sys.argv[2]
FLAGS = "-gencode arch=compute_90,code=compute_90 -cudart shared -std=c++17 -lineinfo -g".split()
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("UNDERSTUDY_") and k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}

# What the program does wrong stands in its first argument.
PROGRAM = r"""

#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
__global__ void fill(int* p) { p[threadIdx.x] = 1; }
__device__ int a[64], b[64];
__global__ void swap() {
  b[threadIdx.x ^ 1] = threadIdx.x;
  a[threadIdx.x] = b[threadIdx.x];
}
__global__ void locked(int* lock, int* sum) {
  __shared__ int own;
  if (threadIdx.x == 0) own = 0;
  __syncthreads();
  while (atomicExch(lock, 1)) {}
  *sum += threadIdx.x, own += 1;
  atomicExch(lock, 0);
  __syncthreads();
  if (threadIdx.x == 0) sum[1 + blockIdx.x] = own;
}
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int *p = nullptr, code = argc > 2 ? 7 : 0;
  if (!strcmp(what, "child")) {
    if (fork() == 0) what = "error";
    else wait(nullptr);
  }
  cudaMalloc(&p, 4096);
  fill<<<1, 32>>>(p);
  if (cudaDeviceSynchronize() != cudaSuccess) return 9;
  if (!strcmp(what, "error")) cudaFree(argv);                      // invalid-free
  if (!strcmp(what, "often"))
    for (int i = 0; i < 5; ++i) cudaFree(argv);
  if (!strcmp(what, "unchecked")) fill<<<1, 2000>>>(p);            // api-unchecked
  if (!strcmp(what, "checked")) {
    fill<<<1, 2000>>>(p);
    cudaGetLastError();
  }
  if (!strcmp(what, "variable")) swap<<<1, 32>>>();                // race-global
  if (!strcmp(what, "locked")) {
    cudaMemset(p, 0, 4096);
    locked<<<2, 64>>>(p, p + 1);                                   // race-global, race-shared
    cudaDeviceSynchronize();
  }
  if (!strcmp(what, "leak")) return 0;
  if (!strcmp(what, "ready")) {
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaStreamQuery(s);
    cudaStreamDestroy(s);
  }
  if (!strcmp(what, "crash")) {
    cudaFree(argv);
    *static_cast<volatile int*>(nullptr) = 1;
  }
  cudaFree(p);
  if (!strcmp(what, "twice")) cudaFree(p);                         // invalid-free
  return code;
}
"""


def line_of(text):
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        (cls.folder / "x.cu").write_text(PROGRAM)
        subprocess.run([NVCC, *FLAGS, "x.cu", "-o", "x"], cwd=cls.folder, check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def check(self, *arguments, options=()):
        return subprocess.run([BUILD / "bin" / "understudy", "check", "--cache", self.folder / "cache", *options, "./x", *arguments],
                              cwd=self.folder, env=CLEAN, capture_output=True, text=True, timeout=120)

    def report(self, *arguments, options=()):
        done = self.check(*arguments, options=[*options, "--json", "r.json"])
        return done, json.loads((self.folder / "r.json").read_text())

    def names(self, *arguments, options=()):
        return [f["check"] for f in self.report(*arguments, options=options)[1]["findings"]]

    def test_clean_program(self):
        done, report = self.report("clean", "seven")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual([report["errors"], report["warnings"], report["notes"]], [0, 0, 0], done.stderr)
        self.assertIn("understudy: 0 errors, 0 warnings, 0 notes", done.stderr)
        self.assertEqual(report["unended_processes"], [])

    def test_an_error_decides_the_exit_code(self):
        done = self.check("error")
        self.assertEqual(done.returncode, 120, done.stderr)
        self.assertEqual(self.check("error", options=["--error-exitcode", "3"]).returncode, 3)
        self.assertIn("error: a free of no allocation [invalid-free]", done.stderr)
        self.assertIn("cudaFree: cudaErrorInvalidValue (1)", done.stderr)
        self.assertIn("understudy: 1 error,", done.stderr)

    def test_a_relaxed_lock_is_to_acquire_and_release(self):
        found = [f for f in self.report("locked")[1]["findings"] if f["severity"] == "error"]
        self.assertEqual({f["check"] for f in found}, {"race-global", "race-shared"})
        for f in found:
            self.assertIn("atomics that acquire and release", f["fix"])
        self.assertNotIn("atomics", self.report("variable")[1]["findings"][0]["fix"])

    def test_a_warning_does_not(self):
        done = self.check("unchecked")
        self.assertEqual(done.returncode, 0)  # the launch itself failed: a warning, too
        done = self.check("unchecked", options=["--check", "api-unchecked"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: the error of an API call was not looked at [api-unchecked]", done.stderr)

    def test_asking_for_the_last_error(self):
        self.assertEqual(self.names("checked"), ["api-error"])
        self.assertEqual(self.names("unchecked"), ["api-error", "api-unchecked"])

    def test_not_ready_is_an_answer(self):
        self.assertEqual(self.names("ready"), [])

    def test_the_calls_are_named(self):
        finding = self.report("error")[1]["findings"][0]
        functions = [f["function"] for f in finding["parties"][0]["frames"]]
        self.assertIn("main", functions)

    def test_variables_are_named(self):
        findings = self.report("variable")[1]["findings"]
        self.assertEqual([f["check"] for f in findings], ["race-global"])
        self.assertRegex(findings[0]["object"], r"^variable `b`, byte \d+ \(\[\d+\] as elements of 4 bytes\)$")

    def test_counts(self):
        done, report = self.report("often")
        self.assertEqual([(f["check"], f["times"]) for f in report["findings"]], [("invalid-free", 5)])
        self.assertIn("5 times", done.stderr)

    def test_leaks_are_asked_for(self):
        self.assertEqual(self.names("leak"), [])
        done, report = self.report("leak", options=["--leak-check", "full"])
        self.assertEqual([f["check"] for f in report["findings"]], ["leak"])
        self.assertEqual(report["findings"][0]["object"], "4096 bytes of device memory")
        self.assertEqual(done.returncode, 0)

    def test_invalid_free(self):
        self.assertEqual(self.names("twice"), ["invalid-free"])

    def test_choosing_checks(self):
        self.assertEqual(self.names("error", options=["--tool", "racecheck"]), [])
        self.assertEqual(self.names("error", options=["--tool", "memcheck"]), ["invalid-free"])
        self.assertEqual(self.names("error", options=["--check", "-invalid-free"]), [])
        self.assertEqual(self.names("error", options=["--check", "invalid"]), ["invalid-free"])

    def test_wrong_options(self):
        for options, text in ((["--tool", "x"], "--tool x"), (["--check", "x"], "`x` is no check"), (["--launch", "x"], "--launch x"),
                              (["--leak-check", "x"], "--leak-check x"), (["--explore", "0"], "--explore 0"), (["--explore", "x"], "--explore x"),
                              (["--explore", "4097"], "--explore 4097: expected a whole number from 1 to 4096"),
                              (["--explore", "4294967297"], "--explore 4294967297: expected a whole number from 1 to 4096"),
                              (["--seed", "5000"], "UNDERSTUDY_SEED=5000: expected a whole number from 0 to 4096"),
                              (["--seed", "4294967297"], "UNDERSTUDY_SEED=4294967297: expected a whole number from 0 to 4096"),
                              (["--seed", "x"], "UNDERSTUDY_SEED=x: expected a whole number from 0 to 4096"),
                              (["--json", "/none/x"], "--json /none/x"),
                              (["--suppressions", "/none"], "--suppressions /none")):
            done = self.check(options=options)
            self.assertEqual(done.returncode, 125, options)
            self.assertNotIn("judged", done.stderr)
            self.assertIn(text, done.stderr)

    def test_a_crash_keeps_what_was_found(self):
        done, report = self.report("crash")
        self.assertEqual(done.returncode, 120, done.stderr)
        self.assertEqual([f["check"] for f in report["findings"]], ["invalid-free"])
        self.assertEqual(len(report["unended_processes"]), 1)
        self.assertIn("did not come to its end", done.stderr)
        self.assertEqual(self.check("crash", options=["--check", "leak"]).returncode, 128 + 11)

    def test_children_report(self):
        report = self.report("child")[1]
        self.assertEqual([f["object"] for f in report["findings"]], ["cudaFree: cudaErrorInvalidValue (1)"])
        self.assertEqual(report["processes"], 2)

    def test_programs_that_are_started(self):
        done = subprocess.run([BUILD / "bin" / "understudy", "check", "--cache", self.folder / "cache", "sh", "-c", "./x error; ./x often"],
                              cwd=self.folder, env=CLEAN, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 120)
        self.assertIn("understudy: 2 errors", done.stderr)

    def test_a_program_without_cuda(self):
        done = subprocess.run([BUILD / "bin" / "understudy", "check", "sh", "-c", "exit 4"], env=CLEAN, capture_output=True, text=True)
        self.assertEqual(done.returncode, 4)
        self.assertIn("no process used CUDA", done.stderr)
        self.assertEqual(subprocess.run([BUILD / "bin" / "understudy", "check", "./none"], env=CLEAN, capture_output=True).returncode, 127)

    def test_suppressions(self):
        (self.folder / "s.txt").write_text('# mine\ninvalid-free object="cudaFree*"  # known\nrace-*  # never\n')
        done, report = self.report("error", options=["--suppressions", "s.txt"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(report["suppressed"], 1)
        self.assertEqual(report["findings"][0]["suppressed_by"], "s.txt:2")
        self.assertEqual(report["unused_suppressions"], ["s.txt:3"])
        self.assertIn("unused suppression: s.txt:3", done.stderr)
        (self.folder / "s.txt").write_text("api-eror\n")
        done = self.check("error", options=["--suppressions", "s.txt"])
        self.assertEqual(done.returncode, 125)
        self.assertIn("s.txt:1: no check has this name", done.stderr)

    def test_written_suppressions_suppress(self):
        self.check("error", options=["--write-suppressions", "w.txt"])
        self.assertEqual(self.check("error", options=["--suppressions", "w.txt"]).returncode, 0)

    def test_suppressions_of_another_tool(self):
        (self.folder / "s.xml").write_text("<?xml version='1.0'?><ComputeSanitizerOutput><record><kind>ApiError</kind><hostStack>"
                                           "<frame><func>main</func></frame></hostStack></record></ComputeSanitizerOutput>")
        self.assertEqual(self.check("error", options=["--suppressions", "s.xml"]).returncode, 0)
        (self.folder / "s.xml").write_text("<r><record><hostStack><frame><func>other</func></frame></hostStack></record></r>")
        self.assertEqual(self.check("error", options=["--suppressions", "s.xml"]).returncode, 120)

    def test_print_limit(self):
        done = self.check("unchecked", options=["--print-limit", "1"])
        self.assertIn("1 not shown (--print-limit)", done.stderr)
        self.assertNotIn("[api-unchecked]", done.stderr)

    def test_sarif(self):
        self.check("error", options=["--sarif", "r.sarif"])
        log = json.loads((self.folder / "r.sarif").read_text())
        self.assertEqual(log["version"], "2.1.0")
        run = log["runs"][0]
        result = run["results"][0]
        self.assertEqual(result["ruleId"], "invalid-free")
        self.assertEqual(run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"], "invalid-free")
        self.assertEqual(result["level"], "error")
        self.assertTrue(result["message"]["text"])
        for flow in result["codeFlows"]:
            for thread in flow["threadFlows"]:
                self.assertTrue(all("location" in l for l in thread["locations"]))
                self.assertTrue(thread["locations"])

    def test_junit(self):
        self.check("error", options=["--junit", "r.xml"])
        root = ElementTree.parse(self.folder / "r.xml").getroot()
        suite = root.find("testsuite")
        cases = suite.findall("testcase")
        self.assertEqual(int(suite.get("tests")), len(cases))
        failed = [c.get("name") for c in cases if c.find("failure") is not None]
        self.assertEqual(failed, ["invalid-free"])
        self.assertEqual(int(suite.get("failures")), 1)

    def test_saved_reports(self):
        first = self.check("often", options=["--save", "s.bin"]).stderr
        done = subprocess.run([BUILD / "bin" / "understudy", "check", "--read", "s.bin"], cwd=self.folder, env=CLEAN, capture_output=True, text=True)
        self.assertEqual(done.returncode, 120)
        self.assertEqual(done.stderr, first)

    def test_equal_runs_print_the_same(self):
        self.assertEqual(self.check("unchecked").stderr, self.check("unchecked").stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
