# SPDX-License-Identifier: Apache-2.0
"""Linear algebra of JAX without cuSOLVER and cuBLAS, which are machine code: what JAX and XLA do on other devices."""


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


def lower_without_libraries(module):
    """`module` is jax._src.lax.linalg. Each rule is the one that JAX has for any device; a release that lacks one keeps its own."""
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
    }
    for name, rule in rules.items():
        primitive = getattr(module, name, None)
        if primitive is not None and rule:
            mlir.register_lowering(primitive, rule, platform="cuda")
