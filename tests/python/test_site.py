#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The adapters for clients in Python, with stand-ins for the clients. usage: test_site.py BUILD_DIR"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()


def run_python(code, files, **more):
    """Under `understudy run`, with a directory that holds `files` behind our adapters."""
    with tempfile.TemporaryDirectory() as directory:
        for name, text in files.items():
            file = pathlib.Path(directory) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        environment = {k: v for k, v in os.environ.items() if k not in ("LD_AUDIT", "XLA_FLAGS")}
        environment.update(PYTHONPATH=directory, **more)
        command = [str(BUILD / "bin" / "understudy"), "run", sys.executable, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True)


class Site(unittest.TestCase):
    def expect(self, result, text):
        self.assertEqual((result.returncode, result.stdout.strip()), (0, text), result.stderr)

    def test_the_hidden_sitecustomize_runs(self):
        files = {"sitecustomize.py": "import builtins\nbuiltins.hidden = __file__\n"}
        self.expect(run_python("import os; print(os.path.basename(hidden))", files), "sitecustomize.py")

    def test_another_understudy_behind_it(self):
        own = BUILD / "lib/understudy_python"
        files = {name: (own / name).read_text() for name in ("sitecustomize.py", "understudy_runtime_functions.py")}
        files |= {"jax/__init__.py": "", "jax/_src/__init__.py": "", "jax/_src/hardware_utils.py": ""}
        self.expect(run_python("from jax._src import hardware_utils as h; print(h.has_visible_nvidia_gpu())", files), "True")

    def test_jax_sees_the_device(self):
        files = {
            "jax/__init__.py": "",
            "jax/_src/__init__.py": "",
            "jax/_src/hardware_utils.py": "def has_visible_nvidia_gpu(): return False\n",
        }
        code = "from jax._src import hardware_utils as h; print(h.has_visible_nvidia_gpu(), type(h.__loader__).__name__)"
        self.expect(run_python(code, files), "True SourceFileLoader")

    def test_xla_leaves_assembling_to_libraries(self):
        files = {"jax_plugins/__init__.py": "", "jax_plugins/xla_cuda13/__init__.py": ""}
        code = "import os; {}import jax_plugins.xla_cuda13; print(os.environ['XLA_FLAGS'])"
        both = "--xla_gpu_enable_libnvptxcompiler=false --xla_gpu_autotune_level=0 --xla_disable_hlo_passes=cublas-gemm-rewriter"
        self.expect(run_python(code.format(""), files), both)
        own = "--xla_gpu_autotune_level=2 --xla_gpu_enable_libnvptxcompiler=true --xla_disable_hlo_passes=x"
        self.expect(run_python(code.format(""), files, XLA_FLAGS="--a=1"), "--a=1 " + both)
        self.expect(run_python(code.format(""), files, XLA_FLAGS=own), own)

    def test_clients_that_look_for_the_fastest_kernel_try_less(self):
        packages = ("triton", "triton/backends", "triton/backends/nvidia", "torch/_inductor", "torch/_inductor/runtime")
        files = {f"{p}/__init__.py": "" for p in packages}
        files["torch/__init__.py"] = ""
        files["triton/backends/nvidia/driver.py"] = "class CudaDriver:\n  def get_benchmarker(self): return 'own'\n"
        files["torch/_inductor/runtime/benchmarking.py"] = (
            "class InductorBenchmarker:\n  def benchmark_gpu(self, call, benchmark_iters=100, **more): return benchmark_iters, len(more)\n"
        )
        code = (
            "from triton.backends.nvidia.driver import CudaDriver; from torch._inductor.runtime.benchmarking import InductorBenchmarker as B; "
            "b = CudaDriver().get_benchmarker(); print(getattr(b, '__name__', b), *B().benchmark_gpu(print), *B().benchmark_gpu(print, benchmark_iters=7))"
        )
        self.expect(run_python(code, files), "timed_twice 1 2 7 2")
        self.expect(run_python(code, files, UNDERSTUDY_TORCH_VIA="off"), "own 100 0 7 0")

    def test_triton_takes_the_first_configuration_that_runs(self):
        files = {f"triton/{p}__init__.py": "" for p in ("", "runtime/")}
        files["triton/runtime/autotuner.py"] = (
            "class Autotuner:\n"
            "  _do_bench, nargs = None, None\n"
            "  def _bench(self, *arguments, config, **meta): return [float('inf') if config == 'bad' else float(ord(config))] * 3\n"
            "  def run(self, configs):\n"
            "    self.nargs = {}\n"
            "    return [self._bench(1, config=c, other=2)[0] for c in configs]\n"
        )
        code = "from triton.runtime.autotuner import Autotuner; a = Autotuner(); print(a.run(['bad', 'b', 'c']), a.run('cb'), end=' ')\n"
        own = code + "a._do_bench = print; print(a.run('cb'))"
        self.expect(run_python(own, files), "[inf, 98.0, inf] [99.0, inf] [99.0, 98.0]")
        self.expect(run_python(code, files, UNDERSTUDY_TORCH_VIA="off"), "[inf, 98.0, 99.0] [99.0, 98.0]")

    def test_xla_takes_memory_as_it_is_wanted_unless_the_program_says(self):
        files = {"jax_plugins/__init__.py": "", "jax_plugins/xla_cuda13/__init__.py": ""}
        code = "import os, jax_plugins.xla_cuda13; print(os.environ.get('XLA_PYTHON_CLIENT_PREALLOCATE'))"
        self.expect(run_python(code, files), "false")
        self.expect(run_python(code, files, XLA_PYTHON_CLIENT_PREALLOCATE="true"), "true")
        self.expect(run_python(code, files, XLA_PYTHON_CLIENT_MEM_FRACTION="0.5"), "None")

    def test_xla_that_has_the_flag_refuses_convolutions_when_it_compiles(self):
        code = "import os, jax_plugins.xla_cuda13; print('enable_conv_fusion=true' in os.environ['XLA_FLAGS'])"
        for version, has in (("0.9.1", False), ("0.10.2", True), ("1.0", True), ("odd", False)):
            metadata = f"Metadata-Version: 2.1\nName: jaxlib\nVersion: {version}\n"
            files = {"jax_plugins/__init__.py": "", "jax_plugins/xla_cuda13/__init__.py": "", f"jaxlib-{version}.dist-info/METADATA": metadata}
            self.expect(run_python(code, files), str(has))

    def test_jax_lowers_what_libraries_would_do_on_the_device_only(self):
        mlir = (
            "def lower_fun(f, multiple_results): return lambda ctx, *a, **k: f.__name__\n"
            "def register_lowering(p, rule, platform=None): global seen; seen = (p, rule, platform)\n"
        )
        own = "def _conv_general_dilated_lower(ctx, lhs, rhs, expand_complex_convolutions, **k): return 'own'\n"
        files = {f"jax/{d}__init__.py": "" for d in ("", "_src/", "_src/lax/", "_src/interpreters/")} | {
            "jax/_src/core.py": "def is_constant_shape(s): return all(type(d) is int for d in s)\n",
            "jax/_src/interpreters/mlir.py": mlir,
            "jax/_src/lax/convolution.py": "conv_general_dilated_p = 'convolution'\n" + own,
        }
        code = (
            "import jax._src.lax.convolution; from jax._src.interpreters import mlir; from types import SimpleNamespace as N\n"
            "p, rule, where = mlir.seen; print(p, where, end=' ')\n"
            "for n in (4, 'n'): print(rule(N(avals_in=[N(shape=(1, n))], avals_out=[]), 0, 0, padding=((0, 1),)), end=' ')"
        )
        self.expect(run_python(code, files), "convolution cuda by_products own")
        linalg = "cholesky_p, lu_p, _lu_python, _cholesky_lowering = 'cholesky', 'lu', print, None\n"
        code = "import jax._src.lax.linalg; from jax._src.interpreters import mlir; print(mlir.seen[0], mlir.seen[2])"
        self.expect(run_python(code, files | {"jax/_src/lax/linalg.py": linalg}), "lu cuda")
        files["jax/_src/lax/convolution.py"] = ""
        self.expect(run_python("import jax._src.lax.convolution; print('of another release')", files), "of another release")

    def test_products_of_small_integers_are_lowered_to_wide_ones(self):
        mlir = (
            "def lower_fun(f, multiple_results): return lambda ctx, *a, **k: f.__name__\n"
            "def register_lowering(p, rule, platform=None): global seen; seen = (p, rule, platform)\n"
        )
        files = {f"jax/{d}__init__.py": "" for d in ("", "_src/", "_src/lax/", "_src/interpreters/")} | {
            "jax/_src/interpreters/mlir.py": mlir,
            "jax/_src/lax/lax.py": "dot_general_p = 'dot'\ndef _dot_general_lower(ctx, l, r, **k): return k.get('precision', 'own')\n",
        }
        code = (
            "import jax._src.lax.lax; from jax._src.interpreters import mlir; from types import SimpleNamespace as N\n"
            "p, rule, where = mlir.seen; print(p, where, end=' ')\n"
            "def of(*names, **k): a = [N(dtype=N(name=n)) for n in names]; return rule(N(avals_in=a, avals_out=a), 0, 0, **k)\n"
            "print(of('int8', 'uint8'), of('int4', 'bfloat16'), of('float32', 'float32'), of('f', 'f', precision=N(name='ANY_F8_ANY_F8_F32')))"
        )
        self.expect(run_python(code, files), "dot cuda widened unpacked own None")
        files["jax/_src/lax/lax.py"] = ""
        self.expect(run_python("import jax._src.lax.lax; print('of another release')", files), "of another release")

    def test_warp_compiles_to_ptx(self):
        files = {"warp/__init__.py": "", "warp/config.py": "cuda_output = None\nenable_mathdx_gemm = True\n"}
        self.expect(run_python("from warp import config as c; print(c.cuda_output, c.enable_mathdx_gemm)", files), "ptx False")

    def test_warp_hands_ptx_to_the_driver(self):
        build = "def load_cuda(path, device): return path[-6:], open(path, 'rb').read(), device\n"
        files = {"warp/__init__.py": "", "warp/_src/__init__.py": "", "warp/_src/build.py": build, "a.ptx": ".version 9.4", "b.bin": "x"}
        code = "import os, sys; from warp._src.build import load_cuda as l; d = [p for p in sys.path if os.path.isfile(p + '/a.ptx')][0]\n"
        self.expect(run_python(code + "print(l(d + '/a.ptx', 1), l(d + '/b.bin', 2)[1:])", files), "('.cubin', b'.version 9.4\\x00', 1) (b'x', 2)")

    def test_the_cutlass_dsl_is_refused_with_a_sentence(self):
        files = {"cutlass/__init__.py": "from . import base_dsl\n", "cutlass/base_dsl/__init__.py": "name = 'somebody else'\n"}
        self.expect(run_python("import cutlass; print(cutlass.base_dsl.name)", files), "somebody else")
        files["nvidia_cutlass_dsl/__init__.py"] = ""
        self.expect(run_python("try: import cutlass\nexcept ImportError as e: print(str(e)[:35])", files), "understudy: the CUTLASS DSL (nvidia")

    def test_eager_operators_are_computed_as_soon_as_the_device_is_used(self):
        files = {
            "torch/__init__.py": "from . import _C, cuda\n",
            "torch/cuda/__init__.py": "",
            "understudy_torch.py": "print('computed', end=' ')\n",
        }
        code = (
            "import os, sys; sys.path[:] = [p for p in sys.path if 'torch' in (os.listdir(p) if os.path.isdir(p) else ())] + sys.path\n"
            "import torch; print('imported', end=' '); torch._C._cuda_init(); torch._C._cuda_init()"
        )
        init = "def _cuda_init(): print('begun', end=' ')\ndef _cuda_getArchFlags(): return 'sm_80 sm_90{}'\n"
        without_ptx = files | {"torch/_C.py": init.format("")}
        self.expect(run_python(code, without_ptx), "imported begun computed begun")
        self.expect(run_python(code, without_ptx, UNDERSTUDY_TORCH_VIA="off"), "imported begun begun")
        self.expect(run_python(code, files | {"torch/_C.py": init.format(" compute_90")}), "imported begun begun")
        self.expect(run_python("import torch; print('of CPUs')", files | {"torch/_C.py": ""}), "of CPUs")

    def test_nothing_is_imported_before_the_program_does(self):
        code = "import sys; print([m for m in ('ctypes', 'mmap', 'jax', 'cuda') if m in sys.modules])"
        self.expect(run_python(code, {}), "[]")


unittest.main(argv=sys.argv[:1])
