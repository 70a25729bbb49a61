# SPDX-License-Identifier: Apache-2.0
"""Linear algebra of JAX without cuSOLVER and cuBLAS, which are machine code: what JAX and XLA do on other devices, and
eigenvalues and singular values by NumPy, in a callback to the host."""


def solve_by_rows(a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    """x of a x = b or x a = b, one row after the other."""
    import jax.numpy as jnp
    from jax import lax

    if conjugate_a:
        a = jnp.conj(a)
    if transpose_a:
        a, lower = jnp.swapaxes(a, -1, -2), not lower
    if not left_side:  # x a = b is a' x' = b'
        a, b, lower = jnp.swapaxes(a, -1, -2), jnp.swapaxes(b, -1, -2), not lower
    n = a.shape[-1]
    a = jnp.tril(a, -1 if unit_diagonal else 0) if lower else jnp.triu(a, 1 if unit_diagonal else 0)

    def row(i, x):
        at = i if lower else n - 1 - i
        of_a = lax.dynamic_slice_in_dim(a, at, 1, axis=-2)
        # rows to come are 0
        rest = lax.dynamic_slice_in_dim(b, at, 1, axis=-2) - jnp.matmul(of_a, x, precision="highest")
        if not unit_diagonal:
            rest = rest / lax.dynamic_slice_in_dim(of_a, at, 1, axis=-1)
        return lax.dynamic_update_slice_in_dim(x, rest, at, axis=-2)

    x = lax.fori_loop(0, n, row, jnp.zeros_like(b))
    return x if left_side else jnp.swapaxes(x, -1, -2)


def eigenvalues_of_symmetric(a, *, lower, **_):
    import numpy as np

    w, v = np.linalg.eigh(a, "L" if lower else "U")
    return v, w


def eigenvalues(a, *, compute_left_eigenvectors, compute_right_eigenvectors, **_):
    import numpy as np

    w, right = np.linalg.eig(a)
    vectors = []
    if compute_left_eigenvectors:  # u^H a = w u^H: the right ones of a^H, in the order of w
        of_adjoint, left = np.linalg.eig(np.conj(np.swapaxes(a, -1, -2)))
        vectors.append(in_order_of(np.conj(of_adjoint), left, w))
    if compute_right_eigenvectors:
        vectors.append(right)
    return [w, *vectors]


def in_order_of(values, vectors, wanted):
    """The vectors, with those first whose values are the nearest to the first of `wanted`."""
    import numpy as np

    out = np.empty_like(vectors)
    for batch in np.ndindex(*wanted.shape[:-1]):
        left = list(range(wanted.shape[-1]))
        for place, value in enumerate(wanted[batch]):
            nearest = min(left, key=lambda i: abs(values[batch][i] - value))
            left.remove(nearest)
            out[batch][:, place] = vectors[batch][:, nearest]
    return out


def singular_values(a, *, full_matrices, compute_uv, **_):
    import numpy as np

    if not compute_uv:
        return [np.linalg.svd(a, compute_uv=False)]
    u, s, vt = np.linalg.svd(a, full_matrices)
    return s, u, vt


def on_host(function):
    """A rule that has NumPy compute the results; what does not converge becomes NaN, as it does in JAX's rules."""

    def lower(ctx, *operands, **parameters):
        import jax
        import numpy as np
        from jax._src.interpreters import mlir

        shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in ctx.avals_out]
        wanted = parameters.get("subset_by_index")
        if wanted is not None and wanted != (0, min(ctx.avals_in[0].shape[-2:])):
            raise NotImplementedError("subset_by_index not supported on CPU and GPU")

        def compute(*arrays):
            try:
                results = function(*(np.asarray(array) for array in arrays), **parameters)
            except np.linalg.LinAlgError:
                results = [np.full(s.shape, np.nan, s.dtype) for s in shapes]
            return [np.asarray(result, s.dtype) for result, s in zip(results, shapes)]

        def call(*arrays):
            return jax.pure_callback(compute, shapes, *arrays)

        return mlir.lower_fun(call, multiple_results=True)(ctx, *operands)

    return lower


def lower_without_libraries(module):
    """`module` is jax._src.lax.linalg. The rules are those that JAX has for any device, a release that lacks one keeps its own; and
    NumPy's."""
    from jax._src.interpreters import mlir

    def of_python(name, several):
        function = getattr(module, name, None)
        return function and mlir.lower_fun(function, multiple_results=several)

    rules = {
        "cholesky_p": getattr(module, "_cholesky_lowering", None),
        "lu_p": of_python("_lu_python", True),
        "lu_pivots_to_permutation_p": of_python("_generic_lu_pivots_to_permutation", False),
        "geqrf_p": getattr(module, "_geqrf_lowering_rule", None),
        "householder_product_p": getattr(module, "_householder_product_lowering", None),
        "ormqr_p": of_python("_ormqr_lowering", False),
        "triangular_solve_p": hasattr(module, "triangular_solve_p") and mlir.lower_fun(solve_by_rows, multiple_results=False),
        "eigh_p": on_host(eigenvalues_of_symmetric),
        "eig_p": on_host(eigenvalues),
        "svd_p": on_host(singular_values),
    }
    for name, rule in rules.items():
        primitive = getattr(module, name, None)
        if primitive is not None and rule:
            mlir.register_lowering(primitive, rule, platform="cuda")
