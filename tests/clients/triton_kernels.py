# SPDX-License-Identifier: Apache-2.0
"""Triton's common kinds of kernels, as users write them. Expectations are NumPy's, or PyTorch's on the CPU."""

import numpy as np
import torch
import triton
import triton.language as tl
from steps import finish, step
from triton.language.extra import libdevice
from triton.tools.tensor_descriptor import TensorDescriptor

DEVICE = "cuda"
torch.manual_seed(5)
TILES = [
    triton.Config({"BM": 32, "BN": 32, "BK": 32}, num_warps=4, num_stages=2),
    triton.Config({"BM": 64, "BN": 32, "BK": 32}, num_warps=4, num_stages=3),
]


@triton.autotune(configs=TILES, key=["M", "N", "K"])
@triton.jit
def product(
    a, b, c, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr
):
    group = 4 * tl.cdiv(N, BN)
    first = tl.program_id(0) // group * 4
    rows = min(tl.cdiv(M, BM) - first, 4)
    m = (first + tl.program_id(0) % group % rows) * BM + tl.arange(0, BM)
    n = tl.program_id(0) % group // rows * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * am + k[None, :] * ak, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * bk + n[None, :] * bn, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(x, y, total, input_precision=PRECISION)
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@step
def products_of_many_types():
    kinds = (
        (torch.float16, "tf32", 2e-2),
        (torch.bfloat16, "tf32", 2e-2),
        (torch.float32, "tf32", 1e-1),
        (torch.float32, "tf32x3", 1e-3),
        (torch.float32, "ieee", 1e-4),
        (torch.float8_e4m3fn, "tf32", 5e-2),
        (torch.float8_e5m2, "tf32", 5e-2),
    )
    for kind, precision, allowed in kinds:
        m, n, k = 100, 90, 80
        a, b = torch.randn(m, k).to(kind), torch.randn(n, k).to(kind).T
        c = torch.empty(m, n, device=DEVICE)
        left, right = a.to(DEVICE), b.to(DEVICE)
        grid = lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)  # noqa: E731
        product[grid](left, right, c, m, n, k, *left.stride(), *right.stride(), PRECISION=precision)
        error = (c.cpu().double() - a.double() @ b.double()).abs().max()
        assert error < allowed, (kind, precision, error)


@triton.jit
def product_of_bytes(a, b, c, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at), out_dtype=tl.int32))


@step
def products_of_bytes():
    a, b = (torch.randint(-128, 128, (64, 64), dtype=torch.int8) for _ in range(2))
    c = torch.empty(64, 64, dtype=torch.int32, device=DEVICE)
    product_of_bytes[(1,)](a.to(DEVICE), b.to(DEVICE), c, 64)
    assert torch.equal(c.cpu(), a.int() @ b.int())


