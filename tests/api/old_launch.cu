// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Launches as they were before cuLaunchKernel: block and parameters are set on the function.
#include "cu.h"

static const char kText[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry mark(.param .u64 out, .param .u32 a, .param .f32 b)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  .reg .f32 %f<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [a];
  ld.param.f32 %f1, [b];
  cvt.rzi.u32.f32 %r2, %f1;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.u32 %r6, %r3, %r4, %r5;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r6, 4;
  add.u64 %rd4, %rd2, %rd3;
  mad.lo.u32 %r7, %r1, %r6, %r2;
  st.global.u32 [%rd4], %r7;
  ret;
}
)";

int main() {
  MUST(cudaFree(nullptr));
  CUmodule m;
  CUfunction f;
  CUdeviceptr d;
  unsigned out[64] = {};
  CU(cuModuleLoadData(&m, kText));
  CU(cuModuleGetFunction(&f, m, "mark"));
  CU(cuMemAlloc(&d, sizeof out));
  CU(cuMemsetD8(d, 0, sizeof out));
  CU(cuFuncSetBlockShape(f, 16, 1, 1));
  CU(cuFuncSetBlockShape(f, 0, 1, 1));
  CU(cuFuncSetSharedSize(f, 0));
  CU(cuParamSetSize(f, 16));
  CU(cuParamSetv(f, 0, &d, sizeof d));
  CU(cuParamSeti(f, 8, 3));
  CU(cuParamSetf(f, 12, 100.5f));
  CU(cuLaunch(f));
  CU(cuCtxSynchronize());
  CU(cuMemcpyDtoH(out, d, sizeof out));
  VALUE(out[15]);
  VALUE(out[16]);
  CU(cuLaunchGrid(f, 4, 1));
  CU(cuCtxSynchronize());
  CU(cuMemcpyDtoH(out, d, sizeof out));
  VALUE(out[63]);
  CU(cuLaunchGrid(f, 0, 1));
  CU(cuMemFree(d));
  CU(cuModuleUnload(m));
  return 0;
}
