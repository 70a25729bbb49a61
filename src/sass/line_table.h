// SPDX-License-Identifier: Apache-2.0
// Which line an instruction comes from. A cubin has two tables in the same format: .debug_line names lines of CUDA
// source with the calls that were inlined, .nv_debug_line_sass lines of the PTX (written by `ptxas -lineinfo`).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sass/elf.h"

namespace us::sass {

struct SourceLine {
  std::string file;
  u32 line = 0;
  std::string function;  // that was inlined here, as in the PTX; empty: not inlined
  bool operator==(const SourceLine&) const = default;
};

class LineTable {
 public:
  static LineTable read(const Elf&, std::string_view section);
  bool empty() const { return by_section_.empty(); }
  // The line of an instruction, then the call that brought it here, and so on to the function itself; empty: not known.
  std::vector<SourceLine> lines_of(u32 section, u64 offset) const;
  u32 line_of(u32 section, u64 offset) const;  // without the calls; 0: not known

 private:
  friend class LineProgram;
  struct Row {
    u64 offset = 0;
    u32 file = 0, line = 0;  // file: in files_
    u32 context = 0;         // 1 + index in rows_ of the call; 0: not inlined
    u32 function = 0;        // offset in names_
  };
  const Row* find(u32 section, u64 offset) const;
  std::vector<std::string> files_{""};
  std::vector<Row> rows_;
  std::map<u32, std::vector<std::pair<u64, u32>>> by_section_;  // offset, row; the last of an offset counts
  std::string names_;
};

}  // namespace us::sass
