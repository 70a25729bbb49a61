// SPDX-License-Identifier: Apache-2.0
// Runs one kernel of a PTX file: runner FILE.ptx BLOCKS THREADS RESULTS [INITIAL...]. The kernel `litmus` gets the
// address of its variables, 128 bytes apart, and of its results; what is left in both is printed.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr size_t kApart = 32;  // words

void must(CUresult r, const char* what) {
  if (r == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(r, &name);
  std::printf("%s: %s\n", what, name ? name : "?");
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  const unsigned blocks = std::atoi(argv[2]), threads = std::atoi(argv[3]), results = std::atoi(argv[4]);
  std::vector<int> memory(static_cast<size_t>(argc - 5) * kApart), out(results);
  for (int k = 5; k < argc; ++k) memory[static_cast<size_t>(k - 5) * kApart] = std::atoi(argv[k]);
  must(cuInit(0), "cuInit");
  CUcontext context;
  CUdevice device;
  must(cuDeviceGet(&device, 0), "cuDeviceGet");
  must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  CUmodule module;
  CUfunction kernel;
  must(cuModuleLoadData(&module, text.str().c_str()), "cuModuleLoadData");
  must(cuModuleGetFunction(&kernel, module, "litmus"), "cuModuleGetFunction");
  CUdeviceptr at, answers;
  must(cuMemAlloc(&at, memory.size() * 4 + 4), "cuMemAlloc");
  must(cuMemAlloc(&answers, out.size() * 4 + 4), "cuMemAlloc");
  must(cuMemcpyHtoD(at, memory.data(), memory.size() * 4), "cuMemcpyHtoD");
  must(cuMemcpyHtoD(answers, out.data(), out.size() * 4), "cuMemcpyHtoD");
  void* arguments[] = {&at, &answers};
  must(cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr), "cuLaunchKernel");
  must(cuCtxSynchronize(), "cuCtxSynchronize");
  must(cuMemcpyDtoH(memory.data(), at, memory.size() * 4), "cuMemcpyDtoH");
  must(cuMemcpyDtoH(out.data(), answers, out.size() * 4), "cuMemcpyDtoH");
  for (size_t k = 0; k < memory.size(); k += kApart) std::printf("%d ", memory[k]);
  std::printf("|");
  for (const int v : out) std::printf(" %d", v);
  std::printf("\n");
  cuMemFree(at), cuMemFree(answers);
  cuModuleUnload(module), cuDevicePrimaryCtxRelease(device);
}
