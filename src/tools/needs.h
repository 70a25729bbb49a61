// SPDX-License-Identifier: Apache-2.0
// What an executable or library needs of CUDA, and what of that is here.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/types.h"
#include "ptx/fatbin.h"

namespace us::tools {

class ElfFile;

enum class Answer : u8 { Good, Partly, Bad };
struct Need {
  Answer answer = Answer::Good;
  std::string topic, text;
  std::string advice;  // what to do; empty: nothing
};

// Nothing, if the file has nothing to do with CUDA. `here`: whether a library of that name is one of ours.
std::vector<Need> needs_of(const ElfFile&, const std::string& file, ptx::Target,
                           const std::function<bool(const std::string&)>& here);

}  // namespace us::tools
