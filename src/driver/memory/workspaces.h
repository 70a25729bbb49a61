// SPDX-License-Identifier: Apache-2.0
// Words of ours in device memory that kernels use: in which the blocks of a cooperative grid count who has come to its
// barrier, values of conditional handles.
#pragma once
#include <mutex>
#include <vector>

#include "memory/address_space.h"

namespace us::probe {
class Observer;
}

namespace us::driver {

class Workspaces {
 public:
  static constexpr u64 kBytes = 64;  // of one user
  Workspaces(memory::AddressSpace& s, probe::Observer* o) : space_(s), observer_(o) {}
  u64 take();  // zeros; 0: no memory
  void put(u64);

 private:
  void tell(u64 at, bool there) const;
  memory::AddressSpace& space_;
  probe::Observer* const observer_;  // or null
  std::mutex m_;                     // guards free_
  std::vector<u64> free_;
};

}  // namespace us::driver
