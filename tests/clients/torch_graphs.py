# SPDX-License-Identifier: Apache-2.0
"""PyTorch's eager operators in CUDA graphs: random numbers, what Inductor has no kernel for, training steps, refusals."""
import gc

import torch
import torch.nn.functional as F
from steps import finish, step

same = torch.testing.assert_close


def captured(function):
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        results = function()
    return g, results


@step
def random_numbers_differ_and_follow_the_seed():
    ones = torch.ones(1000, device="cuda")
    g, results = captured(lambda: (F.dropout(ones, 0.5), torch.randn(1000, device="cuda"), torch.empty_like(ones).uniform_()))

    def replayed():
        g.replay()
        return [r.clone() for r in results]

    torch.cuda.manual_seed(5)
    first, second = replayed(), replayed()
    torch.cuda.manual_seed(5)
    again = replayed()
    for a, b, c in zip(first, second, again):
        same(a, c)
        assert not torch.equal(a, b)
    assert set(first[0].unique().tolist()) == {0.0, 2.0} and 0.4 < (first[0] == 0).float().mean().item() < 0.6
    assert abs(first[1].mean().item()) < 0.2 and 0.8 < first[1].std().item() < 1.2


@step
def operators_without_kernels():
    x, at = torch.zeros(20, 6, device="cuda"), torch.zeros(7, dtype=torch.long, device="cuda")

    def work():
        h = x.T @ x + 9 * torch.eye(6, device="cuda")
        return [
            x.sort(1)[0], x.topk(2)[1], x[at], x.cummax(0)[1], torch.linalg.cholesky_ex(h)[0], torch.linalg.inv_ex(h)[0],
            torch.fft.rfft(x), x.to(torch.complex64).abs(), x.median(1)[0], F.layer_norm(x, (6,)), x.half().sum(1), at // 3,
            torch.var_mean(x, 1)[0], F.embedding(at, x), torch.histc(x, 5), x.index_add(0, at, x[:7]),
            *torch.split_with_sizes_copy(x, [5, 15]), torch.sum(x, 0, out=torch.empty(0, device="cuda")),
        ]  # fmt: skip

    g, results = captured(work)
    for seed in (1, 2):
        generator = torch.Generator().manual_seed(seed)
        x.copy_(torch.randn(20, 6, generator=generator))
        at.copy_(torch.randint(0, 20, (7,), generator=generator))
        g.replay()
        for got, wanted in zip(results, work(), strict=True):
            same(got, wanted)


@step
def a_scaled_training_step():
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Dropout(0.1), torch.nn.Linear(32, 4)).cuda()
    optimizer, scaler = torch.optim.AdamW(model.parameters(), 1e-2, fused=True, capturable=True), torch.amp.GradScaler(init_scale=1024.0)
    x = torch.randn(8, 16, device="cuda")

    def work():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.float16, cache_enabled=False):
            loss = model(x).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        work()
        work()
    torch.cuda.synchronize()
    g, loss = captured(work)
    losses = []
    for _ in range(30):
        g.replay()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2, losses


@step
def branches_and_copies_meanwhile():
    x, side, g = torch.ones(300, 300, device="cuda"), torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        a = x * 2
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            b = a + 1
        c = (a @ a)[0] * 0
        torch.cuda.current_stream().wait_stream(side)
        d = b + c
    pinned = torch.empty(300, 300, pin_memory=True)
    for value in (2.0, 3.0):
        x.copy_(torch.full((300, 300), value))
        g.replay()
        pinned.copy_(d, non_blocking=True)
        assert d[0, 0].item() == 2 * value + 1 and d.cpu()[5, 5] == 2 * value + 1
        same(pinned, d.cpu())
    g.replay()
    del g
    gc.collect()
    torch.cuda.synchronize()


@step
def refusals():
    x = torch.ones(8, device="cuda")
    try:
        captured(x.nonzero)
        raise AssertionError("captured")
    except RuntimeError as e:
        assert "nonzero" in str(e) and "depends on data" in str(e), e
    try:
        captured(lambda: torch.equal(x, x))
        raise AssertionError("captured")
    except RuntimeError as e:
        assert "equal" in str(e) and "a number" in str(e), e
    at = torch.zeros(2, dtype=torch.long, device="cuda")
    g, _ = captured(lambda: x[at])
    at.fill_(99)
    g.replay()
    torch.cuda.synchronize()
    try:
        g.replay()
        raise AssertionError("replayed")
    except RuntimeError as e:
        assert "index" in str(e) and "failed in a graph" in str(e), e


finish()
