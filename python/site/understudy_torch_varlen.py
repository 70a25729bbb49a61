# SPDX-License-Identifier: Apache-2.0
"""Attention of sequences of several lengths, which lie one behind the other in one tensor (nested tensors, `varlen_attn`), as the flash
and memory-efficient kernels of CUDA give it, forwards and backwards, on the CPU: one sequence after the other.

    query (total, heads, numbers)  ┌ cu_seqlens: 0, 3, 8, ... ┐  sums (flash: (heads, total); efficient: (sequences, heads, room))
"""
import math

import torch
from understudy_torch_attention import kept, of_all_heads, of_own_heads, times, weights, wide


class Part:
    """One sequence: where its queries and keys lie, and how many keys of them count."""

    def __init__(self, batch, queries, keys):
        self.batch, self.queries, self.keys = batch, queries, keys

    def of(self, t, span):
        """(1, heads, positions, numbers)"""
        return (t[self.batch, span] if t.dim() == 4 else t[span]).transpose(0, 1)[None]


def parts(query, key, offsets_q, offsets_k, used=None):
    """Of tensors (sequences, positions, ...), or of one row of positions with offsets."""

    def bounds(offsets, t):
        if offsets is None:
            return [(0, t.size(1))] * t.size(0)
        at = offsets.tolist()
        return list(zip(at, at[1:]))

    packed = offsets_q is not None
    counts = used.tolist() if used is not None else None
    for i, (q, k) in enumerate(zip(bounds(offsets_q, query), bounds(offsets_k, key))):
        end = k[1] if counts is None else k[0] + counts[i]
        yield Part(0 if packed else i, slice(*q), slice(k[0], end))


def reach(causal, left, right):
    """(how many keys before its own place a query sees, how many behind it); None: all."""
    return left if left is not None and left >= 0 else None, 0 if causal else right if right is not None and right >= 0 else None


def hidden(m, n, before, behind, from_end):
    """-inf where a query does not see a key; a query's own place is counted from the end of both, or from the begin."""
    if before is None and behind is None:
        return None
    distance = torch.arange(n) - torch.arange(m)[:, None] - (n - m if from_end else 0)
    unseen = torch.zeros(m, n, dtype=torch.bool)
    if before is not None:
        unseen |= distance < -before
    if behind is not None:
        unseen |= distance > behind
    return torch.zeros(m, n).masked_fill(unseen, -math.inf)


def slopes(alibi, i, m, n):
    own = alibi[i] if alibi.dim() == 2 else alibi
    distance = (torch.arange(n) - torch.arange(m)[:, None] - (n - m)).abs()
    return -own[:, None, None] * distance


def summed(*biases):
    given = [b for b in biases if b is not None]
    return sum(given[1:], given[0]) if given else None


def seed_of(seed, i):
    return (int(seed) + 0x9E3779B97F4A7C15 * i) & 0x3FFFFFFFFFFFFFFF


def fresh_seed(dropout):
    return torch.randint(2**62, ()) if dropout else torch.zeros((), dtype=torch.int64)


def scale_of(scale, query):
    return 1 / math.sqrt(query.size(-1)) if scale is None else scale


def attend(query, key, value, each, dropout, scale, seed):
    """`each`: (part, bias). The result as the query lies, and the logarithms of sums of each part."""
    out, sums = torch.zeros(*query.shape[:-1], value.size(-1), dtype=query.dtype), []
    for i, (part, bias) in enumerate(each):
        q, k, v = part.of(query, part.queries), part.of(key, part.keys), part.of(value, part.keys)
        p, s = weights(q, k, bias, False, scale)
        result = times(p, kept(p, dropout, seed_of(seed, i))) @ of_all_heads(wide(v), q.size(1))
        (out[part.batch] if out.dim() == 4 else out)[part.queries] = result[0].transpose(0, 1).to(out.dtype)
        sums.append(s[0])
    return out, sums


def gradients(grad, query, key, value, out, each, dropout, scale, seed):
    """Of query, key and value, and of the scores of each part."""
    results, to_scores = [torch.zeros_like(t) for t in (query, key, value)], []
    for i, (part, bias) in enumerate(each):
        q, k, v = part.of(query, part.queries), part.of(key, part.keys), part.of(value, part.keys)
        g, o, heads = wide(part.of(grad, part.queries)), wide(part.of(out, part.queries)), q.size(1)
        p, _ = weights(q, k, bias, False, scale)
        factors = kept(p, dropout, seed_of(seed, i))
        to_weights = times(g @ of_all_heads(wide(v), heads).mT, factors)
        scores = p * (to_weights - (g * o).sum(-1, keepdim=True))
        found = (scores @ of_all_heads(wide(k), heads) * scale, of_own_heads(scores.mT @ wide(q) * scale, k),
                 of_own_heads(times(p, factors).mT @ g, v))
        for t, f, span in zip(results, found, (part.queries, part.keys, part.keys)):
            (t[part.batch] if t.dim() == 4 else t)[span] = f[0].transpose(0, 1).to(t.dtype)
        to_scores.append(scores[0])
    return (*results, to_scores)


def flash_parts(query, key, offsets_q, offsets_k, causal, left, right, used=None, alibi=None):
    for i, part in enumerate(parts(query, key, offsets_q, offsets_k, used)):
        m, n = part.queries.stop - part.queries.start, part.keys.stop - part.keys.start
        mask = hidden(m, n, *reach(causal, left, right), True)
        yield part, summed(mask, None if alibi is None else slopes(alibi, i, m, n))


