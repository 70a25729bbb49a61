#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libcudart.so.12: what differs from its successor. Offsets and sizes are those of CUDA 12.9's headers (offsetof, sizeof).

usage: test_cuda12.py BUILD_DIR"""
import sys
import unittest

from common import Case, understudy

# Runs in the program's place, so that calls come from outside.
SCRIPT = r"""
import ctypes as c, struct, sys
rt = c.CDLL("libcudart.so.12")
def call(name, *args):
    code = getattr(rt, name)(*args)
    assert code == 0, (name, code)
def buffer(n):
    return c.create_string_buffer(b"\xa5" * n, n)
def beyond(b, n):
    return set(b.raw[n:]) == {0xa5}
def at(b, offset, form="i"):
    return struct.unpack_from(form, b.raw, offset)[0]
def attribute(number):
    v = c.c_int()
    call("cudaDeviceGetAttribute", c.byref(v), number, 0)
    return v.value
pointer = c.c_void_p()
"""
# Field of CUDA 12.9's cudaDeviceProp: offset and the attribute with the same value (cudaDeviceAttr).
FIELDS = {"warpSize": (308, 10), "clockRate": (348, 13), "major": (360, 75), "minor": (364, 76), "deviceOverlap": (384, 15),
          "multiProcessorCount": (388, 16), "computeMode": (404, 20), "maxTexture1DLinear": (416, 69), "memoryClockRate": (608, 36),
          "memoryBusWidth": (612, 37), "l2CacheSize": (616, 38), "singleToDoublePrecisionPerfRatio": (668, 87),
          "cooperativeLaunch": (688, 95), "sharedMemPerBlockOptin": (696, 97), "clusterLaunch": (772, 120)}


class Cuda12(Case):
    def check(self, body, stdout=""):
        self.expect(understudy(sys.executable, "-c", SCRIPT + body), stdout)

    def test_device_properties(self):
        self.check(f"""
p = buffer(1100)
call("cudaGetDeviceProperties_v2", p, 0)
assert beyond(p, 1032) and p.raw.startswith(b"NVIDIA H200\\0"), p.raw
for name, (offset, number) in {FIELDS}.items():
    assert at(p, offset) == attribute(number) != 0xa5a5a5a5 - 2**32, name
assert at(p, 288, "Q") > 2**36
old = buffer(1100)
call("cudaGetDeviceProperties", old, 0)
assert beyond(old, 728) and old.raw[:728] == p.raw[:728]
n = c.c_int(9)
call("cudaChooseDevice", c.byref(n), p)
assert n.value == 0
assert rt.cudaGetDeviceProperties_v2(None, 0) == 1 and rt.cudaGetDeviceProperties_v2(p, 5) == 101
""")

    def test_versions(self):
        self.check("""
v = c.c_int()
call("cudaRuntimeGetVersion", c.byref(v)); print(v.value)
call("cudaDriverGetVersion", c.byref(v)); print(v.value)
assert rt.cudaRuntimeGetVersion(None) == 1
# CUDA 13 has another cuCtxSynchronize, which takes an argument.
of12, of13 = c.c_void_p(), c.c_void_p()
call("cudaGetDriverEntryPoint", b"cuCtxSynchronize", c.byref(of12), c.c_ulonglong(0), None)
call("cudaGetDriverEntryPointByVersion", b"cuCtxSynchronize", c.byref(of13), 13000, c.c_ulonglong(0), None)
assert of12.value and of13.value and of12.value != of13.value
""", "12090\n13000\n")

    def test_memory(self):
        self.check("""
call("cudaMallocManaged", c.byref(pointer), c.c_size_t(4096), 1)
a = buffer(88)
call("cudaPointerGetAttributes", a, pointer)
assert at(a, 0) == 3 and beyond(a, 24), a.raw
size = c.c_size_t(4096)
for device in (0, -1):
    call("cudaMemAdvise", pointer, size, 3, device)
    call("cudaMemPrefetchAsync", pointer, size, device, None)
