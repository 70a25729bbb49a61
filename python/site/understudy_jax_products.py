# SPDX-License-Identifier: Apache-2.0
"""Matrix products of JAX for which XLA's Triton kernels are wrong or missing where nothing is timed and cuBLAS is no way out."""


def widened(lhs, rhs, *, dimension_numbers, precision, preferred_element_type, out_sharding=None, **_):
    """Of integers in 8 bits: XLA's untimed tile is 16 deep, and a tensor core multiplies 32 of them; Triton then counts each twice."""
    import jax.numpy as jnp
    from jax import lax

    wide = lax.dot_general(
        lhs.astype(jnp.int32), rhs.astype(jnp.int32), dimension_numbers, precision, jnp.int32, out_sharding=out_sharding
    )
    return wide if preferred_element_type is None else wide.astype(preferred_element_type)


def unpacked(lhs, rhs, *, dimension_numbers, precision, preferred_element_type, out_sharding=None, **_):
    """Of numbers in 4 bits: they become those of the other operand before, and not within, the product."""
    import jax.numpy as jnp
    from jax import lax

    types = [t.dtype for t in (lhs, rhs) if t.dtype.itemsize > 1 or not t.dtype.name.startswith(("int", "uint"))]
    wide = types[0] if types else jnp.int32
    pair = (t.astype(wide) if "int4" in t.dtype.name else t for t in (lhs, rhs))
    lhs, rhs = lax.optimization_barrier(tuple(pair))
    return lax.dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type, out_sharding=out_sharding)


def lower_products(module):
    """`module` is jax._src.lax.lax."""
    from jax._src.interpreters import mlir

    own = getattr(module, "_dot_general_lower", None)
    if own is None:  # a release that has it elsewhere
        return
    by_32_bits, by_parts = (mlir.lower_fun(f, multiple_results=False) for f in (widened, unpacked))

    def lower(ctx, lhs, rhs, **parameters):
        names = [a.dtype.name for a in ctx.avals_in]
        typed = parameters | {"preferred_element_type": ctx.avals_out[0].dtype}
        if any("int4" in name for name in names):
            return by_parts(ctx, lhs, rhs, **typed)
        if all(name in ("int8", "uint8") for name in names):
            return by_32_bits(ctx, lhs, rhs, **typed)
        if getattr(parameters.get("precision"), "name", "").startswith("ANY_F8"):
            parameters["precision"] = None  # an order to cuBLAS; the kernel adds in 32 bits in any case
        return own(ctx, lhs, rhs, **parameters)

    mlir.register_lowering(module.dot_general_p, lower, platform="cuda")
