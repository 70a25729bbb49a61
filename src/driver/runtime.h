// SPDX-License-Identifier: Apache-2.0
// Owns everything. cuda/ has the one instance; a unit test makes as many as it likes.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "driver/device.h"
#include "driver/settings.h"

namespace us::driver {

class Runtime {
 public:
  explicit Runtime(Settings);
  ~Runtime();
  const Settings& settings() const { return settings_; }
  u32 device_count() const { return static_cast<u32>(devices_.size()); }
  Device& device(u32 ordinal) { return *devices_[ordinal]; }
  codegen::Jit& jit();                     // made on first compile
  memory::Registry& registry() { return registry_; }
  void report(std::string_view text);      // to the person, if there is one

  // Contexts made by the program (cuCtxCreate) and primary ones; handles are looked up here.
  Context* create_context(u32 ordinal);
  Error destroy_context(Context*);
  bool is_context(const void* handle);
  void context_made(Context*);
  void context_gone(Context*);

  // Libraries: fat binaries registered by the runtime API, cuLibraryLoad*.
  Library* add_library(std::unique_ptr<Library>);
  Error remove_library(Library*);
  bool is_library(const void* handle);
  bool is_kernel(const void* handle);
  void kernel_made(Kernel*);

 private:
  Settings settings_;
  memory::Registry registry_;
  std::mutex m_;
  std::unique_ptr<codegen::Jit> jit_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unordered_map<const void*, std::unique_ptr<Context>> contexts_;  // primary ones: null, owned by their device
  std::unordered_map<const void*, std::unique_ptr<Library>> libraries_;
};

}  // namespace us::driver
