// SPDX-License-Identifier: Apache-2.0
// Runs file tests on a real GPU through the driver API and writes what came out. Needs the CUDA toolkit only:
//   g++ -std=c++17 -O1 -I$CUDA/include record.cpp runner/case_file.cpp runner/special_values.cpp -o record
//     -L$CUDA/lib64/stubs -lcuda
//   ./record OUTPUT_DIRECTORY tests/ptx/*/*.ptx
// Writes one recording per file, OUTPUT_DIRECTORY/<chapter>.<name>.txt, and all full outputs to
// OUTPUT_DIRECTORY/full.bin.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>

#include "runner/case_file.h"

namespace {

using namespace ptx_test;

std::string message(CUresult r) {
  const char* s = nullptr;
  cuGetErrorName(r, &s);
  return s ? s : "unknown error";
}
std::string chapter_of(const std::string& path) {
  const auto last = path.find_last_of('/');
  const auto before = path.find_last_of('/', last - 1);
  return path.substr(before + 1, last - before - 1);
}
std::string stamp() {
  char name[128] = "", date[32];
  int version = 0;
  cuDeviceGetName(name, sizeof name, 0);
  cuDriverGetVersion(&version);
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  return "device " + std::string(name) + ", driver API " + std::to_string(version) + ", " + date;
}

struct Buffers {
  std::vector<CUdeviceptr> at;
  ~Buffers() {
    for (CUdeviceptr p : at) cuMemFree(p);
  }
};
std::string run(CUmodule module, const Case& c, std::ostream& recording, std::ostream& full, const std::string& where) {
  CUfunction f;
  if (CUresult r = cuModuleGetFunction(&f, module, c.kernel.c_str()))
    return "no kernel " + c.kernel + ": " + message(r);
  Buffers b;
  std::vector<void*> params;
  for (const Array& a : c.arrays) {
    CUdeviceptr p = 0;
    const auto bytes = initial(a);
    if (CUresult r = cuMemAlloc(&p, bytes.size())) return message(r);
    b.at.push_back(p);
    cuMemcpyHtoD(p, bytes.data(), bytes.size());
  }
  for (CUdeviceptr& p : b.at) params.push_back(&p);
  if (c.smem > 48 * 1024)
    cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(c.smem));
  CUlaunchConfig config{};
  config.gridDimX = c.grid[0], config.gridDimY = c.grid[1], config.gridDimZ = c.grid[2];
  config.blockDimX = c.block[0], config.blockDimY = c.block[1], config.blockDimZ = c.block[2];
  config.sharedMemBytes = c.smem;
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = c.cluster[0], attribute.value.clusterDim.y = c.cluster[1],
  attribute.value.clusterDim.z = c.cluster[2];
  config.attrs = &attribute;
  config.numAttrs = c.cluster[0] * c.cluster[1] * c.cluster[2] > 1 ? 1 : 0;
  if (CUresult r = cuLaunchKernelEx(&config, f, params.data(), nullptr)) return "launch: " + message(r);
  if (CUresult r = cuCtxSynchronize()) return "run: " + message(r);
  char head[64];
  std::snprintf(head, sizeof head, " inputs %016llx", static_cast<unsigned long long>(inputs_hash(c)));
  recording << "case " << c.kernel << head << "\n";
  for (std::size_t k = 0; k < c.arrays.size(); ++k) {
    const Array& a = c.arrays[k];
    if (a.role == Array::Role::In) continue;
    std::vector<std::uint8_t> bytes(a.bytes());
    cuMemcpyDtoH(bytes.data(), b.at[k], bytes.size());
    recording << "out " << a.name << " " << summarize(bytes) << "\n";
    full << where << " " << c.kernel << " " << a.name << " " << bytes.size() << "\n";
    full.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: record OUTPUT_DIRECTORY FILE.ptx..\n"), 2;
  CUdevice device;
  CUcontext context;
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
    return std::fprintf(stderr, "no GPU\n"), 2;
  const std::string to = argv[1], origin = stamp();
  std::ofstream full(to + "/full.bin", std::ios::binary);
  int failures = 0;
  for (int k = 2; k < argc; ++k) {
    const File f = load(argv[k]);
    if (!f.errors.empty() || f.cases.empty()) continue;
    const std::string where = chapter_of(f.path) + "." + f.name;
    CUmodule module;
    char log[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    if (CUresult r = cuModuleLoadDataEx(&module, f.text.c_str(), 2, options, values)) {
      std::printf("%s: load: %s\n%s\n", argv[k], message(r).c_str(), log), ++failures;
      continue;
    }
    std::ofstream recording(to + "/" + where + ".txt");
    recording << "# " << origin << "\n";
    for (const Case& c : f.cases) {
      const std::string problem = run(module, c, recording, full, where);
      if (!problem.empty()) std::printf("%s: %s: %s\n", argv[k], c.kernel.c_str(), problem.c_str()), ++failures;
    }
    cuModuleUnload(module);
  }
  std::printf("%d files, %d problems; %s\n", argc - 2, failures, origin.c_str());
  return failures != 0;
}
