// SPDX-License-Identifier: Apache-2.0
// Module Management: linking at run time. What is handed out as a cubin is a bundle of PTX, linked once it is loaded;
// cuLinkComplete has tried that before, so that errors come here.
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cuda/libcuda/code/jit_log.h"
#include "cuda/libcuda/driver_api.h"
#include "driver/code/library.h"
#include "driver/code/module.h"
#include "ptx/fatbin.h"

using namespace us::cuda;

namespace {

struct Linking {
  ErrorLog log;
  std::vector<std::string> texts;
  std::string result;
};

struct Table {
  std::mutex m;  // guards open
  std::unordered_map<const void*, std::unique_ptr<Linking>> open;
};
Table& table() {
  static Table* const t = new Table;
  return *t;
}

// f(Linking&) → Error
template <class F>
CUresult with_linking(CUlinkState state, F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  std::lock_guard l(table().m);
  const auto it = table().open.find(state);
  return it == table().open.end() ? CUDA_ERROR_INVALID_HANDLE : result(f(*it->second));
}

us::ptx::Target target_of(const Context& c) {
  const auto& d = c.device().spec();
  return {.sm = d.cc_major * 10 + d.cc_minor};
}

Error add_fat_binary(Context& c, Linking& l, const void* data) {
  std::vector<us::ptx::Image> images;
  if (us::ptx::container_of(data) == us::ptx::Container::Wrapper) {
    auto all = us::ptx::find_all_ptx(data, target_of(c));
    if (all) images = std::move(*all);
  } else if (auto one = us::ptx::find_ptx(data, target_of(c))) {
    images.push_back(std::move(*one));
  }
  if (images.empty()) return Error::NoBinaryForGpu;
  for (auto& i : images) l.texts.push_back(i.ptx.c_str());
  return Error::Success;
}

// Inputs are PTX, alone or in a fat binary. Machine code cannot be linked with it.
Error add(Linking& l, CUjitInputType type, const void* data, size_t size) {
  Context* c = nullptr;
  US_TRY(driver_context(c));
  if (!data || size == 0) return Error::InvalidValue;
  switch (type) {
    case CU_JIT_INPUT_PTX:
      l.texts.emplace_back(static_cast<const char*>(data), strnlen(static_cast<const char*>(data), size));
      return Error::Success;
    case CU_JIT_INPUT_FATBINARY:
      return size < 16 ? Error::InvalidImage : add_fat_binary(*c, l, data);
    case CU_JIT_INPUT_CUBIN: {  // ours: what an earlier link or our NVRTC handed out
      if (size < 4) return Error::InvalidImage;
      if (us::ptx::container_of(data) == us::ptx::Container::Elf) return Error::NoBinaryForGpu;
      if (us::ptx::container_of(data) == us::ptx::Container::FatBinary)
        return add(l, CU_JIT_INPUT_FATBINARY, data, size);
      if (us::ptx::container_of(data) != us::ptx::Container::Text) return Error::InvalidImage;
      return add(l, CU_JIT_INPUT_PTX, data, size);
    }
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_NVVM:
      return Error::NotSupported;
    default:
      return Error::InvalidValue;
  }
}

Error complete(Linking& l) {
  if (l.texts.empty()) return Error::InvalidValue;
  l.result = l.texts.size() == 1 ? l.texts.front() + '\0' : us::ptx::make_bundle(l.texts);
  us::driver::Library trial(runtime(), l.result.data(), "linked code");
  const us::ir::Module* m = nullptr;
  const Error e = trial.module(m);
  l.log.write(trial.log());
  return e;
}

}  // namespace

US_API CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  if (!out || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context&) {
    auto l = std::make_unique<Linking>();
    l->log = ErrorLog(count, options, values);
    std::lock_guard lock(table().m);
    *out = handle_to<CUlinkState>(l.get());
    table().open.emplace(l.get(), std::move(l));
    return Error::Success;
  });
}

US_API CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size, const char*, unsigned,
                              CUjit_option*, void**) {
  return with_linking(state, [&](Linking& l) { return add(l, type, data, size); });
}

US_API CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned, CUjit_option*,
                              void**) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  const std::string data((std::istreambuf_iterator<char>(file)), {});
  return with_linking(state, [&](Linking& l) { return add(l, type, data.data(), data.size()); });
}

US_API CUresult cuLinkComplete(CUlinkState state, void** out, size_t* size) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_linking(state, [&](Linking& l) {
    US_TRY(complete(l));
    *out = l.result.data();
    if (size) *size = l.result.size();
    return Error::Success;
  });
}

US_API CUresult cuLinkDestroy(CUlinkState state) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  std::lock_guard l(table().m);
  return table().open.erase(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
