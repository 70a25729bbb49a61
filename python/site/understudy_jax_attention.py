# SPDX-License-Identifier: Apache-2.0
"""`jax.nn.dot_product_attention(implementation="cudnn")` without cuDNN, which is machine code: as implementation="xla" computes it."""


def attend_without_cudnn(module):
    """`module` is jax._src.nn.functions. What cuDNN refuses is left to JAX's own function, which says so."""
    import functools

    fused, plain = getattr(module, "cudnn_dot_product_attention", None), getattr(module, "_dot_product_attention_xla", None)
    if fused is None or plain is None:
        return

    @functools.wraps(fused)
    def attention(query, key, value, bias=None, mask=None, q_seqlen=None, kv_seqlen=None, *, scale=1.0, mask_type=None,
                  sliding_window_length=None, return_residual=False, **others):  # fmt: skip
        if others or query.dtype.name not in ("float16", "bfloat16"):
            return fused(query, key, value, bias, mask, q_seqlen, kv_seqlen, scale=scale, mask_type=mask_type,
                         sliding_window_length=sliding_window_length, return_residual=return_residual, **others)  # fmt: skip
        causal = getattr(mask_type, "name", "") in ("CAUSAL", "PADDING_CAUSAL")
        window = None if sliding_window_length is None else (sliding_window_length - 1, 0)
        more = {"return_residual": True} if return_residual else {}
        out = plain(query, key, value, bias, mask, is_causal=causal, scale=scale, q_seqlen=q_seqlen, kv_seqlen=kv_seqlen,
                    local_window_size=window, **more)  # fmt: skip
        return (out[0], out[1].transpose(0, 2, 1)) if return_residual else out

    module.cudnn_dot_product_attention = attention
