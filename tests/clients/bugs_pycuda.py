# SPDX-License-Identifier: Apache-2.0
"""PyCUDA: see bugs.py. Needs nvcc."""
import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
import pycuda.gpuarray as ga
from bugs import case, main
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel


@case
def tile(bad):
    m = SourceModule(
        """
__global__ void transpose(const float *x, float *y) {
  __shared__ float s[16][16];
  s[threadIdx.y][threadIdx.x] = x[threadIdx.y * 16 + threadIdx.x];
#ifndef BAD
  __syncthreads();
#endif
  y[threadIdx.y * 16 + threadIdx.x] = s[threadIdx.x][threadIdx.y];  // BUG(tile): race-shared, uninitialised-load
}
""",
        options=["-DBAD"] if bad else [],
    )
    x = np.ones((16, 16), np.float32)
    y = np.empty_like(x)
    m.get_function("transpose")(drv.In(x), drv.Out(y), block=(16, 16, 1), grid=(1, 1))


@case
def bounds(bad):
    m = SourceModule(
        """
__global__ void add(float *x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;  // BUG(bounds): bounds-global
}
"""
    )
    x = drv.mem_alloc(4 * 256)
    drv.memset_d32(x, 0, 256)
    m.get_function("add")(x, np.int32(260 if bad else 256), block=(288, 1, 1))
    drv.Context.synchronize()


@case
def streams(bad):
    a, b = drv.Stream(), drv.Stream()
    x = ga.zeros(1000, np.float32)
    drv.Context.synchronize()
    add = ElementwiseKernel("float *x, float more", "x[i] += more", "add")
    add(x, 1, stream=a)  # BUG(streams): race-host
    if not bad:
        b.wait_for_event(drv.Event().record(a))
    add(x, 2, stream=b)  # BUG(streams): race-host
    drv.Context.synchronize()


@case
def pinned(bad):
    """A copy to the host goes on while the same memory is sent to the device."""
    host = drv.pagelocked_zeros(4096, np.float32)
    x, y = drv.mem_alloc(host.nbytes), drv.mem_alloc(host.nbytes)
    drv.memset_d32(x, 0, 4096)
    drv.Context.synchronize()
    a, b = drv.Stream(), drv.Stream()
    drv.memcpy_dtoh_async(host, x, a)  # BUG(pinned): race-host
    if not bad:
        a.synchronize()
    drv.memcpy_htod_async(y, host, b)  # BUG(pinned): race-host
    drv.Context.synchronize()


@case
def freed(bad):
    m = SourceModule("__global__ void fill(float *x) { x[threadIdx.x] = 1; }")  # BUG(freed): use-after-free
    x = drv.mem_alloc(4096)
    address = np.uintp(int(x))
    if bad:
        x.free()  # BUG(freed): use-after-free
    m.get_function("fill")(address, block=(64, 1, 1))
    drv.Context.synchronize()


@case
def elementwise(bad):
    x, most = ga.arange(512, dtype=np.float32), ga.zeros(512, np.float32)
    keep = ElementwiseKernel("float *x, float *most, int one", "most[one ? 0 : i] = x[i];", "keep")
    keep(x, most, np.int32(bad))  # BUG(elementwise): race-global, race-lanes
    drv.Context.synchronize()


if __name__ == "__main__":
    main()
