# SPDX-License-Identifier: Apache-2.0
"""Operators that PyTorch has for CUDA otherwise than for the CPU: types that the CPU lacks, and results that lie or are shaped
otherwise, which compiled code asserts. Judged by the CPU's in other types, or by NumPy."""
import copy
import time

import numpy as np
import torch
import torch.nn.functional as F
from steps import finish, step
from torch import nn

torch.manual_seed(163)
DEVICE = "cuda"


def close(there, here, tolerance=1e-5):
    torch.testing.assert_close(there.detach().cpu().to(here.dtype), here.detach(), rtol=tolerance, atol=tolerance)


def gradient(function, x):
    x = x.clone().requires_grad_()
    function(x).square().sum().backward()
    return x.grad


@step
def halves():
    x = torch.randn(2, 8, 16)
    h = x.half()
    for name in ("fft", "rfft", "rfft2", "ihfft"):
        result = getattr(torch.fft, name)(h.to(DEVICE))
        assert result.dtype is torch.complex32, name
        right = getattr(torch.fft, name)(h.float())
        close(torch.view_as_real(result.to(torch.complex64).resolve_conj()), torch.view_as_real(right.resolve_conj()), 3e-2)
    back = torch.fft.irfft(torch.fft.rfft(h.to(DEVICE)))
    assert back.dtype is torch.float16
    close(back, h.float(), 1e-2)
    images = torch.randn(2, 3, 4, 6, 6).half()
    pooled = F.avg_pool3d(images.to(DEVICE), 2)
    assert pooled.dtype is torch.float16
    close(pooled, F.avg_pool3d(images.float(), 2), 2e-3)
    classes = torch.randint(0, 8, (16,))
    close(F.multi_margin_loss(x[0].T.half().to(DEVICE), classes.to(DEVICE)), F.multi_margin_loss(x[0].T.half().float(), classes), 2e-3)


@step
def softmax_of_halves_in_32_bits():
    x = torch.randn(5, 40).half()
    for function in (F.softmax, F.log_softmax):
        there = gradient(lambda t, f=function: f(t, 1, dtype=torch.float32), x.to(DEVICE))
        assert there.dtype is torch.float16
        close(there, gradient(lambda t, f=function: f(t, 1), x.float()), 2e-3)


@step
def truth_values_and_integers():
    flags = torch.rand(6, 6) > 0.5
    assert torch.equal(flags.to(DEVICE).abs().cpu(), flags)
    assert flags.to(DEVICE).trace().item() == np.trace(flags.numpy())
    numbers = torch.randint(0, 50, (300,))
    counts = torch.histc(numbers.to(DEVICE), 10, 0, 50)
    assert counts.cpu().tolist() == np.histogram(numbers.numpy(), 10, (0, 50))[0].tolist()


@step
def products_in_8_bits():
    a, b = torch.randn(96, 64).to(torch.float8_e4m3fn), torch.randn(32, 64).to(torch.float8_e4m3fn).t()
    rows, columns, bias = torch.rand(96, 1) + 0.5, torch.rand(1, 32) + 0.5, torch.randn(32).bfloat16()
    right = a.double() @ b.double()
    there = [t.to(DEVICE) for t in (a, b, rows, columns, bias)]
    each = torch._scaled_mm(*there[:4], bias=there[4], out_dtype=torch.bfloat16)
    close(each, right * rows * columns + bias.double(), 1e-2)
    one = torch._scaled_mm(*there[:2], rows[0].to(DEVICE), columns[0, 0].to(DEVICE), out_dtype=torch.float32)
    close(one, right * rows[0] * columns[0, 0].double(), 1e-4)
    large = torch.ones(1024, 1024, device=DEVICE).to(torch.float8_e4m3fn)
    begin = time.process_time()
    assert (torch._scaled_mm(large, large.t(), there[2][0], there[2][0], out_dtype=torch.bfloat16) > 0).all()
    assert time.process_time() - begin < 10


@step
def windows_backwards():
    x = torch.randn(20)
    close(gradient(lambda t: t.unfold(0, 4, 2), x.to(DEVICE)), gradient(lambda t: t.unfold(0, 4, 2), x))


@step
def arguments_left_out():
    x = torch.randn(1000, device=DEVICE)
    noise = torch.empty_like(x)
    y = torch.ops.aten.rrelu_with_noise(x, noise, training=True, generator=torch.Generator(DEVICE).manual_seed(1))
    factors = (y / x)[x < 0]
    assert 1 / 8 <= factors.min() and factors.max() <= 1 / 3 + 1e-6 and torch.equal(y[x >= 0], x[x >= 0])


