// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// The driver API beside the runtime API: modules and libraries from PTX text, functions, globals, contexts, errors.
#include <cuda.h>

#include "api.h"

namespace {

const char kText[] = R"(
.version 8.0
.target sm_90
.address_size 64

.visible .global .align 4 .u32 base = 7;
.visible .const .align 4 .u32 step = 5;

.visible .entry add_base(.param .u64 out, .param .u32 count)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p, %r2, %r1;
  @%p ret;
  mul.wide.u32 %rd2, %r2, 4;
  cvta.to.global.u64 %rd3, %rd1;
  add.s64 %rd3, %rd3, %rd2;
  ld.global.u32 %r3, [base];
  ld.const.u32 %r4, [step];
  add.u32 %r3, %r3, %r4;
  add.u32 %r3, %r3, %r2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

void show(const char* text, CUresult code) {
  const char* name = nullptr;
  cuGetErrorName(code, &name);
  std::printf("%-90s %3d %s\n", text, static_cast<int>(code), name ? name : "?");
}
#define DSHOW(call) show(#call, call)

unsigned results[32];
void print(CUdeviceptr p) {
  DSHOW(cuMemcpyDtoH(results, p, sizeof results));
  std::printf("%u %u %u\n", results[0], results[19], results[20]);
}

}  // namespace

int main() {
  CUdevice d = -1;
  CUcontext c = nullptr, primary = nullptr, current = nullptr;
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  CUdeviceptr p = 0, g = 0;
  size_t bytes = 0;
  DSHOW(cuCtxSynchronize());
  DSHOW(cuInit(1));
  DSHOW(cuInit(0));
  DSHOW(cuCtxSynchronize());
  DSHOW(cuDeviceGet(&d, 0));
  DSHOW(cuDeviceGet(&d, 1000));
  d = 0;
  DSHOW(cuMemAlloc(&p, 128));
  DSHOW(cuDevicePrimaryCtxRetain(&primary, d));
  DSHOW(cuCtxCreate(&c, nullptr, 0, d));
  DSHOW(cuCtxGetCurrent(&current));
  VALUE(current == c);
  DSHOW(cuModuleLoadData(&m, kText));
  DSHOW(cuModuleGetFunction(&f, m, "none"));
  DSHOW(cuModuleGetFunction(&f, m, "add_base"));
  DSHOW(cuModuleGetGlobal(&g, &bytes, m, "none"));
  DSHOW(cuModuleGetGlobal(&g, &bytes, m, "base"));
  VALUE(bytes);
  DSHOW(cuMemAlloc(&p, 0));
  DSHOW(cuMemAlloc(&p, 128));
  DSHOW(cuMemsetD32(p, 0xffff, 32));
  DSHOW(cuMemsetD32(p + 1, 0, 1));
  DSHOW(cuMemsetD16(p + 120, 0x1234, 2));
  unsigned count = 20;
  void* args[] = {&p, &count};
  DSHOW(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
  print(p);
  VALUE(results[30]);
  const unsigned hundred = 100;
  DSHOW(cuMemcpyHtoD(g, &hundred, 4));
  struct { CUdeviceptr p; unsigned count; } block = {p, 21};
  size_t block_bytes = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &block_bytes, CU_LAUNCH_PARAM_END};
  DSHOW(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  print(p);
  DSHOW(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, args, extra));
  DSHOW(cuLaunchKernel(f, 1, 1, 1, 1025, 1, 1, 0, nullptr, args, nullptr));
  DSHOW(cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
  DSHOW(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 49153, nullptr, args, nullptr));
  int attribute = 0;
  DSHOW(cuFuncGetAttribute(&attribute, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
  VALUE(attribute);
  DSHOW(cuFuncGetAttribute(&attribute, static_cast<CUfunction_attribute>(999), f));
  DSHOW(cuModuleLoadData(&m, "this is no PTX"));
  DSHOW(cuModuleLoadData(&m, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { add.u32 %r1, 2; }\n"));
  DSHOW(cuModuleLoad(&m, "/nonexistent/file.ptx"));
  CUmemorytype type = CU_MEMORYTYPE_ARRAY;
  DSHOW(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 4));
  VALUE(type);
  DSHOW(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&type)));
  CUdeviceptr start = 0;
  DSHOW(cuMemGetAddressRange(&start, &bytes, p + 8));
  VALUE(start == p);
  VALUE(bytes);
  DSHOW(cuMemFree(p + 4));
  DSHOW(cuMemFree(p));
  DSHOW(cuCtxPopCurrent(&current));
  VALUE(current == c);
  DSHOW(cuCtxPushCurrent(c));
  DSHOW(cuCtxDestroy(c));
  DSHOW(cuCtxGetCurrent(&current));
  VALUE(current == nullptr);
  DSHOW(cuMemAlloc(&p, 128));

  // A library's kernel in the primary context, which is the runtime API's.
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  DSHOW(cuCtxSetCurrent(primary));
  DSHOW(cuLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0));
  DSHOW(cuLibraryGetKernel(&kernel, library, "none"));
  DSHOW(cuLibraryGetKernel(&kernel, library, "add_base"));
  void* from_runtime = nullptr;
  SHOW(cudaMalloc(&from_runtime, 128));
  p = reinterpret_cast<CUdeviceptr>(from_runtime);
  DSHOW(cuMemsetD8(p, 0, 128));
  DSHOW(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr));
  SHOW(cudaMemcpy(results, from_runtime, sizeof results, cudaMemcpyDeviceToHost));
  std::printf("%u %u %u\n", results[0], results[19], results[20]);
  SHOW(cudaLaunchKernel(kernel, 1, 32, args, 0, nullptr));
  SHOW(cudaDeviceSynchronize());
  unsigned kernels = 0;
  DSHOW(cuLibraryGetKernelCount(&kernels, library));
  VALUE(kernels);
  DSHOW(cuLibraryUnload(library));
  DSHOW(cuMemFree(p));
  unsigned flags = 9;
  int active = 9;
  DSHOW(cuDevicePrimaryCtxGetState(d, &flags, &active));
  VALUE(active);
  return 0;
}
