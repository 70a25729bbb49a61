# SPDX-License-Identifier: Apache-2.0
"""Attention as the kernels that PyTorch has for CUDA only give it (flash, memory-efficient, cuDNN), forwards and backwards, on the
CPU: results, logarithms of sums and the layout of each are theirs; numbers are computed in 32 bits at least."""
import math

import torch


def wide(t):
    return t if t.dtype is torch.float64 else t.float()


def of_all_heads(t, heads):
    """Several heads of the query may share one of keys and values."""
    return t if t.size(1) == heads else t.repeat_interleave(heads // t.size(1), 1)


def of_own_heads(t, like):
    """The gradient of what `of_all_heads` gave."""
    return t if t.size(1) == like.size(1) else t.unflatten(1, (like.size(1), -1)).sum(2)


def weights(query, key, bias, causal, scale):
    """(softmax of the scores, the logarithms of its sums)."""
    scores = wide(query) @ of_all_heads(wide(key), query.size(1)).mT * scale
    if bias is not None:
        scores = scores + bias
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    sums = scores.logsumexp(-1)
    some = sums.masked_fill(sums == -math.inf, 0)  # a query that sees no key gets 0
    return (scores - some[..., None]).exp(), sums


def kept(like, dropout, seed):
    """Factors of the weights: 0 for those that are dropped."""
    if not dropout:
        return None
    generator = torch.Generator().manual_seed(int(seed) & 0x7FFFFFFFFFFFFFFF)
    return torch.empty_like(like).bernoulli_(1 - dropout, generator=generator) / (1 - dropout)


def times(a, factors):
    return a if factors is None else a * factors


def forward(query, key, value, bias, dropout, causal, scale):
    seed = torch.randint(2**62, ()) if dropout else torch.zeros((), dtype=torch.int64)
    p, sums = weights(query, key, bias, causal, 1 / math.sqrt(query.size(-1)) if scale is None else scale)
    out = times(p, kept(p, dropout, seed)) @ of_all_heads(wide(value), query.size(1))
    return out.to(query.dtype), sums, seed


def backward(grad, query, key, value, bias, out, dropout, causal, scale, seed):
    """Gradients of query, key, value and scores."""
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    p, _ = weights(query, key, bias, causal, scale)
    grad, heads, factors = wide(grad), query.size(1), kept(p, dropout, seed)
    to_value = times(p, factors).mT @ grad
    to_weights = times(grad @ of_all_heads(wide(value), heads).mT, factors)
    to_scores = p * (to_weights - (grad * wide(out)).sum(-1, keepdim=True))
    to_query = to_scores @ of_all_heads(wide(key), heads) * scale
    to_key = to_scores.mT @ wide(query) * scale
    return to_query, of_own_heads(to_key, key), of_own_heads(to_value, value), to_scores


def by_positions(t, dtype):
    """(batch, heads, positions, numbers), laid out with the positions before the heads."""
    return t.to(dtype).transpose(1, 2).contiguous().transpose(1, 2)


def like(t, model):
    return torch.empty_like(model).copy_(t)


def flash(query, key, value, dropout_p=0.0, is_causal=False, return_debug_mask=False, scale=None):
    out, sums, seed = forward(query, key, value, None, dropout_p, is_causal, scale)
    out = like(out, query) if out.shape == query.shape else by_positions(out, out.dtype)
    state = torch.stack([seed, torch.zeros_like(seed)]).to(torch.uint64)
    none = torch.empty(0, dtype=query.dtype)
    return out, sums.float(), None, None, query.size(2), key.size(2), state, torch.empty((), dtype=torch.uint64), none


def flash_backward(
    grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, philox_seed, philox_offset, scale=None
):
    seed = philox_seed.reshape(-1)[0].item()
    grads = backward(grad_out, query, key, value, None, out, dropout_p, is_causal, scale, seed)
    return tuple(like(g, t) for g, t in zip(grads, (query, key, value)))


def efficient(query, key, value, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, scale=None):
    out, sums, seed = forward(query, key, value, attn_bias, dropout_p, is_causal, scale)
    room = math.ceil(query.size(2) / 32) * 32 if compute_log_sumexp else 0
    padded = torch.full((*sums.shape[:2], room), math.inf)
    if room:
        padded[..., : sums.size(2)] = sums
    return by_positions(out, query.dtype), padded, seed, torch.zeros_like(seed)


def efficient_backward(
    grad_out_, query, key, value, attn_bias, out, logsumexp, philox_seed, philox_offset, dropout_p, grad_input_mask, is_causal=False, scale=None
):
    if grad_out_ is None:
        return None, None, None, None
    *grads, scores = backward(grad_out_, query, key, value, attn_bias, out, dropout_p, is_causal, scale, philox_seed)
    results = [by_positions(g, query.dtype) if wanted else None for g, wanted in zip(grads, grad_input_mask)]
    wanted = grad_input_mask[3] and attn_bias is not None
    return (*results, scores.sum_to_size(attn_bias.shape).to(attn_bias.dtype) if wanted else None)


def cudnn(query, key, value, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, return_debug_mask=False, scale=None):
    out, sums, seed = forward(query, key, value, attn_bias, dropout_p, is_causal, scale)
    out = like(out, query) if out.shape == query.shape else by_positions(out, out.dtype)
    return out, sums.float()[..., None], None, None, query.size(2), key.size(2), seed, torch.zeros_like(seed), None


def cudnn_backward(
    grad_out, query, key, value, out, logsumexp, philox_seed, philox_offset, attn_bias, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, scale=None
):
    grads = backward(grad_out, query, key, value, attn_bias, out, dropout_p, is_causal, scale, philox_seed)
    return tuple(like(g, t) for g, t in zip(grads, (query, key, value)))


OURS = {
    "aten::_scaled_dot_product_cudnn_attention": cudnn,
    "aten::_scaled_dot_product_cudnn_attention_backward": cudnn_backward,
    "aten::_scaled_dot_product_flash_attention": flash,
    "aten::_scaled_dot_product_flash_attention_backward": flash_backward,
    "aten::_scaled_dot_product_efficient_attention": efficient,
    "aten::_scaled_dot_product_efficient_attention_backward": efficient_backward,
}
RANDOM = tuple(f"_scaled_dot_product_{kind}_attention" for kind in ("flash", "efficient", "cudnn"))
