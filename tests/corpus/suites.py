# SPDX-License-Identifier: Apache-2.0
"""How the programs of each suite are built: from a name of the list to the commands that make it.

A suite's checkout lies at SOURCES/<suite>. A rule gives a Plan, or raises NotHere when the checkout lacks the program."""
import dataclasses
import pathlib
import re
import shlex

# Features whose programs ask for sm_90a themselves.
HOPPER_ONLY = re.compile(r"\b(wgmma|setmaxnreg|mbarrier|tma-\w+|bulk|cluster)\b")
FLAGS = ["-cudart", "shared", "-std=c++17", "-O3", "-w"]
CUTLASS_FLAGS = ["--expt-relaxed-constexpr", "--extended-lambda", "-DNDEBUG"]
MODULE_FILES = {  # samples that load a file at run time: kernel source -> the file
    "matrixMulDrv": ("matrixMul_kernel.cu", "matrixMul_kernel64.fatbin"),
    "vectorAddDrv": ("vectorAdd_kernel.cu", "vectorAdd_kernel64.fatbin"),
    "vectorAddMMAP": ("vectorAdd_kernel.cu", "vectorAdd_kernel64.fatbin"),
    "simpleTextureDrv": ("simpleTexture_kernel.cu", "simpleTexture_kernel64.fatbin"),
    "simpleDrvRuntime": ("vectorAdd_kernel.cu", "vectorAdd_kernel64.fatbin"),
    "threadMigration": ("threadMigration_kernel.cu", "threadMigration_kernel64.fatbin"),
    "memMapIPCDrv": ("memMapIpc_kernel.cu", "memMapIpc_kernel64.ptx"),
    "ptxjit": ("ptxjit_kernel.cu", "ptxjit_kernel64.ptx"),
}


class NotHere(Exception):
    pass


@dataclasses.dataclass
class Plan:
    directory: pathlib.Path  # where it runs
    commands: list  # argument lists, run one after the other in `build_directory`
    executable: pathlib.Path
    build_directory: pathlib.Path = None
    arguments: list = dataclasses.field(default_factory=list)  # when the list gives none
    environment: dict = dataclasses.field(default_factory=dict)


def need(path):
    if not path.exists():
        raise NotHere(f"{path} is not in the checkout")
    return path


def architecture(ctx):
    return "compute_90a" if HOPPER_ONLY.search(ctx.features) else "compute_90"


def arch_flags(ctx):
    if ctx.plain:
        return []
    return ["-gencode", f"arch={architecture(ctx)},code={architecture(ctx)}"]


def nvcc(ctx, sources, extra=()):
    return [ctx.nvcc, *arch_flags(ctx), *([] if ctx.plain else FLAGS), *extra, "-o", str(ctx.executable), *map(str, sources)]


def variable(makefile, name):
    found = re.search(rf"^[ \t]*{name}[ \t]*[:?]?=[ \t]*(\S+)", makefile, re.M)
    return found.group(1) if found else None


def makefile_plan(ctx, directory, default_name="main", options=(), environment=None):
    """The suite's own Makefile, with tools/nvcc as its compiler."""
    text = need(directory / "Makefile").read_text(errors="replace")
    name = variable(text, "program")
    target = [name] if name else []  # without one: whatever the Makefile makes first
    if not name:
        folder = variable(text, "OBJ_DIR") if "$(OBJ_DIR)/$(EXEC_NAME)" in text else "."
        name = f"{folder}/{variable(text, 'EXEC_NAME') or variable(text, 'EXE') or default_name}"
        (directory / folder).mkdir(exist_ok=True)
    make = ["make", "-B", "CC=nvcc", *options]
    return Plan(directory, [make + target], directory / name, directory, environment=environment or {})


def hecbench(ctx):
    directory = need(ctx.checkout / "src" / (ctx.program + "-cuda"))
    plan = makefile_plan(ctx, directory)
    text = (directory / "Makefile").read_text(errors="replace")
    plan.commands[0].insert(2, "HOME=/nonexistent")
    run = re.search(r"^\s*\$\(LAUNCHER\)\s+\./\$\(program\)((?:.*\\\n)*.*)$", text, re.M)
    plan.arguments = shlex.split(run.group(1).replace("\\\n", " ")) if run else []
    plan.variables = dict(re.findall(r"^(\w+)[ \t]*:?=[ \t]*(.*?)[ \t]*$", text, re.M))
    return plan


