// SPDX-License-Identifier: Apache-2.0
// What a launch costs line by line: machine instructions, statements of the PTX, lines of the program, linked.
#pragma once
#include "sass/decode.h"
#include "timing/launch_profile.h"
#include "tools/source_lines.h"

namespace us::tools {

struct SourceCosts {
  probe::Count ptx;          // executed instructions of the PTX
  u64 warps = 0, lanes = 0;  // executed machine instructions
  timing::GlobalAccesses global;
  timing::SharedAccesses shared;
  u64 stalls[timing::kStalls] = {};  // cycles of warps

  u64 stalled() const;
  timing::Stall most() const;  // of stalled()
  SourceCosts& operator+=(const SourceCosts&);
};

struct SourceView {
  static constexpr u32 kNone = timing::Listing::kNone;
  struct Line {  // of the PTX, or of the program
    std::string file;
    u32 line = 0;
    std::string text;  // empty: not at hand
    SourceCosts costs;
    std::vector<u32> sass{};  // instructions that come from it
  };
  struct Machine {
    sass::Instruction instruction;
    u32 ptx = kNone, cuda = kNone;  // rows
    SourceCosts costs;
  };
  // What the accesses of a statement take is shared out to the machine instructions that do them, as often as each was
  // executed; the other views have it as it was counted.
  std::vector<Machine> sass;
  std::vector<Line> ptx, cuda;
};
SourceView source_view(const timing::LaunchProfile&, SourceLines&);

std::string short_place(const SourceView::Line&);  // "a.cu:12"

}  // namespace us::tools
