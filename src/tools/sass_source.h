// SPDX-License-Identifier: Apache-2.0
// The machine code that a file holds for the device, or that the toolkit's assembler makes of its PTX.
#pragma once
#include "ptx/fatbin.h"
#include "sass/code.h"

namespace us::tools {

struct SassImage {
  enum class Origin {
    Shipped,            // lines as far as the file has them
    ShippedRecompiled,  // shipped; assembled again from the PTX with the same bytes, so that lines are known
    Assembled           // by us, from the PTX: the file has no machine code for the device
  } origin = Origin::Shipped;
  std::string source{};  // "app: .nv_fatbin 1"
  std::string note{};    // why lines are missing, or where the code came from
  sass::Code code{};
  std::vector<std::string> ptx{};  // the text that the code's PTX lines count in; empty: not known
  std::vector<Diag> problems{};    // then there is no code
};
std::string_view text_of(SassImage::Origin);

// `ptxas`: a path, "none", or empty: looked for.
Result<std::vector<SassImage>> read_sass(const std::string& file, ptx::Target, const std::string& ptxas);

}  // namespace us::tools