def cuda_samples(ctx):
    found = [p for p in ctx.checkout.glob(f"Samples/*/{ctx.program}") if p.is_dir()]
    if not found:
        raise NotHere(f"no sample {ctx.program}")
    directory = found[0]
    text = (directory / "CMakeLists.txt").read_text()
    listed = re.search(r"add_executable\(\s*\S+\s+([^)]*)\)", text).group(1).split()
    sources = [directory / s.replace("${CMAKE_CURRENT_SOURCE_DIR}/", "") for s in listed if s.endswith((".cu", ".cpp", ".c"))]
    extra = ["-I" + str(ctx.checkout / "Common"), "-I" + str(directory), "--extended-lambda", "-Xcompiler", "-fopenmp", "-lcuda", "-ldl", "-lrt"]
    extra += ["-I" + str(directory / "inc")] if (directory / "inc").is_dir() else []
    if ctx.rdc or "cdp" in ctx.program.lower() or re.search(r"cudadevrt", text):
        extra += ["-rdc=true", "-lcudadevrt"]
    extra += ["-lnvrtc"] if "nvrtc" in text.lower() else []
    commands = [nvcc(ctx, sources, extra)]
    if ctx.program in MODULE_FILES:
        source, made = MODULE_FILES[ctx.program]
        how = ["-ptx", "-arch=" + architecture(ctx)] if made.endswith(".ptx") else ["-fatbin", *arch_flags(ctx)]
        commands.append([ctx.nvcc, *how, "-std=c++17", "-O3", "-w", "-I" + str(ctx.checkout / "Common"), "-o", made, source])
    return Plan(directory, commands, ctx.executable, directory)


def polybench(ctx):
    directory = need(ctx.checkout / "CUDA" / ctx.program)
    return Plan(directory, [nvcc(ctx, sorted(directory.glob("*.cu")), ["-DcudaThreadSynchronize=cudaDeviceSynchronize"])], ctx.executable, directory)


def rodinia(ctx):
    directory = need(ctx.checkout / "cuda" / ctx.program)
    if ctx.program != "lud":
        return makefile_plan(ctx, directory, ctx.program)
    sources = [directory / "cuda/lud.cu", directory / "cuda/lud_kernel.cu", directory / "common/common.c"]
    plan = Plan(directory, [nvcc(ctx, sources, ["-I" + str(directory / "common")])], ctx.executable, directory)
    plan.arguments = ["-s", "256", "-v"]
    return plan


def libcudacxx(ctx):
    tests = ctx.checkout / "libcudacxx/test/libcudacxx"
    for suffix in (".pass.cpp", ".runfail.cpp", ".pass.cu"):
        source = tests / (ctx.program + suffix)
        if source.exists():
            break
    else:
        raise NotHere(f"no test {ctx.program}")
    include = ["-I" + str(ctx.checkout / "libcudacxx/include"), "-I" + str(ctx.checkout / "libcudacxx/test/support"), "-I" + str(tests / "..")]
    extra = include + ["-x", "cu", "-include", str(tests / "force_include.h"), "--extended-lambda", "--expt-relaxed-constexpr", "-lcuda", "-rdc=true",
                       "-DCCCL_IGNORE_DEPRECATED_CPP_DIALECT"]
    extra = extra if ctx.rdc else [e for e in extra if e != "-rdc=true"]
    plan = Plan(source.parent, [nvcc(ctx, [source], extra)], ctx.executable, source.parent)
    plan.must_fail = source.name.endswith(".runfail.cpp")
    return plan


def cuda_training(ctx):
    source = need(ctx.checkout / "exercises" / (ctx.program + ".cu"))
    return Plan(source.parent, [nvcc(ctx, [source], ["-Xcompiler", "-fopenmp"])], ctx.executable, source.parent)


def one_file(ctx):
    source = need(ctx.checkout / (ctx.program + ".cu"))
    return Plan(source.parent, [nvcc(ctx, [source])], ctx.executable, source.parent)


