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


def tridiagonal_solution(lower, middle, upper, b, *, perturb_singular=False):
    """By LAPACK, with pivots. What is singular gives what dividing by zero gives, or with `perturb_singular` a near system's solution."""
    import numpy as np
    from scipy.linalg import get_lapack_funcs

    out = np.empty_like(b)
    for batch in np.ndindex(*b.shape[:-2]):
        diagonals = lower[batch][1:], middle[batch], upper[batch][:-1]
        if middle.shape[-1] == 1:
            out[batch] = b[batch] / middle[batch][:, None]
            continue
        (solve,) = get_lapack_funcs(("gtsv",), (*diagonals, b[batch]))
        *_, x, info = solve(*diagonals, b[batch])
        if info > 0 and perturb_singular:
            size = max(np.abs(part).max() for part in diagonals) or 1
            *_, x, info = solve(diagonals[0], diagonals[1] + np.finfo(b.dtype).eps * size, diagonals[2], b[batch])
        out[batch] = x if info == 0 else np.nan
    return [out]


def tridiagonal_form(a, *, lower, **_):
    import numpy as np
    from scipy.linalg import get_lapack_funcs

    results = []
    for batch in np.ndindex(*a.shape[:-2]):
        (reduce,) = get_lapack_funcs(("hetrd" if np.iscomplexobj(a) else "sytrd",), (a[batch],))
        *parts, info = reduce(a[batch], lower=lower)
        results.append(parts if info == 0 else [np.full_like(part, np.nan) for part in parts])
    return [np.reshape([r[i] for r in results], (*a.shape[:-2], *results[0][i].shape)) for i in range(4)]


def updated_factor(r, z, **_):
    """The factor of R' R + z z', by rotations, a row each."""
    import numpy as np

    r, z = r.copy(), z.copy()
    for k in range(len(z)):
        length = np.hypot(r[k, k], z[k])
        c, s = (r[k, k] / length, -z[k] / length) if z[k] else (1, 0)
        r[k], z = c * r[k] - s * z, c * z + s * r[k]
    return [r]


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
        "tridiagonal_solve_p": on_host(tridiagonal_solution),
        "tridiagonal_p": on_host(tridiagonal_form),
        "cholesky_update_p": on_host(updated_factor),
        "symmetric_product_p": of_python("_symmetric_product_jax_fn", False),
    }
    for name, rule in rules.items():
        primitive = getattr(module, name, None)
        if primitive is not None and rule:
            mlir.register_lowering(primitive, rule, platform="cuda")


def sparse_solution(data, indices, starts, b, **_):
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import spsolve

    return [spsolve(csr_matrix((data, indices, starts), shape=(b.size, b.size)), b)]


def lower_sparse(module):
    """`module` is jax.experimental.sparse.coo, .csr or .linalg: cuSPARSE and cuSOLVER are machine code. The rules for any device."""
    from jax._src.interpreters import mlir

    form = module.__name__.rpartition(".")[2]
    for name in ("todense", "fromdense", "matvec", "matmat"):
        primitive, rule = getattr(module, f"{form}_{name}_p", None), getattr(module, f"_{form}_{name}_lowering", None)
        if primitive is not None and rule is not None:
            mlir.register_lowering(primitive, rule, platform="cuda")
    if form == "linalg" and hasattr(module, "spsolve_p"):
        mlir.register_lowering(module.spsolve_p, on_host(sparse_solution), platform="cuda")
