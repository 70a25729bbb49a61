// SPDX-License-Identifier: Apache-2.0
// The PTX side of a map: statements and basic blocks of a module, in the order of its text.
#pragma once
#include <string_view>
#include <vector>

#include "ir/ir.h"

namespace us::sass {

class Program {
 public:
  static constexpr u32 kNone = ~u32{0};
  struct Statement {
    u32 site = kNone, line = 0, block = 0;  // block: in blocks()
    // Machine code may have a short way for it, and a subroutine: the first of two blocks without statements that stand
    // for its shortest and its longest way, behind all others.
    u32 detours = kNone;
    const ir::Inst* inst = nullptr;  // or
    const ir::Terminator* term = nullptr;
  };
  // A block of the PTX, or what lies between its calls; or a detour (Statement::detours).
  struct Block {
    u32 function = 0;         // in the module
    u32 first = 0, end = 0;   // in statements()
    std::vector<u32> next{};  // blocks of the same function
    u32 depth = 0;            // in how many loops
  };

  // `line_of_site`: of each site of the module, where its statement stands in the text that was assembled. The module
  // stays.
  Program(const ir::Module&, const std::vector<u32>& line_of_site);
  const ir::Module& module() const { return module_; }
  const std::vector<Statement>& statements() const { return statements_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  u32 first_block_of(std::string_view function) const;  // kNone: it has no body
  u32 block_of_site(u32 site) const { return site < block_of_site_.size() ? block_of_site_[site] : kNone; }
  bool is_detour(u32 block) const { return block >= first_detour_; }
  u32 detour_of_site(u32 site, bool longest) const {
    return site < detours_of_site_.size() && detours_of_site_[site] != kNone ? detours_of_site_[site] + longest : kNone;
  }
  u32 statement_at(u32 line) const { return line < at_line_.size() ? at_line_[line] : kNone; }

 private:
  void add(const ir::Inst*, const ir::Terminator*, u32 site, const std::vector<u32>& line_of_site);
  void find_depths(u32 function, u32 first);
  void add_detours();
  u32 first_detour_ = 0;
  const ir::Module& module_;
  std::vector<Statement> statements_;
  std::vector<Block> blocks_;
  std::vector<u32> block_of_site_, detours_of_site_, at_line_, first_block_;
};

// Of each site of a module parsed from text without locations, its line.
std::vector<u32> lines_of_sites(const ir::Module&);
// How many loops each block is in.
std::vector<u32> loop_depths(const std::vector<std::vector<u32>>& next, u32 entry);

}  // namespace us::sass
