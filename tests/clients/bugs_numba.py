# SPDX-License-Identifier: Apache-2.0
"""numba-cuda: see bugs.py."""
import warnings

import numpy as np
from bugs import case, main
from numba import cuda, float32, int32

warnings.simplefilter("ignore")


@case
def tile(bad):
    @cuda.jit
    def reverse(x, y):
        s = cuda.shared.array(128, float32)
        t = cuda.threadIdx.x
        s[t] = x[t]
        if not bad:
            cuda.syncthreads()
        y[t] = s[127 - t]  # BUG(tile): race-shared, uninitialised-load

    x = cuda.to_device(np.arange(128, dtype=np.float32))
    y = cuda.device_array(128, np.float32)
    reverse[1, 128](x, y)
    y.copy_to_host()


@case
def reduction(bad):
    @cuda.jit
    def total(x, out):
        s = cuda.shared.array(128, float32)
        t = cuda.threadIdx.x
        s[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        n = 64
        while n:
            if t < n:
                s[t] += s[t + n]  # BUG(reduction): race-shared
            if not bad:
                cuda.syncthreads()
            n //= 2
        if t == 0:
            cuda.atomic.add(out, 0, s[0])

    x = cuda.to_device(np.ones(512, np.float32))
    out = cuda.to_device(np.zeros(1, np.float32))
    total[4, 128](x, out)
    out.copy_to_host()


@case
def histogram(bad):
    @cuda.jit
    def count(x, bins):
        i = cuda.grid(1)
        if bad:
            bins[x[i]] += 1  # BUG(histogram): race-global, race-lanes
        else:
            cuda.atomic.add(bins, x[i], 1)

    x = cuda.to_device((np.arange(512) // 32 % 4).astype(np.int32))
    bins = cuda.to_device(np.zeros(4, np.int32))
    count[4, 128](x, bins)
    bins.copy_to_host()


@case
def neighbour(bad):
    """A stencil in place: a block reads what its neighbour writes."""

    @cuda.jit
    def smooth(x, y):
        i = cuda.grid(1)
        if 0 < i < x.size - 1:
            y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3  # BUG(neighbour): race-global

    x = cuda.to_device(np.ones(512, np.float32))
    y = x if bad else cuda.device_array_like(x)
    smooth[4, 128](x, y)
    cuda.synchronize()


@case
def bounds(bad):
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if bad or i < x.size:
            x[i] *= 2  # BUG(bounds): bounds-global

    x = cuda.to_device(np.ones(1000, np.float32))
    double[8, 128](x)
    cuda.synchronize()


@case
def shared_bounds(bad):
    n = 128

    @cuda.jit
    def shift(x):
        s = cuda.shared.array(128, float32)
        t = cuda.threadIdx.x
        s[t] = x[t]
        cuda.syncthreads()
        x[t] = s[t + 1] if bad else s[(t + 1) % n]  # BUG(shared_bounds): bounds-shared

    x = cuda.to_device(np.ones(128, np.float32))
    shift[1, 128](x)
    cuda.synchronize()


@case
def unwritten(bad):
    @cuda.jit
    def clip(x, y):
        i = cuda.grid(1)
        if i < x.size and x[i] > 3:  # BUG(unwritten): uninitialised
            y[i] = 3

    x = cuda.device_array(256, np.float32) if bad else cuda.to_device(np.zeros(256, np.float32))
    clip[2, 128](x, cuda.to_device(np.zeros(256, np.float32)))
    cuda.synchronize()


@case
def divergent(bad):
    @cuda.jit
    def halves(x, y):
        s = cuda.shared.array(192, float32)
        t = cuda.threadIdx.x
        s[t] = x[t]
        if t < 64:
            s[t + 128] = 0
            if bad:
                cuda.syncthreads()  # BUG(divergent): barrier-divergent
        if not bad:
            cuda.syncthreads()
        y[t] = s[(t + 64) % 128]  # BUG(divergent): race-shared

    x = cuda.to_device(np.ones(128, np.float32))
    halves[1, 128](x, cuda.device_array(128, np.float32))
    cuda.synchronize()


@case
def streams(bad):
    @cuda.jit
    def add(x, n):
        x[cuda.grid(1)] += n

    a, b = cuda.stream(), cuda.stream()
    x = cuda.to_device(np.zeros(256, np.float32))
    cuda.synchronize()
    add[2, 128, a](x, 1)  # BUG(streams): race-host
    if not bad:
        done = cuda.event()
        done.record(a)
        done.wait(b)
    add[2, 128, b](x, 2)  # BUG(streams): race-host
    cuda.synchronize()


@case
def early_read(bad):
    """The host's pinned array is filled by one stream and sent on by another."""
    pinned = cuda.pinned_array(4096, np.float32)
    a, b = cuda.stream(), cuda.stream()
    x = cuda.to_device(np.zeros(4096, np.float32))
    y = cuda.device_array(4096, np.float32)
    cuda.synchronize()
    x.copy_to_host(pinned, stream=a)  # BUG(early_read): race-host
    if not bad:
        a.synchronize()
    y.copy_to_device(pinned, stream=b)  # BUG(early_read): race-host
    cuda.synchronize()


@case
def flag(bad):
    """One block hands data to another through a flag."""

    @cuda.jit
    def hand_on(data, flags, out):
        if cuda.blockIdx.x == 0:
            if cuda.threadIdx.x == 0:
                data[0] = 42  # BUG(flag): race-global
                if not bad:
                    cuda.threadfence()
                cuda.atomic.exch(flags, 0, 1)
        elif cuda.threadIdx.x == 0:
            while cuda.atomic.add(flags, 0, 0) == 0:
                pass
            if not bad:
                cuda.threadfence()
            out[0] = data[0]  # BUG(flag): race-global

    data, flags, out = (cuda.to_device(np.zeros(1, np.int32)) for _ in range(3))
    hand_on[2, 32](data, flags, out)
    assert bad or out.copy_to_host()[0] == 42


@case
def misaligned(bad):
    raw = cuda.to_device(np.zeros(1028, np.uint8))
    x = raw[2 if bad else 4 :][:1024].view(np.int32)

    @cuda.jit
    def fill(x):
        x[cuda.grid(1)] = int32(7)  # BUG(misaligned): misaligned

    fill[2, 128](x)
    cuda.synchronize()


if __name__ == "__main__":
    main()
