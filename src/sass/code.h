// SPDX-License-Identifier: Apache-2.0
// The machine code of a cubin, function by function: instructions, the lines they come from, names of places.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sass/decode.h"
#include "sass/line_table.h"

namespace us::sass {

// One section of code: a kernel, or a function that others call; with the subroutines that the assembler put behind it.
struct Function {
  std::string name;
  bool kernel = false;
  std::vector<Instruction> instructions;            // every 16 bytes one
  std::vector<u32> ptx_lines;                       // of each; 0: not known. Empty: the cubin does not say
  std::vector<std::vector<SourceLine>> cuda_lines;  // of each, innermost first
  std::map<u64, std::string> places;                // functions that begin here, by offset
  std::map<u64, std::vector<u64>> branch_targets;   // of computed branches, by offset
  std::map<u64, std::string> unresolved;            // instructions whose operand a linker fills in: the symbol
};

struct Code {
  u32 sm = 0;
  std::vector<std::string>
      ptx;  // the text that ptx_lines count in, without comments; empty: the cubin does not hold it
  std::vector<Function> functions{};
  const Function* find(std::string_view name) const;
};

// Only code for sm_90 is decoded; a cubin for another device is a Diag that names it.
Result<Code> read_code(std::span<const u8> elf);

}  // namespace us::sass
