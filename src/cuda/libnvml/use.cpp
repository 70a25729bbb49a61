// SPDX-License-Identifier: Apache-2.0
// Device Queries: what the devices are doing. A virtual device belongs to its process, so that process is all that
// uses it.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <mutex>

#include "cuda/libnvml/library.h"
#include "cuda/process/device_use.h"

using namespace us;
using namespace us::nvml;
using driver::Quantity;

namespace {

// Nothing is in use as long as the process has not loaded the driver.
cuda::DeviceUse use_of(const Handle* d) {
  cuda::DeviceUse use;
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return use;
  using GetTable = int (*)(const void**, const void*);
  const auto get = reinterpret_cast<GetTable>(dlsym(library, "cuGetExportTable"));
  const void* table = nullptr;
  if (get && get(&table, cuda::kDeviceUseTableId) == 0)
    use = static_cast<const cuda::DeviceUseTable*>(table)->ask(d->ordinal);
  dlclose(library);
  return use;
}

struct MemoryInfo {  // nvmlMemory_t
  u64 total, free, used;
};
struct MemoryInfo2 {  // nvmlMemory_v2_t
  u32 version;
  u64 total, reserved, free, used;
};
struct Rates {  // nvmlUtilization_t: percent
  u32 gpu, memory;
};
struct Process {  // nvmlProcessInfo_t; version 1 has only the first two
  u32 pid;
  u64 used;
  u32 gpu_instance, compute_instance;
};
struct Process1 {
  u32 pid;
  u64 used;
};
constexpr u32 kNoInstance = 0xffffffff;

// How much of the time between two looks kernels ran; looks that follow each other closely share one answer.
class Utilization {
 public:
  u32 percent(const Handle* d) {
    constexpr u64 kPeriod = 1'000'000'000 / 6;  // NVML samples at least that often
    const std::lock_guard l(m_);
    const auto now = std::chrono::steady_clock::now();
    const auto passed = static_cast<u64>((now - then_).count());
    if (passed < kPeriod) return percent_;
    const u64 busy = use_of(d).busy_ns;
    const u64 more = busy > busy_ ? busy - busy_ : 0;  // a forked process begins anew
    percent_ = static_cast<u32>(std::min<u64>(100, more * 100 / passed));
    then_ = now;
    busy_ = busy;
    return percent_;
  }

 private:
  std::mutex m_;
  std::chrono::steady_clock::time_point then_ = std::chrono::steady_clock::now();
  u64 busy_ = 0;
  u32 percent_ = 0;
};
std::array<Utilization, driver::kMostDevices> utilization;

template <class T>
Answer list_processes(Handle* d, unsigned* count, T* out, T own) {
  if (const Answer e = check_device(d, count)) return e;
  const cuda::DeviceUse use = use_of(d);
  const unsigned room = *count, n = use.context ? 1 : 0;
  *count = n;
  if (n > room) return InsufficientSize;
  if (n && !out) return InvalidArgument;
  own.pid = static_cast<u32>(getpid());
  own.used = use.bytes;
  if (n) *out = own;
  return Success;
}

}  // namespace

US_NVML nvmlDeviceGetMemoryInfo(Handle* d, MemoryInfo* out) {
  if (const Answer e = check_device(d, out)) return e;
  const auto total = static_cast<u64>(fact(d, Quantity::TotalMemory));
  const u64 used = use_of(d).bytes;
  *out = {total, total - used, used};
  return Success;
}

US_NVML nvmlDeviceGetMemoryInfo_v2(Handle* d, MemoryInfo2* out) {
  if (const Answer e = check_device(d, out)) return e;
  if (out->version != version_of<MemoryInfo2>(2)) return ArgumentVersionMismatch;
  MemoryInfo m = {};
  nvmlDeviceGetMemoryInfo(d, &m);
  *out = {out->version, m.total, 0, m.free, m.used};
  return Success;
}

US_NVML nvmlDeviceGetUtilizationRates(Handle* d, Rates* out) {
  if (const Answer e = check_device(d, out)) return e;
  const u32 percent = utilization[d->ordinal].percent(d);
  *out = {percent, percent};
  return Success;
}

US_NVML nvmlDeviceGetComputeRunningProcesses(Handle* d, unsigned* count, Process1* out) {
  return list_processes(d, count, out, Process1{});
}
US_NVML nvmlDeviceGetComputeRunningProcesses_v2(Handle* d, unsigned* count, Process* out) {
  return list_processes(d, count, out, Process{0, 0, kNoInstance, kNoInstance});
}
US_NVML nvmlDeviceGetComputeRunningProcesses_v3(Handle* d, unsigned* count, Process* out) {
  return nvmlDeviceGetComputeRunningProcesses_v2(d, count, out);
}

// None draws.
US_NVML nvmlDeviceGetGraphicsRunningProcesses(Handle* d, unsigned* count, void*) {
  if (const Answer e = check_device(d, count)) return e;
  *count = 0;
  return Success;
}
US_NVML nvmlDeviceGetGraphicsRunningProcesses_v2(Handle* d, unsigned* count, void* out) {
  return nvmlDeviceGetGraphicsRunningProcesses(d, count, out);
}
US_NVML nvmlDeviceGetGraphicsRunningProcesses_v3(Handle* d, unsigned* count, void* out) {
  return nvmlDeviceGetGraphicsRunningProcesses(d, count, out);
}
