#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuLinkAddData and cuLinkAddFile: PTX in fat binaries, objects of a host's compiler and archives of them. usage: test_link_inputs.py BUILD_DIR C++_COMPILER"""
import ctypes
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

BUILD, CXX = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
CUBIN, PTX, FATBIN, OBJECT, LIBRARY = range(5)
SUCCESS, INVALID_IMAGE, NO_BINARY, NOT_FOUND, UNKNOWN = 0, 200, 209, 301, 999
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
PROTOTYPE = ".extern .func (.param .b32 r) f(.param .b32 a);\n"
CALLER = HEAD + PROTOTYPE + """.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  ld.u32 %r1, [%rd1];
  { .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), f, (a); ld.param.b32 %r1, [r]; }
  st.u32 [%rd1], %r1;
  ret;
}
"""
CALLEE = HEAD + """.visible .func (.param .b32 r) f(.param .b32 a)
{
  .reg .b32 %r<2>;
  ld.param.b32 %r1, [a];
  add.u32 %r1, %r1, 1;
  st.param.b32 [r], %r1;
  ret;
}
"""
MACHINE_CODE = b"\x7fELF of the device"
holder = tempfile.TemporaryDirectory()
DIR = pathlib.Path(holder.name)
cuda = ctypes.CDLL(str(BUILD / "lib" / "libcuda.so.1"), ctypes.RTLD_GLOBAL)


def fat_binary(*images):
    """(kind, payload, architecture): kind 1 is PTX, 2 machine code."""
    body = b""
    for kind, payload, arch in images:
        payload = payload.encode() + b"\0" if isinstance(payload, str) else payload
        payload += bytes(-len(payload) % 8)
        body += (struct.pack("<HHIQ", kind, 0x101, 64, len(payload)).ljust(28, b"\0") + struct.pack("<I", arch)).ljust(64, b"\0") + payload
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def newer(text):
    """Beside machine code for the device, PTX that only a newer one has."""
    text = text.replace(".version 8.0\n.target sm_90", ".version 8.7\n.target sm_120")
    return fat_binary((2, MACHINE_CODE, 90), (1, text, 120))


def compiled(name, data, section="__nv_relfatbin"):
    """What a host's compiler makes of a source with device code."""
    (DIR / f"{name}.bin").write_bytes(data)
    (DIR / f"{name}.s").write_text(f'.section {section},"a"\n.incbin "{DIR}/{name}.bin"\n.section .note.GNU-stack,""\n')
    subprocess.run([CXX, "-c", DIR / f"{name}.s", "-o", DIR / f"{name}.o"], check=True)
    return DIR / f"{name}.o"


def archive(name, *members):
    subprocess.run(["ar", "rcs", DIR / f"{name}.a", *members], check=True)
    return DIR / f"{name}.a"


class Link:
    def __init__(self):
        self.state, self.image, self.size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        assert cuda.cuLinkCreate_v2(0, None, None, ctypes.byref(self.state)) == SUCCESS

    def add(self, kind, data):
        data = data.encode() + b"\0" if isinstance(data, str) else data.read_bytes() if isinstance(data, pathlib.Path) else data
        return cuda.cuLinkAddData_v2(self.state, kind, data, ctypes.c_size_t(len(data)), b"input", 0, None, None)

    def add_file(self, kind, path):
        return cuda.cuLinkAddFile_v2(self.state, kind, str(path).encode(), 0, None, None)

    def complete(self):
        return cuda.cuLinkComplete(self.state, ctypes.byref(self.image), ctypes.byref(self.size))

    def linked(self):
        return ctypes.string_at(self.image, self.size.value)