def unpaged(pages, table, used, offsets):
    """Keys or values that lie in pages, one sequence behind the other; and their offsets."""
    lengths = (used if used is not None else offsets.diff()).tolist()
    rows = [pages[table[i].long()].flatten(0, 1)[:n] for i, n in enumerate(lengths)]
    return torch.cat(rows), torch.tensor([0, *lengths]).cumsum(0)


def flash_forward(
    query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, return_debug_mask, scale=None, window_size_left=None,
    window_size_right=None, seqused_k=None, alibi_slopes=None, block_table=None, num_splits=None
):  # fmt: skip
    if block_table is not None:
        if cum_seq_q is None:
            raise NotImplementedError("understudy_torch: attention of keys in pages needs cum_seq_q")
        value, _ = unpaged(value, block_table, seqused_k, cum_seq_k)
        (key, cum_seq_k), seqused_k = unpaged(key, block_table, seqused_k, cum_seq_k), None
    each = flash_parts(query, key, cum_seq_q, cum_seq_k, is_causal, window_size_left, window_size_right, seqused_k, alibi_slopes)
    seed = fresh_seed(dropout_p)
    out, sums = attend(query, key, value, each, dropout_p, scale_of(scale, query), seed)
    sums = torch.cat(sums, -1) if cum_seq_q is not None else torch.stack(sums)
    sums = sums.float().masked_fill(sums == -math.inf, math.inf)  # of queries that see no key
    state = torch.stack([seed, torch.zeros_like(seed)]).to(torch.uint64)
    return out, sums, state, torch.empty((), dtype=torch.uint64), torch.empty(0, dtype=query.dtype)


def flash_in_place(out, *operands, **more):
    result, sums, *_ = flash_forward(*operands, **more)
    out.copy_(result)
    return sums


def flash_backward(
    grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, rng_state, unused, scale=None,
    window_size_left=None, window_size_right=None
):  # fmt: skip
    each = flash_parts(query, key, cum_seq_q, cum_seq_k, is_causal, window_size_left, window_size_right)
    seed = rng_state.reshape(-1)[0].item()
    return gradients(grad_out, query, key, value, out, each, dropout_p, scale_of(scale, query), seed)[:3]


NO_MASK, FROM_BEGIN, FROM_END = 0, 1, 2


def efficient_parts(query, key, bias, offsets_q, offsets_k, mask_type, window, used=None):
    """Without offsets a row is a sequence; with them there is one row."""
    if bias is not None and offsets_q is not None:
        raise NotImplementedError("understudy_torch: efficient attention with a bias and sequences of several lengths")
    for i, part in enumerate(parts(query, key, offsets_q, offsets_k, used)):
        m, n = part.queries.stop - part.queries.start, part.keys.stop - part.keys.start
        before = window - 1 if window is not None and window > 0 else None
        mask = hidden(m, n, before, None if mask_type == NO_MASK else 0, mask_type == FROM_END)
        own = None if bias is None else wide(bias.expand(query.size(0), -1, -1, -1)[i, :, :m, :n])
        yield part, summed(mask, own)


def efficient_forward(
    query, key, value, bias, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p, custom_mask_type,
    compute_log_sumexp=False, scale=None, seqlen_k=None, window_size=None
):  # fmt: skip
    each = efficient_parts(query, key, bias, cu_seqlens_q, cu_seqlens_k, custom_mask_type, window_size, seqlen_k)
    seed = fresh_seed(dropout_p)
    out, sums = attend(query, key, value, each, dropout_p, scale_of(scale, query), seed)
    longest = query.size(1) if cu_seqlens_q is None else max_seqlen_q
    room = math.ceil(longest / 32) * 32 if compute_log_sumexp else 0
    padded = torch.full((len(sums), query.size(2), room), math.inf)
    if room:
        for row, s in zip(padded, sums):
            row[:, : s.size(1)] = s
    longest_k = key.size(1) if max_seqlen_k is None else max_seqlen_k
    return out, padded, seed, torch.zeros_like(seed), longest, longest_k


def efficient_backward(
    grad_out_, query, key, value, bias, out, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, logsumexp, dropout_p, philox_seed,
    philox_offset, custom_mask_type, bias_requires_grad, scale=None, num_splits_key=None, window_size=None, shared_storage_dqdkdv=False
):  # fmt: skip
    each = efficient_parts(query, key, bias, cu_seqlens_q, cu_seqlens_k, custom_mask_type, window_size)
    *found, scores = gradients(grad_out_, query, key, value, out, each, dropout_p, scale_of(scale, query), int(philox_seed))
    if shared_storage_dqdkdv:
        found = torch.stack(found, -3).unbind(-3)
    wanted = bias_requires_grad and bias is not None
    return (*found, torch.stack(scores).sum_to_size(bias.shape).to(bias.dtype) if wanted else torch.empty((), dtype=query.dtype))


OURS = {
    "aten::_flash_attention_forward": flash_forward,
    "aten::_flash_attention_forward_no_dropout_inplace": flash_in_place,
    "aten::_flash_attention_backward": flash_backward,
    "aten::_efficient_attention_forward": efficient_forward,
    "aten::_efficient_attention_backward": efficient_backward,
}
RANDOM = ("_flash_attention_forward", "_efficient_attention_forward")