def multi_gpu(ctx):
    source = need(ctx.checkout / ctx.program / "jacobi.cu")
    extra = ["-DHAVE_CUB", "-Xcompiler", "-fopenmp", "-ldl"]
    plan = Plan(source.parent, [nvcc(ctx, [source], extra)], ctx.executable, source.parent)
    plan.arguments = "-niter 2 -nx 256 -ny 256".split()
    return plan


def cutlass(ctx):
    include = ["-I" + str(ctx.checkout / d) for d in ("include", "tools/util/include", "examples/common", "test/unit/common", "test")]
    for prefix, folder in (("cute/", "examples/cute"), ("examples/", "examples"), ("unit/", "test/unit")):
        if ctx.program.startswith(prefix):
            rest = ctx.program.removeprefix(prefix)
            break
    else:
        raise NotHere(ctx.program)
    at = ctx.checkout / folder / rest
    source = next((s for s in (at.with_suffix(".cu"), at / (at.name.split("_", 1)[-1] + ".cu"), at / (at.name + ".cu")) if s.exists()), None)
    if source is None:
        raise NotHere(ctx.program)
    extra = include + CUTLASS_FLAGS + ["-lcuda"]
    extra += ["-lgtest", "-lgtest_main", "-lpthread"] if prefix == "unit/" else []
    return Plan(source.parent, [nvcc(ctx, [source], extra)], ctx.executable, source.parent)


KITTENS_TESTS = {  # program of the list -> what its build switches on, the folder of its sources
    "tests/thread_tma": (("TEST_THREAD_MEMORY_TILE_TMA", "TEST_THREAD_MEMORY_VEC_TMA"), "thread/memory", "tma.cu"),
    "tests/thread_tma_multicast": (("TEST_THREAD_MEMORY_TILE_TMA_MULTICAST", "TEST_THREAD_MEMORY_VEC_TMA_MULTICAST"), "thread/memory", "tma_multicast.cu"),
    "tests/warp_mma": (("TEST_GROUP_MMA_WARP_MMA",), "group/mma/warp", "mma.cu"),
}


def kittens_test_sources(tests, folder, leaf):
    """The test's own files and those that lead to it: each folder has a file of its name that calls what lies below."""
    chain = [tests / "unit_tests.cu", tests / "testing_commons/testing_utils.cu"]
    at = tests
    for part in folder.split("/"):
        at = at / part
        chain.append(at / (part + ".cu"))
    for path in sorted((tests / folder).rglob(leaf)):
        chain += [path] if path.parent == at else [path.parent / (path.parent.name + ".cu"), path]
    return [need(p) for p in chain if "complex" not in p.parts]


def thunderkittens(ctx):
    flags = ["-std=c++20", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-DKITTENS_HOPPER", "-I" + str(ctx.checkout / "include"), "-lcuda"]
    command = [ctx.nvcc, "-gencode", "arch=compute_90a,code=compute_90a", "-cudart", "shared", "-w", "-o", str(ctx.executable), *flags]
    if ctx.program in KITTENS_TESTS:
        defines, folder, leaf = KITTENS_TESTS[ctx.program]
        tests = need(ctx.checkout / "tests")
        sources = kittens_test_sources(tests, folder, leaf)
        switches = ["-O3", "-I" + str(tests / "testing_commons"), "-DTEST_INTENSITY=1", *("-D" + d for d in defines)]
    else:
        source = need(ctx.checkout / ("kernels/" + ("gemm/" if ctx.program.startswith("educational") else "") + ctx.program + ".cu"))
        tests, sources = source.parent, [source]
        switches = ["-O3", "--use_fast_math", "-DNDEBUG", "-I" + str(ctx.checkout / "prototype")]
    return Plan(tests, [command + switches + [str(s) for s in sources]], ctx.executable, tests)


RULES = {
    "HeCBench": hecbench, "cuda-samples": cuda_samples, "polybenchGpu": polybench, "rodinia": rodinia, "libcudacxx": libcudacxx,
    "cuda-training-series": cuda_training, "NV-blog-code-samples": one_file, "multi-gpu": multi_gpu, "cutlass": cutlass,
    "ThunderKittens": thunderkittens,
}


def plan(ctx):
    if ctx.suite not in RULES:
        raise NotHere(f"no rule builds the suite {ctx.suite}")
    return RULES[ctx.suite](ctx)
