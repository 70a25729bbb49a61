# SPDX-License-Identifier: Apache-2.0
"""Less of what clients do to find the fastest of several kernels: times of a virtual device by `understudy run` tell little, and each
kernel that is tried has to be compiled. What `understudy profile` says of a program is left as it is.

    Triton's autotuner      the first configuration that runs, unless the program brings its own benchmark; `understudy check` sees all
    Inductor's benchmarks   each candidate three times, in place of about a hundred and as many sweeps over the second cache
    max_autotune            of each kind of template the first configuration
    AOTInductor             products and convolutions by its templates: its C++ calls PyTorch's kernels past the dispatcher
"""
import functools
import os
import sys


def is_wanted():
    return os.environ.get("UNDERSTUDY_PROFILE", "0") in ("", "0") and os.environ.get("UNDERSTUDY_TORCH_VIA", "").strip().lower() != "off"


def timed_twice(kernel_call, warmup=None, rep=None, grad_to_none=None, quantiles=None, return_mode="mean"):
    """In milliseconds; as triton.testing.do_bench, which runs what is slow eight times."""
    import time

    import torch

    kernel_call()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    kernel_call()
    torch.cuda.synchronize()
    took = 1000 * (time.perf_counter() - begin)
    return [took] * len(quantiles) if quantiles is not None else [took] if return_mode == "all" else took


def tune_triton(module):
    """`triton.backends.nvidia.driver`: what its autotuner times with, unless a program says otherwise."""
    driver = getattr(module, "CudaDriver", None)
    if is_wanted() and hasattr(driver, "get_benchmarker"):
        driver.get_benchmarker = lambda self: timed_twice


def take_the_first(module):
    """`triton.runtime.autotuner`: the rest are infinitely slow, so neither compiled nor run."""
    bench = getattr(getattr(module, "Autotuner", None), "_bench", None)
    if bench is None or not is_wanted() or os.environ.get("UNDERSTUDY_CHECK", "0") not in ("", "0"):
        return

    @functools.wraps(bench)
    def first(self, *arguments, config, **more):
        slow = [float("inf")] * 3
        if getattr(self, "_do_bench", self) is not None:  # the program's own
            return bench(self, *arguments, config=config, **more)
        if getattr(self, "_understudy_chosen_for", None) is self.nargs:  # made anew by each call of the kernel
            return slow
        times = bench(self, *arguments, config=config, **more)
        if times != slow:
            self._understudy_chosen_for = self.nargs
        return times

    module.Autotuner._bench = first


def tune_inductor(module):
    """`torch._inductor.runtime.benchmarking`"""
    for name, few in (
        ("InductorBenchmarker", {"estimation_iters": 1, "memory_warmup_iters": 0, "benchmark_iters": 1}),
        ("TorchProfilerBenchmarker", {"estimation_iters": 1, "memory_warmup_iters": 0, "rep": 1}),
    ):
        benchmarker = getattr(module, name, None)
        if is_wanted() and benchmarker is not None and "benchmark_gpu" in vars(benchmarker):
            benchmarker.benchmark_gpu = with_few(benchmarker.benchmark_gpu, few)


def with_few(benchmark, few):
    @functools.wraps(benchmark)
    def benchmark_gpu(self, call, *arguments, **more):
        return benchmark(self, call, *arguments, **(more if arguments else {**few, **more}))

    return benchmark_gpu


def choose_from_few(module):
    """`torch._inductor.choices`: generators of configurations, by template."""
    choices = getattr(module, "InductorChoices", None)
    finalize = getattr(choices, "_finalize_template_configs", None)
    if not is_wanted() or finalize is None:
        return

    def first_of_each(self, template_choices, *arguments, **more):
        import itertools

        few = template_choices
        if "understudy_torch" in sys.modules:
            few = {name: itertools.islice(generator, 1) for name, generator in template_choices.items()}
        return finalize(self, few, *arguments, **more)

    choices._finalize_template_configs = first_of_each


def compile_ahead(module):
    """`torch._inductor.compile_fx`"""
    ahead = getattr(module, "compile_fx_aot", None)
    if not is_wanted() or ahead is None:
        return

    @functools.wraps(ahead)
    def compile_fx_aot(*arguments, **more):
        if "understudy_torch" not in sys.modules:
            return ahead(*arguments, **more)
        import understudy_torch_compile
        from torch._inductor import config
        from torch._inductor.virtualized import V

        with V.set_choices_handler(understudy_torch_compile.choices()), config.patch(understudy_torch_compile.TEMPLATES):
            return ahead(*arguments, **more)

    module.compile_fx_aot = compile_fx_aot
