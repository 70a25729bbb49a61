# SPDX-License-Identifier: Apache-2.0
"""PyTorch's eager operators on a virtual device.

The stock wheel carries its operators (`x + 1`, `relu`, matrix products) as machine code only, which Understudy does not
run. Those of CUDA tensors are computed in one of two ways: under `understudy run` as soon as the device is used
(sitecustomize.py), and by `import understudy_torch`, `python -m understudy_torch PROGRAM` or `pytest -p understudy_torch`. What has
PTX (Triton kernels, `torch.compile`, NVRTC) and what is no kernel (allocation, contiguous copies, streams) is left alone.

    x + y ─▶ dispatcher, key CUDA ─▶ Operator ─┬─▶ Inductor: a kernel for this operator and class of shapes, compiled once,
                                               │   launched in the current stream          (understudy_torch_inductor)
                                               └─▶ the same operator, key CPU, on CPU tensors with the same storage
                                                   when the stream is done with them       (understudy_torch_cpu)

`--via inductor|cpu|auto` before PROGRAM, or UNDERSTUDY_TORCH_VIA, chooses; `off` leaves programs alone that do not import this.
`auto`, the default: Inductor under `understudy check` and `profile`, which see kernels only; otherwise the CPU, which compiles
nothing. What Inductor cannot do goes to the CPU, too; UNDERSTUDY_TORCH_REPORT=1 counts it at exit, and says why.

By the CPU an operator is done when the call returns, one order of the many that streams allow, and results are the CPU's: sums may
be rounded elsewhere. What the CPU lacks raises NotImplementedError by its name. In a graph it is a host function, which computes at each
replay (understudy_torch_captured).
"""
import atexit
import os
import sys
import warnings

import torch
import understudy_torch_captured as captured
import understudy_torch_nested as nested
import understudy_torch_sparse as sparse
from understudy_torch_keys import way_from
from understudy_torch_operator import Operator, tally

# They launch no kernel, or choose what to do and leave the work to others.
UNTOUCHED = (
    "empty", "new_empty", "set_", "resize", "_resize_output_", "view", "as_strided", "_reshape_alias", "unfold", "record_stream",
    "_local_scalar_dense", "_efficientzerotensor", "is_pinned", "pin_memory", "_pin_memory", "is_set_to", "_fused_sdp_choice",
    "_nested", "_use_cudnn", "_use_miopen", "cudnn", "miopen", "_cudnn", "lift", "_cslt", "_sparse_semi", "sym_",
    "_to_sparse_semi", "quantize", "dequantize", "q_",
)  # fmt: skip
# They begin as those do, but compute.
COMPUTED = ("_nested_from_padded", "empty_like", "view_copy", "as_strided_copy", "as_strided_scatter", "unfold_backward")
# Composite, but what they do themselves would end at a kernel.
WHOLE = ("convolution", "convolution_backward", "convolution_overrideable", "copy_")
_libraries = []


def operator(name):
    base, _, overload = name.removeprefix("aten::").partition(".")
    packet = getattr(torch.ops.aten, base, None)
    return getattr(packet, overload or "default", None) if packet is not None else None


def taken():
    names = {n for n in torch._C._dispatch_get_registrations_for_dispatch_key("CUDA") if n.startswith("aten::")}
    for name in sorted(names | {"aten::" + n for n in WHOLE}):
        base = name.removeprefix("aten::")
        if base.startswith(UNTOUCHED) and not base.startswith(COMPUTED):
            continue
        op = operator(name)
        if op is not None and not any(r.alias_info is not None and not r.alias_info.is_write for r in op._schema.returns):
            yield name, op


SPIN = """extern "C" __global__ void spin(int cycles) {
  for (long long begin = clock64(); clock64() - begin < cycles;);
}"""
LONGEST = 2**31 - 1  # what fits the kernel's argument
_spin = []  # the kernel, once it is compiled


def sleep(cycles):
    """What torch.cuda._sleep calls: keeps the current stream busy."""
    if not _spin:
        _spin.append(torch.cuda._compile_kernel(SPIN, "spin"))
    for at in range(0, int(cycles), LONGEST):
        _spin[0]((1, 1, 1), (1, 1, 1), (min(int(cycles) - at, LONGEST),))


def enable():
    """Once; what is imported later is served, too."""
    if _libraries:
        return
    under_a_tool = bool(os.environ.get("UNDERSTUDY_CHECK") or os.environ.get("UNDERSTUDY_PROFILE"))
    wish = os.environ.get("UNDERSTUDY_TORCH_VIA")
    Operator.way = way_from(wish, under_a_tool)
    Operator.captured = Operator.way
    library = torch.library.Library("aten", "IMPL")
    _libraries.append(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that kernels are overridden
        for name, op in taken():
            function = Operator(op)
            function.keep_kernels()
            library.impl(name.removeprefix("aten::"), function, "CUDA", with_keyset=True, allow_override=True)
        for key, serves in [(k, sparse.serves) for k in sparse.KEYS] + [(k, nested.serves) for k in nested.KEYS]:
            for name in torch._C._dispatch_get_registrations_for_dispatch_key(key):
                op = operator(name) if name.startswith("aten::") else None
                if op is not None and serves(op):
                    library.impl(name.removeprefix("aten::"), Operator(op), key, with_keyset=True, allow_override=True)
    nested.enable()
    captured.follow(torch.cuda.CUDAGraph)
    torch._C._cuda_sleep = sleep
    torch._C._set_cudnn_enabled(False)  # not torch.backends.cudnn: a program may have frozen it
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)
    if os.environ.get("UNDERSTUDY_TORCH_REPORT", "0") not in ("", "0"):
        atexit.register(lambda: print(report(), file=sys.stderr))


def counts():
    """Operator -> how often it was computed."""
    return tally.counts()


def ways():
    """Way (`inductor`, `cpu`) -> how many calls of operators went it."""
    return tally.ways()


def way():
    """The way that was chosen."""
    return Operator.way


def report():
    return tally.report()


def run_program(arguments):
    import runpy

    while arguments and arguments[0].startswith("-"):
        option, _, value = arguments.pop(0).partition("=")
        if option != "--via" or not (value or arguments):
            sys.exit("usage: python -m understudy_torch [--via inductor|cpu|auto] PROGRAM [ARGUMENTS]")
        os.environ["UNDERSTUDY_TORCH_VIA"] = value or arguments.pop(0)
    if not arguments:
        sys.exit("usage: python -m understudy_torch [--via inductor|cpu|auto] PROGRAM [ARGUMENTS]")
    try:
        way_from(os.environ.get("UNDERSTUDY_TORCH_VIA"), False)
    except ValueError as e:
        sys.exit(f"understudy_torch: {e}")
    import understudy_torch  # noqa: F401  under its name, as programs import it

    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    run_program(sys.argv[1:])
else:
    enable()
