// SPDX-License-Identifier: Apache-2.0
#include "ir/ir.h"

namespace us::ir {

Width width_of(isa::Type t) {
  if (t == isa::Type::pred) return Width::Pred;
  const u32 bits = isa::bits_of(t);
  return bits <= 8    ? Width::B8
         : bits <= 16 ? Width::B16
         : bits <= 32 ? Width::B32
         : bits <= 64 ? Width::B64
                      : Width::B128;
}

Function* Module::find(const std::string& name) {
  for (Function& f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

const Symbol* Module::find_symbol(const std::string& name) const {
  for (const Symbol& s : symbols)
    if (s.name == name) return &s;
  return nullptr;
}

}  // namespace us::ir
