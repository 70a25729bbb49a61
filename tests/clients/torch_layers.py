# SPDX-License-Identifier: Apache-2.0
"""PyTorch's layers, losses, optimizers and sparse tensors on the device, with gradients: as on the CPU."""
import copy

import torch
import torch.nn.functional as F
from steps import finish, step
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.manual_seed(16)
random = torch.randn


def close(a, b, tolerance):
    torch.testing.assert_close(a.detach().cpu().to_dense(), b.detach().to_dense(), rtol=tolerance, atol=tolerance)


def same(function, *operands, tolerance=1e-4):
    """Result, gradients of the operands and of a layer's parameters."""
    results = []
    for device in ("cuda", "cpu"):
        f = copy.deepcopy(function).to(device) if isinstance(function, nn.Module) else function
        given = [x.clone().to(device).requires_grad_(x.is_floating_point()) for x in operands]
        out = f(*given)
        out = out[0] if isinstance(out, tuple) else out
        (out * torch.linspace(0, 1, out.numel(), device=device).view_as(out)).sum().backward()
        leaves = given + (list(f.parameters()) if isinstance(f, nn.Module) else [])
        results.append([out] + [x.grad for x in leaves if x.grad is not None])
    for there, here in zip(*results, strict=True):
        close(there, here, tolerance)


@step
def recurrent_layers():
    x = random(6, 3, 5)
    for layer in (nn.LSTM(5, 7, 2, bidirectional=True), nn.LSTM(5, 7, bias=False), nn.GRU(5, 7, 2), nn.GRU(5, 7, bias=False), nn.RNN(5, 7)):
        same(layer, x)
    same(nn.LSTMCell(5, 7), x[0])
    same(nn.GRUCell(5, 7), x[0])
    lstm = nn.LSTM(5, 7)
    lengths = [6, 4, 2]

    def packed(x, device):
        out = lstm.to(device)(nn.utils.rnn.pack_padded_sequence(x.to(device), lengths))[0]
        return nn.utils.rnn.pad_packed_sequence(out)[0]

    close(packed(x, "cuda"), packed(x, "cpu"), 1e-4)


@step
def normalisations():
    x = random(4, 6, 5, 5)
    for layer in (nn.BatchNorm2d(6), nn.GroupNorm(2, 6), nn.InstanceNorm2d(6, affine=True), nn.LayerNorm(5), nn.RMSNorm(5), nn.RMSNorm((5, 5), eps=1e-3)):
        same(layer, x)
    same(nn.RMSNorm(5, elementwise_affine=False), x)


@step
def convolutions():
    x = random(2, 8, 9, 9)
    for layer in (nn.Conv2d(8, 8, 3, groups=8, padding=1), nn.Conv2d(8, 16, 3, groups=8, stride=2), nn.Conv2d(8, 4, 3, groups=2)):
        same(layer, x, tolerance=1e-3)
    same(nn.ConvTranspose2d(8, 6, 3, stride=2, output_padding=1), x, tolerance=1e-3)
    same(nn.Conv3d(2, 3, 2), random(1, 2, 5, 5, 5), tolerance=1e-3)


@step
def layouts_of_convolutions():
    """Compiled code asserts them; without cuDNN results lie row by row."""
    x = random(2, 8, 9, 9).to(memory_format=torch.channels_last)
    layers = [nn.Conv2d(8, 4, 3, padding=1), nn.ConvTranspose2d(8, 4, 3), nn.Conv2d(8, 8, 1, groups=2)]
    for layer in layers:
        there = copy.deepcopy(layer).to("cuda", memory_format=torch.channels_last)
        given = x.cuda().requires_grad_()
        out = there(given)
        assert out.is_contiguous()
        out.square().sum().backward()
        layer(x).square().sum().backward()
        close(out, layer(x), 1e-3)
        close(there.weight.grad, layer.weight.grad, 1e-2)
        there.zero_grad()
        torch.compile(there)(given).square().sum().backward()
        close(there.weight.grad, layer.weight.grad, 1e-2)


