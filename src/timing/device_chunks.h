// SPDX-License-Identifier: Apache-2.0
// What allocating device memory takes of the host. The driver gets it from the device in chunks of 2 MiB, which smaller
// allocations share: a new chunk takes time, and so does one that is given back because it is empty.
#pragma once
#include <map>
#include <unordered_map>

#include "probe/observer.h"
#include "timing/parameters.h"

namespace us::timing {

class DeviceChunks {
 public:
  // ns, of cudaMalloc, cudaFree and what is like them; 0 for other memory.
  double change(const Parameters&, const probe::Memory&);

 private:
  struct Part {
    u64 chunk = 0, bytes = 0;
  };
  struct OfDevice {
    std::map<u64, u64> used;  // bytes, by number of the chunk
    u64 chunks = 0;           // that there were
  };
  double allocate(const Parameters&, OfDevice&, const probe::Memory&);
  double release(const Parameters&, OfDevice&, const Part&);
  std::map<u32, OfDevice> devices_;
  std::unordered_map<u64, Part> parts_;  // by address
};

}  // namespace us::timing
