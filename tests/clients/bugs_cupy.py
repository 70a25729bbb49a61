# SPDX-License-Identifier: Apache-2.0
"""CuPy: see bugs.py."""
import cupy as cp
import numpy as np
from bugs import case, main

wait = cp.cuda.Device().synchronize


@case
def tile(bad):
    reverse = cp.RawKernel(
        r"""
extern "C" __global__ void reverse(const float* x, float* y) {
  __shared__ float s[128];
  s[threadIdx.x] = x[threadIdx.x];
#ifndef BAD
  __syncthreads();
#endif
  y[threadIdx.x] = s[127 - threadIdx.x];  // BUG(tile): race-shared, uninitialised-load
}
""",
        "reverse",
        options=("-DBAD",) if bad else (),
    )
    x = cp.arange(128, dtype=cp.float32)
    reverse((1,), (128,), (x, cp.empty_like(x)))
    wait()


@case
def module(bad):
    """A template of a module, with a loop of a reduction without its barrier."""
    code = r"""
template <class T, int N>
__global__ void total(const T* x, T* out) {
  __shared__ T s[N];
  const int t = threadIdx.x;
  s[t] = x[blockIdx.x * N + t];
  __syncthreads();
  for (int n = N / 2; n; n /= 2) {
    if (t < n) s[t] += s[t + n];  // BUG(module): race-shared
    BARRIER
  }
  if (t == 0) atomicAdd(out, s[0]);
}
"""
    m = cp.RawModule(
        code=code.replace("BARRIER", "" if bad else "__syncthreads();"),
        options=("-std=c++17",),
        name_expressions=["total<float, 256>"],
    )
    x, out = cp.ones(1024, cp.float32), cp.zeros(1, cp.float32)
    m.get_function("total<float, 256>")((4,), (256,), (x, out))
    assert bad or float(out[0]) == 1024


@case
def elementwise(bad):
    """A raw argument that every element writes."""
    keep = cp.ElementwiseKernel(
        "T x, raw T limits",
        "raw T most",
        "if (x > limits[0]) most[0] = x;"  # BUG(elementwise): race-global, race-lanes
        if bad
        else "if (x > limits[0]) most[i] = x;",
        "keep_most",
    )
    x = cp.arange(512, dtype=cp.float32)
    keep(x, cp.zeros(1, cp.float32), cp.zeros(512, cp.float32))
    wait()


@case
def outside(bad):
    shift = cp.ElementwiseKernel(
        "raw T x, int32 n",
        "T y",
        """
        const int next = i + 1;
        y = CHOICE;
        """.replace(
            "CHOICE", "x[next]" if bad else "x[next < n ? next : 0]"
        ),
        "shift",
    )
    x = cp.arange(1 << 18, dtype=cp.float32)
    shift(x, x.size, cp.empty_like(x))  # BUG(outside): bounds-global
    wait()


@case
def bounds(bad):
    double = cp.RawKernel(
        r"""
extern "C" __global__ void twice(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= 2;  // BUG(bounds): bounds-global
}
""",
        "twice",
    )
    x = cp.ones(1 << 18, cp.float32)
    double((1025,), (256,), (x, np.int32(x.size + 256 if bad else x.size)))
    wait()


@case
def unwritten(bad):
    x = cp.empty(1000, cp.float32) if bad else cp.zeros(1000, cp.float32)
    clip = cp.RawKernel(
        r"""
extern "C" __global__ void clip(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 3) y[i] = 3;  // BUG(unwritten): uninitialised
}
""",
        "clip",
    )
    clip((4,), (256,), (x, cp.zeros(1000, cp.float32), np.int32(1000)))
    wait()


@case
def unwritten_mask(bad):
    x = cp.empty(1000, cp.int32) if bad else cp.zeros(1000, cp.int32)
    y = cp.zeros(1000, cp.int32)
    y[x > 0] = 1  # BUG(unwritten_mask): uninitialised, uninitialised-load
    wait()


@case
def streams(bad):
    x = cp.zeros(1000, cp.float32)
    wait()
    a, b = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    with a:
        x += 1  # BUG(streams): race-host
        done = a.record()
    if not bad:
        b.wait_event(done)
    with b:
        y = x * 2  # BUG(streams): race-host
    wait()
    assert bad or float(y[0]) == 2


@case
def upload(bad):
    """Pinned memory is sent by one stream, and used by another."""
    pinned = np.frombuffer(cp.cuda.alloc_pinned_memory(4000), np.float32, 1000)
    pinned[...] = 1
    x = cp.zeros(1000, cp.float32)
    wait()
    a, b = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    x.data.copy_from_host_async(pinned.ctypes.data, 4000, a)  # BUG(upload): race-host
    if not bad:
        b.wait_event(a.record())
    with b:
        x.sum()  # BUG(upload): race-host
    wait()


@case
def block_scope(bad):
    count = cp.RawKernel(
        r"""
extern "C" __global__ void count(int* n) {
#ifdef BAD
  atomicAdd_block(n, 1);  // BUG(block_scope): race-scope
#else
  atomicAdd(n, 1);
#endif
}
""",
        "count",
        options=("-DBAD",) if bad else (),
    )
    n = cp.zeros(1, cp.int32)
    count((4,), (64,), (n,))
    wait()


@case
def divergent(bad):
    sums = cp.RawKernel(
        r"""
extern "C" __global__ void sums(const float* x, float* y, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  s[t] = x[t];
  if (t < n) {
    __syncthreads();  // BUG(divergent): barrier-divergent
  }
  y[t] = s[(t + 64) % 128];  // BUG(divergent): race-shared
}
""",
        "sums",
    )
    x = cp.ones(128, cp.float32)
    sums((1,), (128,), (x, cp.zeros(128, cp.float32), np.int32(64 if bad else 128)))
    wait()


@case
def misaligned(bad):
    fill = cp.RawKernel(
        r"""
extern "C" __global__ void fill(float4* x) {
  x[threadIdx.x] = make_float4(0, 1, 2, 3);  // BUG(misaligned): misaligned
}
""",
        "fill",
    )
    x = cp.zeros(1024, cp.float32)
    fill((1,), (64,), (x[1 if bad else 4 :],))
    wait()


@case
def jit(bad):
    from cupyx import jit as cj

    @cj.rawkernel()
    def reverse(x, y):
        s = cj.shared_memory(cp.float32, 128)
        t = cj.threadIdx.x
        s[t] = x[t]
        if not bad:
            cj.syncthreads()
        y[t] = s[127 - t]

    x = cp.arange(128, dtype=cp.float32)
    reverse((1,), (128,), (x, cp.empty_like(x)))  # BUG(jit): race-shared, uninitialised-load
    wait()


@case
def reduction(bad):
    """Its map looks at numbers that nobody wrote."""
    positive = cp.ReductionKernel("T v", "int32 n", "v > 0 ? 1 : 0", "a + b", "n = a", "0", "positive")
    x = cp.empty(1000, cp.float32) if bad else cp.ones(1000, cp.float32)
    positive(x)  # BUG(reduction): uninitialised, uninitialised-load
    wait()


@case
def fused(bad):
    @cp.fuse()
    def blend(a, b):
        return cp.where(a > 0, a * 2, b)

    a = cp.empty(1000, cp.float32) if bad else cp.ones(1000, cp.float32)
    blend(a, cp.ones(1000, cp.float32))  # BUG(fused): uninitialised, uninitialised-load
    wait()


if __name__ == "__main__":
    main()
