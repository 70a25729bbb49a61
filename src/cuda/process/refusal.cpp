// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/refusal.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "cuda/devices.h"
#include "cuda/last_error.h"
#include "cuda/process/call_trace.h"
#include "cuda/process/check.h"
#include "cuda/process/fidelity.h"
#include "cuda/process/profile.h"

namespace us::cuda {
namespace {

std::atomic<int> code = 0;
std::atomic<bool> forked = false;

constexpr u64 kLeastRoom =
    u64{32} << 30;  // memory of devices, windows, stacks of warps: addresses, hardly any of it used

std::atomic<bool> to_tell = false;

void tell() {
  if (!to_tell.exchange(false)) return;
  rlimit limit = {};
  ::getrlimit(RLIMIT_AS, &limit);
  fmt::print(
      stderr,
      "understudy: this process may map {} MiB of addresses (ulimit -v), a virtual GPU needs {}: CUDA calls fail with "
      "\"out of memory\". Limit memory in another way, by a control group say\n",
      limit.rlim_cur >> 20, kLeastRoom >> 20);
  fidelity().shortfall(Shortfall::Refused, "every call: too few addresses (ulimit -v)");
}

// Any number of arguments may be passed to these: the caller cleans up.
int refuse_driver_call() {
  tell();
  return code;
}
int refuse_runtime_call() {
  tell();
  return record_error(code);
}
long no_handle() { return 0; }

template <class F>
EntryFn entry(F* f) {
  return reinterpret_cast<EntryFn>(f);
}

// What needs no driver, and what needs none once the runtime API has been used (tests/api/forked_child.cu, on an H100).
constexpr std::string_view kAnswered[] = {"cuGetErrorName",        "cuGetErrorString",     "cuDriverGetVersion",
                                          "cuGetProcAddress",      "cuGetProcAddress_v2",  "cuGetExportTable",
                                          "cudaGetErrorName",      "cudaGetErrorString",   "cudaDriverGetVersion",
                                          "cudaRuntimeGetVersion", "cudaCreateChannelDesc"};
constexpr std::string_view kKnown[] = {"cudaGetLastError", "cudaPeekAtLastError", "cudaGetDeviceCount",
                                       "cudaGetDeviceProperties"};

bool answered(std::string_view name) {
  const auto among = [name](const auto& list) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
  };
  if (among(kAnswered)) return true;
  return runtime_initialized() && (among(kKnown) || name.starts_with("cudaGetDriverEntryPoint"));
}
// Called as a program and its libraries come and go.
bool registers(std::string_view name) {
  return name.starts_with("__cudaRegister") || name.starts_with("__cudaUnregister") || name == "__cudaInitModule";
}

}  // namespace

void refuse_all(driver::Error e) { code = static_cast<int>(e); }
bool refusing() { return code != 0; }
bool in_refused_child() { return forked; }

void refuse_without_room() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  void* const room = ::mmap(nullptr, kLeastRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) {
    ::munmap(room, kLeastRoom);
    return;
  }
  refuse_all(driver::Error::OutOfMemory);
  to_tell = true;
}

bool refuse_in_child() {
  forked = initialized();
  if (forked)
    refuse_all(driver::Error::NotInitialized);
  else
    record_in_child();
  check_in_child();
  profile_in_child();
  return forked;
}

EntryFn runtime_slot(u32 row) {
  if (!refusing()) return noted_runtime(row);
  const Entry& e = runtime_entries()[row];
  if (answered(e.name)) return e.implementation;
  return registers(e.name) ? entry(no_handle) : entry(refuse_runtime_call);
}

EntryFn driver_slot(u32 row) {
  if (!refusing()) return noted_driver(row);
  const Entry& e = driver_entries()[row];
  return answered(e.name) ? e.implementation : entry(refuse_driver_call);
}

}  // namespace us::cuda
