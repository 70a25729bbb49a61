# SPDX-License-Identifier: Apache-2.0
"""Triton: what its own tutorials leave out. Expectations are NumPy's, or PyTorch's on the CPU."""
import torch
import triton
import triton.language as tl
from steps import finish, step


def scratch(size, alignment, stream):
    return torch.empty(size, device="cuda", dtype=torch.int8)


triton.set_allocator(scratch)


@triton.jit
def transpose(In, Out, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(base=In, shape=[M, N], strides=[N, 1], block_shape=[M, N])
    to = tl.make_tensor_descriptor(base=Out, shape=[N, M], strides=[M, 1], block_shape=[N, M])
    to.store([0, 0], source.load([0, 0]).permute((1, 0)))


@triton.jit
def permuted(In, Out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
    source = tl.make_tensor_descriptor(base=In, shape=[A, B, C, D], strides=[B * C * D, C * D, D, 1], block_shape=[A, B, C, D])
    to = tl.make_tensor_descriptor(base=Out, shape=[A * B * C * D], strides=[1], block_shape=[A * B * C * D])
    to.store([0], source.load([0, 0, 0, 0]).permute((2, 0, 3, 1)).reshape([A * B * C * D]))


@triton.jit
def part(In, Out, row, column, M, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    source = tl.make_tensor_descriptor(base=In, shape=[M, N], strides=[N, 1], block_shape=[ROWS, COLUMNS])
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(Out + at, source.load([row, column]))


@step
def descriptors_made_in_the_kernel():
    """It fills 128 zeros of shared memory with tensormap.replace, and copies the map to global memory."""
    x = torch.arange(32 * 16, dtype=torch.int32).reshape(32, 16)
    out = torch.empty(16, 32, dtype=torch.int32, device="cuda")
    transpose[(1,)](x.cuda(), out, 32, 16)
    assert torch.equal(out.cpu(), x.t())


@step
def four_dimensions_and_one():
    x = torch.arange(4 * 4 * 4 * 16, dtype=torch.int32).reshape(4, 4, 4, 16)
    out = torch.empty(x.numel(), dtype=torch.int32, device="cuda")
    permuted[(1,)](x.cuda(), out, 4, 4, 4, 16)
    assert torch.equal(out.cpu(), x.permute(2, 0, 3, 1).reshape(-1))


@step
def beyond_the_edges_there_are_zeros():
    x = torch.arange(1, 20 * 36 + 1, dtype=torch.float32).reshape(20, 36)
    out = torch.empty(16, 32, dtype=torch.float32, device="cuda")
    part[(1,)](x.cuda(), out, 12, 16, 20, 36, 16, 32)
    expected = torch.zeros(16, 32)
    expected[:8, :20] = x[12:, 16:]
    assert torch.equal(out.cpu(), expected)


@step
def products_of_its_cublas():
    from triton._C.libtriton import nvidia

    blas = nvidia.cublas.CublasLt(torch.empty(1024, dtype=torch.uint8, device="cuda"))
    a, b = torch.randn(32, 64, device="cuda").half(), torch.randn(16, 64, device="cuda").half()
    c, d = torch.empty(32, 16, device="cuda").half(), torch.empty(32, 16, device="cuda").half()
    blas.matmul(a, b, c)
    right = a.cpu().double() @ b.cpu().double().T
    torch.testing.assert_close(c.cpu().double(), right, rtol=1e-2, atol=1e-2)
    blas.gemm(a, b, c, d, 2.0, 0.5)
    torch.testing.assert_close(d.cpu().double(), 2.5 * right, rtol=1e-2, atol=5e-2)


finish()
