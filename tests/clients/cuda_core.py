# SPDX-License-Identifier: Apache-2.0
"""cuda.core 1.x: programs, launches, streams, events, memory resources, graphs. Expectations are NumPy's."""
import numpy as np
from cuda.core import Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, StreamOptions, launch
from steps import finish, step

device = Device()
device.set_current()
arch = f"sm_{device.arch}"
pinned = LegacyPinnedMemoryResource()
CODE = r"""
template <class T> __global__ void scale(T* x, T a, int n) { int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) x[i] *= a; }
extern "C" __global__ void sum(const float* x, float* out, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32) s += x[i];
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x == 0) *out = s;
}
extern "C" __global__ void add_one(int* x) { atomicAdd(x, 1); }
__constant__ int table[4] = {3, 1, 4, 1};
extern "C" __global__ void lookup(int* out) { out[threadIdx.x] = table[threadIdx.x]; }
"""
NAMES = ("scale<float>", "scale<double>", "scale<int>")
module = Program(CODE, "c++", ProgramOptions(std="c++17", arch=arch)).compile("cubin", name_expressions=NAMES)


def array(values, dtype):
    out = np.from_dlpack(pinned.allocate(max(1, np.dtype(dtype).itemsize * len(values)))).view(dtype)
    out[:] = values
    return out


@step
def templates():
    stream = device.create_stream()
    for name, dtype in zip(NAMES, (np.float32, np.float64, np.int32)):
        x = array(np.arange(1000), dtype)
        launch(stream, LaunchConfig(grid=4, block=256), module.get_kernel(name), x.ctypes.data, dtype(3), np.int32(1000))
        stream.sync()
        assert (x == np.arange(1000) * 3).all()


@step
def warp_sum():
    stream = device.create_stream()
    x, out = array(np.arange(999), np.float32), array([0], np.float32)
    launch(stream, LaunchConfig(grid=1, block=32), module.get_kernel("sum"), x.ctypes.data, out.ctypes.data, np.int32(999))
    stream.sync()
    assert out[0] == 999 * 998 / 2


@step
def constants():
    stream, out = device.create_stream(), array([0] * 4, np.int32)
    launch(stream, LaunchConfig(grid=1, block=4), module.get_kernel("lookup"), out.ctypes.data)
    stream.sync()
    assert list(out) == [3, 1, 4, 1]


@step
def events_order_and_time():
    a, b = device.create_stream(), device.create_stream(options=StreamOptions(nonblocking=True))
    x = array([0], np.int32)
    start = a.record(options=EventOptions(timing_enabled=True))
    for _ in range(10):
        launch(a, LaunchConfig(grid=1, block=64), module.get_kernel("add_one"), x.ctypes.data)
    middle = a.record(options=EventOptions(timing_enabled=True))
    b.wait(middle)
    launch(b, LaunchConfig(grid=1, block=1), module.get_kernel("add_one"), x.ctypes.data)
    b.sync()
    assert x[0] == 641 and middle.is_done and middle - start >= 0


@step
def device_memory_and_copies():
    stream = device.create_stream()
    here, back = device.memory_resource.allocate(4096, stream=stream), pinned.allocate(4096)
    there = pinned.allocate(4096)
    np.from_dlpack(there).view(np.uint8)[:] = np.arange(4096) % 251
    there.copy_to(here, stream=stream)
    here.copy_to(back, stream=stream)
    stream.sync()
    assert (np.from_dlpack(back).view(np.uint8) == np.arange(4096) % 251).all()
    here.close(stream)


@step
def graphs():
    stream, x = device.create_stream(), array([0], np.int32)
    builder = device.create_graph_builder()
    builder.begin_building()
    for _ in range(3):
        launch(builder, LaunchConfig(grid=2, block=5), module.get_kernel("add_one"), x.ctypes.data)
    graph = builder.end_building().complete()
    for _ in range(4):
        graph.launch(stream)
    stream.sync()
    assert x[0] == 4 * 3 * 10


@step
def graph_branches():
    stream, x, y = device.create_stream(), array([0], np.int32), array([0], np.int32)
    builder = device.create_graph_builder()
    builder.begin_building()
    left, right = builder.split(2)
    launch(left, LaunchConfig(grid=1, block=7), module.get_kernel("add_one"), x.ctypes.data)
    launch(right, LaunchConfig(grid=1, block=8), module.get_kernel("add_one"), y.ctypes.data)
    builder = type(builder).join(left, right)
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert (x[0], y[0]) == (7, 8)


@step
def errors_are_exceptions():
    try:
        Program("this is not C++", "c++", ProgramOptions(arch=arch)).compile("cubin")
    except Exception as e:
        assert "not" in str(e) or "error" in str(e)
        return
    raise AssertionError("it compiled")


@step
def last_errors_are_each_runtime_s_own():
    import ctypes

    from cuda.bindings import runtime

    shared = ctypes.CDLL(f"libcudart.so.{runtime.cudaRuntimeGetVersion()[1] // 1000}")
    invalid_device = runtime.cudaSetDevice(77)[0]
    assert int(invalid_device) == 101 and shared.cudaGetLastError() == 0
    assert shared.cudaFree(1) != 0 and runtime.cudaGetLastError() == (invalid_device,)
    assert runtime.cudaGetLastError()[0] == 0 and shared.cudaGetLastError() != 0 and shared.cudaGetLastError() == 0


finish()