@step
def fused_attention():
    """The kernels that a program may choose, against products of matrices on the CPU."""
    half, single = (torch.float16, 5e-3), (torch.float32, 1e-4)
    kernels = ((SDPBackend.FLASH_ATTENTION, *half), (SDPBackend.CUDNN_ATTENTION, *half), (SDPBackend.EFFICIENT_ATTENTION, *single))
    for backend, dtype, tolerance in kernels:
        for causal, heads in ((False, 4), (True, 4), (False, 2) if dtype is torch.float16 else (False, 4)):
            q, k, v = (random(2, h, 24, 16).to(dtype) for h in (4, heads, heads))
            results = []
            for device in ("cuda", "cpu"):
                given = [t.clone().to(device).requires_grad_() for t in (q, k, v)]
                with sdpa_kernel(backend if device == "cuda" else SDPBackend.MATH):
                    out = F.scaled_dot_product_attention(*given, is_causal=causal, enable_gqa=heads != 4)
                (out * out).sum().backward()
                results.append([out, *(t.grad for t in given)])
            for there, here in zip(*results, strict=True):
                close(there.float(), here.float(), tolerance * 4)
    q, bias = random(2, 4, 24, 16).cuda(), random(2, 4, 24, 24).cuda()
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        masked = F.scaled_dot_product_attention(q, q, q, attn_mask=bias)
        # The same weights are dropped backwards: the gradient of values that are all one is the sum of weights.
        ones = torch.ones(2, 4, 24, 16, device="cuda", requires_grad=True)
        out = F.scaled_dot_product_attention(q, q, ones, dropout_p=0.5)
        out.sum().backward()
        close(ones.grad.sum(), out.sum().cpu(), 1e-4)
        assert out.std() > 0.1
    close(masked, F.scaled_dot_product_attention(q.cpu(), q.cpu(), q.cpu(), attn_mask=bias.cpu()), 1e-4)


@step
def attention():
    x = random(2, 5, 8)
    same(nn.MultiheadAttention(8, 2, batch_first=True), x, x, x)
    same(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), x)
    q = random(2, 2, 5, 8)
    same(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), q, q + 1, q * 2)


@step
def losses():
    x, target = random(8, 2, 5), torch.tensor([1, 4])
    same(lambda x: F.cross_entropy(x[0], target.to(x.device), label_smoothing=0.1).view(1), x)
    same(lambda x: F.ctc_loss(x.log_softmax(2), torch.ones(2, 3, dtype=torch.long, device=x.device), [8, 8], [3, 3]).view(1), x)
    same(lambda x: F.grid_sample(x[None, None, 0], x[None, 1:3, :, :2].tanh(), align_corners=False), x)


@step
def sparse_products():
    dense, v = random(6, 5) * (random(6, 5) > 0), random(5, 3)
    for product in (
        lambda a, b: torch.sparse.mm(a.to_sparse(), b),
        lambda a, b: a.to_sparse() @ b,
        lambda a, b: torch.sparse.addmm(torch.ones(6, 3, device=a.device), a.to_sparse(), b),
    ):
        same(product, dense, v)
    d = dense.cuda()
    close(d.to_sparse_csr() @ v.cuda(), dense @ v, 1e-5)
    close(torch.sparse.mm(d.to_sparse(), d.T.to_sparse()), dense @ dense.T, 1e-5)
    ones = torch.ones(6, 2), torch.ones(2, 5)
    there = torch.sparse.sampled_addmm(d.to_sparse_csr(), *(one.cuda() for one in ones))
    close(there, torch.sparse.sampled_addmm(dense.to_sparse_csr(), *ones), 1e-5)


@step
def sparse_tensors():
    def both(function):
        close(*(function(torch.tensor([[0, 1, 0], [2, 3, 2]], device=d), torch.arange(1.0, 4, device=d)) for d in ("cuda", "cpu")), 1e-6)

    both(lambda i, v: torch.sparse_coo_tensor(i, v, (3, 4)).coalesce())
    both(lambda i, v: torch.sparse_coo_tensor(i, v, (3, 4)).coalesce().values())
    both(lambda i, v: torch.sparse_coo_tensor(i, v, (3, 4)) + torch.sparse_coo_tensor(i, v * 2, (3, 4)))
    both(lambda i, v: torch.ones(3, 4, device=v.device) + torch.sparse_coo_tensor(i, v, (3, 4)))
    both(lambda i, v: torch.sparse_coo_tensor(i, v, (3, 4)).coalesce().mul_(2))
    both(lambda i, v: torch.sparse_coo_tensor(i, v, (3, 4)).add_(torch.eye(3, 4, device=v.device).to_sparse()))
    both(lambda i, v: torch.sparse.softmax(torch.sparse_coo_tensor(i, v, (3, 4)), 1))
    both(lambda i, v: torch.sparse_coo_tensor(i, v, (3, 4)).t().index_select(0, torch.tensor([2, 3], device=v.device)))
    both(lambda i, v: torch.ones(3, 4, device=v.device).sparse_mask(torch.sparse_coo_tensor(i, v, (3, 4)).coalesce()))


@step
def sparse_gradients():
    def trained(device, optimizer):
        torch.manual_seed(1)
        layer = nn.Embedding(10, 4, sparse=True).to(device)
        steps = optimizer(layer.parameters(), lr=0.1)
        for _ in range(3):
            steps.zero_grad()
            (layer(torch.tensor([1, 2, 1, 5], device=device)) ** 2).sum().backward()
            steps.step()
        return layer.weight

    for optimizer in (torch.optim.SGD, torch.optim.SparseAdam, torch.optim.Adagrad):
        close(trained("cuda", optimizer), trained("cpu", optimizer), 1e-5)


finish()
