// SPDX-License-Identifier: Apache-2.0
// One machine instruction of sm_90, read: name, operands as text, what it reads and writes, where it may go.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sass/opcodes.h"
#include "sass/word.h"

namespace us::sass {

enum class Bank : u8 { Register, Predicate, Uniform, UniformPredicate, Barrier };

// Registers in a row. The constant ones (RZ, PT, URZ, UPT) are left out.
struct Access {
  Bank bank = Bank::Register;
  u8 first = 0, count = 1;
  bool operator==(const Access&) const = default;
};

struct Guard {
  u8 predicate = 7;  // 7: always
  bool negated = false;
  bool uniform = false;  // of the warp, not of its lanes
  bool always() const { return predicate == 7 && !negated; }
  bool never() const { return predicate == 7 && negated; }
};

struct Memory {
  enum class Space : u8 { None, Generic, Global, Shared, Local, Constant } space = Space::None;
  u8 bytes = 0;  // per lane; 0: no fixed number
};

struct Instruction {
  u32 offset = 0;  // in its section
  Word word;
  Control control;
  Guard guard;
  const Opcode* opcode = nullptr;  // null: not known
  std::string name;                // "LDG.E.64"
  std::string operands;            // "R2, desc[UR4][R2.64]"
  std::vector<Access> reads, writes;
  Memory memory;
  std::optional<u64> target;   // where a branch goes, in the section
  Word unknown;                // bits that are set and that no row explains
  bool unknown_value = false;  // a field has a value without a name

  bool complete() const { return opcode && !unknown_value && unknown == Word{}; }
  Flow flow() const { return opcode ? opcode->flow : Flow::Next; }
  bool conditional = false;  // a predicate decides about it, or whether lanes are apart
  std::string text() const;  // as the toolkit's disassembler prints it, targets as offsets
};

Instruction decode(Word, u32 offset);
std::string guard_text(const Guard&);

}  // namespace us::sass
