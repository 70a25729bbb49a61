# SPDX-License-Identifier: Apache-2.0
"""Convolutions of JAX as matrix products: XLA has no kernel for them but cuDNN's, which are machine code."""


def by_products(lhs, rhs, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count,
                batch_group_count, precision, preferred_element_type, **_):
    """One product of the kernel with the input's windows, which are gathered one spatial dimension after the other."""
    import jax.numpy as jnp
    import numpy as np
    from jax import lax

    lhs_order, rhs_order, out_order = dimension_numbers
    x = lax.transpose(lhs, lhs_order)  # batch, feature, spatial dimensions
    w = lax.transpose(rhs, rhs_order)  # output feature, input feature, spatial dimensions
    steps = [(int(low), int(high), dilation - 1) for (low, high), dilation in zip(padding, lhs_dilation)]
    x = lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0), (0, 0, 0), *steps])

    groups = feature_group_count * batch_group_count  # of one of them there is one only
    spatial = x.ndim - 2
    x = lax.reshape(x, (batch_group_count, x.shape[0] // batch_group_count, feature_group_count, x.shape[1] // feature_group_count,
                        *x.shape[2:]))
    x = lax.transpose(x, (0, 2, 1, *range(3, x.ndim)))
    x = lax.reshape(x, (groups, *x.shape[2:]))  # group, batch, feature, spatial dimensions
    w = lax.reshape(w, (groups, w.shape[0] // groups, *w.shape[1:]))
    for i, (taps, stride, dilation) in enumerate(zip(w.shape[3:], window_strides, rhs_dilation)):
        axis = 3 + 2 * i  # of those before, each has become two: the place in the window, and the window
        windows = max(0, (x.shape[axis] - (taps - 1) * dilation - 1) // stride + 1) if taps else x.shape[axis]
        place = np.arange(taps)[:, None] * dilation + np.arange(windows)[None, :] * stride
        x = jnp.take(x, place, axis=axis, mode="clip")
    summed = ((2, *range(3, 3 + spatial)), (2, *range(3, 3 + 2 * spatial, 2)))
    out = lax.dot_general(w, x, (summed, ((0,), (0,))), precision, preferred_element_type)
    out = lax.transpose(out, (2, 0, 1, *range(3, out.ndim)))  # batch, group, feature, spatial dimensions
    out = lax.reshape(out, (out.shape[0], out.shape[1] * out.shape[2], *out.shape[3:]))
    return lax.transpose(out, tuple(int(i) for i in np.argsort(out_order)))


def lower_by_products(module):
    """`module` is jax._src.lax.convolution. What is known only when a program runs (symbolic shapes) goes JAX's own way."""
    from jax._src import core
    from jax._src.interpreters import mlir

    own = getattr(module, "_conv_general_dilated_lower", None)
    if own is None:  # a release that has it elsewhere
        return
    rule = mlir.lower_fun(by_products, multiple_results=False)

    def lower(ctx, lhs, rhs, **parameters):
        shapes = [a.shape for a in (*ctx.avals_in, *ctx.avals_out)] + [tuple(p) for p in parameters["padding"]]
        if not all(core.is_constant_shape(s) for s in shapes):
            return own(ctx, lhs, rhs, expand_complex_convolutions=True, **parameters)
        return rule(ctx, lhs, rhs, **parameters)

    mlir.register_lowering(module.conv_general_dilated_p, lower, platform="cuda")
