// SPDX-License-Identifier: Apache-2.0
// A launch as the program asked for it, and the rules that hardware applies to it.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "device/gpu.h"
#include "driver/code/function.h"

namespace us::driver {

class Event;
class Stream;

using AttributeBytes = std::array<u8, 64>;  // CUlaunchAttributeValue
struct LaunchAttribute {                    // laid out as CUlaunchAttribute
  int id = 0;
  char pad[4] = {};
  AttributeBytes value = {};
};

// A launch's attributes: its own, and what these leave open the stream's, if there is one.
struct AttributeSource {
  const std::map<int, AttributeBytes>* own = nullptr;
  const Stream* stream = nullptr;
  bool find(int id, AttributeBytes& out) const;
};
// Those that a captured launch takes from its stream.
void keep_stream_attributes(const Stream&, std::map<int, AttributeBytes>& node);

struct LaunchConfig {
  device::Dim3 grid, block;
  device::Dim3 cluster{0, 0, 0}, preferred_cluster{0, 0, 0};  // 0 = not given
  u64 dynamic_shared = 0;
  bool cooperative = false;
  int priority = 0;
  bool has_priority = false;
  // All launch attributes that the program gave.
  const LaunchAttribute* attributes = nullptr;
  u32 attribute_count = 0;
  u64* updatable_out = nullptr;  // of a capture: kernels may change the node; where its handle goes
  bool programmatic_serialization = false;
  std::span<const std::shared_ptr<Event>> begun = {};  // complete when all blocks have begun; not for captures
};

// Either an array of pointers to the arguments, or one block of bytes laid out as the kernel expects.
struct LaunchArgs {
  void* const* pointers = nullptr;
  const void* block = nullptr;
  u64 block_bytes = 0;
};

// A block of kernel parameters; a tensor map in it must lie at a multiple of 64.
template <class T>
struct ParamAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlign{64};
  ParamAllocator() = default;
  template <class U>
  explicit ParamAllocator(const ParamAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlign)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kAlign); }
  bool operator==(const ParamAllocator&) const { return true; }
};
using ParamBlock = std::vector<u8, ParamAllocator<u8>>;

// The cluster shape of a launch. InvalidClusterSize: one that the device or the kernel does not allow, or that does not
// divide the grid.
Error cluster_of(const DeviceSpec&, const Function&, const LaunchConfig&, device::Dim3& cluster);
// The error hardware gives for this launch, and the cluster shape it would use.
Error validate(const Function&, const LaunchConfig&, device::Dim3& cluster);
device::LaunchRecord record_of(const Function&, const LaunchConfig&, const AttributeSource&);

}  // namespace us::driver
