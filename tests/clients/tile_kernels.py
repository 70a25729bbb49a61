# SPDX-License-Identifier: Apache-2.0
"""CUDA Tile in Python (`pip install cuda-tile[tileiras] cupy-cuda13x`): kernels on tiles, and a product of matrices."""
import cuda.tile as ct
import cupy as cp
import numpy as np
from steps import finish, step


@ct.kernel
def add(a, b, c, n: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(c, index=(i,), tile=ct.load(a, index=(i,), shape=(n,)) + ct.load(b, index=(i,), shape=(n,)))


@ct.kernel
def multiply(a, b, c, m: ct.Constant[int], n: ct.Constant[int], k: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((m, n), 0, dtype=ct.float32)
    for at in range(ct.num_tiles(a, axis=1, shape=(m, k))):
        total = ct.mma(ct.load(a, index=(i, at), shape=(m, k), allow_tma=False), ct.load(b, index=(at, j), shape=(k, n), allow_tma=False), total)
    ct.store(c, index=(i, j), tile=total, allow_tma=False)


@step
def sums():
    a, c = cp.arange(1000, dtype="f"), cp.zeros(1000, "f")
    ct.launch(cp.cuda.get_current_stream(), (16,), add, (a, a, c, 64))
    np.testing.assert_array_equal(c.get(), 2 * np.arange(1000))


@step
def products():
    rng = np.random.default_rng(16)
    a, b = rng.standard_normal((64, 96)).astype(np.float16), rng.standard_normal((96, 64)).astype(np.float16)
    c = cp.zeros((64, 64), "f")
    ct.launch(cp.cuda.get_current_stream(), (2, 2), multiply, (cp.asarray(a), cp.asarray(b), c, 32, 32, 32))
    np.testing.assert_allclose(c.get(), a.astype("f") @ b.astype("f"), rtol=1e-3, atol=1e-3)


finish()
