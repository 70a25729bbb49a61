# SPDX-License-Identifier: Apache-2.0
"""PyCUDA: modules, arrays, streams, events, textures of linear memory. Expectations are NumPy's."""
import numpy as np
import pycuda.autoinit  # noqa: F401  makes the context
import pycuda.driver as driver
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel
from steps import finish, step

rng = np.random.default_rng(16)


@step
def module_with_constants_and_shared_memory():
    module = SourceModule("""
        __constant__ float factor[2];
        __global__ void turn(const float *x, float *y) {
          extern __shared__ float s[];
          s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] * factor[blockIdx.x % 2];
          __syncthreads();
          y[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
        }""")
    driver.memcpy_htod(module.get_global("factor")[0], np.array([2, -1], np.float32))
    x, y = rng.random((4, 64), np.float32), np.zeros((4, 64), np.float32)
    module.get_function("turn")(driver.In(x), driver.Out(y), block=(64, 1, 1), grid=(4, 1), shared=256)
    assert (y == x[:, ::-1] * np.array([2, -1, 2, -1], np.float32)[:, None]).all()


@step
def prepared_calls_on_a_stream_between_events():
    module = SourceModule("__global__ void next(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] += threadIdx.x; }")
    function = module.get_function("next").prepare("Pi")
    stream, begin, end = driver.Stream(), driver.Event(), driver.Event()
    host = driver.pagelocked_zeros(100, np.int32)
    there = driver.mem_alloc(host.nbytes)
    begin.record(stream)
    driver.memcpy_htod_async(there, host, stream)
    for _ in range(5):
        function.prepared_async_call((1, 1), (128, 1, 1), stream, there, 100)
    driver.memcpy_dtoh_async(host, there, stream)
    end.record(stream)
    end.synchronize()
    assert (host == np.arange(100) * 5).all() and end.time_since(begin) >= 0


@step
def arrays():
    a, b = rng.random(777, np.float32), rng.random(777, np.float32)
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    assert np.allclose((2 * x + y / (1 + x) - 3).get(), 2 * a + b / (1 + a) - 3, rtol=1e-5)
    assert np.isclose(gpuarray.dot(x, y).get(), a @ b, rtol=1e-5) and gpuarray.max(x).get() == a.max()


@step
def elementwise_reduction_scan():
    a = rng.random(1000, np.float32)
    x, out = gpuarray.to_gpu(a), gpuarray.empty(1000, np.float32)
    ElementwiseKernel("float *x, float *y", "y[i] = sqrtf(x[i]) * i", "roots")(x, out)
    assert np.allclose(out.get(), np.sqrt(a) * np.arange(1000), rtol=1e-6)
    squares = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*x[i]", arguments="float *x")
    assert np.isclose(squares(x).get(), (a * a).sum(), rtol=1e-5)
    n = gpuarray.to_gpu(np.arange(2000, dtype=np.int32))
    InclusiveScanKernel(np.int32, "a+b")(n)
    assert (n.get() == np.cumsum(np.arange(2000))).all()


@step
def device_to_device_and_pitched_copies():
    rows, width = 5, 7
    a = rng.integers(0, 99, (rows, width), np.int32)
    memory, pitch = driver.mem_alloc_pitch(width * 4, rows, 4)
    copy = driver.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = width * 4, pitch, width * 4, rows
    copy(aligned=True)
    back = np.zeros_like(a)
    copy = driver.Memcpy2D()
    copy.set_src_device(memory)
    copy.set_dst_host(back)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = pitch, width * 4, width * 4, rows
    copy(aligned=True)
    assert pitch >= width * 4 and (back == a).all()


@step
def errors_are_exceptions():
    try:
        SourceModule("this is not C++")
    except driver.CompileError as e:
        assert "error" in str(e)
    else:
        raise AssertionError("it compiled")


finish()
