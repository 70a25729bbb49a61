// SPDX-License-Identifier: Apache-2.0
// The seam between the part of codegen that every process has (cache, loader) and the part with LLVM, which is a
// library of its own and opened on the first cache miss.
#pragma once
#include "codegen/jit.h"

namespace us::codegen {

// One relocatable x86-64 ELF object with one function `kernel`, and what the device must know about it.
struct ObjectCode {
  std::vector<u8> elf;
  bool yields = false;
  u32 local_bytes = 0;
  bool its = false;
  bool whole_cta = false;
  bool triggers = false;
  bool shares = false;
  std::vector<PassTime> times;
  std::string dump;   // text of --dump-after
  std::string error;  // why there is no code
};

// Exported by the LLVM library under these names.
extern "C" {
using CompileFn = void (*)(const ir::Module*, const char* kernel, const Variant*, const Options*, ObjectCode* out);
using LineOfFn = void (*)(const std::vector<u8>* elf, u64 text_offset, std::string* out);  // "file:line" or empty
}
inline constexpr const char* kCompileSymbol = "understudy_codegen_compile";
inline constexpr const char* kLineOfSymbol = "understudy_codegen_line_of";

}  // namespace us::codegen
