# SPDX-License-Identifier: Apache-2.0
"""Sequences of several lengths in PyTorch: nested tensors of both layouts, attention of them by each way that PyTorch has, and what
users call on them. Judged by each sequence alone on the CPU."""
import torch
import torch.nn.functional as F
from steps import finish, step
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.manual_seed(165)
DEVICE = "cuda"
LENGTHS = (5, 1, 12, 8)


def close(there, here, tolerance=2e-3):
    torch.testing.assert_close(there.detach().cpu().to(here.dtype), here.detach(), rtol=tolerance, atol=tolerance)


def sequences(*rest, dtype=torch.float32):
    return [torch.randn(n, *rest).to(dtype) for n in LENGTHS]


def jagged(parts, grad=True):
    return torch.nested.nested_tensor(parts, layout=torch.jagged, device=DEVICE, requires_grad=grad)


def heads_first(t):
    return t.transpose(1, 2)


def alone(q, k, v, causal):
    q, k, v = (t.float().transpose(0, 1)[None] for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)[0].transpose(0, 1)


@step
def operators_of_jagged_tensors():
    parts = sequences(16)
    x = jagged(parts)
    model, norm = nn.Linear(16, 8), nn.LayerNorm(8)
    there = [nn.Linear(16, 8).to(DEVICE), nn.LayerNorm(8).to(DEVICE)]
    there[0].load_state_dict(model.state_dict())
    y = F.gelu(there[1](there[0](x))) * 2 + 1
    right = [F.gelu(norm(model(p))) * 2 + 1 for p in parts]
    for got, want in zip(y.unbind(), right):
        close(got, want)
    close(y.sum(1), torch.stack([r.sum(0) for r in right]))
    close(y.mean(1), torch.stack([r.mean(0) for r in right]))
    padded = y.to_padded_tensor(0.5)
    close(padded, nn.utils.rnn.pad_sequence(right, True, 0.5))
    y.values().sum().backward()
    sum(r.sum() for r in right).backward()
    close(there[0].weight.grad, model.weight.grad)
    close(torch.softmax(x, 2).values(), torch.cat([p.softmax(1) for p in parts]))


@step
def attention_of_jagged_tensors():
    for backend, dtype in (
        (SDPBackend.MATH, torch.float32), (SDPBackend.FLASH_ATTENTION, torch.bfloat16), (SDPBackend.EFFICIENT_ATTENTION, torch.float32),
    ):  # fmt: skip
        for causal in (False, True):
            parts = [sequences(4, 32, dtype=dtype) for _ in range(3)]
            here = [[p.float().requires_grad_() for p in part] for part in parts]
            there = [jagged(part) for part in parts]
            with sdpa_kernel(backend):
                out = F.scaled_dot_product_attention(*(heads_first(t) for t in there), is_causal=causal)
            right = [alone(*each, causal) for each in zip(*here)]
            tolerance = 2e-3 if dtype is torch.float32 else 3e-2
            for got, want in zip(heads_first(out).unbind(), right):
                close(got, want, tolerance)
            heads_first(out).values().float().square().sum().backward()
            sum(r.square().sum() for r in right).backward()
            for t, part in zip(there, here):
                for got, want in zip(t.grad.unbind(), part):
                    close(got, want.grad, 3 * tolerance)


@step
def packed_sequences():
    from torch.nn.attention.varlen import varlen_attn

    parts = [torch.cat(sequences(4, 32)).bfloat16() for _ in range(3)]
    offsets = torch.tensor([0, *LENGTHS]).cumsum(0)
    right = torch.cat([alone(*(p[a:b] for p in parts), False) for a, b in zip(offsets, offsets[1:])])
    at = offsets.to(DEVICE, torch.int32)
    there = [p.to(DEVICE).requires_grad_() for p in parts]
    out = varlen_attn(*there, at, at, max(LENGTHS), max(LENGTHS))
    close(out, right, 3e-2)
    out.float().sum().backward()
    assert all(t.grad is not None and t.grad.isfinite().all() for t in there)


@step
def strided_nested_tensors():
    parts = sequences(16)
    x = torch.nested.nested_tensor(parts, device=DEVICE)
    layer = nn.Linear(16, 8)
    there = nn.Linear(16, 8).to(DEVICE)
    there.load_state_dict(layer.state_dict())
    for got, want in zip(F.relu(there(x)).unbind(), [F.relu(layer(p)) for p in parts]):
        close(got, want)
    close(torch.nested.to_padded_tensor(x, 1.0), nn.utils.rnn.pad_sequence(parts, True, 1.0))


@step
def encoder_with_padding():
    """Its fast path makes nested tensors of the padded ones."""
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval()
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=True).eval()
    x, mask = torch.randn(3, 7, 32), torch.arange(7)[None] >= torch.tensor([7, 4, 2])[:, None]
    with torch.no_grad():
        right = model(x, src_key_padding_mask=mask)
        there = model.to(DEVICE)(x.to(DEVICE), src_key_padding_mask=mask.to(DEVICE))
    close(there[~mask.to(DEVICE)], right[~mask])


finish()
