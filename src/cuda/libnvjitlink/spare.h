// SPDX-License-Identifier: Apache-2.0
// Members of archives whose PTX is linked only where something needs it: it is for newer devices than the target, and
// may refer to what no input has.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"

namespace us::nvjitlink {

struct Spare {
  std::string text, name;
  std::unique_ptr<ir::Module> module;
};

// The driver has these, or its device runtime library, which needs no linking here.
bool of_driver(std::string_view name);
bool defined(const ir::Module&, const ir::Symbol&);

// Of `spare` those that define what the modules, and the ones taken before, lack; they leave it.
std::vector<Spare> take_needed(const std::vector<std::unique_ptr<ir::Module>>&, std::vector<Spare>& spare);

}  // namespace us::nvjitlink