assert rt.cudaMemAdvise(pointer, size, 3, 7) != 0
call("cudaMemPrefetchAsync_v2", pointer, size, c.c_longlong(1), 0, None)
source, to, n = c.c_void_p(pointer.value + 64), pointer, c.c_size_t(8)
c.memmove(source, b"from 64\\0", 8)
attributes, first, failed, stream = buffer(24), c.c_size_t(), c.c_size_t(5), c.c_void_p()
struct.pack_into("iiiiiI", attributes, 0, 1, 0, 0, 0, 0, 0)  # in the stream's order
call("cudaStreamCreate", c.byref(stream))
call("cudaMemcpyBatchAsync", c.byref(to), c.byref(source), c.byref(n), c.c_size_t(1), attributes, c.byref(first), c.c_size_t(1),
     c.byref(failed), stream)
call("cudaStreamSynchronize", stream)
assert c.string_at(pointer, 8) == b"from 64\\0" and failed.value == 5
assert rt.cudaMemcpyBatchAsync(c.byref(to), c.byref(source), c.byref(n), c.c_size_t(1), attributes, c.byref(first), c.c_size_t(1),
                               c.byref(failed), None) != 0 and failed.value == 2**64 - 1
""")

    def test_textures(self):
        """A cudaResourceDesc of 64 bytes and a view of 48: what lies behind them is not read, and not written."""
        self.check("""
call("cudaMalloc", c.byref(pointer), c.c_size_t(4096))
r = buffer(144)
struct.pack_into("i4xQiiiiiQ", r, 0, 2, pointer.value, 32, 0, 0, 0, 2, 4096)
t = c.create_string_buffer(72)
texture = c.c_ulonglong()
call("cudaCreateTextureObject", c.byref(texture), r, t, None)
back = buffer(144)
call("cudaGetTextureObjectResourceDesc", back, texture)
assert at(back, 0) == 2 and at(back, 8, "Q") == pointer.value and beyond(back, 64), back.raw
surface = c.c_ulonglong()
assert rt.cudaCreateSurfaceObject(c.byref(surface), None) == 1
""")

    def test_graphs(self):
        self.check("""
g, a, b, n = c.c_void_p(), c.c_void_p(), c.c_void_p(), c.c_size_t()
call("cudaGraphCreate", c.byref(g), 0)
for node in (a, b):
    call("cudaGraphAddEmptyNode", c.byref(node), g, None, c.c_size_t(0))
call("cudaGraphAddDependencies", g, c.byref(a), c.byref(b), c.c_size_t(1))
call("cudaGraphGetEdges", g, None, None, c.byref(n)); assert n.value == 1
call("cudaGraphGetEdges_v2", g, None, None, None, c.byref(n)); assert n.value == 1
call("cudaGraphNodeGetDependencies", b, None, c.byref(n)); assert n.value == 1
call("cudaGraphNodeGetDependentNodes", a, None, c.byref(n)); assert n.value == 1
call("cudaGraphRemoveDependencies", g, c.byref(a), c.byref(b), c.c_size_t(1))
call("cudaGraphGetEdges", g, None, None, c.byref(n)); assert n.value == 0
s, status, number = c.c_void_p(), c.c_int(9), c.c_ulonglong()
call("cudaStreamCreate", c.byref(s))
call("cudaStreamGetCaptureInfo", s, c.byref(status), c.byref(number)); assert status.value == 0
call("cudaStreamBeginCapture", s, 0)
call("cudaStreamGetCaptureInfo_v2", s, c.byref(status), None, None, None, c.byref(n)); assert (status.value, n.value) == (1, 0)
call("cudaStreamEndCapture", s, c.byref(g))
""")

    def test_names_that_are_gone(self):
        self.check("""
limit = c.c_size_t()
call("cudaThreadSetLimit", 1, c.c_size_t(1 << 20))
call("cudaDeviceGetLimit", c.byref(limit), 1); assert limit.value == 1 << 20
call("cudaThreadSynchronize")
call("cudaSetDoubleForDevice", None)
call("cudaThreadExit")
""")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
