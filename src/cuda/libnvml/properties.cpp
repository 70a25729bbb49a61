// SPDX-License-Identifier: Apache-2.0
// Device Queries: what the devices are.
#include "cuda/libnvml/library.h"

using namespace us;
using namespace us::nvml;
using driver::Attribute;
using driver::Quantity;

namespace {

struct Architecture {
  u32 major, minor;  // of the compute capability: from here on
  u32 number;        // nvmlDeviceArchitecture_t
  u32 cores;         // f32 lanes of a multiprocessor (CUDA programming guide, arithmetic throughput)
};
constexpr Architecture kArchitectures[] = {{12, 0, 10, 128}, {10, 0, 10, 128}, {9, 0, 9, 128},
                                           {8, 9, 8, 128},   {8, 6, 7, 128},   {8, 0, 7, 64}};

const Architecture* architecture_of(const Handle* d) {
  const auto major = static_cast<u32>(fact(d, Attribute::COMPUTE_CAPABILITY_MAJOR));
  const auto minor = static_cast<u32>(fact(d, Attribute::COMPUTE_CAPABILITY_MINOR));
  for (const Architecture& a : kArchitectures)
    if (major > a.major || (major == a.major && minor >= a.minor)) return &a;
  return nullptr;
}

Answer put_attribute(Handle* d, Attribute a, unsigned* out) {
  if (const Answer e = check_device(d, out)) return e;
  *out = static_cast<unsigned>(fact(d, a));
  return Success;
}

struct Attributes {  // nvmlDeviceAttributes_t
  u32 multiprocessors, copy_engines, decoders, encoders, jpeg, ofa, gpu_slices, compute_slices;
  u64 memory_mb;
};

}  // namespace

US_NVML nvmlDeviceGetCudaComputeCapability(Handle* d, int* major, int* minor) {
  if (const Answer e = check_device(d, major, minor)) return e;
  *major = static_cast<int>(fact(d, Attribute::COMPUTE_CAPABILITY_MAJOR));
  *minor = static_cast<int>(fact(d, Attribute::COMPUTE_CAPABILITY_MINOR));
  return Success;
}

US_NVML nvmlDeviceGetArchitecture(Handle* d, unsigned* architecture) {
  if (const Answer e = check_device(d, architecture)) return e;
  const Architecture* a = architecture_of(d);
  *architecture = a ? a->number : 0xffffffffu;
  return Success;
}

US_NVML nvmlDeviceGetNumGpuCores(Handle* d, unsigned* cores) {
  if (const Answer e = check_device(d, cores)) return e;
  const Architecture* a = architecture_of(d);
  if (!a) return NotSupported;
  *cores = a->cores * static_cast<u32>(fact(d, Attribute::MULTIPROCESSOR_COUNT));
  return Success;
}

US_NVML nvmlDeviceGetMemoryBusWidth(Handle* d, unsigned* bits) {
  return put_attribute(d, Attribute::GLOBAL_MEMORY_BUS_WIDTH, bits);
}
US_NVML nvmlDeviceGetComputeMode(Handle* d, unsigned* mode) { return put_attribute(d, Attribute::COMPUTE_MODE, mode); }
US_NVML nvmlDeviceGetMultiGpuBoard(Handle* d, unsigned* several) {
  return put_attribute(d, Attribute::MULTI_GPU_BOARD, several);
}

US_NVML nvmlDeviceGetEccMode(Handle* d, unsigned* current, unsigned* pending) {
  if (const Answer e = check_device(d, current, pending)) return e;
  *current = *pending = static_cast<unsigned>(fact(d, Attribute::ECC_ENABLED));
  return Success;
}

US_NVML nvmlDeviceGetMigMode(Handle* d, unsigned* current, unsigned* pending) {
  if (const Answer e = check_device(d, current, pending)) return e;
  if (fact(d, Attribute::COMPUTE_CAPABILITY_MAJOR) < 8) return NotSupported;
  *current = *pending = 0;  // devices are whole
  return Success;
}
US_NVML nvmlDeviceIsMigDeviceHandle(Handle* d, unsigned* is) {
  if (const Answer e = check_device(d, is)) return e;
  *is = 0;
  return Success;
}

// Graphics and multiprocessors run at one clock, which is the one that %clock64 counts.
US_NVML nvmlDeviceGetMaxClockInfo(Handle* d, unsigned type, unsigned* mhz) {
  if (const Answer e = check_device(d, mhz)) return e;
  enum Clock : unsigned { GraphicsClock, SmClock, MemoryClock, VideoClock };
  constexpr i64 kKhz = 1000;
  if (type == VideoClock) return NotSupported;
  if (type > VideoClock) return InvalidArgument;
  const auto rate = type == MemoryClock ? Attribute::MEMORY_CLOCK_RATE : Attribute::CLOCK_RATE;
  *mhz = static_cast<unsigned>(fact(d, rate) / kKhz);
  return Success;
}
US_NVML nvmlDeviceGetClockInfo(Handle* d, unsigned type, unsigned* mhz) {
  return nvmlDeviceGetMaxClockInfo(d, type, mhz);
}

US_NVML nvmlDeviceGetAttributes_v2(Handle* d, Attributes* out) {
  if (const Answer e = check_device(d, out)) return e;
  *out = {};
  out->multiprocessors = static_cast<u32>(fact(d, Attribute::MULTIPROCESSOR_COUNT));
  out->copy_engines = static_cast<u32>(fact(d, Attribute::ASYNC_ENGINE_COUNT));
  out->memory_mb = static_cast<u64>(fact(d, Quantity::TotalMemory)) >> 20;
  return Success;
}
US_NVML nvmlDeviceGetAttributes(Handle* d, Attributes* out) { return nvmlDeviceGetAttributes_v2(d, out); }

// Devices of one process reach each other, as a real machine's behind one switch, but no NVLink is modelled.
US_NVML nvmlDeviceGetP2PStatus(Handle* a, Handle* b, unsigned capability, unsigned* status) {
  if (const Answer e = check_device(a, status)) return e;
  enum Capability : unsigned { Read, Write, Nvlink, Atomics, Pci };
  constexpr unsigned kOk = 0, kNotSupported = 5;
  if (!is_handle(b) || capability > Pci) return InvalidArgument;
  *status = capability == Nvlink || capability == Pci ? kNotSupported : kOk;
  return Success;
}
