# SPDX-License-Identifier: Apache-2.0
"""cuda.core: see bugs.py."""
import numpy as np
from bugs import case, main
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

device = Device()
device.set_current()


def kernel(code, name, *defines):
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", define_macro=list(defines) or None)
    return Program(code, code_type="c++", options=options).compile("cubin").get_kernel(name)


@case
def tile(bad):
    code = r"""
extern "C" __global__ void reverse(const float* x, float* y) {
  __shared__ float s[128];
  s[threadIdx.x] = x[threadIdx.x];
#ifndef BAD
  __syncthreads();
#endif
  y[threadIdx.x] = s[127 - threadIdx.x];  // BUG(tile): race-shared, uninitialised-load
}
"""
    stream = device.create_stream()
    x, y = device.allocate(512, stream=stream), device.allocate(512, stream=stream)
    x.fill(b"\0", stream=stream)
    launch(stream, LaunchConfig(grid=1, block=128), kernel(code, "reverse", *(["BAD"] if bad else [])), x, y)
    stream.sync()


@case
def bounds(bad):
    code = """
template <class T> __global__ void fill(T* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1;  // BUG(bounds): bounds-global
}
"""
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    k = Program(code, code_type="c++", options=options).compile("cubin", name_expressions=("fill<float>",)).get_kernel("fill<float>")
    stream = device.create_stream()
    x = device.allocate(4000, stream=stream)
    launch(stream, LaunchConfig(grid=1025, block=256), k, x, np.int32(1025 * 256 if bad else 1000))
    stream.sync()


@case
def streams(bad):
    code = """
extern "C" __global__ void add(int* x, int n) {
  x[threadIdx.x] += n;  // BUG(streams): race-host
}
"""
    k = kernel(code, "add")
    a, b = device.create_stream(), device.create_stream()
    x = device.allocate(256, stream=a)
    x.fill(b"\0", stream=a)
    a.sync()
    launch(a, LaunchConfig(grid=1, block=64), k, x, np.int32(1))
    if not bad:
        b.wait(a)
    launch(b, LaunchConfig(grid=1, block=64), k, x, np.int32(2))
    device.sync()


if __name__ == "__main__":
    main()
