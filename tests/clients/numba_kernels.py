# SPDX-License-Identifier: Apache-2.0
"""numba-cuda: memory spaces, atomics, reductions, streams, events, libdevice, ufuncs. Expectations are NumPy's."""
import math

import numpy as np
from numba import cuda, float32, int32, vectorize
from steps import finish, step

rng = np.random.default_rng(16)


@step
def saxpy():
    @cuda.jit
    def kernel(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] += a * x[i]

    x, y = rng.random(10007, np.float32), rng.random(10007, np.float32)
    there = cuda.to_device(y)
    kernel[(x.size + 127) // 128, 128](np.float32(3), cuda.to_device(x), there)
    assert np.allclose(there.copy_to_host(), y + 3 * x)


@step
def matrix_product_by_tiles_of_shared_memory():
    @cuda.jit
    def kernel(a, b, c):
        left, right = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
        row, column = cuda.grid(2)
        i, j = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0)
        for k in range(0, a.shape[1], 16):
            left[i, j] = a[row, k + j]
            right[i, j] = b[k + i, column]
            cuda.syncthreads()
            for m in range(16):
                total += left[i, m] * right[m, j]
            cuda.syncthreads()
        c[row, column] = total

    a, b, c = rng.random((64, 48), np.float32), rng.random((48, 32), np.float32), np.zeros((64, 32), np.float32)
    kernel[(4, 2), (16, 16)](a, b, c)
    assert np.allclose(c, a @ b, rtol=1e-5)


@step
def sum_by_shuffles_and_atomics():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        value = x[i] if i < x.size else 0.0
        for d in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, d)
        if cuda.laneid == 0:
            cuda.atomic.add(out, 0, value)

    x, out = rng.random(5000), np.zeros(1)
    kernel[20, 256](x, out)
    assert np.allclose(out[0], x.sum())


@step
def histogram_in_shared_memory():
    @cuda.jit
    def kernel(x, bins):
        own = cuda.shared.array(32, int32)
        if cuda.threadIdx.x < 32:
            own[cuda.threadIdx.x] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            cuda.atomic.add(own, x[i], 1)
        cuda.syncthreads()
        if cuda.threadIdx.x < 32:
            cuda.atomic.add(bins, cuda.threadIdx.x, own[cuda.threadIdx.x])

    x, bins = rng.integers(0, 32, 20000, np.int32), np.zeros(32, np.int32)
    kernel[6, 128](x, bins)
    assert (bins == np.bincount(x, minlength=32)).all()


@step
def local_and_constant_arrays():
    table = np.array([5, 7, 11, 13], np.int32)

    @cuda.jit
    def kernel(out):
        own, constants = cuda.local.array(4, int32), cuda.const.array_like(table)
        for k in range(4):
            own[k] = constants[(k + cuda.threadIdx.x) % 4] * k
        out[cuda.threadIdx.x] = own[0] + own[1] + own[2] + own[3]

    out = np.zeros(64, np.int32)
    kernel[1, 64](out)
    assert (out == [sum(table[(k + i) % 4] * k for k in range(4)) for i in range(64)]).all()


@step
def streams_and_events():
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        x[i] = x[i] * 2 + 1

    stream, begin, end = cuda.stream(), cuda.event(), cuda.event()
    host = cuda.pinned_array(512, np.int64)
    host[:] = np.arange(512)
    begin.record(stream)
    there = cuda.to_device(host, stream=stream)
    for _ in range(3):
        kernel[4, 128, stream](there)
    there.copy_to_host(host, stream=stream)
    end.record(stream)
    end.synchronize()
    assert (host == np.arange(512) * 8 + 7).all() and cuda.event_elapsed_time(begin, end) >= 0


@step
def functions_of_libdevice():
    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        y[i] = math.sin(x[i]) * math.exp(-x[i]) + math.erf(x[i]) + math.pow(x[i], 1.5) + math.lgamma(x[i] + 1)

    x, y = rng.random(256), np.zeros(256)
    kernel[2, 128](x, y)
    expected = [math.sin(v) * math.exp(-v) + math.erf(v) + v**1.5 + math.lgamma(v + 1) for v in x]
    assert np.allclose(y, expected, rtol=1e-12)


@step
def ufuncs_and_reductions():
    @vectorize(["float64(float64, float64)"], target="cuda")
    def hypotenuse(a, b):
        return math.sqrt(a * a + b * b)

    a, b = rng.random(1000), rng.random(1000)
    assert np.allclose(hypotenuse(a, b), np.hypot(a, b))
    assert np.isclose(cuda.reduce(lambda x, y: x + y)(a), a.sum())


@step
def records_and_complex_numbers():
    kind = np.dtype([("weight", np.float64), ("count", np.int32)], align=True)

    @cuda.jit
    def kernel(records, z):
        i = cuda.grid(1)
        records[i].weight = records[i].count * 0.5
        z[i] = z[i] * z[i]

    records, z = np.zeros(64, kind), rng.random(64) + 1j * rng.random(64)
    records["count"] = np.arange(64)
    squares = z * z
    kernel[1, 64](records, z)
    assert (records["weight"] == np.arange(64) * 0.5).all() and np.allclose(z, squares)


@step
def a_grid_that_waits_for_itself():
    @cuda.jit
    def kernel(m):
        column, grid = cuda.grid(1), cuda.cg.this_grid()
        for row in range(1, m.shape[0]):
            m[row, column] = m[row - 1, m.shape[1] - column - 1] + 1
            grid.sync()

    m = np.zeros((16, 256), np.int32)
    kernel[8, 32](m)
    assert (m == np.arange(16)[:, None]).all()


finish()
