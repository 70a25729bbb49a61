# SPDX-License-Identifier: Apache-2.0
"""What Python clients need besides libraries, under `understudy run` (which puts this directory first in PYTHONPATH).

Next to nothing is imported here: an action runs when its module has been, or is about to be, imported by the program.
The `sitecustomize` that this one hides is run, too.
"""
import functools
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def see_the_device(module):
    """JAX looks for the vendor's files in /dev before it asks the driver."""
    module.has_visible_nvidia_gpu = lambda: True


def has_convolution_fusion():
    """Without it XLA asks cuDNN for a convolution when it runs, and the error leaves a lock behind: the same compiled
    program, run again, waits for ever. With it the error comes when it is compiled. A flag that XLA does not know is fatal."""
    import importlib.metadata

    try:
        version = importlib.metadata.version("jaxlib").split(".")
        return (int(version[0]), int(version[1])) >= (0, 10)
    except (importlib.metadata.PackageNotFoundError, ValueError, IndexError):
        return False


def let_libraries_link(module):
    """XLA has an assembler inside, which makes machine code. Without it, it asks libnvJitLink or ptxas, and those are
    Understudy's. It would also compile and time many forms of a matrix product: times of a virtual device tell nothing.
    cuBLAS is machine code: a product that no Triton kernel is made for (complex numbers, for one) stays with XLA's own emitter
    when nothing rewrites it into a call of cuBLAS."""
    flags = os.environ.get("XLA_FLAGS", "")
    wanted = [
        ("xla_gpu_enable_libnvptxcompiler", "false"),
        ("xla_gpu_autotune_level", "0"),
        ("xla_disable_hlo_passes", "cublas-gemm-rewriter"),
    ]
    if has_convolution_fusion():
        wanted.append(("xla_gpu_experimental_enable_conv_fusion", "true"))
    for name, value in wanted:
        if name not in flags:
            flags += f" --{name}={value}"
    os.environ["XLA_FLAGS"] = flags.strip()
    # XLA would reserve three quarters of the memory at its start, and write 8 bytes of the host's for each 256.
    if not any("XLA_PYTHON_CLIENT_" + name in os.environ for name in ("PREALLOCATE", "MEM_FRACTION", "ALLOCATOR")):
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"


def convolve_by_products(module):
    """XLA's convolutions are cuDNN's, which is machine code."""
    import understudy_jax_convolutions

    understudy_jax_convolutions.lower_by_products(module)


def multiply_without_cublas(module):
    """Products that XLA's Triton kernels do not do, and cuBLAS, which is machine code, cannot."""
    import understudy_jax_products

    understudy_jax_products.lower_products(module)


def solve_without_libraries(module):
    """JAX's linear algebra is cuSOLVER's and cuBLAS's, which are machine code."""
    import understudy_jax_linear_algebra

    understudy_jax_linear_algebra.lower_without_libraries(module)


def attend_without_cudnn(module):
    import understudy_jax_attention

    understudy_jax_attention.attend_without_cudnn(module)


def sparse_without_libraries(module):
    import understudy_jax_linear_algebra

    understudy_jax_linear_algebra.lower_sparse(module)


def compile_to_ptx(module):
    """Warp's compiler makes machine code where it is newer than the driver; PTX is what runs. Its tile functions come from
    LTO-IR, which the linker inside would make machine code of, too: it has plain ones of its own."""
    module.cuda_output = "ptx"
    for name in ("enable_mathdx_gemm", "enable_mathdx_solver", "enable_mathdx_fft"):
        if hasattr(module, name):
            setattr(module, name, False)


def leave_ptx_to_the_driver(module):
    """Warp has its own assembler make machine code of PTX that is newer than the driver. What it takes for machine code it
    hands to the driver as it is."""
    load = module.load_cuda

    def load_cuda(input_path, device):
        if not str(input_path).endswith(".ptx"):
            return load(input_path, device)
        import tempfile

        with open(input_path, "rb") as text, tempfile.NamedTemporaryFile(suffix=".cubin") as copy:
            copy.write(text.read().rstrip(b"\0") + b"\0")
            copy.flush()
            return load(copy.name, device)

    module.load_cuda = load_cuda


