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
def products_of_complex_numbers_and_in_batches():
    def numbers(*shape):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)

    for x, y in ((numbers(65, 33), numbers(33, 40)), (numbers(3, 7, 9), numbers(3, 9, 5))):
        np.testing.assert_allclose(jnp.asarray(x) @ jnp.asarray(y), x @ y, rtol=1e-4, atol=1e-4)


@step
def convolution_of_known_numbers():
    x, w = rng.random((2, 3, 9, 8), np.float32), rng.random((4, 3, 3, 2), np.float32)
    expected = np.zeros((2, 4, 7, 7))
    for i in range(7):
        for j in range(7):
            expected[:, :, i, j] = np.tensordot(x[:, :, i : i + 3, j : j + 2].astype(float), w, ((1, 2, 3), (1, 2, 3)))
    np.testing.assert_allclose(jax.lax.conv(x, w, (1, 1), "VALID", precision="highest"), expected, rtol=1e-5)


@step
def convolutions_and_their_gradients():
    def compare(x, w, **how):
        x, w = rng.normal(size=x).astype(np.float32), rng.normal(size=w).astype(np.float32)
        how = {"window_strides": (1, 1), "padding": "SAME", "precision": "highest"} | how
        on_both(lambda a, b: jax.lax.conv_general_dilated(a, b, **how), x, w, tolerance=1e-4)
        on_both(jax.grad(lambda a, b: (jax.lax.conv_general_dilated(a, b, **how) ** 2).mean(), (0, 1)), x, w, tolerance=1e-4)

    compare((2, 3, 8, 8), (4, 3, 3, 3), window_strides=(2, 2))
    compare((2, 4, 10, 11), (6, 4, 3, 2), window_strides=(2, 1), padding=((1, 2), (0, -1)), lhs_dilation=(1, 2), rhs_dilation=(2, 1))
    compare((2, 4, 10, 11), (6, 2, 3, 2), feature_group_count=2)
    compare((4, 4, 6, 6), (6, 4, 3, 2), batch_group_count=2)
    compare((2, 5, 6, 3), (3, 2, 3, 4), dimension_numbers=("NHWC", "HWIO", "NHWC"))
    compare((2, 3, 40), (4, 3, 5), window_strides=(3,))
    compare((2, 3, 5, 4, 6), (4, 3, 2, 3, 3), window_strides=(1, 2, 1))


