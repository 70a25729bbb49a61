// SPDX-License-Identifier: Apache-2.0
// Texts of ours that kernels may read: copies in device memory, made once each.
#pragma once
#include <mutex>
#include <unordered_map>

#include "memory/address_space.h"

namespace us::driver {

class DeviceTexts {
 public:
  explicit DeviceTexts(memory::AddressSpace& s) : space_(s) {}
  u64 of(const char* text);  // a constant of ours; 0: no memory

 private:
  memory::AddressSpace& space_;
  std::mutex m_;  // guards the members below
  std::unordered_map<const char*, u64> known_;
  u64 at_ = 0, end_ = 0;
};

}  // namespace us::driver
