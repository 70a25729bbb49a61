#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libnvfatbin: PTX that stands for a CUBIN is added as PTX, all else is the stock library's. usage: test_nvfatbin.py BUILD_DIR C++_COMPILER"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD, CXX = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
PTX = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"
SUCCESS, ELF_SIZE_MISMATCH = 0, 3
# A stock library that notes what it was asked.
STOCK = r"""
#include <cstdio>
#include <cstring>
static char said[4096];
static int note(const char* what, const void* code, size_t size, const char* arch, const char* name) {
  std::snprintf(said, sizeof said, "%s %zu %d %s %s", what, size, size && !static_cast<const char*>(code)[size - 1], arch, name);
  return 0;
}
extern "C" const char* last() { return said; }
extern "C" int nvFatbinAddCubin(void*, const void* c, size_t n, const char* a, const char* i) { return note("cubin", c, n, a, i); }
extern "C" int nvFatbinAddPTX(void*, const char* c, size_t n, const char* a, const char* i, const char*) { return note("ptx", c, n, a, i); }
extern "C" int nvFatbinCreate(void** h, const char**, size_t n) { return *h = said, n ? 8 : 0; }
extern "C" int nvFatbinVersion(unsigned* a, unsigned* b) { return *a = 13, *b = 77, 0; }
extern "C" const char* nvFatbinGetErrorString(int code) { return code == 3 ? "three" : "other"; }
"""


class NvFatbin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        place = pathlib.Path(cls.holder.name)
        (place / "stock.cpp").write_text(STOCK)
        subprocess.run([CXX, "-shared", "-fPIC", place / "stock.cpp", "-o", place / "stock.so"], check=True)
        os.environ["UNDERSTUDY_NVFATBIN"] = str(place / "stock.so")
        cls.stock = ctypes.CDLL(str(place / "stock.so"))
        cls.stock.last.restype = ctypes.c_char_p
        cls.libraries = [ctypes.CDLL(str(BUILD / "lib" / f"libnvfatbin.so.{major}")) for major in (13, 12)]

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def add(self, library, data):
        code = library.nvFatbinAddCubin(ctypes.c_void_p(1), data, ctypes.c_size_t(len(data)), b"90a", b"name")
        return code, self.stock.last().decode()

    def test_text_goes_in_as_ptx_with_its_end(self):
        for library in self.libraries:
            for data in (PTX, PTX + b"\0", PTX + b"\0\0\0"):
                self.assertEqual(self.add(library, data), (SUCCESS, f"ptx {len(PTX) + 1} 1 90a name"))

    def test_all_else_is_handed_on(self):
        for library in self.libraries:
            for data in (b"\x7fELF machine code", b"no PTX at all", b"x", b""):
                self.assertEqual(self.add(library, data)[1].split()[:2], ["cubin", str(len(data))])

    def test_linked_texts_are_refused(self):
        bundle = b"PTX\xb5" + (2).to_bytes(4, "little")
        self.assertEqual(int.from_bytes(b"PTX\xb5", "little"), 0xB5585450)
        for library in self.libraries:
            self.assertEqual(self.add(library, bundle)[0], ELF_SIZE_MISMATCH)

    def test_the_rest_is_the_stock_librarys(self):
        for library in self.libraries:
            library.nvFatbinGetErrorString.restype = ctypes.c_char_p
            self.assertEqual(library.nvFatbinGetErrorString(3), b"three")
            handle, major, minor = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint()
            self.assertEqual(library.nvFatbinCreate(ctypes.byref(handle), None, ctypes.c_size_t(0)), SUCCESS)
            self.assertEqual(library.nvFatbinCreate(ctypes.byref(handle), None, ctypes.c_size_t(1)), 8)
            self.assertEqual(library.nvFatbinVersion(ctypes.byref(major), ctypes.byref(minor)), SUCCESS)
            self.assertEqual((major.value, minor.value), (13, 77))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
