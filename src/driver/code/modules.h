// SPDX-License-Identifier: Apache-2.0
// Modules and functions of a context.
#pragma once
#include <memory>
#include <mutex>
#include <unordered_map>

#include "driver/code/module.h"

namespace us::driver {

class Modules {
 public:
  explicit Modules(Context& c) : context_(c) {}
  ~Modules();
  Error module_of(Library&, Module*& out);  // made on first use
  Error function_of(Kernel&, Function*& out);
  Error load(std::shared_ptr<Library>, Module*& out);  // cuModuleLoad*
  Error unload(const void* handle);
  Module* find(const void* handle);
  Function* find_function(const void* handle);
  void add(Function*);
  void forget(Library&);  // it is being unloaded

 private:
  Context& context_;
  std::recursive_mutex m_;  // guards the members below
  std::unordered_map<Library*, std::unique_ptr<Module>> library_modules_;
  std::unordered_map<const void*, std::pair<std::shared_ptr<Library>, std::unique_ptr<Module>>> modules_;
  std::unordered_map<const Kernel*, Function*> kernel_functions_;
  std::unordered_map<const void*, Function*> functions_;  // handles that the program may hold
};

}  // namespace us::driver
