// SPDX-License-Identifier: Apache-2.0
// What the program's start-up code told us: which host addresses stand for which kernels and variables.
#pragma once
#include <shared_mutex>

#include "driver/code/library.h"
#include "driver/code/module.h"
#include "driver/runtime.h"

namespace us::cuda {

struct HostVariable {
  driver::Library* library = nullptr;
  std::string name;
  u64 size = 0;
};

class Registration {
 public:
  driver::Library& add_image(const void* wrapper);
  void remove_image(driver::Library*);  // the program or one of its libraries goes away
  void add_kernel(driver::Library&, const void* host_function, const char* name);
  void add_variable(driver::Library&, const void* host_variable, const char* name, u64 size);
  void add_managed(driver::Library&, void** host_pointer, const char* name, u64 size);
  driver::Error load_managed(driver::Context&,
                             driver::Library&);  // gives the managed variables of a library their addresses

  driver::Kernel* kernel(const void* host_function) const;
  driver::Error variable(driver::Context&, const void* host_variable, driver::Variable& out) const;  // InvalidSymbol

 private:
  struct Managed {
    void** pointer;
    driver::Library* library;
    std::string name;
  };
  struct Names {  // a library's keys of the two tables
    std::vector<const void*> kernels, variables;
  };
  mutable std::shared_mutex m_;  // guards the members below
  std::unordered_map<const driver::Library*, Names> names_;
  std::unordered_map<const void*, driver::Kernel*> kernels_;
  std::unordered_map<const void*, HostVariable> variables_;
  std::vector<Managed> managed_;
};

Registration& registration();

}  // namespace us::cuda
