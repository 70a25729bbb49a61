// SPDX-License-Identifier: Apache-2.0
// What `understudy ptx` says about a module: kernels, their resources, and which of their instructions we can execute.
#pragma once
#include <map>
#include <span>

#include "base/types.h"
#include "ir/ir.h"
#include "ptx/fatbin.h"

namespace us::tools {

struct FunctionFacts {
  std::string name, readable;
  bool kernel = false;
  struct Parameter {
    std::string name, type;
    u32 bytes = 0, align = 1;
  };
  std::vector<Parameter> parameters;
  u32 parameter_bytes = 0, shared_bytes = 0, local_bytes = 0;
  std::map<std::string, u32> registers;  // virtual ones, by class: "pred", "b32"
  u32 blocks = 0, instructions = 0;
  std::vector<std::string> limits;  // ".maxntid 256,1,1" and the like
};

struct ModuleFacts {
  std::string source;  // "app: .nv_fatbin entry 1"
  std::vector<Diag> problems;
  std::string target;
  u32 version = 0;
  std::vector<FunctionFacts> functions;
  u32 instructions = 0;
  std::map<std::string, u32> implemented;    // forms used: pattern → how often
  std::map<std::string, u32> unimplemented;  // known forms without semantics: pattern → how often
  std::map<std::string, u32> unknown;        // mnemonics that match no form
  std::vector<std::string> external;         // functions that must come from elsewhere
};

ModuleFacts examine_module(const ir::Module&);

// A text of PTX and where it was found; or why there is none for the device.
struct PtxText {
  std::string source, text;
  std::vector<Diag> problems;
};

// A fat binary of an executable or library: what it holds (ptx::list_entries), and what a device makes of it.
// Linked machine code of relocatable device code runs by the PTX that the images it was linked from carry.
struct CodeImage {
  std::vector<std::string> entries;
  enum class Fit { Runs, Newer, None } fit = Fit::None;  // Newer: by PTX of a newer architecture
  bool linked_from = false;                              // one of those that others were linked from
  std::vector<std::string> kernels = {};                 // of machine code without PTX, where it can be read
  std::vector<std::string> without_ptx = {};             // of these, what no image it was linked from has as PTX
};
class ElfFile;
std::vector<CodeImage> code_in(const ElfFile&, ptx::Target);  // empty ones left out
Result<std::vector<PtxText>> read_ptx(const std::string& file,
                                      ptx::Target);  // .ptx, fat binary, or ELF with fat binaries

}  // namespace us::tools
