# SPDX-License-Identifier: Apache-2.0
"""PyTorch without its eager kernels, which are machine code: tensors, copies, streams, events, pinned memory, kernels
compiled by NVRTC, Triton and Inductor. Expectations are the CPU's."""
import os

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
def compiled_pointwise():
    f = torch.compile(lambda a, b: torch.sin(a) * 2 + b.relu())
    torch.testing.assert_close(f(x.to("cuda"), x.to("cuda")).cpu(), torch.sin(x) * 2 + x.relu())


@step
def compiled_softmax():
    f = torch.compile(lambda a: torch.softmax(a, dim=-1).sum(0))
    torch.testing.assert_close(f(x.to("cuda")).cpu(), torch.softmax(x, -1).sum(0), rtol=1e-4, atol=1e-4)


finish()