@step
def linear_algebra_without_a_library():
    a, b = rng.normal(size=(2, 12, 12)).astype(np.float32), rng.normal(size=(2, 12, 3)).astype(np.float32)
    positive = a @ a.swapaxes(1, 2) + 12 * np.eye(12, dtype=np.float32)
    for function in (np.linalg.cholesky, np.linalg.inv, np.linalg.det):
        np.testing.assert_allclose(getattr(jnp.linalg, function.__name__)(positive), function(positive), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(jnp.linalg.solve(positive, b), np.linalg.solve(positive, b), rtol=1e-4, atol=1e-5)
    q, r = jnp.linalg.qr(a)
    np.testing.assert_allclose(np.asarray(q) @ np.asarray(r), a, atol=1e-4)
    np.testing.assert_allclose(np.asarray(q).swapaxes(1, 2) @ np.asarray(q), np.broadcast_to(np.eye(12), a.shape), atol=1e-4)


@step
def eigenvalues_and_singular_values():
    a = rng.normal(size=(2, 9, 9)).astype(np.float32)
    symmetric, tall = a + a.swapaxes(1, 2), rng.normal(size=(12, 5)).astype(np.float32)
    w, v = map(np.asarray, jax.jit(jnp.linalg.eigh)(symmetric))
    np.testing.assert_allclose(w, np.linalg.eigvalsh(symmetric), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(symmetric @ v, v * w[:, None], atol=1e-4)
    hermitian = (symmetric + 1j * (a - a.swapaxes(1, 2))).astype(np.complex64)
    w, v = map(np.asarray, jnp.linalg.eigh(hermitian))
    np.testing.assert_allclose(hermitian @ v, v * w[:, None], atol=1e-4)
    w, v = map(np.asarray, jnp.linalg.eig(a))
    np.testing.assert_allclose(a @ v, v * w[:, None], atol=1e-4)
    w, left = map(np.asarray, jax.lax.linalg.eig(a, compute_left_eigenvectors=True, compute_right_eigenvectors=False))
    np.testing.assert_allclose(left.conj().swapaxes(1, 2) @ a, w[:, :, None] * left.conj().swapaxes(1, 2), atol=1e-4)
    for full in (True, False):
        u, s, vt = map(np.asarray, jnp.linalg.svd(tall, full_matrices=full))
        assert u.shape == (12, 12 if full else 5)
        np.testing.assert_allclose((u[:, :5] * s) @ vt, tall, atol=1e-4)
    np.testing.assert_allclose(jnp.linalg.svd(a, compute_uv=False), np.linalg.svd(a)[1], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(jnp.linalg.pinv(tall), np.linalg.pinv(tall), atol=1e-4)
    b = rng.normal(size=12).astype(np.float32)
    np.testing.assert_allclose(jnp.linalg.lstsq(tall, b)[0], np.linalg.lstsq(tall, b)[0], atol=1e-4)
    of_largest = jax.grad(lambda x: jnp.linalg.eigvalsh(x)[-1])(symmetric[0])
    np.testing.assert_allclose(of_largest, np.outer(*[np.linalg.eigh(symmetric[0])[1][:, -1]] * 2), atol=1e-4)


@step
def triangular_systems():
    def kind(lower, left, transposed, unit):
        a = rng.normal(size=(2, 9, 9)).astype(np.float32) / 20 + (4 - 3 * unit) * np.eye(9, dtype=np.float32)
        if unit:
            a[:, range(9), range(9)] = 7  # is not looked at
        t = np.tril(a, -unit) if lower else np.triu(a, unit)
        t = (t + unit * np.eye(9)).swapaxes(1, 2) if transposed else t + unit * np.eye(9)
        b = rng.normal(size=(2, 9, 3) if left else (2, 3, 9)).astype(np.float32)
        x = np.asarray(jax.lax.linalg.triangular_solve(
            a, b, left_side=left, lower=lower, transpose_a=transposed, unit_diagonal=bool(unit))
        )
        np.testing.assert_allclose(t @ x if left else x @ t, b, atol=1e-4)

    for i in range(16):
        kind(bool(i & 1), bool(i & 2), bool(i & 4), i >> 3)


@step
def tridiagonal_systems():
    low, high = rng.random((2, 2, 7), np.float32)
    middle, b = rng.random((2, 7), np.float32) + 3, rng.random((2, 7, 3), np.float32)
    whole = np.stack([np.diag(middle[i]) + np.diag(low[i][1:], -1) + np.diag(high[i][:-1], 1) for i in range(2)])
    np.testing.assert_allclose(jax.lax.linalg.tridiagonal_solve(low, middle, high, b), np.linalg.solve(whole, b), rtol=1e-4, atol=1e-5)
    middle[0, 0] = 0  # wants pivots
    whole[0, 0, 0] = 0
    np.testing.assert_allclose(jax.lax.linalg.tridiagonal_solve(low, middle, high, b), np.linalg.solve(whole, b), rtol=1e-3, atol=1e-4)
    symmetric = whole + whole.swapaxes(1, 2)
    _, d, e, _ = jax.lax.linalg.tridiagonal(symmetric, lower=True)
    for i in range(2):
        same = np.linalg.eigvalsh(np.diag(d[i]) + np.diag(e[i], 1) + np.diag(e[i], -1))
        np.testing.assert_allclose(same, np.linalg.eigvalsh(symmetric[i]), rtol=1e-3, atol=1e-4)
    positive = symmetric[1] @ symmetric[1] + np.eye(7, dtype=np.float32)
    z, c = rng.random(7, np.float32), rng.random((7, 7), np.float32)
    r = np.asarray(jax.lax.linalg.cholesky_update(np.linalg.cholesky(positive).T, z))
    np.testing.assert_allclose(r.T @ r, positive + np.outer(z, z), rtol=1e-3, atol=1e-3)
    product = jax.lax.linalg.symmetric_product(b[0], c + c.T, alpha=2.0, beta=0.5, symmetrize_output=True)
    np.testing.assert_allclose(product, 2 * b[0] @ b[0].T + 0.5 * (c + c.T), rtol=1e-4, atol=1e-5)


@step
def sparse_matrices():
    from jax.experimental import sparse

    x = rng.random((6, 6), np.float32)
    x[x < 0.5] = 0
    for form in (sparse.COO, sparse.CSR, sparse.BCOO):
        m = form.fromdense(jnp.asarray(x))
        np.testing.assert_allclose(m @ jnp.ones(6), x.sum(1), rtol=1e-4)
        np.testing.assert_allclose(m @ jnp.eye(6), x, rtol=1e-4)
        np.testing.assert_allclose(m.todense(), x)
    x += 6 * np.eye(6, dtype=np.float32)
    m = sparse.CSR.fromdense(jnp.asarray(x))
    solution = sparse.linalg.spsolve(m.data, m.indices, m.indptr, jnp.ones(6))
    np.testing.assert_allclose(solution, np.linalg.solve(x, np.ones(6)), rtol=1e-3)


@step
def attention_that_asks_for_cudnn():
    q = jnp.asarray(rng.standard_normal((2, 24, 4, 16)), jnp.float16)
    k, v = (jnp.asarray(rng.standard_normal((2, 24, 2, 16)), jnp.float16) for _ in range(2))
    lengths = jnp.asarray([24, 9], jnp.int32)
    for more in ({}, {"is_causal": True}, {"is_causal": True, "local_window_size": (5, 0)}, {"key_value_seq_lengths": lengths}):

        def loss(q, k, v, kind, more=more):
            return jnp.square(jax.nn.dot_product_attention(q, k, v, implementation=kind, **more).astype(jnp.float32)).sum()

        there, here = (jax.value_and_grad(loss, argnums=(0, 1, 2))(q, k, v, kind) for kind in ("cudnn", "xla"))
        for a, b in zip(jax.tree.leaves(there), jax.tree.leaves(here), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-2)


@step
def random_numbers_are_those_of_the_cpu():
    here = jax.device_put(jax.random.key(16), cpu)
    assert (np.asarray(jax.random.bits(jax.random.key(16), (1000,))) == np.asarray(jax.random.bits(here, (1000,)))).all()


@step
def products_of_small_numbers():
    def product(a, b, kind, wide, precision=None):
        a, b = jnp.asarray(a, kind[0]), jnp.asarray(b, kind[1])
        there = jax.jit(lambda x, y: jax.lax.dot(x, y, precision=precision, preferred_element_type=wide))(a, b)
        assert there.dtype == wide
        right = np.asarray(a.astype(np.float64)) @ np.asarray(b.astype(np.float64))
        np.testing.assert_allclose(np.asarray(there.astype(np.float32)), right, rtol=1e-2, atol=1e-2)

    for m, k, n in ((16, 96, 16), (64, 32, 40), (33, 70, 5)):
        a, b = rng.integers(-7, 8, (m, k)), rng.integers(-7, 8, (k, n))
        for kind in (("int8", "int8"), ("int4", "int4"), ("int4", "int8")):
            product(a, b, kind, jnp.int32)
        product(abs(a), abs(b), ("uint8", "uint8"), jnp.int32)
        product(a, b, ("int4", "bfloat16"), jnp.float32)
    a, b = rng.standard_normal((48, 64)), rng.standard_normal((64, 32))
    product(a, b, ("float8_e4m3fn", "float8_e4m3fn"), jnp.float32, jax.lax.DotAlgorithmPreset.ANY_F8_ANY_F8_F32)


finish()
