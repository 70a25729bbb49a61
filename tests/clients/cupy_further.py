# SPDX-License-Identifier: Apache-2.0
"""CuPy: kernels of all kinds, reductions, sorting, random numbers, FFT, streams, pools. Expectations are NumPy's."""
import cupy as cp
import numpy as np
from steps import finish, step

rng = np.random.default_rng(7)
x = rng.standard_normal((123, 77)).astype(np.float32)
d = cp.asarray(x)


def same(ours, theirs, **k):
    np.testing.assert_allclose(cp.asnumpy(ours), theirs, **({"rtol": 1e-4, "atol": 1e-5} | k))


@step
def raw_kernel():
    k = cp.RawKernel("extern \"C\" __global__ void t(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 2 * x[i]; }", "t")
    y = d.copy()
    k(((y.size + 255) // 256,), (256,), (y, np.int32(y.size)))
    same(y, 2 * x)


@step
def raw_kernel_shared_memory():
    k = cp.RawKernel("extern \"C\" __global__ void r(const int* x, int* y) { extern __shared__ int s[]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); y[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x]; }", "r")
    a, b = cp.arange(200, dtype=np.int32), cp.empty(200, np.int32)
    k((1,), (200,), (a, b), shared_mem=800)
    same(b, np.arange(200)[::-1])


@step
def elementwise_kernel():
    k = cp.ElementwiseKernel("T a, T b", "T c, bool big", "c = a * b; big = c > 0", "product")
    c, big = k(d, d[::-1])
    same(c, x * x[::-1])
    same(big, x * x[::-1] > 0)


@step
def broadcasting_and_types():
    for t in (np.int8, np.int64, np.float16, np.float64, np.complex64):
        a = np.arange(12).astype(t)
        same(cp.asarray(a)[:, None] * cp.asarray(a)[None, :] + 1, a[:, None] * a[None, :] + 1, rtol=1e-2)


@step
def reduction_kernel():
    k = cp.ReductionKernel("T v", "T y", "v * v", "a + b", "y = sqrt(a)", "0", "root_of_squares")
    same(k(d, axis=0), np.linalg.norm(x, axis=0))
    same(k(d), np.linalg.norm(x))


@step
def sums():
    same(d.sum(), x.sum(), atol=1e-2)
    same(d.sum(axis=1), x.sum(axis=1))
    same(d.mean(axis=0), x.mean(axis=0))
    same(d.var(), x.var())


@step
def extremes():
    same(d.max(), x.max())
    same(d.min(axis=1), x.min(axis=1))
    same(d.argmax(axis=1), x.argmax(axis=1))


@step
def scans():
    same(cp.cumsum(d[0]), np.cumsum(x[0]))
    same(cp.cumprod(d[0, :5]), np.cumprod(x[0, :5]))


@step
def sorting():
    same(cp.sort(d, axis=1), np.sort(x, axis=1))
    same(cp.argsort(d[0]), np.argsort(x[0]))
    same(cp.sort(d.ravel()), np.sort(x.ravel()))
    same(cp.partition(d[0], 5)[:5].max(), np.partition(x[0], 5)[:5].max())


@step
def searching():
    same(cp.nonzero(d[0] > 0)[0], np.nonzero(x[0] > 0)[0])
    same(cp.unique(cp.asarray([3, 1, 2, 3, 1])), [1, 2, 3])
    same(cp.searchsorted(cp.arange(10), cp.asarray([3, 7])), [3, 7])
    same(cp.where(d > 0, d, 0), np.where(x > 0, x, 0))


@step
def indexing():
    rows = np.asarray([5, 3, 100])
    same(d[cp.asarray(rows)], x[rows])
    y, z = d.copy(), x.copy()
    y[d > 0] = 7
    z[x > 0] = 7
    same(y, z)
    same(cp.take(d, cp.asarray(rows), axis=0), x[rows])


@step
def scatter():
    counts = cp.zeros(5, np.int32)
    cp.add.at(counts, cp.asarray([0, 1, 1, 4, 4, 4]), 1)
    same(counts, [1, 2, 0, 0, 3])
    same(cp.bincount(cp.asarray([0, 1, 1, 4])), [1, 2, 0, 0, 1])
    same(cp.histogram(d, bins=8)[0], np.histogram(x, bins=8)[0])


@step
def shapes():
    same(cp.concatenate([d, d], axis=1), np.concatenate([x, x], axis=1))
    same(cp.transpose(d).copy(), x.T)
    same(cp.tile(d[:2, :2], 3), np.tile(x[:2, :2], 3))
    same(cp.roll(d, 3, axis=0), np.roll(x, 3, axis=0))


@step
def fft():
    same(cp.fft.rfft(d), np.fft.rfft(x), atol=1e-3)
    same(cp.fft.ifft2(cp.fft.fft2(d)).real, x, atol=1e-4)


@step
def generator_is_repeatable():
    a, b = (cp.random.default_rng(3).random(1000) for _ in range(2))
    same(a, cp.asnumpy(b))
    assert 0.4 < float(a.mean()) < 0.6 and float(a.min()) >= 0 and float(a.max()) < 1


@step
def normal_numbers():
    a = cp.asnumpy(cp.random.default_rng(3).standard_normal(4000))
    assert abs(a.mean()) < 0.1 and 0.9 < a.std() < 1.1


@step
def fusion():
    @cp.fuse()  # of a function with a name: CuPy gives it to the kernel
    def f(a, b):
        return cp.maximum(a * 2, b) - cp.exp(-a)

    same(f(d, d), np.maximum(x * 2, x) - np.exp(-x))


@step
def streams_and_events():
    s, t = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    with s:
        a = cp.arange(10000) * 3
        e = s.record()
    t.wait_event(e)
    with t:
        b = a + 1
    t.synchronize()
    same(b, np.arange(10000) * 3 + 1)


@step
def graphs():
    s = cp.cuda.Stream(non_blocking=True)
    a, b = cp.arange(64, dtype=np.float32), cp.empty(64, np.float32)
    cp.multiply(a, 3, out=b)
    cp.cuda.Stream.null.synchronize()  # which a stream that does not block would not wait for
    with s:
        s.begin_capture()
        cp.multiply(a, 3, out=b)
        cp.add(b, 1, out=a)
        g = s.end_capture()
        for _ in range(2):
            g.launch()
    s.synchronize()
    same(a, (np.arange(64) * 3 + 1) * 3 + 1)


@step
def pool():
    pool = cp.cuda.MemoryPool()
    with cp.cuda.using_allocator(pool.malloc):
        a = cp.empty(1 << 20, np.uint8)
        assert pool.used_bytes() == 1 << 20
        del a
        assert pool.used_bytes() == 0 and pool.total_bytes() >= 1 << 20
    pool.free_all_blocks()
    assert pool.total_bytes() == 0


@step
def pool_of_the_device():
    with cp.cuda.using_allocator(cp.cuda.MemoryAsyncPool().malloc):
        same(cp.arange(1000).astype(np.float32) + 1, np.arange(1000) + 1)


@step
def pinned_memory():
    a = cp.cuda.alloc_pinned_memory(4000)
    h = np.frombuffer(a, np.float32, 1000)
    h[:] = np.arange(1000)
    same(cp.asarray(h), np.arange(1000))


@step
def linear_algebra():
    same(d[:40] @ d[:40].T, x[:40] @ x[:40].T, atol=1e-3)


@step
def faults_are_exceptions():
    try:
        cp.RawKernel("extern \"C\" __global__ void k( {", "k")((1,), (1,), ())
    except cp.cuda.compiler.CompileException:
        return
    raise AssertionError("it compiled")


finish()
