// SPDX-License-Identifier: Apache-2.0
// Which variable the address of an access is made from, as the program's text says: by following its registers to the
// symbols in them. Of functions in either form.
#pragma once
#include <unordered_map>
#include <vector>

#include "ir/ir.h"

namespace us::codegen {

class MadeFrom {
 public:
  MadeFrom(const ir::Module& m, const ir::Function& f);
  // The symbol of the instruction's first address; invalid if there is none, several, or it is not known.
  ir::SymId of(const ir::Inst&) const;

 private:
  struct Root {
    enum class Kind : u8 { None, One, Itself, Unknown } kind = Kind::None;
    ir::SymId symbol;
  };
  static Root both(const Root&, const Root&);    // a sum
  static Root either(const Root&, const Root&);  // a choice
  Root of(const ir::Operand&, u32 depth) const;
  Root of(ir::ValueId, u32 depth) const;
  Root made_by(const ir::Inst&, u32 depth) const;

  const ir::Module& module_;
  std::unordered_map<u32, std::vector<const ir::Inst*>> definitions_;
  std::unordered_map<u32, std::vector<const ir::Operand*>> choices_;  // phis, and what a guard lets stand
  mutable std::unordered_map<u32, Root> known_;                       // Itself: it is being looked at
};

}  // namespace us::codegen