def refuse_cutlass_dsl(module):
    """It has an assembler inside, which makes machine code, and a licence for systems with the vendor's devices only."""
    import importlib.util

    spec = importlib.util.find_spec("nvidia_cutlass_dsl")
    if spec is not None:
        raise ImportError(
            "understudy: the CUTLASS DSL (nvidia-cutlass-dsl) does not run here: it makes machine code with an assembler of its "
            "own, and its licence grants its use for systems with NVIDIA GPUs only (sections 1.1, 2.1, 2.10 and 2.11 of the "
            "LICENSE in its dist-info). Use CUTLASS's C++ templates with nvcc, or Triton, in its place (docs/clients.md)"
        )


def send_runtime_to_ours(module):
    """cuda.bindings has the static CUDA runtime inside, without symbols. But it lists its functions, one for each of
    the runtime's, which do nothing but call it: each becomes a jump to ours of the same name and version."""
    import understudy_runtime_functions

    understudy_runtime_functions.redirect(module)


def compute_eager_operators(module):
    """PyTorch's operators are machine code in the stock wheel: where none of it can run, understudy_torch computes them
    as soon as the program uses the device. A build that holds PTX does without."""
    import torch

    begin = getattr(torch._C, "_cuda_init", None)
    if begin is None or os.environ.get("UNDERSTUDY_TORCH_VIA", "").strip().lower() == "off":
        return

    def cuda_init():
        begin()
        if "understudy_torch" in sys.modules or any(a.startswith("compute_") for a in torch._C._cuda_getArchFlags().split()):
            return
        import understudy_torch  # noqa: F401

    torch._C._cuda_init = cuda_init


def tuned_by(name):
    """Clients that try many kernels to find the fastest one."""

    def act(module):
        import understudy_tuning

        getattr(understudy_tuning, name)(module)

    return act


def multiply_by_torch(module):
    import understudy_triton_blas

    understudy_triton_blas.serve(module)


def wants_lines():
    """Somebody looks at source lines: the program is checked, profiled or counted."""
    return any(os.environ.get("UNDERSTUDY_" + name, "") not in ("", "0") for name in ("CHECK", "PROFILE", "COUNT"))


def with_lines(source, name):
    """CUDA C++ with `#line` where it stands in the program's own Python files (src/cuda/libnvrtc/lines.h)."""
    import ctypes

    library = os.path.join(os.path.dirname(HERE), "libnvrtc.so.13")
    if not isinstance(source, str) or not os.path.exists(library):
        return source
    place = ctypes.CDLL(library).understudy_with_lines
    place.restype = ctypes.c_char_p
    return place(source.encode(), name.encode()).decode()


def folder_of_this_run():
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="understudy-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def numba_lines(module):
    jit = module.jit

    def with_line_info(*arguments, **options):
        if not (options.get("debug") or len(arguments) > 1):
            options.setdefault("lineinfo", True)
        return jit(*arguments, **options)

    if wants_lines():
        module.jit = functools.wraps(jit)(with_line_info)


def warp_lines(module):
    compile_to_ptx(module)
    if wants_lines():
        module.lineinfo = True
        module.kernel_cache_dir = folder_of_this_run()  # Warp's own is by the text of functions, wherever they stand


def cupy_lines(module):
    """CuPy keeps what it compiled by source and options, so both are changed before it looks."""
    compile_cached = module._compile_with_cache_cuda

    def compile_with_lines(source, options, arch, extra_source=None, *rest, **more):
        if not (more.get("jitify") or "-DCUPY_USE_JITIFY" in options or any(r is True for r in rest[4:5])):
            source = with_lines(source, "cupy.cu")
            if "-dlto" not in options and "-lineinfo" not in options:
                options = tuple(options) + ("-lineinfo",)
        return compile_cached(source, options, arch, extra_source, *rest, **more)

    if wants_lines():
        module._compile_with_cache_cuda = compile_with_lines


