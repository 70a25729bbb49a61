// SPDX-License-Identifier: Apache-2.0
#include "cuda/code/registration.h"

#include <dlfcn.h>

#include <filesystem>

#include "cuda/state.h"
#include "driver/code/library.h"
#include "driver/code/module.h"

namespace us::cuda {
using driver::Error;
namespace {

// Who carries the image: a library is named, so that a person knows which one to compile anew.
std::string owner_of(const void* wrapper) {
  Dl_info info = {};
  std::error_code error;
  if (!::dladdr(wrapper, &info) || !info.dli_fname) return "the program";
  const bool program = std::filesystem::equivalent(info.dli_fname, "/proc/self/exe", error);
  return program || error ? "the program" : info.dli_fname;
}

}  // namespace

Registration& registration() {
  static Registration* const instance = new Registration;  // programs unregister after static destructors
  return *instance;
}

driver::Library& Registration::add_image(const void* wrapper) {
  return runtime().add_library(
      std::make_unique<driver::Library>(runtime(), wrapper, [wrapper] { return owner_of(wrapper); }));
}

// Work that still runs keeps its library: at exit nobody waits for it.
void Registration::remove_image(driver::Library* library) {
  {
    std::unique_lock l(m_);
    const Names gone = std::move(names_[library]);
    names_.erase(library);
    for (const void* name : gone.kernels)  // a later library may have taken the address over
      if (const auto it = kernels_.find(name); it != kernels_.end() && it->second->library == library)
        kernels_.erase(it);
    for (const void* name : gone.variables)
      if (const auto it = variables_.find(name); it != variables_.end() && it->second.library == library)
        variables_.erase(it);
    std::erase_if(managed_, [&](auto& e) { return e.library == library; });
  }
  if (!runtime().busy()) runtime().remove_library(library);
}

void Registration::add_kernel(driver::Library& library, const void* host_function, const char* name) {
  driver::Kernel& k = library.kernel(name);
  std::unique_lock l(m_);
  kernels_[host_function] = &k;
  names_[&library].kernels.push_back(host_function);
}

void Registration::add_variable(driver::Library& library, const void* host_variable, const char* name, u64 size) {
  std::unique_lock l(m_);
  variables_[host_variable] = {&library, name, size};
  names_[&library].variables.push_back(host_variable);
}

void Registration::add_managed(driver::Library& library, void** host_pointer, const char* name, u64 size) {
  std::unique_lock l(m_);
  variables_[host_pointer] = {&library, name, size};
  names_[&library].variables.push_back(host_pointer);
  managed_.push_back({host_pointer, &library, name});
}

Error Registration::load_managed(driver::Context& c, driver::Library& library) {
  std::unique_lock l(m_);
  for (const Managed& m : managed_) {
    if (m.library != &library) continue;
    driver::Module* module = nullptr;
    driver::Variable v;
    US_TRY(c.modules().module_of(library, module));
    US_TRY(module->variable(m.name, v));
    *m.pointer = reinterpret_cast<void*>(v.address);
  }
  return Error::Success;
}

driver::Kernel* Registration::kernel(const void* host_function) const {
  std::shared_lock l(m_);
  const auto it = kernels_.find(host_function);
  return it == kernels_.end() ? nullptr : it->second;
}

Error Registration::variable(driver::Context& c, const void* host_variable, driver::Variable& out) const {
  std::shared_lock l(m_);
  auto it = variables_.find(host_variable);
  if (it == variables_.end())  // a managed variable is named by what its host pointer points to
    for (const Managed& m : managed_)
      if (*m.pointer == host_variable) it = variables_.find(m.pointer);
  if (it == variables_.end()) return Error::InvalidSymbol;
  driver::Module* module = nullptr;
  US_TRY(c.modules().module_of(*it->second.library, module));
  if (const Error e = module->variable(it->second.name, out); driver::failed(e)) return Error::InvalidSymbol;
  return Error::Success;
}

}  // namespace us::cuda
