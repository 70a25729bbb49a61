// SPDX-License-Identifier: Apache-2.0
// A module as PTX and as the machine code made of it, with what connects the two.
#pragma once
#include <memory>
#include <string>

#include "sass/code.h"
#include "sass/program.h"

namespace us::sass {

struct Image {
  std::unique_ptr<const ir::Module> module;  // of the text that was assembled; sites are those of the module that runs
  std::unique_ptr<const Program> program;
  Code code;
  std::string origin;  // what made the machine code, for a person
};

}  // namespace us::sass
