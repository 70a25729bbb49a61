# SPDX-License-Identifier: Apache-2.0
"""PyTorch without its eager kernels, which are machine code: tensors, copies, streams, events, pinned memory, kernels
compiled by NVRTC, Triton and Inductor. Expectations are the CPU's."""
import os
import subprocess
import sys

import torch
from steps import finish, step

x = torch.randn(300, 200)


@step
def device_is_there():
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1
    assert torch.cuda.get_device_capability(0) == (9, 0)
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total


@step
def copies():
    d = x.to("cuda")
    assert d.is_cuda and torch.equal(d.cpu(), x)
    assert torch.equal(x.pin_memory().to("cuda", non_blocking=True).cpu(), x)
    e = torch.empty_like(d)
    e.copy_(d)
    assert torch.equal(e.cpu(), x)


@step
def views_and_zeros():
    d = x.to("cuda")
    assert torch.equal(d[10:20].cpu(), x[10:20])
    assert torch.zeros(5, device="cuda").cpu().sum() == 0


@step
def allocator():
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    d = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_allocated() - before == 1 << 20
    del d
    assert torch.cuda.memory_allocated() == before


@step
def streams_and_events():
    s, start, end = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(s):
        start.record()
        d = x.to("cuda", non_blocking=True)
        end.record()
    end.synchronize()
    assert torch.equal(d.cpu(), x) and start.elapsed_time(end) >= 0


@step
def nvrtc_kernel():
    source = "extern \"C\" __global__ void twice(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }"
    k = torch.cuda._compile_kernel(source, "twice")
    d = x.to("cuda")
    k(grid=(-(-d.numel() // 256), 1, 1), block=(256, 1, 1), args=[d, d.numel()])
    assert torch.equal(d.cpu(), x * 2)


@step
def graph_of_an_nvrtc_kernel():
    source = "extern \"C\" __global__ void more(int* x) { atomicAdd(x, 1); }"
    k = torch.cuda._compile_kernel(source, "more")
    d = torch.zeros(1, dtype=torch.int32).to("cuda")
    k(grid=(1, 1, 1), block=(8, 1, 1), args=[d])
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        k(grid=(1, 1, 1), block=(8, 1, 1), args=[d])
    for _ in range(3):
        g.replay()
    torch.cuda.synchronize()
    assert d.cpu().item() == 32


@step
def eager_operators():
    """With UNDERSTUDY_TORCH_VIA=off they say what is missing."""
    d = x.to("cuda")
    if os.environ.get("UNDERSTUDY_TORCH_VIA") != "off":
        return torch.testing.assert_close((d + 1).cpu(), x + 1)
    try:
        d + 1
    except RuntimeError as e:
        assert "no kernel image" in str(e)
        return
    raise AssertionError("there are kernels")


@step
def eager_operators_in_a_graph():
    """By Inductor or the CPU, as elsewhere."""
    if os.environ.get("UNDERSTUDY_TORCH_VIA") == "off":
        return
    d, g = torch.zeros(1000, device="cuda"), torch.cuda.CUDAGraph()
    lists = [torch.zeros(4, device="cuda"), torch.ones(3, device="cuda")]
    with torch.cuda.graph(g):
        y = d * 2 + 1
        total = y.sum()
        torch._foreach_add_(lists, 1.0)
    for value in (3.0, 4.0):
        d.fill_(value)
        g.replay()
    torch.testing.assert_close(y.cpu(), torch.full((1000,), 9.0))
    assert total.item() == 9000 and lists[0].tolist() == [2.0] * 4 and lists[1].tolist() == [3.0] * 3


@step
def dropout():
    if os.environ.get("UNDERSTUDY_TORCH_VIA") == "off":
        return
    ones = torch.ones(20000, device="cuda", requires_grad=True)
    results = []
    of_the_host = torch.get_rng_state()
    for seed in (1, 1, 2):
        torch.cuda.manual_seed(seed)
        results.append(torch.nn.functional.dropout(ones, 0.25))
    assert torch.equal(results[0], results[1]) and not torch.equal(results[0], results[2])
    assert torch.equal(of_the_host, torch.get_rng_state())
    kept = results[0] != 0
    assert abs(kept.float().mean().item() - 0.75) < 0.02  # 6.5 standard deviations
    torch.testing.assert_close(results[0][kept], torch.full_like(results[0][kept], 1 / 0.75))
    results[0].sum().backward()
    torch.testing.assert_close(ones.grad, results[0].detach())


@step
def a_busy_stream():
    if os.environ.get("UNDERSTUDY_TORCH_VIA") == "off":
        return
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    torch.cuda._sleep(20_000_000)
    end.record()
    torch.cuda.synchronize()
    assert begin.elapsed_time(end) > 5  # at 2 GHz these cycles are 10 ms


@step
def backend_flags_that_are_frozen():
    """`torch.testing._internal` freezes them before the device is used."""
    if os.environ.get("UNDERSTUDY_TORCH_VIA") == "off":
        return
    code = "import torch; torch.backends.disable_global_flags(); print((torch.ones(3, device='cuda') + 1).tolist())"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[2.0, 2.0, 2.0]", result.stderr


@step
def compiled_pointwise():
    f = torch.compile(lambda a, b: torch.sin(a) * 2 + b.relu())
    torch.testing.assert_close(f(x.to("cuda"), x.to("cuda")).cpu(), torch.sin(x) * 2 + x.relu())


@step
def compiled_softmax():
    f = torch.compile(lambda a: torch.softmax(a, dim=-1).sum(0))
    torch.testing.assert_close(f(x.to("cuda")).cpu(), torch.softmax(x, -1).sum(0), rtol=1e-4, atol=1e-4)


finish()
