// SPDX-License-Identifier: Apache-2.0
// The rows of opcodes.inc, taken apart once. README.md of this room describes their notation.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sass/word.h"

namespace us::sass {

// What an instruction is about.
enum class Family : u8 {
  Integer,
  Float,
  Double,
  Half,
  Convert,
  Special,
  Move,
  Predicate,
  Matrix,
  Load,
  Store,
  Atomic,
  AsyncCopy,
  Mbarrier,
  Texture,
  Surface,
  Warp,
  Barrier,
  Fence,
  Control,
  Other
};
std::string_view name_of(Family);

// Where an instruction may go besides the next one.
enum class Flow : u8 { Next, Branch, Indirect, Call, Return, Exit, Region, Join, Collective };

struct Field {
  u8 at = 0, width = 0;
};

struct Modifier {
  Field field;                        // width 0: always printed
  u8 low_bit = 0;                     // another bit, below the field
  bool tile = false;                  // ".64xN", N eight times the field and one more
  std::vector<std::string> values{};  // by value; empty: nothing is printed; "?": not known
};

struct Pattern {
  char kind = 0;          // as in the row
  bool optional = false;  // left out when neutral
  bool written = false, read = true;
  bool negate = false, absolute = false, complement = false;
  u8 at = 0, width = 0;  // where not given by the kind
  u32 neutral = 0;
  char size = '1';            // registers: 1, 2, 4, ..; m: by the width of the access; others in decode.cpp
  Field only_if{};            // printed only if this bit is ..
  bool only_if_value = true;  // .. this
  bool high_form = false;     // printed only with .HI that does not sign-extend
  std::string literal{};
  std::vector<Modifier> suffixes{};
};

struct Opcode {
  u16 code = 0;  // the low 9 bits
  u8 forms = 0;  // which values of the 3 bits above exist, one bit each
  std::string name;
  std::vector<Modifier> modifiers{};
  std::vector<Field> unused{};  // bits without meaning
  struct Condition {
    Field field;
    u32 value = 0;
  };
  std::vector<Condition> conditions{};  // what tells this row from others of the code
  bool uniform_guard = false;           // the guard is a predicate of the warp
  char immediate = 'x';                 // how an immediate is printed
  std::vector<Pattern> operands{};
  Family family = Family::Other;
  Flow flow = Flow::Next;
};

const Opcode* find_opcode(Word);
const std::vector<Opcode>& all_opcodes();

}  // namespace us::sass