class Inputs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        device, context = ctypes.c_int(), ctypes.c_void_p()
        for code in (cuda.cuInit(0), cuda.cuDeviceGet(ctypes.byref(device), 0),
                     cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), cuda.cuCtxSetCurrent(context)):
            assert code == SUCCESS

    def run_linked(self, link):
        """k adds 1 to what it finds."""
        self.assertEqual(link.complete(), SUCCESS)
        module, function, at, value = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint32(41)
        for code in (cuda.cuModuleLoadData(ctypes.byref(module), link.image),
                     cuda.cuModuleGetFunction(ctypes.byref(function), module, b"k"),
                     cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(4)),
                     cuda.cuMemcpyHtoD_v2(at, ctypes.byref(value), ctypes.c_size_t(4)),
                     cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, (ctypes.c_void_p * 1)(ctypes.addressof(at)), None),
                     cuda.cuMemcpyDtoH_v2(ctypes.byref(value), at, ctypes.c_size_t(4)), cuda.cuMemFree_v2(at)):
            self.assertEqual(code, SUCCESS)
        self.assertEqual(value.value, 42)

    def started(self):
        link = Link()
        self.assertEqual(link.add(PTX, CALLER), SUCCESS)
        return link

    def test_every_kind_runs(self):
        fat = fat_binary((1, CALLEE, 90))
        obj, plain = compiled("callee", fat), compiled("plain", fat, ".nv_fatbin")
        library = archive("callee", obj)
        (DIR / "callee.fatbin").write_bytes(fat)
        (DIR / "callee.ptx").write_text(CALLEE)
        for kind, data in ((FATBIN, DIR / "callee.fatbin"), (OBJECT, obj), (OBJECT, plain), (LIBRARY, library), (CUBIN, DIR / "callee.ptx")):
            for add in (Link.add, Link.add_file):
                with self.subTest(f"{kind} {data.name} {add.__name__}"):
                    link = self.started()
                    self.assertEqual(add(link, kind, data), SUCCESS)
                    self.run_linked(link)

    def test_newer_ptx(self):
        for kind, data in ((FATBIN, newer(CALLEE)), (OBJECT, compiled("newer", newer(CALLEE)))):
            link = self.started()
            self.assertEqual(link.add(kind, data), SUCCESS)
            self.run_linked(link)

    def test_members_that_nothing_needs(self):
        """They may call what there is not; and what is there already is not taken again."""
        uncalled = compiled("uncalled", newer(CALLER.replace(".entry k", ".entry other").replace(" f", " nowhere")))
        library = archive("spare", uncalled, compiled("needed", newer(CALLEE)), compiled("code", fat_binary((2, MACHINE_CODE, 90))))
        link = self.started()
        self.assertEqual(link.add(LIBRARY, library), SUCCESS)
        self.run_linked(link)
        link = self.started()
        self.assertEqual((link.add(PTX, CALLEE), link.add(LIBRARY, library)), (SUCCESS, SUCCESS))
        self.run_linked(link)

    def test_what_was_linked_can_be_linked(self):
        first, second = Link(), self.started()
        for text in (CALLEE, CALLEE.replace(" f(", " g(")):
            self.assertEqual(first.add(PTX, text), SUCCESS)
        self.assertEqual(first.complete(), SUCCESS)
        self.assertEqual(second.add(CUBIN, first.linked()), SUCCESS)
        self.run_linked(second)

    def test_what_is_refused(self):
        """The codes are those of an H200 (driver 580.159.04, 2026-11-28), but for machine code, which that links."""
        code = fat_binary((2, MACHINE_CODE, 90))
        whole = compiled("whole", fat_binary((1, CALLEE, 90))).read_bytes()
        (DIR / "empty.s").write_text('.section .note.GNU-stack,""\n')
        subprocess.run([CXX, "-c", DIR / "empty.s", "-o", DIR / "empty.o"], check=True)
        for kind, data, expected in (
            (FATBIN, code, NO_BINARY), (OBJECT, compiled("machine", code), NO_BINARY), (OBJECT, DIR / "empty.o", INVALID_IMAGE),
            (OBJECT, whole[:-100], INVALID_IMAGE), (OBJECT, CALLEE, UNKNOWN), (LIBRARY, whole, UNKNOWN),
            (OBJECT, b"x" * 256, UNKNOWN), (LIBRARY, b"x" * 256, UNKNOWN), (FATBIN, b"x" * 256, INVALID_IMAGE), (CUBIN, b"x" * 256, INVALID_IMAGE), (PTX, "hello", INVALID_IMAGE),
            (LIBRARY, archive("empty", DIR / "empty.o"), INVALID_IMAGE), (CUBIN, MACHINE_CODE, NO_BINARY),
        ):
            with self.subTest(f"{kind} {expected}"):
                self.assertEqual(Link().add(kind, data), expected)
        self.assertEqual(Link().add_file(OBJECT, DIR / "none.o"), NOT_FOUND)
        self.assertEqual(Link().complete(), SUCCESS)  # nothing is an empty module
        # a member without code is none
        self.assertEqual(Link().add(LIBRARY, archive("machine", DIR / "machine.o")), SUCCESS)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
