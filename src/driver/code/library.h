// SPDX-License-Identifier: Apache-2.0
// Code before it belongs to a context: an image (fat binary or PTX text) and the names in it. CUlibrary and CUkernel,
// and also what the runtime API registers: a fat binary is a Library, a host stub is a Kernel.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "driver/code/assembler.h"
#include "driver/code/resources.h"
#include "driver/error.h"
#include "ir/ir.h"
#include "sass/image.h"

namespace us::driver {

class Library;
class Runtime;
struct ManagedVariables;

struct Kernel {
  Library* library = nullptr;
  std::string name;  // mangled
};

class Library {
 public:
  // PTX text (copied), fat binary or wrapper (must stay until the first call of module()).
  Library(Runtime&, const void* image, std::string name);
  // A program may register thousands of which it uses few: `owner`, the name, is asked on first use.
  Library(Runtime&, const void* image, std::function<std::string()> owner);
  Library(Runtime&, std::unique_ptr<ir::Module>, std::string name);

  // The linked module of the library; parsed on first use. Success, NoBinaryForGpu (no PTX inside), InvalidPtx ...
  Error module(const ir::Module*& out);
  const std::string& log() const { return log_; }  // why module() failed, for a person
  Kernel& kernel(const std::string& name);         // made on demand, not checked
  Error find_kernel(const std::string& name, Kernel*& out);
  Error list_kernels(std::vector<Kernel*>& out);
  std::vector<Kernel*> made_kernels();               // those that were asked for
  const std::string& name() const { return name_; }  // of one that module() was called for
  // What machine code says about the kernels: of the program; else of the toolkit's assembler, which the second runs
  // once.
  Facts facts_at_hand() const;
  Facts facts();
  // Machine code of the module, by the toolkit's assembler, asked once; where somebody observes. Null, and why.
  std::shared_ptr<const sass::Image> machine_code(std::string& why);
  // Managed variables are there once, for all contexts that have the library; they end with the last of these.
  std::mutex managed_m;  // guards managed
  std::weak_ptr<ManagedVariables> managed;

 private:
  Error parse();
  void keep_facts(std::vector<ptx::Image>, u32 sm);
  Runtime& runtime_;
  std::mutex m_;  // guards the members below, up to kernels_
  const void* image_ = nullptr;
  std::function<std::string()> owner_;
  std::string name_, log_, text_;
  bool parsed_ = false;
  Error error_ = Error::Success;
  std::unique_ptr<ir::Module> module_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
  mutable std::mutex facts_m_;  // guards the members below
  std::optional<sass::Cubin> cubin_;
  FactSource origin_ = FactSource::Estimate;
  Parts parts_;                       // until the assembler was asked
  std::vector<ptx::Image> observed_;  // texts of the module, where somebody observes
  std::shared_ptr<const sass::Image> machine_code_;
  std::string no_machine_code_;
};

std::string in_one_line(std::string_view log);  // whose it is, and the first complaint

}  // namespace us::driver
