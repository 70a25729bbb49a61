# SPDX-License-Identifier: Apache-2.0
"""`jax.nn.dot_product_attention(implementation="cudnn")` without cuDNN, which is machine code: as implementation="xla" computes it."""


def attend_without_cudnn(module):
    """`module` is jax._src.nn.functions. What cuDNN refuses is left to JAX's own function, which says so."""
    import functools

    fused, plain = getattr(module, "cudnn_dot_product_attention", None), getattr(module, "_dot_product_attention_xla", None)
    if fused is None or plain is None:
        return

    known = ("scale", "mask_type", "sliding_window_length", "return_residual")

    @functools.wraps(fused)
    def attention(query, key, value, bias=None, mask=None, q_seqlen=None, kv_seqlen=None, **options):
        if set(options) - set(known) or query.dtype.name not in ("float16", "bfloat16"):
            return fused(query, key, value, bias, mask, q_seqlen, kv_seqlen, **options)
        length, residual = options.get("sliding_window_length"), options.get("return_residual")
        given = {
            "is_causal": getattr(options.get("mask_type"), "name", "") in ("CAUSAL", "PADDING_CAUSAL"),
            "scale": options.get("scale", 1.0),
            "q_seqlen": q_seqlen,
            "kv_seqlen": kv_seqlen,
            "local_window_size": None if length is None else (length - 1, 0),
        }
        out = plain(query, key, value, bias, mask, **given, **({"return_residual": True} if residual else {}))
        return (out[0], out[1].transpose(0, 2, 1)) if residual else out

    module.cudnn_dot_product_attention = attention
