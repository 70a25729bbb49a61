// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// ours only: what it measures is the memory of a process in which the device lives
// A variable of 16 GB without initial value: it is zero, and takes the pages that are touched.
// Used again, it is zero again.
#include <cstring>
#include <fstream>
#include <string>

#include "cu.h"

namespace {
constexpr const char* kPtx = R"(
.version 8.0
.target sm_90
.address_size 64
.global .align 8 .b8 big[17179869184];
.visible .entry touch(.param .u64 out, .param .u64 at) {
  .reg .b64 %rd<5>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [at];
  mov.u64 %rd3, big;
  add.u64 %rd3, %rd3, %rd2;
  ld.global.u32 %r1, [%rd3];
  st.global.u32 [%rd1], %r1;
  mov.u32 %r2, -1;
  st.global.u32 [%rd3], %r2;
  ret;
}
)";

long resident_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::stol(line.substr(6)) / 1024;
  return -1;
}
bool good = true;
void expect(bool right, const char* what) {
  if (right) return;
  std::printf("WRONG: %s\n", what);
  good = false;
}
}  // namespace

int main() {
  MUST(cudaFree(nullptr));
  unsigned* out;
  MUST(cudaMallocManaged(&out, 4));
  const long before = resident_megabytes();
  for (int round = 0; round < 2; ++round) {
    CUmodule m;
    CUfunction f;
    expect(cuModuleLoadData(&m, kPtx) == CUDA_SUCCESS, "the module loads");
    expect(cuModuleGetFunction(&f, m, "touch") == CUDA_SUCCESS, "the kernel is there");
    for (const unsigned long long at : {0ull, 1ull << 33, (1ull << 34) - 4}) {
      unsigned long long where = at;
      void* args[] = {&out, &where};
      *out = 7;
      expect(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr) == CUDA_SUCCESS, "the launch is taken");
      expect(cuCtxSynchronize() == CUDA_SUCCESS, "the launch ends well");
      expect(*out == 0, "the variable is zero");
    }
    expect(resident_megabytes() - before < 1000, "less than 1 GB is resident");
    expect(cuModuleUnload(m) == CUDA_SUCCESS, "the module is unloaded");
  }
  std::puts(good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
