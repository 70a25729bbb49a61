# SPDX-License-Identifier: Apache-2.0
"""Taichi on its CUDA backend: fields, atomics, sparse structures, matrices. Expectations are NumPy's."""
import numpy as np
import taichi as ti
from steps import finish, step

ti.init(arch=ti.cuda, random_seed=16)
rng = np.random.default_rng(16)


@step
def the_backend_is_cuda():
    assert ti.lang.impl.current_cfg().arch == ti.cuda


@step
def arrays_from_outside():
    @ti.kernel
    def scale(x: ti.types.ndarray(), factor: ti.f32):
        for i, j in x:
            x[i, j] = x[i, j] * factor + i

    x = rng.random((40, 30), np.float32)
    expected = x * np.float32(1.5) + np.arange(40, dtype=np.float32)[:, None]
    scale(x, 1.5)
    assert np.allclose(x, expected)


@step
def reductions_and_atomics():
    values, total, top = ti.field(ti.i32, 1000), ti.field(ti.i32, ()), ti.field(ti.i32, ())

    @ti.kernel
    def run():
        for i in values:
            total[None] += values[i]
            ti.atomic_max(top[None], values[i])

    numbers = rng.integers(0, 10000, 1000, np.int32)
    values.from_numpy(numbers)
    run()
    assert (total[None], top[None]) == (numbers.sum(), numbers.max())


@step
def matrices():
    n = 64
    a, b = ti.Matrix.field(3, 3, ti.f32, n), ti.Vector.field(3, ti.f32, n)
    out = ti.Vector.field(3, ti.f32, n)

    @ti.kernel
    def multiply():
        for i in a:
            out[i] = a[i].transpose() @ b[i] + a[i].trace()

    x, y = rng.random((n, 3, 3), np.float32), rng.random((n, 3), np.float32)
    a.from_numpy(x)
    b.from_numpy(y)
    multiply()
    expected = np.einsum("nji,nj->ni", x, y) + np.trace(x, axis1=1, axis2=2)[:, None]
    assert np.allclose(out.to_numpy(), expected, rtol=1e-5)


@step
def serial_loops_and_functions():
    steps = ti.field(ti.i32, 200)

    @ti.func
    def collatz(n):
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    @ti.kernel
    def run():
        for i in steps:
            steps[i] = collatz(i + 1)

    run()

    def plain(n):
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    assert (steps.to_numpy() == [plain(i + 1) for i in range(200)]).all()


@step
def a_sparse_tree():
    x = ti.field(ti.i32)
    block = ti.root.pointer(ti.i, 16)
    block.dense(ti.i, 8).place(x)
    count = ti.field(ti.i32, ())

    @ti.kernel
    def fill():
        for i in range(128):
            if i // 8 % 3 == 0:
                x[i] = i

    @ti.kernel
    def visit():
        for i in x:
            count[None] += 1

    fill()
    visit()
    assert count[None] == 8 * len(range(0, 16, 3))


@step
def gradients():
    x, loss = ti.field(ti.f32, 32, needs_grad=True), ti.field(ti.f32, (), needs_grad=True)

    @ti.kernel
    def run():
        for i in x:
            loss[None] += ti.sin(x[i]) * x[i]

    values = rng.random(32, np.float32)
    x.from_numpy(values)
    with ti.ad.Tape(loss):
        run()
    assert np.isclose(loss[None], (np.sin(values) * values).sum(), rtol=1e-5)
    assert np.allclose(x.grad.to_numpy(), np.sin(values) + np.cos(values) * values, rtol=1e-5)


finish()
