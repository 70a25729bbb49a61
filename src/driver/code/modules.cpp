// SPDX-License-Identifier: Apache-2.0
#include "driver/code/modules.h"

#include "driver/context.h"

namespace us::driver {

Modules::~Modules() {
  kernel_functions_.clear();
  functions_.clear();
  modules_.clear();
  library_modules_.clear();
}

Error Modules::module_of(Library& library, Module*& out) {
  std::lock_guard l(m_);
  auto& m = library_modules_[&library];
  if (!m) US_TRY(Module::load(context_, library, m));
  out = m.get();
  return Error::Success;
}

Error Modules::function_of(Kernel& kernel, Function*& out) {
  std::lock_guard l(m_);
  auto& f = kernel_functions_[&kernel];
  if (!f) {
    Module* m = nullptr;
    US_TRY(module_of(*kernel.library, m));
    US_TRY(m->function(kernel.name, f));
    functions_[f] = f;
  }
  out = f;
  return Error::Success;
}

Error Modules::load(std::shared_ptr<Library> library, Module*& out) {
  US_TRY(context_.sticky());
  std::unique_ptr<Module> m;
  US_TRY(Module::load(context_, *library, m));
  std::lock_guard l(m_);
  out = m.get();
  modules_.emplace(out, std::pair{std::move(library), std::move(m)});
  return Error::Success;
}

Error Modules::unload(const void* handle) {
  US_TRY(context_.settle());
  std::lock_guard l(m_);
  const auto it = modules_.find(handle);
  if (it == modules_.end()) return Error::InvalidHandle;
  std::erase_if(functions_, [&](auto& e) { return &e.second->module() == handle; });
  modules_.erase(it);
  return Error::Success;
}

Module* Modules::find(const void* handle) {
  std::lock_guard l(m_);
  if (const auto it = modules_.find(handle); it != modules_.end()) return it->second.second.get();
  for (const auto& [library, m] : library_modules_)
    if (m.get() == handle) return m.get();
  return nullptr;
}

Function* Modules::find_function(const void* handle) {
  std::lock_guard l(m_);
  const auto it = functions_.find(handle);
  return it == functions_.end() ? nullptr : it->second;
}

void Modules::add(Function* f) {
  std::lock_guard l(m_);
  functions_[f] = f;
}

void Modules::forget(Library& library) {
  context_.settle();
  std::lock_guard l(m_);
  std::erase_if(kernel_functions_, [&](auto& e) { return e.first->library == &library; });
  const auto it = library_modules_.find(&library);
  if (it == library_modules_.end()) return;
  std::erase_if(functions_, [&](auto& e) { return &e.second->module() == it->second.get(); });
  library_modules_.erase(it);
}

}  // namespace us::driver
