// SPDX-License-Identifier: Apache-2.0
// Does anything depend on what an instruction answers? By following its registers to branches, memory and whatever else
// has an effect.
#pragma once
#include <unordered_map>
#include <vector>

#include "ir/ir.h"

namespace us::driver {

class Consequences {
 public:
  explicit Consequences(const ir::Function&);
  bool ignored(const ir::Inst&) const;  // it answers in registers, and nothing depends on them

 private:
  struct Uses {
    std::vector<const ir::Inst*> by;
    bool elsewhere = false;  // by a branch
  };
  bool matters(ir::ValueId, std::vector<u32>& seen) const;
  std::unordered_map<u32, Uses> uses_;
};

}  // namespace us::driver
