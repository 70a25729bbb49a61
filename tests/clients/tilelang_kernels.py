# SPDX-License-Identifier: Apache-2.0
"""TileLang: a vector add and a matrix product by tiles. Expectations are PyTorch's on the CPU."""
import tilelang
import tilelang.language as T
import torch
from steps import finish, step


@step
def vector_add():
    n = 4096

    @tilelang.jit(out_idx=[-1])
    def make():
        @T.prim_func
        def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((n,), "float32")):
            with T.Kernel(T.ceildiv(n, 256), threads=128) as block:
                for i in T.Parallel(256):
                    C[block * 256 + i] = A[block * 256 + i] + B[block * 256 + i]

        return main

    a, b = torch.rand(n), torch.rand(n)
    assert torch.equal(make()(a.cuda(), b.cuda()).cpu(), a + b)


@step
def matrix_product():
    m, n, k = 128, 128, 64

    @tilelang.jit(out_idx=[-1])
    def make():
        @T.prim_func
        def main(A: T.Tensor((m, k), "float16"), B: T.Tensor((k, n), "float16"), C: T.Tensor((m, n), "float32")):
            with T.Kernel(T.ceildiv(n, 64), T.ceildiv(m, 64), threads=128) as (x, y):
                left, right = T.alloc_shared((64, 32), "float16"), T.alloc_shared((32, 64), "float16")
                total = T.alloc_fragment((64, 64), "float32")
                T.clear(total)
                for step_k in T.Pipelined(T.ceildiv(k, 32), num_stages=2):
                    T.copy(A[y * 64, step_k * 32], left)
                    T.copy(B[step_k * 32, x * 64], right)
                    T.gemm(left, right, total)
                T.copy(total, C[y * 64, x * 64])

        return main

    a, b = torch.randn(m, k).half(), torch.randn(k, n).half()
    out = make()(a.cuda(), b.cuda()).cpu()
    assert torch.allclose(out, a.float() @ b.float(), atol=1e-2, rtol=1e-3)


finish()
