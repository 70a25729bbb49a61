// SPDX-License-Identifier: Apache-2.0
// A library in a context: its global and constant variables have memory, its functions have addresses.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "driver/code/function.h"
#include "driver/code/library.h"
#include "memory/registry.h"

namespace us::driver {

struct Variable {
  u64 address = 0;
  u64 size = 0;
  bool constant = false, managed = false;
};

class Module {
 public:
  // Allocates and initialises the variables. OutOfMemory, NotFound (unresolved extern), ...
  static Error load(Context&, Library&, std::unique_ptr<Module>& out);
  ~Module();

  Context& context() const { return context_; }
  Library& library() const { return library_; }
  const ir::Module& ir() const { return ir_; }
  Error function(const std::string& name, Function*& out);  // NotFound
  Error variable(const std::string& name, Variable& out);   // NotFound
  Error function_at(u64 address, Function*& out);           // of device code; NotFound
  bool launches() const { return launches_; }               // kernels in it call the runtime API
  bool launches_graphs() const { return launches_graphs_; }
  bool waits_for_grids();                                 // griddepcontrol.wait is in it
  const u64* symbols() const { return symbols_.data(); }  // GridCtx::symbols
  u8* const_bank() const { return const_bank_; }
  u64 const_bytes() const { return const_bytes_; }

 private:
  Module(Context&, Library&, const ir::Module&);
  Error allocate(u64 bytes, memory::Kind, u64& out);
  Error place_variables();
  Error place_managed();
  Error initialise();
  Error relocate(u8* at, const ir::Symbol::Reloc&);

  Context& context_;
  Library& library_;
  const ir::Module& ir_;
  std::vector<u64> symbols_;
  std::vector<u64> allocations_;  // device addresses to free
  std::shared_ptr<ManagedVariables> managed_;
  bool managed_made_ = false;  // here, and so here are their first values set
  u64 descriptors_ = 0;        // functions' addresses are in here
  bool launches_ = false, launches_graphs_ = false, waits_for_grids_ = false;
  std::once_flag looked_for_waits_;
  u8* const_bank_ = nullptr;
  u64 const_bytes_ = 0;
  std::mutex m_;  // guards functions_
  std::map<std::string, std::unique_ptr<Function>> functions_;
};

}  // namespace us::driver
