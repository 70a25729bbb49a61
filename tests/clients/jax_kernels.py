# SPDX-License-Identifier: Apache-2.0
"""JAX: what XLA compiles for the device, without cuBLAS and cuDNN. Expectations are NumPy's, or JAX's on the CPU."""
import jax
import jax.numpy as jnp
import numpy as np
from steps import finish, step

rng = np.random.default_rng(16)
cpu = jax.devices("cpu")[0]


def on_both(function, *arguments, tolerance=1e-5):
    """The same function, compiled for the device and for the CPU."""
    here = jax.jit(function)(*[jax.device_put(a, cpu) for a in arguments])
    there = jax.jit(function)(*arguments)
    for a, b in zip(jax.tree.leaves(there), jax.tree.leaves(here), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


@step
def the_device_is_a_gpu():
    assert jax.devices()[0].platform == "gpu"


@step
def elementwise_and_broadcasts():
    x, y = rng.random((37, 1), np.float32), rng.random(53, np.float32)
    out = jnp.asarray(x) * jnp.sin(y) + jnp.where(jnp.asarray(x) > 0.5, jnp.exp(y), -y)
    np.testing.assert_allclose(out, x * np.sin(y) + np.where(x > 0.5, np.exp(y), -y), rtol=1e-5)


@step
def reductions_softmax_scans():
    x = rng.random((65, 300), np.float32)
    on_both(lambda a: (jax.nn.softmax(a, -1), a.sum(0), a.max(1), a.argmin(1), jnp.cumsum(a, 1), a.var()), x, tolerance=1e-4)


@step
def sorts_and_gathers():
    x, at = rng.random(1500, np.float32), rng.integers(0, 1500, 400)
    assert (np.asarray(jnp.sort(jnp.asarray(x))) == np.sort(x)).all()
    assert (np.asarray(jnp.argsort(jnp.asarray(x))) == np.argsort(x)).all()
    assert (np.asarray(jnp.asarray(x)[at]) == x[at]).all()
    added = np.zeros(10, np.int32)
    np.add.at(added, at % 10, 1)
    assert (np.asarray(jnp.zeros(10, jnp.int32).at[at % 10].add(1)) == added).all()


@step
def loops_and_conditions():
    def run(x):
        y = jax.lax.fori_loop(0, 17, lambda i, v: v * 1.01 + i, x)
        z = jax.lax.while_loop(lambda v: v.sum() < 1e4, lambda v: v * 1.5, y)
        return jax.lax.cond(z[0] > 1, lambda v: v - 1, lambda v: v + 1, z)

    on_both(run, rng.random(100, np.float32))


@step
def gradients_and_maps():
    def loss(w, x):
        return (jax.nn.gelu(x * w) ** 2).mean()

    on_both(jax.grad(loss), rng.random(64, np.float32), rng.random((9, 64), np.float32))
    on_both(jax.vmap(lambda row: jnp.outer(row, row).sum(0)), rng.random((5, 33), np.float32))


@step
def matrix_products():
    x, y = rng.random((64, 48), np.float32), rng.random((48, 32), np.float32)
    np.testing.assert_allclose(jnp.asarray(x) @ jnp.asarray(y), x @ y, rtol=1e-2)  # tf32 is allowed


@step
def random_numbers_are_those_of_the_cpu():
    here = jax.device_put(jax.random.key(16), cpu)
    assert (np.asarray(jax.random.bits(jax.random.key(16), (1000,))) == np.asarray(jax.random.bits(here, (1000,)))).all()


finish()
