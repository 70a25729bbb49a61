// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// The primary context while the runtime uses it as well: who holds it, what releases and resets leave behind.
#include "cu.h"

namespace {

void state(const char* when) {
  unsigned flags = 0;
  int active = -1;
  const CUresult e = cuDevicePrimaryCtxGetState(0, &flags, &active);
  CUcontext now = nullptr;
  cuCtxGetCurrent(&now);
  std::printf("%s: %d active %d current %d\n", when, e, active, now != nullptr);
}

__global__ void store(int* p) { *p = 3; }

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  CUcontext c = nullptr, again = nullptr;
  CU(cuInit(0));
  state("at first");
  CU(cuDevicePrimaryCtxRelease(0));
  CU(cuDevicePrimaryCtxRetain(&c, 0));
  state("retained");
  CU(cuDevicePrimaryCtxRelease(0));
  state("released");
  CU(cuDevicePrimaryCtxRelease(0));
  SHOW(cudaFree(nullptr));
  state("the runtime used");
  CU(cuDevicePrimaryCtxRetain(&c, 0));
  CU(cuCtxGetCurrent(&again));
  VALUE(c == again);
  CU(cuDevicePrimaryCtxRelease(0));
  state("given back");
  CU(cuDevicePrimaryCtxRelease(0));
  state("and the runtime's");
  CU(cuDevicePrimaryCtxRelease(0));
  CU(cuCtxSynchronize());
  int* p = nullptr;
  SHOW(cudaMalloc(&p, 4));
  state("the runtime again");
  SHOW(cudaGetLastError());
  CU(cuCtxSetCurrent(nullptr));
  SHOW(cudaMalloc(&p, 4));
  state("after no context was current");
  store<<<1, 1>>>(p);
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaGetLastError());
  CU(cuDevicePrimaryCtxReset(0));
  state("reset");
  CU(cuDevicePrimaryCtxReset(0));
  SHOW(cudaMalloc(&p, 4));
  state("used again");
  SHOW(cudaDeviceReset());
  state("reset by the runtime");
  CU(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN));
  CU(cuDevicePrimaryCtxRelease(0));
  SHOW(cudaSetDevice(0));
  state("device set");
  CU(cuDevicePrimaryCtxRelease(0));
  state("released once more");
  CU(cuDevicePrimaryCtxRetain(&again, 0));
  VALUE(again == c);  // the handle of before; what was current is good again
  state("retained after all");
  CU(cuCtxSynchronize());
  CU(cuDevicePrimaryCtxRelease(0));
  return 0;
}
