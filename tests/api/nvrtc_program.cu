// SPDX-License-Identifier: Apache-2.0
// flags: -lnvrtc -lcuda
// needs: nvrtc.h
// CUDA C++ compiled at run time: for a virtual and for a real architecture, names of templates, a wrong program.
#include <cuda.h>
#include <nvrtc.h>

#include <cstring>
#include <string>
#include <vector>

#include "api.h"

static const char* const kSource = R"(
template <class T> __global__ void scale(T* p, T by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= by;
}
extern "C" __global__ void add(int* p, int what, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += what * FACTOR;
}
__constant__ int table[4] = {1, 2, 3, 4};
)";

static void show_nvrtc(const char* text, nvrtcResult code) { std::printf("%-90s %3d %s\n", text, code, nvrtcGetErrorString(code)); }
#define NVRTC(call) show_nvrtc(#call, call)
#define CU(call) std::printf("%-90s %3d\n", #call, static_cast<int>(call))

static void run(const char* architecture, bool cubin) {
  nvrtcProgram p;
  const char* options[] = {architecture, "-DFACTOR=10", "--std=c++17"};
  NVRTC(nvrtcCreateProgram(&p, kSource, "test.cu", 0, nullptr, nullptr));
  NVRTC(nvrtcAddNameExpression(p, "scale<float>"));
  NVRTC(nvrtcAddNameExpression(p, "&table"));
  NVRTC(nvrtcCompileProgram(p, 3, options));
  size_t size = 0, log = 0;
  NVRTC(nvrtcGetProgramLogSize(p, &log));
  VALUE(log);
  NVRTC(cubin ? nvrtcGetCUBINSize(p, &size) : nvrtcGetPTXSize(p, &size));
  VALUE(size > 100);
  std::vector<char> image(size);
  NVRTC(cubin ? nvrtcGetCUBIN(p, image.data()) : nvrtcGetPTX(p, image.data()));
  const char* name = nullptr;
  NVRTC(nvrtcGetLoweredName(p, "scale<float>", &name));
  std::printf("%s\n", name ? name : "no name");
  const std::string scale = name ? name : "";
  NVRTC(nvrtcGetLoweredName(p, "scale<double>", &name));
  NVRTC(nvrtcGetLoweredName(p, "&table", &name));
  const std::string table = name ? name : "";
  NVRTC(nvrtcDestroyProgram(&p));
  VALUE(p == nullptr);

  CUmodule m;
  CUfunction add, scale_f;
  CUdeviceptr at;
  size_t bytes = 0;
  CU(cuModuleLoadDataEx(&m, image.data(), 0, nullptr, nullptr));
  CU(cuModuleGetFunction(&add, m, "add"));
  CU(cuModuleGetFunction(&scale_f, m, scale.c_str()));
  CU(cuModuleGetGlobal(&at, &bytes, m, table.c_str()));
  VALUE(bytes);
  int host[100], n = 100, what = 7;
  for (int i = 0; i < n; ++i) host[i] = i;
  CUdeviceptr d;
  CU(cuMemAlloc(&d, sizeof host));
  CU(cuMemcpyHtoD(d, host, sizeof host));
  void* arguments[] = {&d, &what, &n};
  CU(cuLaunchKernel(add, 2, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  CU(cuCtxSynchronize());
  CU(cuMemcpyDtoH(host, d, sizeof host));
  VALUE(host[0]);
  VALUE(host[99]);
  float values[100], by = 1.5f;
  for (int i = 0; i < n; ++i) values[i] = i;
  CU(cuMemcpyHtoD(d, values, sizeof values));
  void* more[] = {&d, &by, &n};
  CU(cuLaunchKernel(scale_f, 2, 1, 1, 64, 1, 1, 0, nullptr, more, nullptr));
  CU(cuMemcpyDtoH(values, d, sizeof values));
  VALUE(values[99] * 2);
  CU(cuMemFree(d));
  CU(cuModuleUnload(m));
}

int main() {
  MUST(cudaFree(nullptr));
  int major = 0, archs = 0;
  NVRTC(nvrtcVersion(&major, nullptr));
  int minor = 0;
  NVRTC(nvrtcVersion(&major, &minor));
  VALUE(major);
  NVRTC(nvrtcGetNumSupportedArchs(&archs));
  VALUE(archs > 5);
  run("--gpu-architecture=compute_90", false);
  run("--gpu-architecture=sm_90", true);
  run("-arch=sm_90a", true);
  nvrtcProgram p;
  size_t size = 9;
  NVRTC(nvrtcCreateProgram(&p, "__global__ void f() { this is wrong; }", "wrong.cu", 0, nullptr, nullptr));
  NVRTC(nvrtcCompileProgram(p, 0, nullptr));
  NVRTC(nvrtcGetProgramLogSize(p, &size));
  std::vector<char> log(size);
  NVRTC(nvrtcGetProgramLog(p, log.data()));
  VALUE(std::strstr(log.data(), "wrong.cu(1): error") != nullptr);
  NVRTC(nvrtcDestroyProgram(&p));
  NVRTC(nvrtcCreateProgram(&p, "__global__ void f() {}", nullptr, 0, nullptr, nullptr));
  const char* bad[] = {"--no-such-option"};
  NVRTC(nvrtcCompileProgram(p, 1, bad));
  NVRTC(nvrtcCompileProgram(p, 0, nullptr));
  NVRTC(nvrtcGetCUBINSize(p, &size));
  VALUE(size);
  NVRTC(nvrtcDestroyProgram(&p));
  return 0;
}
