# SPDX-License-Identifier: Apache-2.0
"""TileLang: element by element, products, reductions, attention, atomics. Expectations are PyTorch's on the CPU."""

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


@step
def softmax_of_rows():
    rows, columns, block = 32, 256, 4

    @tilelang.jit(out_idx=[1])
    def make():
        @T.prim_func
        def main(A: T.Tensor((rows, columns), "float32"), O: T.Tensor((rows, columns), "float32")):
            with T.Kernel(T.ceildiv(rows, block), threads=128) as b:
                a, most = T.alloc_fragment((block, columns), "float32"), T.alloc_fragment((block,), "float32")
                total = T.alloc_fragment((block,), "float32")
                T.copy(A[b * block, 0], a)
                T.reduce_max(a, most, dim=1)
                for i, j in T.Parallel(block, columns):
                    a[i, j] = T.exp(a[i, j] - most[i])
                T.reduce_sum(a, total, dim=1)
                for i, j in T.Parallel(block, columns):
                    a[i, j] = a[i, j] / total[i]
                T.copy(a, O[b * block, 0])

        return main

    a = torch.randn(rows, columns)
    assert torch.allclose(make()(a.cuda()).cpu(), a.softmax(1), atol=1e-5)


def attention(size, heads, width, block, causal):
    shape, half = (1, size, heads, width), "float16"

    @tilelang.jit(out_idx=[3])
    def make():
        scale = width**-0.5 * 1.44269504

        @T.prim_func
        def main(
            Q: T.Tensor(shape, half), K: T.Tensor(shape, half), V: T.Tensor(shape, half), O: T.Tensor(shape, half)
        ):
            with T.Kernel(T.ceildiv(size, block), heads, threads=128) as (x, head):
                q, k = T.alloc_shared([block, width], half), T.alloc_shared([block, width], half)
                v, out = T.alloc_shared([block, width], half), T.alloc_shared([block, width], half)
                s, p = T.alloc_fragment([block, block], "float32"), T.alloc_fragment([block, block], half)
                o, most = T.alloc_fragment([block, width], "float32"), T.alloc_fragment([block], "float32")
                before, factor = T.alloc_fragment([block], "float32"), T.alloc_fragment([block], "float32")
                part, total = T.alloc_fragment([block], "float32"), T.alloc_fragment([block], "float32")
                T.copy(Q[0, x * block : (x + 1) * block, head, :], q)
                T.fill(o, 0)
                T.fill(total, 0)
                T.fill(most, -T.infinity("float32"))
                for n in T.Pipelined(x + 1 if causal else T.ceildiv(size, block), num_stages=2):
                    T.copy(K[0, n * block : (n + 1) * block, head, :], k)
                    for i, j in T.Parallel(block, block):
                        seen = x * block + i >= n * block + j if causal else True
                        s[i, j] = T.if_then_else(seen, 0, -T.infinity("float32"))
                    T.gemm(q, k, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                    T.copy(V[0, n * block : (n + 1) * block, head, :], v)
                    T.copy(most, before)
                    T.reduce_max(s, most, dim=1, clear=False)
                    for i in T.Parallel(block):
                        factor[i] = T.exp2(before[i] * scale - most[i] * scale)
                    for i, j in T.Parallel(block, width):
                        o[i, j] *= factor[i]
                    for i, j in T.Parallel(block, block):
                        s[i, j] = T.exp2(s[i, j] * scale - most[i] * scale)
                    T.copy(s, p)
                    T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
                    T.reduce_sum(s, part, dim=1)
                    for i in T.Parallel(block):
                        total[i] = total[i] * factor[i] + part[i]
                for i, j in T.Parallel(block, width):
                    o[i, j] /= total[i]
                T.copy(o, out)
                T.copy(out, O[0, x * block : (x + 1) * block, head, :])

        return main

    return make()


@step
def attention_by_blocks():
    for causal in (False, True):
        q, k, v = (torch.randn(1, 128, 2, 64, dtype=torch.float16) for _ in range(3))
        out = attention(128, 2, 64, 64, causal)(q.cuda(), k.cuda(), v.cuda())
        q, k, v = (t.double().transpose(1, 2) for t in (q, k, v))
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        assert (out.cpu() - expected.transpose(1, 2)).abs().max() < 1e-2


@step
def histogram_by_atomics():
    @tilelang.jit
    def make(n):
        @T.prim_func
        def main(A: T.Tensor((n,), "int32"), O: T.Tensor((16,), "int32")):
            with T.Kernel(T.ceildiv(n, 256), threads=128) as b:
                for i in T.Parallel(256):
                    if b * 256 + i < n:
                        T.atomic_add(O[A[b * 256 + i]], 1)

        return main

    n = 1000
    a, counts = torch.randint(0, 16, (n,), dtype=torch.int32), torch.zeros(16, dtype=torch.int32, device="cuda")
    make(n)(a.cuda(), counts)
    assert torch.equal(counts.cpu().long(), torch.bincount(a, minlength=16))


finish()
