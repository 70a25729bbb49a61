// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Linking PTX at run time: a function and a variable that one module defines and another one uses.
#include <cstring>

#include "cu.h"

static const char kLibrary[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 bonus = 5;
.visible .func (.param .b32 r) twice(.param .b32 a)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [a];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [r], %r2;
  ret;
}
)";

static const char kProgram[] = R"(.version 8.0
.target sm_90
.address_size 64
.extern .global .align 4 .u32 bonus;
.extern .func (.param .b32 r) twice(.param .b32 a);
.visible .entry work(.param .u64 out, .param .u32 x)
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [x];
  cvta.to.global.u64 %rd2, %rd1;
  {
    .param .b32 a0;
    .param .b32 r0;
    st.param.b32 [a0], %r1;
    call.uni (r0), twice, (a0);
    ld.param.b32 %r2, [r0];
  }
  ld.global.u32 %r3, [bonus];
  add.u32 %r4, %r2, %r3;
  st.global.u32 [%rd2], %r4;
  ret;
}
)";

int main() {
  MUST(cudaFree(nullptr));
  CUlinkState s;
  void* image = nullptr;
  size_t size = 0;
  CU(cuLinkCreate(0, nullptr, nullptr, &s));
  CU(cuLinkAddData(s, CU_JIT_INPUT_PTX, const_cast<char*>(kProgram), sizeof kProgram, "program", 0, nullptr, nullptr));
  CU(cuLinkAddData(s, CU_JIT_INPUT_PTX, const_cast<char*>(kLibrary), sizeof kLibrary, "library", 0, nullptr, nullptr));
  CU(cuLinkComplete(s, &image, &size));
  VALUE(size > 0);
  CUmodule m;
  CUfunction f;
  CUdeviceptr out, bonus;
  CU(cuModuleLoadData(&m, image));
  CU(cuLinkDestroy(s));
  CU(cuModuleGetFunction(&f, m, "work"));
  CU(cuModuleGetGlobal(&bonus, &size, m, "bonus"));
  VALUE(size);
  CU(cuMemAlloc(&out, 4));
  unsigned x = 21, got = 0;
  void* arguments[] = {&out, &x};
  CU(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU(cuMemcpyDtoH(&got, out, 4));
  VALUE(got);
  CU(cuMemsetD32(bonus, 100, 1));
  CU(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CU(cuMemcpyDtoH(&got, out, 4));
  VALUE(got);
  CU(cuModuleUnload(m));

  // one input, nothing to link with
  CU(cuLinkCreate(0, nullptr, nullptr, &s));
  CU(cuLinkAddData(s, CU_JIT_INPUT_PTX, const_cast<char*>(kLibrary), sizeof kLibrary, nullptr, 0, nullptr, nullptr));
  CU(cuLinkComplete(s, &image, &size));
  CU(cuModuleLoadData(&m, image));
  CU(cuLinkDestroy(s));
  CU(cuModuleUnload(m));

  // wrong ones
  char log[500] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CU(cuLinkCreate(2, options, values, &s));
  CU(cuLinkAddFile(s, CU_JIT_INPUT_PTX, "/no/such/file.ptx", 0, nullptr, nullptr));
  CU(cuLinkAddData(s, static_cast<CUjitInputType>(77), const_cast<char*>(kLibrary), sizeof kLibrary, nullptr, 0, nullptr, nullptr));
  CU(cuLinkAddData(s, CU_JIT_INPUT_PTX, nullptr, 10, nullptr, 0, nullptr, nullptr));
  CU(cuLinkDestroy(s));
  CU(cuLinkCreate(0, nullptr, nullptr, nullptr));
  CU(cuMemFree(out));
  return 0;
}