@step
def layouts_of_transforms_and_decompositions():
    x = torch.randn(5, 6, 7, dtype=torch.float64)
    for function in (lambda t: torch.fft.irfftn(t, norm="ortho"), lambda t: torch.fft.rfftn(t).abs()):
        close(gradient(torch.compile(function), x.to(DEVICE)), gradient(function, x))
    matrix = torch.randn(4, 3)
    u, s, v = torch.compile(torch.linalg.svd, dynamic=False)(matrix.to(DEVICE), full_matrices=False)
    assert v.stride() == (3, 1)
    close(u * s @ v, matrix)


@step
def bags_of_embeddings():
    places, offsets = torch.randint(0, 10, (9,)), torch.tensor([0, 2, 2, 5])
    for mode in ("sum", "mean", "max"):
        bag = nn.EmbeddingBag(10, 4, mode=mode)
        here = bag(places, offsets)
        here.square().sum().backward()
        grad = bag.weight.grad.clone()
        there = nn.EmbeddingBag.from_pretrained(bag.weight.detach().clone(), freeze=False, mode=mode).to(DEVICE)
        for function in (there, torch.compile(there)):
            there.zero_grad()
            result = function(places.to(DEVICE), offsets.to(DEVICE))
            result.square().sum().backward()
            close(result, here)
            close(there.weight.grad, grad)


@step
def sums_of_halves_in_32_bits():
    many = torch.arange(8192) % 7
    models = {
        "norm": (nn.LayerNorm(64), torch.randn(4096, 64), None),
        "embedding": (nn.Embedding(7, 16), None, many),
        "bag": (nn.EmbeddingBag(7, 16, mode="sum"), None, many.reshape(-1, 8)),
        "picked": (nn.Identity(), torch.randn(7, 16), many),
    }
    for dtype, unit in ((torch.bfloat16, 2**-8), (torch.float16, 2**-11)):
        for name, (model, x, places) in models.items():
            results = []
            for t, where in ((dtype, DEVICE), (torch.float64, "cpu")):
                m = copy.deepcopy(model).to(dtype).to(where, t)
                own = None if x is None else x.to(dtype).to(where, t).requires_grad_()
                out = m(own) if places is None else own[places.to(where)] if own is not None else m(places.to(where))
                torch.manual_seed(3)
                out.backward(torch.randn(out.shape).to(dtype).to(where, t))
                results.append([p.grad for p in m.parameters()] + ([own.grad] if own is not None else []))
            for there, right in zip(*results):
                assert there.dtype is dtype
                error = (there.cpu().double() - right).abs().max() / right.abs().max()
                assert error < 2 * unit, (name, dtype, error)
    x = 1 + 0.02 * torch.randn(2048, 8)
    close(x.bfloat16().to(DEVICE).prod(0), x.bfloat16().double().prod(0).float(), 1e-2)


@step
def products_of_halves_with_results_in_32_bits():
    a, b, c = torch.randn(3, 16, 64).bfloat16(), torch.randn(3, 64, 32).bfloat16(), torch.randn(3, 16, 32)
    there = [t.to(DEVICE) for t in (a, b, c)]
    right = a.double() @ b.double()
    one = torch.mm(there[0][0], there[1][0], out_dtype=torch.float32)
    assert one.dtype is torch.float32
    close(one, right[0].float(), 1e-5)
    close(torch.bmm(*there[:2], out_dtype=torch.float32), right.float(), 1e-5)
    close(torch.baddbmm(there[2], *there[:2], out_dtype=torch.float32), (c.double() + right).float(), 1e-5)
    close(torch.addmm(there[2][0], there[0][0], there[1][0], out_dtype=torch.float32), (c[0].double() + right[0]).float(), 1e-5)


@step
def nansum_of_complex_numbers():
    x = torch.randn(4, 5, dtype=torch.complex64)
    x[1, 2], x[3, 3] = complex(float("nan"), 1), complex(2, float("nan"))
    right = torch.where(x.isnan(), torch.zeros((), dtype=x.dtype), x)
    for dims in ((), (0,), ((0, 1),)):
        torch.testing.assert_close(x.to(DEVICE).nansum(*dims).cpu(), right.sum(*dims))


finish()
