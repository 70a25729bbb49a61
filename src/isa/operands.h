// SPDX-License-Identifier: Apache-2.0
// The `operands` column of instructions.inc, taken apart. Notation: README.md.
#pragma once
#include <vector>

#include "isa/isa.h"

namespace us::isa {

struct OperandSpec {
  enum class Want : u8 {
    Fixed,
    Indexed,
    Wide,
    Any,
    AnyAddress,
    Literal
  };                      // Fixed: `type`; Indexed, Wide: types[index]
  std::string_view text;  // as in the row, for messages
  char name = 0;
  bool dest = false;
  bool pipe = false;        // follows '|': an optional second destination
  bool vector = false;      // may be {..}
  bool address = false;     // [..]
  bool in_bracket = false;  // flattened out of the bracket of the address before it
  bool optional = false;
  bool wider = false;           // register may be wider than the type
  bool register_only = false;   // no literal, no special register
  bool condition_code = false;  // not written
  i8 copy_of = -1;              // not written: a copy of that operand
  Want want = Want::Indexed;
  Type type = Type::None;
  u8 index = 0;
  std::vector<Tok> present_if;  // not empty: present exactly when one of these is in the mnemonic
  bool written() const { return !condition_code && copy_of < 0; }
};

struct OperandList {
  std::vector<OperandSpec> specs;  // one per entry of ir::Inst::ops
  i8 membermask = -1;              // the operand `m` of a .sync instruction: which lanes take part
  bool takes_vec = false;          // the pattern has .v2, .v4 or .v8, so vectors have exactly that many elements
};
const OperandList& operands_of(Form);

}  // namespace us::isa
