#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cmake/UnderstudyTest.cmake in a project of its own. usage: test_cmake_module.py BUILD_DIR C_COMPILER"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C)
enable_testing()
list(APPEND CMAKE_MODULE_PATH {modules})
include(UnderstudyTest)
add_executable(driver driver.c)
target_link_libraries(driver ${{CMAKE_DL_LIBS}})
understudy_add_test(NAME plain COMMAND driver)
understudy_add_test(NAME wrong_but_unchecked COMMAND driver twice)
understudy_add_test(NAME wrong COMMAND driver twice CHECK)
understudy_add_test(NAME right COMMAND driver CHECK OPTIONS --device h100)
"""
# Frees memory, with an argument once more. Its exit code is that of the first free.
DRIVER = """
#include <dlfcn.h>
#include <stddef.h>
typedef int (*F)();
int main(int argc, char** argv) {
  void* cuda = dlopen("libcuda.so.1", RTLD_NOW);
  if (!cuda) return 9;
  int device;
  void* context;
  unsigned long long memory;
  if (((F)dlsym(cuda, "cuInit"))(0)) return 1;
  if (((F)dlsym(cuda, "cuDeviceGet"))(&device, 0)) return 2;
  if (((F)dlsym(cuda, "cuDevicePrimaryCtxRetain"))(&context, device)) return 3;
  if (((F)dlsym(cuda, "cuCtxSetCurrent"))(context)) return 4;
  if (((F)dlsym(cuda, "cuMemAlloc_v2"))(&memory, (size_t)64)) return 5;
  if (((F)dlsym(cuda, "cuMemFree_v2"))(memory)) return 6;
  if (argc > 1) ((F)dlsym(cuda, "cuMemFree_v2"))(memory);
  return 0;
}
"""


class CMakeModule(unittest.TestCase):
    def test_programs_are_tests(self):
        with tempfile.TemporaryDirectory() as directory:
            home = pathlib.Path(directory)
            (home / "CMakeLists.txt").write_text(PROJECT.format(modules=ROOT / "cmake"))
            (home / "driver.c").write_text(DRIVER)
            understudy = f"-DUNDERSTUDY_PROGRAM={BUILD}/bin/understudy"
            for command in (["cmake", "-S", ".", "-B", "b", understudy, f"-DCMAKE_C_COMPILER={sys.argv[2]}"], ["cmake", "--build", "b"]):
                result = subprocess.run(command, cwd=home, capture_output=True, text=True)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            environment = {k: v for k, v in os.environ.items() if not k.startswith("LD_")}
            out = subprocess.run(["ctest", "--test-dir", "b"], cwd=home, env=environment, capture_output=True, text=True).stdout
            verdicts = dict(re.findall(r"Test +#\d+: (\w+) [.* ]*(Passed|Failed)", out))
            expected = {"plain": "Passed", "wrong_but_unchecked": "Passed", "wrong": "Failed", "right": "Passed"}
            self.assertEqual(verdicts, expected, out)


unittest.main(argv=sys.argv[:1])
