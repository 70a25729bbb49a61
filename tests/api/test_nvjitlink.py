#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libnvJitLink: what is linked runs; errors as the stock library 13.0 words them. usage: test_nvjitlink.py BUILD_DIR C++_COMPILER"""
import ctypes
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

BUILD, CXX = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
CALLER = HEAD + """.extern .func (.param .b32 r) f(.param .b32 a);
.visible .entry k(.param .u64 out)
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
CUBIN, PTX, LTOIR, FATBIN, OBJECT, LIBRARY, ANY = 1, 2, 3, 4, 5, 6, 10
LTO_IR = b"\xed\x43\x4e\x7f and so on"
# A stock library that makes CALLEE of whatever it is given.
STOCK = r"""
#include <cstring>
static bool ptx;
static const char text[] = R"(%s)";
extern "C" int nvJitLinkCreate(void** h, unsigned n, const char** o) {
  *h = &ptx;
  for (unsigned i = 0; i < n; ++i) ptx |= !std::strcmp(o[i], "-ptx");
  return ptx ? 0 : 6;
}
extern "C" int nvJitLinkAddData(void*, int, const void* d, size_t, const char*) { return std::memcmp(d, "\xed\x43\x4e\x7f", 4) ? 3 : 0; }
extern "C" int nvJitLinkComplete(void*) { return 0; }
extern "C" int nvJitLinkGetErrorLogSize(void*, size_t* n) { return *n = 0, 0; }
extern "C" int nvJitLinkGetErrorLog(void*, char*) { return 0; }
extern "C" int nvJitLinkGetLinkedPtxSize(void*, size_t* n) { return *n = sizeof text, 0; }
extern "C" int nvJitLinkGetLinkedPtx(void*, char* p) { return std::memcpy(p, text, sizeof text), 0; }
extern "C" int nvJitLinkDestroy(void** h) { return *h = nullptr, 0; }
extern "C" int nvJitLinkVersion(unsigned* a, unsigned* b) { return *a = 13, *b = 77, 0; }
"""
holder = tempfile.TemporaryDirectory()
DIR = pathlib.Path(holder.name)
(DIR / "stock.cpp").write_text(STOCK % CALLEE)
subprocess.run([CXX, "-shared", "-fPIC", DIR / "stock.cpp", "-o", DIR / "stock.so"], check=True)
os.environ["UNDERSTUDY_NVJITLINK"] = str(DIR / "stock.so")
cuda = ctypes.CDLL(str(BUILD / "lib" / "libcuda.so.1"), ctypes.RTLD_GLOBAL)


def fat_binary(*images):
    """(kind, payload) for sm_90, or (kind, payload, architecture)"""
    body = b""
    for kind, payload, *arch in images:
        payload += bytes(-len(payload) % 8)
        body += (struct.pack("<HHIQ", kind, 0x101, 64, len(payload)).ljust(28, b"\0") + struct.pack("<I", *(arch or (90,)))).ljust(64, b"\0") + payload
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


class Link:
    def __init__(self, library, *options):
        self.library, self.handle = library, ctypes.c_void_p()
        texts = (ctypes.c_char_p * max(1, len(options)))(*[o.encode() for o in options])
        self.code = library.nvJitLinkCreate(ctypes.byref(self.handle), len(options), texts)

    def add(self, kind, data, name):
        data = data if isinstance(data, bytes) else data.encode() + b"\0"
        return self.library.nvJitLinkAddData(self.handle, kind, data, ctypes.c_size_t(len(data)), name.encode())

    def complete(self):
        return self.library.nvJitLinkComplete(self.handle)

    def bytes(self, what):
        n = ctypes.c_size_t()
        code = getattr(self.library, f"nvJitLinkGet{what}Size")(self.handle, ctypes.byref(n))
        if code:
            return code
        out = ctypes.create_string_buffer(n.value + 1)
        getattr(self.library, f"nvJitLinkGet{what}")(self.handle, out)
        return out.raw[:n.value]

    def log(self):
        return self.bytes("ErrorLog").rstrip(b"\0").decode()


class NvJitLink(unittest.TestCase):
    def setUp(self):
        self.library = ctypes.CDLL(str(BUILD / "lib" / "libnvJitLink.so.13"))

    def link(self, *options):
        made = Link(self.library, *(options or ("-arch=sm_90",)))
        self.assertEqual(made.code, 0)
        return made

    def run_linked(self, link):
        """k adds 1 to what it finds."""
        self.assertEqual(link.complete(), 0, link.log())
        image = link.bytes("LinkedCubin")
        device, context, module, function = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        at, value = ctypes.c_uint64(), ctypes.c_uint32(41)
        for code in (cuda.cuInit(0), cuda.cuDeviceGet(ctypes.byref(device), 0),
                     cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), cuda.cuCtxSetCurrent(context),
                     cuda.cuModuleLoadData(ctypes.byref(module), image),
                     cuda.cuModuleGetFunction(ctypes.byref(function), module, b"k"),
                     cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(4)),
                     cuda.cuMemcpyHtoD_v2(at, ctypes.byref(value), ctypes.c_size_t(4)),
                     cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, (ctypes.c_void_p * 1)(ctypes.addressof(at)), None),
                     cuda.cuMemcpyDtoH_v2(ctypes.byref(value), at, ctypes.c_size_t(4)), cuda.cuMemFree_v2(at)):
            self.assertEqual(code, 0)
        self.assertEqual(value.value, 42)

    def object(self, name, data):
        """What a host's compiler makes of a source with device code."""
        (DIR / f"{name}.bin").write_bytes(data)
        (DIR / f"{name}.s").write_text(f'.section __nv_relfatbin,"a"\n.incbin "{DIR}/{name}.bin"\n.section .note.GNU-stack,""\n')
        subprocess.run([CXX, "-c", DIR / f"{name}.s", "-o", DIR / f"{name}.o"], check=True)
        return DIR / f"{name}.o"

    def test_every_kind_of_input_runs(self):
        caller, callee = CALLER.encode() + b"\0", CALLEE.encode() + b"\0"
        obj = self.object("callee", fat_binary((1, callee)))
        subprocess.run(["ar", "rcs", DIR / "callee.a", obj], check=True)
        for kind, data in ((PTX, callee), (ANY, callee), (FATBIN, fat_binary((1, callee))), (OBJECT, obj.read_bytes()),
                           (LIBRARY, (DIR / "callee.a").read_bytes()), (ANY, obj.read_bytes()), (CUBIN, callee)):
            with self.subTest(kind):
                link = self.link()
                self.assertEqual(link.add(PTX, caller, "caller"), 0)
                self.assertEqual(link.add(kind, data, "callee"), 0, link.log())
                self.run_linked(link)

    def test_what_was_linked_can_be_linked(self):
        first, second = self.link(), self.link()
        for text in (CALLEE, CALLEE.replace(" f(", " g(")):
            self.assertEqual(first.add(PTX, text, "callee"), 0)
        self.assertEqual(first.complete(), 0)
        self.assertEqual(second.add(CUBIN, first.bytes("LinkedCubin"), "linked"), 0)
        self.assertEqual(second.add(PTX, CALLER, "caller"), 0)
        self.run_linked(second)

    def test_complete_again(self):
        """What was missing is added; then once more with nothing new."""
        link = self.link("-arch=sm_90", "-lto")
        self.assertEqual(link.add(PTX, CALLER, "caller"), 0)
        for _ in range(2):
            self.assertEqual(link.complete(), 6)
        self.assertEqual(link.log(), "error   : Undefined reference to 'f' in 'caller'\nERROR 9: finish\n" * 2)
        self.assertEqual(link.bytes("LinkedCubin"), 6)
        self.assertEqual(link.add(LTOIR, LTO_IR, "callee"), 0)
        self.run_linked(link)
        self.run_linked(link)

    def test_damaged_containers(self):
        """What is cut short is refused, also where readable bytes follow it."""
        callee = CALLEE.encode() + b"\0"
        whole = self.object("whole", fat_binary((1, callee))).read_bytes()
        short = self.object("short", fat_binary((1, callee))[:-40]).read_bytes()
        for data in (whole[:-100], short):
            link = self.link()
            self.assertEqual((link.add(OBJECT, data, "a.o"), link.log()), (3, "ERROR 1: damaged object: a.o\n"))
        for kind in ("small", "short"):
            subprocess.run(["ar", "rcs", DIR / f"{kind}.a", self.object(kind, fat_binary((1, callee))[:-40 if kind == "short" else None])], check=True)
        link = self.link()
        self.assertEqual(link.add(LIBRARY, (DIR / "small.a").read_bytes(), "small.a"), 0)
        self.assertEqual((link.add(LIBRARY, (DIR / "short.a").read_bytes(), "a.a"), link.log()), (3, "ERROR 1: damaged object: a.a\n"))
        first, link = self.link(), self.link()
        for text in (CALLEE, CALLEE.replace(" f(", " g(")):
            self.assertEqual(first.add(PTX, text, "callee"), 0)
        self.assertEqual(first.complete(), 0)
        linked = first.bytes("LinkedCubin")
        self.assertEqual(self.library.nvJitLinkAddData(link.handle, CUBIN, linked, ctypes.c_size_t(len(linked) - 8), b"cut"), 3)
        self.assertIn("damaged", link.log())
        self.assertEqual(self.library.nvJitLinkAddFile(link.handle, ANY, str(DIR).encode()), 3)
        self.assertIn(f"is a directory: {DIR}", link.log())

    def test_fat_binaries_in_a_row(self):
        """Each begins at a multiple of 8 bytes, whatever the length of the one before it."""
        odd = fat_binary((1, CALLEE.replace(" f(", " g(").encode() + b"\0")) + b"\0\0\0"
        odd = odd[:8] + struct.pack("<Q", len(odd) - 16) + odd[16:]
        both = self.object("both", odd + bytes(5) + fat_binary((1, CALLEE.encode() + b"\0")))
        link = self.link()
        self.assertEqual(link.add(PTX, CALLER, "caller"), 0)
        self.assertEqual(link.add(OBJECT, both.read_bytes(), "both"), 0, link.log())
        self.run_linked(link)

    def test_lto_without_the_stock_library(self):
        """Said once on stderr and in the log; the version is told without complaint."""
        program = f"""
import ctypes
library = ctypes.CDLL({str(BUILD / "lib" / "libnvJitLink.so.13")!r})
a, b, h, n = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_void_p(), ctypes.c_size_t()
print(library.nvJitLinkVersion(ctypes.byref(a), ctypes.byref(b)), a.value, b.value)
options = (ctypes.c_char_p * 2)(b"-arch=sm_90", b"-lto")
library.nvJitLinkCreate(ctypes.byref(h), 2, options)
library.nvJitLinkAddData(h, {LTOIR}, {LTO_IR!r}, ctypes.c_size_t({len(LTO_IR)}), b"x")
print(library.nvJitLinkComplete(h), library.nvJitLinkComplete(h))
library.nvJitLinkGetErrorLogSize(h, ctypes.byref(n))
log = ctypes.create_string_buffer(n.value)
library.nvJitLinkGetErrorLog(h, log)
print(log.value.decode().splitlines()[0])
"""
        environment = {**os.environ, "UNDERSTUDY_NVJITLINK": "/none"}
        result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        self.assertEqual(result.stdout, "0 13 0\n6 6\nERROR 1: understudy: LTO-IR needs the CUDA toolkit's libnvJitLink.so.13, which was not found\n")
        self.assertEqual(result.stderr.count("this program links LTO-IR"), 1, result.stderr)

    def test_lto(self):
        """Through the stock library, to PTX."""
        link = self.link("-arch=sm_90", "-lto")
        self.assertEqual(link.add(LTOIR, LTO_IR, "callee"), 0)
        self.assertEqual(link.add(PTX, CALLER, "caller"), 0)
        self.run_linked(link)
        link = self.link("-arch=sm_90", "-lto", "-ptx")
        self.assertEqual(link.add(ANY, LTO_IR, "callee"), 0)
        self.assertEqual(link.complete(), 0)
        self.assertEqual(link.bytes("LinkedPtx").rstrip(b"\0").decode(), CALLEE)
        self.assertEqual(link.bytes("LinkedCubin"), 6)
        self.assertEqual(link.add(PTX, CALLER, "caller"), 0)
        self.assertEqual((link.complete(), link.log()), (12, "ERROR: -ptx requires that all inputs have LTOIR\n"))
        link = self.link()
        self.assertEqual((link.add(LTOIR, LTO_IR, "x"), link.log()),
                         (18, "ERROR 1: LTO-IR input cannot be used without LTO enabled (-lto)\n"))

    def test_register_limit(self):
        """numba's max_registers."""
        link = self.link("-arch=sm_90", "-maxrregcount=38")
        self.assertEqual(link.add(PTX, CALLEE + CALLER.split(HEAD)[1].replace(".extern .func (.param .b32 r) f(.param .b32 a);", "")
                                  + "// no .entry here {\n/* .entry nor here { */ .visible .entry own() .maxnreg 20 { ret; }\n"
                                  + ".visible .entry told()\n// { .maxnreg 20\n{ ret; }\n", "all"), 0)
        self.assertEqual(link.complete(), 0, link.log())
        linked = link.bytes("LinkedCubin").decode()
        self.assertIn("k(.param .u64 out)\n.maxnreg 38\n{", linked)
        self.assertIn("// no .entry here {\n/* .entry nor here { */ .visible .entry own() .maxnreg 20 { ret; }", linked)
        self.assertIn("told()\n// { .maxnreg 20\n.maxnreg 38\n{ ret; }", linked)

    def test_options(self):
        for options, code in (((), 2), (("-arch=sm_90", "-foo"), 1), (("-arch=foo",), 1), (("-arch=sm_35",), 17),
                              (("-arch=compute_90",), 11), (("-arch=sm_90", "-ptx"), 11), (("-arch=sm_90", "-O1"), 1),
                              (("-arch=sm_90", "-Xnvvm"), 1), (("-arch=sm_90", "-maxrregcount=abc"), 1), (("-arch=sm_90", "-maxrregcount=3x"), 1),
                              (("-arch=compute_90", "-lto", "-ptx"), 0),
                              (("-arch=sm_90a", "-maxrregcount=32", "-g", "-Xptxas=-v", "-split-compile=2"), 0)):
            with self.subTest(options):
                self.assertEqual(Link(self.library, *options).code, code)

    def test_errors(self):
        link = self.link()
        self.assertEqual(link.add(PTX, CALLER, "a.ptx"), 0)
        self.assertEqual((link.complete(), link.log()), (6, "error   : Undefined reference to 'f' in 'a.ptx'\nERROR 9: finish\n"))
        self.assertEqual(link.bytes("LinkedCubin"), 6)
        link = self.link()
        self.assertEqual(link.add(PTX, CALLEE.replace("add.u32", "addd.u32"), "bad.ptx"), 4)
        self.assertEqual(link.log(), "ptxas application ptx input, line 8; error   : Not a name of any known instruction: 'addd'\n"
                                     "ptxas fatal   : Ptx assembly aborted due to errors\n"
                                     "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (bad.ptx)\n")
        link = self.link("-arch=sm_80")
        self.assertEqual(link.add(PTX, CALLEE, "b.ptx"), 4)
        self.assertIn("SM version specified by .target is higher than default SM version assumed\n", link.log())
        link = self.link()
        self.assertEqual((link.add(FATBIN, CALLEE, "b.ptx"), link.add(ANY, b"hello", "x"), link.add(PTX, b"", "x"), link.add(77, b"hello", "x")),
                         (12, 8, 3, 12))
        self.assertEqual(link.log(), "ERROR 1: bad input: does not match type NVJITLINK_INPUT_FATBINb.ptx\n"
                                     "unrecognized input type: x\nunsupported input type: x\n")
        self.assertEqual((self.library.nvJitLinkAddFile(link.handle, PTX, b"/none"), self.library.nvJitLinkAddFile(link.handle, PTX, None)), (3, 10))
        self.assertEqual(link.bytes("LinkedPtx"), 3)

    def test_machine_code_is_refused_by_name(self):
        link = self.link()
        self.assertEqual(link.add(FATBIN, fat_binary((2, b"\x7fELF")), "lib.fatbin"), 3)
        self.assertIn("lib.fatbin", link.log())
        self.assertIn("machine code for sm_90", link.log())

    def test_newer_ptx(self):
        """Beside machine code for the target it is linked, alone or with other PTX, and what was linked can be linked."""
        def fat(text):
            text = text.replace(".version 8.0\n.target sm_90", ".version 8.7\n.target sm_120")
            return fat_binary((2, b"\x7fELF"), (1, text.encode() + b"\0", 120))
        link, alone, again = self.link(), self.link(), self.link()
        self.assertEqual(link.add(PTX, CALLER, "caller"), 0)
        self.assertEqual(link.add(OBJECT, self.object("newer", fat(CALLEE)).read_bytes(), "newer.o"), 0, link.log())
        self.run_linked(link)
        self.assertEqual(alone.add(FATBIN, fat(CALLEE + CALLER.split(f"{HEAD}.extern")[1].split(";", 1)[1]), "whole"), 0, alone.log())
        self.run_linked(alone)
        self.assertEqual(again.add(CUBIN, alone.bytes("LinkedCubin"), "linked"), 0, again.log())
        self.run_linked(again)
        subprocess.run(["ar", "rcs", DIR / "newer.a", self.object("uncalled", fat(CALLER))], check=True)  # refers to f
        library = self.link()
        self.assertEqual(library.add(PTX, HEAD + ".visible .entry k() { ret; }", "k"), 0)
        self.assertEqual(library.add(LIBRARY, (DIR / "newer.a").read_bytes(), "newer.a"), 0)
        self.assertEqual(library.complete(), 0, library.log())
        refuses, text = self.link(), self.link()
        self.assertEqual(text.add(PTX, CALLEE.replace("sm_90", "sm_120").replace("8.0", "8.7"), "text"), 4)
        os.environ["UNDERSTUDY_NO_NEWER_PTX"] = "1"
        self.addCleanup(os.environ.pop, "UNDERSTUDY_NO_NEWER_PTX")
        self.assertEqual(refuses.add(FATBIN, fat(CALLEE), "lib.fatbin"), 3)
        self.assertIn("PTX for compute_120", refuses.log())

    def test_spare_members_of_an_archive(self):
        """Of members with PTX for newer devices those are linked that something needs, whatever their order."""
        def member(name, text):
            text = text.replace(".version 8.0\n.target sm_90", ".version 8.7\n.target sm_120")
            return self.object(name, fat_binary((2, b"\x7fELF"), (1, text.encode() + b"\0", 120)))

        def archive(name, *members):
            subprocess.run(["ar", "rcs", DIR / name, *members], check=True)
            return (DIR / name).read_bytes()
        prototype = ".extern .func (.param .b32 r) g(.param .b32 a);\n"
        call = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call (y), g, (x); ld.param.b32 %r1, [y]; }\n"
        f_by_g = CALLEE.replace(HEAD, HEAD + prototype).replace("  add.u32 %r1, %r1, 1;\n", call)
        g, unneeded = CALLEE.replace(" f(", " g("), CALLER.replace(".entry k", ".entry other").replace(" f", " nowhere")
        members = [member("spare_g", g), member("spare_unneeded", unneeded), member("spare_f", f_by_g)]
        for kept in (members, members[::-1]):
            link = self.link()
            self.assertEqual(link.add(PTX, CALLER, "caller"), 0)
            self.assertEqual(link.add(LIBRARY, archive(f"spare{kept == members}.a", *kept), "spare.a"), 0, link.log())
            self.run_linked(link)
        defined = self.link()  # f is there already, so the member's, which would clash, stays out
        self.assertEqual(defined.add(PTX, CALLER, "caller"), 0)
        self.assertEqual(defined.add(PTX, CALLEE, "callee"), 0)
        self.assertEqual(defined.add(LIBRARY, archive("spare_again.a", members[2]), "spare_again.a"), 0)
        self.run_linked(defined)
        missing = self.link()
        self.assertEqual(missing.add(PTX, CALLER, "caller"), 0)
        self.assertEqual(missing.add(LIBRARY, archive("spare_half.a", members[2]), "spare_half.a"), 0)
        self.assertNotEqual(missing.complete(), 0)
        self.assertIn("Undefined reference to 'g'", missing.log())

    def test_versions(self):
        major, minor = ctypes.c_uint(), ctypes.c_uint()
        self.assertEqual(self.library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor)), 0)
        self.assertEqual((major.value, minor.value), (13, 77))  # the stock library's
        for file, names in (("libnvJitLink.so.13", ("__nvJitLinkCreate_13_0", "__nvJitLinkGetErrorLog_13_5")),
                            ("libnvJitLink.so.12", ("__nvJitLinkCreate_12_0", "__nvJitLinkAddData_12_9"))):
            for name in names:
                self.assertTrue(getattr(ctypes.CDLL(str(BUILD / "lib" / file)), name))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