def compute_by_numpy(module):
    """cuBLAS, cuSOLVER, cuSPARSE and cuRAND are machine code."""
    import understudy_cupy

    understudy_cupy.serve(module)


def pycuda_lines(module):
    compile_plain = module.compile_plain

    def compile_with_lines(source, options, *rest, **more):
        return compile_plain(with_lines(source, "kernel.cu"), [*options, "-lineinfo"], *rest, **more)

    if wants_lines():
        module.compile_plain = compile_with_lines


BEFORE = {
    "jax_plugins.xla_cuda12": let_libraries_link,
    "jax_plugins.xla_cuda13": let_libraries_link,
    "cutlass.base_dsl": refuse_cutlass_dsl,
}
AFTER = {
    "torch.cuda": compute_eager_operators,
    "triton._C.libtriton": multiply_by_torch,
    "triton.backends.nvidia.driver": tuned_by("tune_triton"),
    "triton.runtime.autotuner": tuned_by("take_the_first"),
    "torch._inductor.runtime.benchmarking": tuned_by("tune_inductor"),
    "torch._inductor.choices": tuned_by("choose_from_few"),
    "torch._inductor.compile_fx": tuned_by("compile_ahead"),
    "jax._src.hardware_utils": see_the_device,
    "warp.config": warp_lines,
    "numba.cuda.decorators": numba_lines,
    "cupy.cuda.compiler": cupy_lines,
    "cupy_backends.cuda.libs.cublas": compute_by_numpy,
    "cupy_backends.cuda.libs.cusolver": compute_by_numpy,
    "cupy_backends.cuda.libs.curand": compute_by_numpy,
    "cupy_backends.cuda.libs.cusparse": compute_by_numpy,
    "cupyx._cusolver": compute_by_numpy,
    "pycuda.compiler": pycuda_lines,
    "jax._src.lax.convolution": convolve_by_products,
    "jax._src.lax.lax": multiply_without_cublas,
    "jax._src.lax.linalg": solve_without_libraries,
    "jax._src.nn.functions": attend_without_cudnn,
    "jax.experimental.sparse.coo": sparse_without_libraries,
    "jax.experimental.sparse.csr": sparse_without_libraries,
    "jax.experimental.sparse.linalg": sparse_without_libraries,
    "warp._src.build": leave_ptx_to_the_driver,
    "cuda.bindings._internal.runtime": send_runtime_to_ours,
    "cuda.bindings._internal.runtime_ptds": send_runtime_to_ours,
    "cuda.bindings._bindings.cyruntime": send_runtime_to_ours,
    "cuda.bindings._bindings.cyruntime_ptds": send_runtime_to_ours,
}


class Finder:
    """First in sys.meta_path: finds the modules of the tables as everybody else does, and adds the action."""

    def find_spec(self, name, path=None, target=None):
        before, after = BEFORE.get(name), AFTER.get(name)
        if before is None and after is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                break
        else:
            return None
        if before is not None:
            before(None)
        if after is not None and spec.loader is not None:
            spec.loader = Loader(spec.loader, after)
        return spec


class Loader:
    def __init__(self, loader, after):
        self._loader, self._after = loader, after

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._after(module)


def run_the_hidden_one():
    def is_own(entry):  # of another Understudy, too: two finders would ask each other without end
        return os.path.isfile(os.path.join(entry, "understudy_runtime_functions.py"))

    others = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE and not is_own(entry)]
    for entry in others:
        file = os.path.join(entry, "sitecustomize.py")
        if os.path.isfile(file):
            with open(file, "rb") as source:
                exec(compile(source.read(), file, "exec"), {"__name__": "sitecustomize", "__file__": file})
            return


sys.meta_path.insert(0, Finder())
run_the_hidden_one()
