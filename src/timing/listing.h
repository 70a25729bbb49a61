// SPDX-License-Identifier: Apache-2.0
// The machine code of a kernel and the lines it comes from, as reports show it. Plain data, once for all launches.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sass/image.h"

namespace us {
class PackedReader;
}

namespace us::timing {

struct Listing {
  static constexpr u32 kNone = ~u32{0};
  struct Instruction {
    sass::Word word;
    u32 ptx_line = 0;       // in the text that was assembled; 0: not known
    u32 place = kNone;      // of places
    u32 statement = kNone;  // of statements: what it is counted by
  };
  struct Place {  // a line of the program
    std::string file;
    u32 line = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Statement {  // of the kernel's PTX, in the order of its text
    u32 site = 0, line = 0;
    std::string text;
  };

  static Listing of(const sass::Image&, const sass::Function&, const std::vector<u32>& statements, u32 id);

  u32 id = 0;          // in the process
  std::string origin;  // what made the machine code
  std::vector<Instruction> instructions;
  std::vector<Place> places;
  std::vector<Statement> statements;
};

// In a file: of that process, before the launches that name it.
std::string to_record(const Listing&, u32 process);
struct ListingOfProcess {
  u32 process = 0;
  std::shared_ptr<const Listing> listing;
};
ListingOfProcess get_listing(PackedReader&);

}  // namespace us::timing
