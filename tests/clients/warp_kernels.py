# SPDX-License-Identifier: Apache-2.0
"""Warp: kernels, atomics, tiles, gradients, graphs. Expectations are NumPy's."""
import numpy as np
import warp as wp
from steps import finish, step

wp.init()
rng = np.random.default_rng(16)
DEVICE = "cuda:0"


@wp.kernel
def add(a: wp.array(dtype=float), b: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = a[i] + b[i]


@wp.kernel
def lengths(points: wp.array(dtype=wp.vec3), total: wp.array(dtype=float), longest: wp.array(dtype=float)):
    length = wp.length(points[wp.tid()])
    wp.atomic_add(total, 0, length)
    wp.atomic_max(longest, 0, length)


@wp.kernel
def multiply(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = wp.tile_zeros(shape=(16, 16), dtype=float)
    for k in range(a.shape[1] // 16):
        left = wp.tile_load(a, shape=(16, 16), offset=(i * 16, k * 16))
        right = wp.tile_load(b, shape=(16, 16), offset=(k * 16, j * 16))
        wp.tile_matmul(left, right, total)
    wp.tile_store(c, total, offset=(i * 16, j * 16))


@wp.kernel
def squares(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, wp.sin(x[wp.tid()]) * x[wp.tid()])


def to_device(values, **more):
    return wp.array(values, device=DEVICE, **more)


@step
def vector_add():
    a, b = rng.random(5000, np.float32), rng.random(5000, np.float32)
    out = wp.zeros(5000, dtype=float, device=DEVICE)
    wp.launch(add, dim=5000, inputs=[to_device(a), to_device(b), out], device=DEVICE)
    assert (out.numpy() == a + b).all()


@step
def vectors_and_atomics():
    points = rng.random((1000, 3), np.float32)
    total, longest = wp.zeros(1, dtype=float, device=DEVICE), wp.zeros(1, dtype=float, device=DEVICE)
    wp.launch(lengths, dim=1000, inputs=[to_device(points, dtype=wp.vec3), total, longest], device=DEVICE)
    expected = np.linalg.norm(points, axis=1)
    assert np.isclose(total.numpy()[0], expected.sum(), rtol=1e-4) and np.isclose(longest.numpy()[0], expected.max())


@step
def matrix_product_by_tiles():
    a, b = rng.random((64, 48), np.float32), rng.random((48, 32), np.float32)
    c = wp.zeros((64, 32), dtype=float, device=DEVICE)
    wp.launch_tiled(multiply, dim=[4, 2], inputs=[to_device(a), to_device(b), c], block_dim=64, device=DEVICE)
    assert np.allclose(c.numpy(), a @ b, rtol=1e-5)


@step
def gradients():
    values = rng.random(200, np.float32)
    x, loss = to_device(values, requires_grad=True), wp.zeros(1, dtype=float, device=DEVICE, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(squares, dim=200, inputs=[x, loss], device=DEVICE)
    tape.backward(loss)
    assert np.allclose(x.grad.numpy(), np.sin(values) + np.cos(values) * values, rtol=1e-5)


@step
def graphs():
    a, b = to_device(np.ones(100, np.float32)), to_device(np.zeros(100, np.float32))
    with wp.ScopedCapture(device=DEVICE) as capture:
        wp.launch(add, dim=100, inputs=[a, b, b], device=DEVICE)
    for _ in range(5):
        wp.capture_launch(capture.graph)
    assert (b.numpy() == 5).all()


@step
def what_comes_compiled():
    values = rng.random(3000, np.float32)
    assert np.isclose(wp.utils.array_sum(to_device(values)), values.sum(), rtol=1e-5)
    keys, items = np.zeros(200, np.int32), np.zeros(200, np.int32)
    keys[:100] = rng.permutation(100)
    items[:100] = np.arange(100)
    there, what = to_device(keys), to_device(items)
    wp.utils.radix_sort_pairs(there, what, 100)
    assert (there.numpy()[:100] == np.arange(100)).all() and (keys[what.numpy()[:100]] == np.arange(100)).all()


finish()
