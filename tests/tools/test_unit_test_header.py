#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""include/understudy_test.h with GoogleTest and Catch2.
usage: test_unit_test_header.py BUILD_DIR NVCC [-ICATCH2]...; CATCH2: what holds catch2/, or catch_amalgamated.hpp and .cpp of Catch2 3"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
KERNEL = """
__global__ void put(int* p, int n) { p[n] = 7; }
static int put_at(int n) {
  int *p, out = 0;
  cudaMalloc(&p, 16);
  put<<<1, 1>>>(p, n);
  cudaDeviceSynchronize();
  cudaMemcpy(&out, p, 4, cudaMemcpyDeviceToHost);
  cudaFree(p);
  return out;
}
static int freed_twice() {
  int* p;
  cudaMalloc(&p, 16);
  cudaFree(p);
  return cudaFree(p);
}
"""
GOOGLETEST = """
#include <gtest/gtest.h>
#include "understudy_test.h"
%s
TEST(Put, Inside) { EXPECT_EQ(put_at(0), 7); }
TEST(Put, Twice) { EXPECT_NE(freed_twice(), 0); }
TEST(Put, InsideAgain) { EXPECT_EQ(put_at(0), 7); }
int main(int argc, char** argv) {
  understudy::Start how;
  how.check = argc < 2 || std::string(argv[1]) != "unchecked";
  understudy::start(argv, how);
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new understudy::GoogleTestListener);
  return RUN_ALL_TESTS();
}
""" % KERNEL
CATCH2 = """
#define CATCH_CONFIG_RUNNER
#include <CATCH2>
#include "understudy_test.h"
%s
TEST_CASE("inside") { CHECK(put_at(0) == 7); }
TEST_CASE("freed twice") { CHECK(freed_twice() != 0); }
TEST_CASE("inside again") { CHECK(put_at(0) == 7); }
using understudy::Catch2Listener;
CATCH_REGISTER_LISTENER(Catch2Listener)
int main(int argc, char** argv) {
  understudy::start(argv);
  return Catch::Session().run(argc, argv);
}
""" % KERNEL


class UnitTestHeader(unittest.TestCase):
    def build(self, text, *flags):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        source = pathlib.Path(directory.name, "a.cu")
        source.write_text(text)
        made = source.with_suffix("")
        command = [sys.argv[2], "-std=c++17", "-g", "-I", INCLUDE, *sys.argv[3:], source, "-o", made, *flags]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return made

    def start(self, *command, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("UNDERSTUDY", "LD_"))}
        environment |= {"PATH": f"{BUILD}/bin:{os.environ['PATH']}"} | variables
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def test_googletest(self):
        program = self.build(GOOGLETEST, "-lgtest", "-lpthread")
        result = self.start(program)
        self.assertEqual(result.returncode, 120, result.stdout + result.stderr)
        self.assertIn("[  PASSED  ] 2 tests.", result.stdout)
        self.assertIn("[  FAILED  ] Put.Twice", result.stdout)
        failure = result.stdout[result.stdout.index("[ RUN      ] Put.Twice") : result.stdout.index("[  FAILED  ] Put.Twice")]
        self.assertRegex(failure, r"error: a free of no allocation(.*\n)*.*a\.cu:19:\d+ in freed_twice")
        unchecked = self.start(program, "unchecked")
        self.assertEqual(unchecked.returncode, 0, unchecked.stdout + unchecked.stderr)
        self.assertIn("[  PASSED  ] 3 tests.", unchecked.stdout)

    def test_no_understudy(self):
        program = self.build(GOOGLETEST, "-lgtest", "-lpthread")
        result = self.start(program, UNDERSTUDY_PROGRAM="/nowhere/understudy")
        self.assertEqual(result.returncode, 127)
        self.assertEqual(
            result.stderr,
            "understudy::start: /nowhere/understudy: No such file or directory; put it on PATH or set UNDERSTUDY_PROGRAM\n",
        )

    def test_catch2(self):
        self.with_catch2("catch2/catch.hpp")

    def test_catch2_3(self):
        self.with_catch2("catch2/catch_all.hpp", "-lCatch2")

    def test_catch2_3_in_one_file(self):
        beside = [pathlib.Path(a[2:], "catch_amalgamated.cpp") for a in sys.argv[3:] if a.startswith("-I")]
        self.with_catch2("catch_amalgamated.hpp", "-DCATCH_AMALGAMATED_CUSTOM_MAIN", *[f for f in beside if f.exists()])

    def with_catch2(self, header, *flags):
        probe = subprocess.run([sys.argv[2], "-E", "-x", "cu", *sys.argv[3:], "-"], input=f"#include <{header}>\n", capture_output=True, text=True, check=False)
        if probe.returncode:
            self.skipTest(f"{header} is not installed")
        result = self.start(self.build(CATCH2.replace("<CATCH2>", f"<{header}>"), *flags))
        self.assertEqual(result.returncode, 120, result.stdout + result.stderr)
        self.assertIn("All tests passed (3 assertions in 3 test cases)", result.stdout)
        self.assertRegex(result.stderr, r"freed twice:\nerror: ")
        self.assertNotIn("inside:", result.stderr)


unittest.main(argv=sys.argv[:1])
