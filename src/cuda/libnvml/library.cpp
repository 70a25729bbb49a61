// SPDX-License-Identifier: Apache-2.0
// Initialization and Cleanup, Error Reporting, System Queries; and every function that has nothing to tell of a
// virtual device.
#include "cuda/libnvml/library.h"

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace us::nvml {
namespace {

// The release that first had this version of CUDA (12.9 and 13.0 share no release; the devices report 13.0).
constexpr std::string_view kDriver = "580.65.06", kNvml = "13.580.65.06";

std::atomic<u32> users = 0;

std::array<Handle, driver::kMostDevices> make_handles() {
  std::array<Handle, driver::kMostDevices> all;
  for (u32 i = 0; i < all.size(); ++i) all[i].ordinal = i;
  return all;
}
std::array<Handle, driver::kMostDevices> handles = make_handles();

}  // namespace

bool initialized() { return users > 0; }
Handle* handle_of(u32 ordinal) { return &handles[ordinal]; }

bool is_handle(const Handle* h) {
  for (u32 i = 0; i < cuda::device_count(); ++i)
    if (h == &handles[i]) return true;
  return false;
}

Answer put(std::string_view text, char* out, u32 size) {
  if (size <= text.size()) return InsufficientSize;
  out[text.copy(out, text.size())] = 0;
  return Success;
}

}  // namespace us::nvml

using namespace us;
using namespace us::nvml;

US_NVML nvmlInitWithFlags(unsigned) {
  if (cuda::device_count() == 0) return GpuNotFound;
  ++users;
  return Success;
}
US_NVML nvmlInit_v2() { return nvmlInitWithFlags(0); }
US_NVML nvmlInit() { return nvmlInitWithFlags(0); }

US_NVML nvmlShutdown() {
  for (u32 n = users; n > 0;)
    if (users.compare_exchange_weak(n, n - 1)) return Success;
  return Uninitialized;
}

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(int result) {
  switch (result) {
#define US_NVML_RESULT(code, name, text) \
  case code:                             \
    return text;
#include "cuda/libnvml/results.inc"
#undef US_NVML_RESULT
  }
  return "Unknown Error";
}

US_NVML nvmlSystemGetDriverVersion(char* out, unsigned size) {
  if (const Answer e = check(out)) return e;
  return put(kDriver, out, size);
}

US_NVML nvmlSystemGetNVMLVersion(char* out, unsigned size) {
  if (const Answer e = check(out)) return e;
  return put(kNvml, out, size);
}

US_NVML nvmlSystemGetCudaDriverVersion(int* version) {
  if (!version) return InvalidArgument;  // needs no nvmlInit
  *version = cuda::kVersion;
  return Success;
}
US_NVML nvmlSystemGetCudaDriverVersion_v2(int* version) { return nvmlSystemGetCudaDriverVersion(version); }

US_NVML nvmlSystemGetProcessName(unsigned pid, char* out, unsigned size) {
  if (const Answer e = check(out)) return e;
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  if (!file) return NotFound;
  const std::string line((std::istreambuf_iterator<char>(file)), {});
  return put(line.c_str(), out, size);
}

// Any number of arguments may be passed to such a function: the caller cleans up.
#define US_ENTRY_Full(name)
#define US_ENTRY_Partial(name)
#define US_ENTRY_Stub(name) \
  US_NVML name() { return initialized() ? NotSupported : Uninitialized; }
#define US_ENTRY(name, level, note) US_ENTRY_##level(name)
#include "cuda/libnvml/entry_points.inc"
#undef US_ENTRY
