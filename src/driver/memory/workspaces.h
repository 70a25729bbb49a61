// SPDX-License-Identifier: Apache-2.0
// Words of ours in device memory that kernels use: in which the blocks of a cooperative grid count who has come to its barrier,
// values of conditional handles.
#pragma once
#include <mutex>
#include <vector>

#include "memory/address_space.h"

namespace us::driver {

class Workspaces {
 public:
  static constexpr u64 kBytes = 64;  // of one user
  explicit Workspaces(memory::AddressSpace& s) : space_(s) {}
  u64 take();  // zeros; 0: no memory
  void put(u64);

 private:
  memory::AddressSpace& space_;
  std::mutex m_;
  std::vector<u64> free_;
};

}  // namespace us::driver