@triton.jit
def product_with_scales(a, sa, b, sb, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k, s = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    x, y = tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :])
    left, right = tl.load(sa + m[:, None] * (K // 32) + s[None, :]), tl.load(sb + n[:, None] * (K // 32) + s[None, :])
    tl.store(o + m[:, None] * N + n[None, :], tl.dot_scaled(x, left, "e4m3", y, right, "e4m3"))


@step
def products_with_scales():
    m, n, k = 64, 32, 128
    a, b = torch.randn(m, k).to(torch.float8_e4m3fn), torch.randn(k, n).to(torch.float8_e4m3fn)
    sa, sb = (torch.randint(120, 134, (rows, k // 32), dtype=torch.uint8) for rows in (m, n))
    o = torch.empty(m, n, device=DEVICE)
    product_with_scales[(1,)](*(t.to(DEVICE) for t in (a, sa, b, sb)), o, m, n, k)
    left, right = ((2.0 ** (s.double() - 127)).repeat_interleave(32, 1) for s in (sa, sb))
    expected = (a.double() * left) @ (b.double() * right.T)
    assert (o.cpu() - expected).abs().max() < 2e-2 * expected.abs().max()


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def larger(v, i, w, j):
    first = (v > w) | ((v == w) & (i < j))
    return tl.where(first, v, w), tl.where(first, i, j)


@triton.jit
def scans(x, up, down, ordered, most, where, N: tl.constexpr, M: tl.constexpr):
    n, m = tl.arange(0, N), tl.arange(0, M)
    at = n[:, None] * M + m[None, :]
    v = tl.load(x + at)
    tl.store(up + at, tl.cumsum(v, 1))
    tl.store(down + at, tl.associative_scan(v, 0, add, reverse=True))
    tl.store(ordered + at, tl.sort(v, 1, descending=True))
    value, index = tl.reduce((v, tl.broadcast_to(m[None, :], (N, M))), 1, larger)
    tl.store(most + n, value)
    tl.store(where + n, index)


@step
def scans_sorts_and_reductions():
    for n, m in ((16, 64), (64, 8)):
        x = torch.randn(n, m)
        up, down, ordered = (torch.empty(n, m, device=DEVICE) for _ in range(3))
        most, where = torch.empty(n, device=DEVICE), torch.empty(n, device=DEVICE, dtype=torch.int32)
        scans[(1,)](x.to(DEVICE), up, down, ordered, most, where, n, m)
        assert torch.allclose(up.cpu(), x.cumsum(1), atol=1e-4)
        assert torch.allclose(down.cpu(), x.flip(0).cumsum(0).flip(0), atol=1e-4)
        assert torch.equal(ordered.cpu(), x.sort(1, descending=True).values)
        assert torch.equal(most.cpu(), x.max(1).values) and torch.equal(where.cpu().long(), x.max(1).indices)


@triton.jit
def histogram(x, h, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + i, mask=i < n, other=0), BINS, mask=i < n)
    tl.atomic_add(h + tl.arange(0, BINS), counts)


@step
def histograms():
    x = torch.randint(0, 32, (5000,), dtype=torch.int32)
    h = torch.zeros(32, dtype=torch.int32, device=DEVICE)
    histogram[(10,)](x.to(DEVICE), h, 5000, 512, 32)
    assert torch.equal(h.cpu().long(), torch.bincount(x, minlength=32))


@triton.jit
def atomics(sums, halves, most, least, ors, xors, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k, valid = i % 7, i < n
    tl.atomic_add(sums + k, 1.5, mask=valid)
    tl.atomic_add(halves + k, tl.full((BLOCK,), 1, tl.float16), mask=valid)
    tl.atomic_max(most + k, i, mask=valid)
    tl.atomic_min(least + k, (0 - i).to(tl.float32), mask=valid)
    tl.atomic_or(ors + k, 1 << (i % 31), mask=valid)
    tl.atomic_xor(xors + k, i, mask=valid)


@step
def atomic_operations():
    kinds = (torch.float32, torch.float16, torch.int32, torch.float32, torch.int32, torch.int32)
    places = [torch.zeros(7, dtype=kind, device=DEVICE) for kind in kinds]
    atomics[(6,)](*places, 700, 128)
    sums, halves, most, least, ors, xors = (p.cpu().numpy() for p in places)
    for k in range(7):
        i = np.arange(k, 700, 7)
        assert sums[k] == 1.5 * len(i) and halves[k] == len(i) and most[k] == i.max() and least[k] == -i.max()
        assert ors[k] == np.bitwise_or.reduce(1 << (i % 31)) and xors[k] == np.bitwise_xor.reduce(i)


@triton.jit
def behind_locks(x, sums, locks, counts, N: tl.constexpr, GROUPS: tl.constexpr):
    g, c = tl.program_id(0) % GROUPS, tl.arange(0, N)
    v = tl.load(x + tl.program_id(0) * N + c)
    while tl.atomic_cas(locks + g, 0, 1) == 1:
        pass
    if tl.load(counts + g) == 0:
        tl.atomic_xchg(counts + g, 1)
    else:
        v += tl.load(sums + g * N + c)
    tl.store(sums + g * N + c, v)
    tl.debug_barrier()
    tl.atomic_xchg(locks + g, 0)


@step
def locks():
    x = torch.randint(0, 9, (64, 128)).float()
    sums = torch.full((4, 128), float("nan"), device=DEVICE)
    locks, counts = torch.zeros(2, 4, dtype=torch.int32, device=DEVICE)
    behind_locks[(64,)](x.to(DEVICE), sums, locks, counts, 128, 4)
    assert torch.equal(sums.cpu(), x.view(16, 4, 128).sum(0))


@triton.jit
def attention(q, k, v, o, size, T, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    m, d, h = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D), tl.program_id(1) * size
    at = m[:, None] * D + d[None, :]
    query = tl.load(q + h + at, mask=m[:, None] < T, other=0.0)
    most, weight, total = (
        tl.full((BM,), -float("inf"), tl.float32),
        tl.zeros((BM,), tl.float32),
        tl.zeros((BM, D), tl.float32),
    )
    for start in range(0, tl.minimum(T, (tl.program_id(0) + 1) * BM) if CAUSAL else T, BN):
        n = start + tl.arange(0, BN)
        s = tl.dot(query, tl.load(k + h + n[None, :] * D + d[:, None], mask=n[None, :] < T, other=0.0)) * scale
        seen = n[None, :] < T
        if CAUSAL:
            seen = seen & (n[None, :] <= m[:, None])
        s = tl.where(seen, s, -float("inf"))
        now = tl.maximum(most, tl.max(s, 1))
        p, before = tl.exp2((s - now[:, None]) * 1.4426950408889634), tl.exp2((most - now) * 1.4426950408889634)
        value = tl.load(v + h + n[:, None] * D + d[None, :], mask=n[:, None] < T, other=0.0)
        weight, total, most = (
            weight * before + tl.sum(p, 1),
            total * before[:, None] + tl.dot(p.to(value.dtype), value),
            now,
        )
    tl.store(o + h + at, (total / weight[:, None]).to(o.dtype.element_ty), mask=m[:, None] < T)


@step
def attention_by_blocks():
    for t, d, causal, warps, kind, allowed in (
        (130, 64, True, 4, torch.float16, 4e-3),
        (128, 128, False, 8, torch.bfloat16, 2e-2),
    ):
        q, k, v = (torch.randn(3, t, d).to(kind) for _ in range(3))
        o = torch.empty(3, t, d, dtype=kind, device=DEVICE)
        arguments = (*(x.to(DEVICE) for x in (q, k, v)), o, t * d, t, d**-0.5, d, 64, 32, causal)
        attention[(triton.cdiv(t, 64), 3)](*arguments, num_warps=warps)
        expected = torch.nn.functional.scaled_dot_product_attention(
            q.double(), k.double(), v.double(), is_causal=causal
        )
        assert (o.cpu() - expected).abs().max() < allowed


@triton.jit
def persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    columns = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, PROGRAMS, flatten=True):
        m, n = tile // columns * BM, tile % columns * BN
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(a.load([m, k]), b.load([n, k]).T, total)
        c.store([m, n], total.to(tl.float16))


@step
def persistent_products_by_descriptors():
    m, n, k = 200, 136, 96
    a, b = torch.randn(m, k, dtype=torch.float16), torch.randn(n, k, dtype=torch.float16)
    c = torch.zeros(m, n, dtype=torch.float16, device=DEVICE)
    tiles = ((a.to(DEVICE), [64, 32]), (b.to(DEVICE), [64, 32]), (c, [64, 64]))
    descriptors = [TensorDescriptor.from_tensor(t, block) for t, block in tiles]
    for warps, stages in ((4, 3), (8, 2)):
        c.zero_()
        persistent[(5,)](*descriptors, m, n, k, 64, 64, 32, 5, num_warps=warps, num_stages=stages)
        assert (c.cpu() - a.double() @ b.double().T).abs().max() < 3e-2


@triton.jit
def added_by_descriptor(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    tiles = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    total = tl.make_tensor_descriptor(o, [BM, BN], [BN, 1], [BM, BN])
    total.atomic_add([0, 0], tiles.load([tl.program_id(0) * BM, tl.program_id(1) * BN]))


@step
def sums_by_descriptors():
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=DEVICE))
    x, o = torch.randint(0, 9, (60, 64)).float(), torch.zeros(16, 16, device=DEVICE)
    added_by_descriptor[(4, 4)](x.to(DEVICE), o, 60, 64, 16, 16)
    assert torch.equal(o.cpu(), torch.nn.functional.pad(x, (0, 0, 0, 4)).view(4, 16, 4, 16).sum((0, 2)))


@triton.jit
def functions(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, libdevice.asin(v))
    tl.store(o + N + i, tl.erf(v))
    tl.store(o + 2 * N + i, libdevice.pow(v + 2, v))
    tl.store(o + 3 * N + i, libdevice.lgamma(v + 1.5))
    tl.store(o + 4 * N + i, tl.sigmoid(v))
    tl.store(o + 5 * N + i, tl.sin(v) * tl.cos(v))
    tl.store(o + 6 * N + i, libdevice.nearbyint(v * 10))
    tl.store(o + 7 * N + i, tl.floor(v * 3) + tl.ceil(v * 5))
    tl.store(o + 8 * N + i, libdevice.expm1(v))


@step
def functions_of_numbers():
    for kind, allowed in ((torch.float32, 2e-4), (torch.float64, 1e-9)):
        x, o = torch.rand(256, dtype=kind) * 1.9 - 0.95, torch.empty(9, 256, device=DEVICE, dtype=kind)
        functions[(1,)](x.to(DEVICE), o, 256)
        v = x.double()
        expected = [v.asin(), v.erf(), (v + 2) ** v, torch.lgamma(v + 1.5), v.sigmoid(), v.sin() * v.cos()]
        expected += [(v * 10).round(), (v * 3).floor() + (v * 5).ceil(), v.expm1()]
        assert (o.cpu() - torch.stack(expected)).abs().max() < allowed


@triton.jit
def shapes(x, o, N: tl.constexpr):
    n = tl.arange(0, N)
    at = n[:, None] * N + n[None, :]
    a = tl.load(x + at)
    low, high = tl.split(tl.reshape(a, (N, N // 2, 2)))
    tl.store(o + at, tl.trans(a))
    tl.store(o + N * N + at, tl.reshape(tl.join(high, low), (N, N)))
    tl.store(o + 2 * N * N + at, tl.reshape(tl.permute(tl.reshape(a, (N, 4, N // 4)), (0, 2, 1)), (N, N)))
    tl.store(o + 3 * N * N + at, tl.gather(a, (tl.broadcast_to(n[None, :], (N, N)) * 3 + n[:, None]) % N, 1))
    tl.store(o + 4 * N * N + at, tl.flip(a, 1))


@step
def changes_of_shape():
    n = 32
    x, o = torch.randn(n, n), torch.empty(5, n, n, device=DEVICE)
    shapes[(1,)](x.to(DEVICE), o, n)
    swapped, turned = x.view(n, n // 2, 2).flip(-1).reshape(n, n), x.view(n, 4, n // 4).permute(0, 2, 1).reshape(n, n)
    picked = x.gather(1, (torch.arange(n)[None, :] * 3 + torch.arange(n)[:, None]) % n)
    assert torch.equal(o.cpu(), torch.stack([x.T, swapped, turned, picked, x.flip(1)]))


@triton.jit
def conversions(x, a, b, c, d, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(a + i, v.to(tl.float8e4nv), mask=i < n)
    tl.store(b + i, v.to(tl.float8e5), mask=i < n)
    tl.store(c + i, v.to(tl.float16), mask=i < n)
    tl.store(d + i, v.to(tl.bfloat16), mask=i < n)


@step
def conversions_of_types():
    x = torch.randn(3000) * 50
    kinds = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float16, torch.bfloat16)
    o = [torch.empty(3000, device=DEVICE, dtype=kind) for kind in kinds]
    conversions[(3,)](x.to(DEVICE), *o, 3000, 1024)
    for y in o:
        assert torch.equal(y.cpu().float(), x.to(y.dtype).float()), y.dtype


@triton.jit
def doubled_by_odd_programs(x, o, N: tl.constexpr):
    if tl.program_id(0) % 2 == 0:
        return
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o + i, tl.load(x + i) * 2)


@step
def a_graph_of_a_kernel():
    x, o = torch.arange(512.0, device=DEVICE), torch.zeros(512, device=DEVICE)
    doubled_by_odd_programs[(4,)](x, o, 128)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        doubled_by_odd_programs[(4,)](x, o, 128)
    x.add_(1)
    graph.replay()
    expected = (torch.arange(512.0) + 1) * 2 * torch.tensor([0, 1, 0, 1]).repeat_interleave(128)
    assert torch.equal(o.cpu(), expected)


@triton.jit
def logic(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    text: tl.constexpr = "lop3.b32 $0, $1, 0xff00ff, 0x0f, 0x6a;"
    tl.store(o + i, tl.inline_asm_elementwise(text, "=r,r", [tl.load(x + i)], dtype=tl.int32, is_pure=True, pack=1))


@step
def assembly_in_a_kernel():
    x, o = torch.randint(0, 1 << 30, (256,), dtype=torch.int32), torch.empty(256, dtype=torch.int32, device=DEVICE)
    logic[(1,)](x.to(DEVICE), o, 256)
    assert torch.equal(o.cpu(), (x & 0xFF00FF) ^ 0x0F)


@triton.jit
def sums_of_arrays(pointers, sizes, o, BLOCK: tl.constexpr):
    g = tl.program_id(0)
    p, n, total = tl.load(pointers + g).to(tl.pointer_type(tl.float32)), tl.load(sizes + g), 0.0
    for k in range(0, n, BLOCK):
        i = k + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(p + i, mask=i < n, other=0.0))
    tl.store(o + g, total)


@step
def pointers_in_memory():
    arrays = [torch.randint(0, 5, (n,)).float().to(DEVICE) for n in (10, 200, 333)]
    o = torch.zeros(3, device=DEVICE)
    pointers, sizes = ([f(a) for a in arrays] for f in (torch.Tensor.data_ptr, torch.Tensor.numel))
    sums_of_arrays[(3,)](torch.tensor(pointers, device=DEVICE), torch.tensor(sizes, device=DEVICE), o, 64)
    assert o.tolist() == [a.cpu().sum().item() for a in arrays]


@triton.jit
def softmax(o, x, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    for r in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        c = tl.arange(0, BLOCK)
        v = tl.load(x + r * columns + c, mask=c < columns, other=-float("inf"))
        v = tl.exp(v - tl.max(v, 0))
        tl.store(o + r * columns + c, v / tl.sum(v, 0), mask=c < columns)


@step
def softmax_of_rows():
    for columns, warps in ((781, 8), (50, 1)):
        x, o = torch.randn(100, columns), torch.empty(100, columns, device=DEVICE)
        softmax[(17,)](o, x.to(DEVICE), 100, columns, triton.next_power_of_2(columns), 3, num_warps=warps)
        assert torch.allclose(o.cpu(), x.softmax(1), atol=1e-6)


finish()
