// SPDX-License-Identifier: Apache-2.0
#include "real_gpu.h"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace fuzz {

using us::u32;

struct RealGpu::Driver {
  void* library = nullptr;
  CUmodule module = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr buffers[4] = {};
  char device[96] = "";

// clang-format off
#define US_CALLS(X) \
  X(cuInit) \
  X(cuDeviceGet) \
  X(cuDeviceGetName) \
  X(cuDevicePrimaryCtxRetain) \
  X(cuCtxSetCurrent) \
  X(cuModuleLoadDataEx) \
  X(cuModuleUnload) \
  X(cuModuleGetFunction) \
  X(cuMemAlloc_v2) \
  X(cuMemcpyHtoDAsync_v2) \
  X(cuMemcpyDtoHAsync_v2) \
  X(cuLaunchKernel) \
  X(cuStreamCreate) \
  X(cuStreamSynchronize)
// clang-format on
#define US_MEMBER(f) decltype(&::f) f = nullptr;
  US_CALLS(US_MEMBER)
#undef US_MEMBER

  // Compiles; empty on success, else the assembler's words.
  std::string compile(const std::string& text) {
    static char log[1 << 16];
    log[0] = 0;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    module = nullptr;
    const CUresult r = cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
    if (r == CUDA_SUCCESS) return "";
    return log[0] ? log : "error " + std::to_string(r) + "\n";
  }
};

namespace {
// The number after `word` in `line`.
bool number_after(const std::string& line, const char* word, std::size_t& out) {
  const std::size_t at = line.find(word);
  if (at == std::string::npos) return false;
  out = std::strtoull(line.c_str() + at + std::strlen(word), nullptr, 10);
  return true;
}

// The kernels of `text` in whose lines (or whose function's) the assembler found something; it says "line N".
std::vector<std::size_t> named(const std::string& text, const std::string& words, std::vector<std::string>& refusals) {
  std::vector<std::string> lines(1);
  for (char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back().push_back(c);
  std::vector<std::size_t> of_line(lines.size() + 1), out;
  for (std::size_t k = 0, now = 0; k < lines.size(); ++k) {
    if (!number_after(lines[k], ".entry k", now) && lines[k].rfind(".func", 0) == 0) number_after(lines[k], ") F", now);
    of_line[k + 1] = now;
  }
  for (std::size_t at = 0; (at = words.find("line ", at)) != std::string::npos; ++at) {
    const std::size_t line = std::strtoull(words.c_str() + at + 5, nullptr, 10);
    if (!line || line >= of_line.size()) continue;
    out.push_back(of_line[line]);
    refusals.push_back(words.substr(at, words.find('\n', at) - at) + " @@ " + lines[line - 1]);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// The assembler may fuse a multiplication and an addition that name no rounding (PTX ISA, floating point); these do.
std::string with_rounding(std::string text) {
  for (const char* op : {" add", " sub", " mul"})
    for (const char* next : {".ftz", ".sat.f", ".f32", ".f64", ".f16", ".bf16"}) {
      const std::string from = std::string(op) + next, to = std::string(op) + ".rn" + next;
      for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    }
  return text;
}
}  // namespace

RealGpu::RealGpu(std::unique_ptr<Driver> d) : driver_(std::move(d)) {}
RealGpu::~RealGpu() = default;  // the process ends with it

std::unique_ptr<RealGpu> RealGpu::open(std::string& why) {
  auto d = std::make_unique<Driver>();
  d->library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!d->library) return why = dlerror(), nullptr;
#define US_LOAD(f)                                                \
  d->f = reinterpret_cast<decltype(d->f)>(dlsym(d->library, #f)); \
  if (!d->f) return why = "libcuda.so.1 has no " #f, nullptr;
  US_CALLS(US_LOAD)
#undef US_LOAD
  CUdevice device;
  CUcontext context;
  CUresult r = d->cuInit(0);
  if (!r) r = d->cuDeviceGet(&device, 0);
  if (!r) r = d->cuDeviceGetName(d->device, sizeof d->device, device);
  if (!r) r = d->cuDevicePrimaryCtxRetain(&context, device);
  if (!r) r = d->cuCtxSetCurrent(context);
  if (!r) r = d->cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING);
  if (r) return why = "the driver answers " + std::to_string(r), nullptr;
  return std::unique_ptr<RealGpu>(new RealGpu(std::move(d)));
}

std::string RealGpu::name() const { return driver_->device; }

const std::vector<bool>& RealGpu::load(std::size_t n,
                                       const std::function<std::string(const std::vector<std::size_t>&)>& text_of,
                                       std::vector<std::string>& refusals) {
  if (driver_->module) driver_->cuModuleUnload(driver_->module);
  driver_->module = nullptr;
  accepted_.assign(n, true);
  for (;;) {
    std::vector<std::size_t> left;
    index_.assign(n, 0);
    for (std::size_t k = 0; k < n; ++k)
      if (accepted_[k]) index_[k] = left.size(), left.push_back(k);
    if (left.empty()) return accepted_;
    const std::string text = with_rounding(text_of(left)), words = driver_->compile(text);
    if (words.empty()) return accepted_;
    const std::vector<std::size_t> bad = named(text, words, refusals);
    if (bad.empty()) {
      refusals.push_back(words);
      accepted_.assign(n, false);
      return accepted_;
    }
    for (std::size_t k : bad)
      if (k < left.size()) accepted_[left[k]] = false;
  }
}

std::string RealGpu::run(std::size_t k, u32 blocks, u32 threads, const std::vector<std::vector<u32>*>& buffers) {
  Driver& d = *driver_;
  CUfunction f;
  CUresult r = d.cuModuleGetFunction(&f, d.module, ("k" + std::to_string(index_[k])).c_str());
  void* arguments[4];
  for (std::size_t b = 0; b < buffers.size() && !r; ++b) {
    const std::size_t bytes = buffers[b]->size() * 4;
    if (!d.buffers[b]) r = d.cuMemAlloc_v2(&d.buffers[b], bytes);
    if (!r) r = d.cuMemcpyHtoDAsync_v2(d.buffers[b], buffers[b]->data(), bytes, d.stream);
    arguments[b] = &d.buffers[b];
  }
  if (!r) r = d.cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, d.stream, arguments, nullptr);
  for (std::size_t b = 1; b < buffers.size() && !r; ++b)
    r = d.cuMemcpyDtoHAsync_v2(buffers[b]->data(), d.buffers[b], buffers[b]->size() * 4, d.stream);
  if (!r) r = d.cuStreamSynchronize(d.stream);
  return r ? "the driver answers " + std::to_string(r) : "";
}

}  // namespace fuzz
