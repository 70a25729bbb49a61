// SPDX-License-Identifier: Apache-2.0
// Module Management: linking at run time. Inputs are PTX, wherever it stands: alone, in fat binaries, in a host's
// objects and archives of these. What is handed out as a cubin is a bundle of PTX, linked once it is loaded;
// cuLinkComplete has tried that before, so that errors come here.
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cuda/libcuda/code/jit_log.h"
#include "cuda/libcuda/driver_api.h"
#include "cuda/libnvjitlink/host_files.h"
#include "cuda/libnvjitlink/spare.h"
#include "driver/code/library.h"
#include "driver/code/module.h"
#include "driver/runtime.h"
#include "ptx/bundle.h"
#include "ptx/entries.h"
#include "ptx/fatbin.h"
#include "ptx/ptx.h"
#include "ptx/target.h"

using namespace us::cuda;

namespace {

struct Linking {
  ErrorLog log;
  std::vector<std::string> texts;
  std::vector<us::nvjitlink::Spare> spare;
  bool newer = false;  // a text is for devices above the target: of a bundle such are taken
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

using us::nvjitlink::Bytes;

Bytes bytes_of(const void* data, size_t size) { return {static_cast<const us::u8*>(data), size}; }

Error add_wrapped(Context& c, Linking& l, const void* data) {
  const auto all = us::ptx::find_all_ptx(data, target_of(c));
  if (!all || all->empty()) return Error::NoBinaryForGpu;
  for (const auto& i : *all) l.texts.push_back(i.ptx.c_str());
  return Error::Success;
}

// `member`: of an archive, of which only what is called matters; a call without code fails at the end.
Error add_fat_binary(Context& c, Linking& l, Bytes data, bool member) {
  if (const auto image = us::ptx::find_ptx(data, target_of(c))) {
    l.texts.push_back(image->ptx.c_str());
    return Error::Success;
  } else if (!us::ptx::is_no_ptx(image.diags())) {
    return Error::InvalidImage;
  }
  const auto newer = runtime().settings().newer_ptx ? us::ptx::find_newer_ptx(data, target_of(c))
                                                    : us::Result<us::ptx::Image>(std::vector<us::Diag>());
  if (!newer) return member ? Error::Success : Error::NoBinaryForGpu;
  std::string text = newer->ptx.c_str();
  if (!member) {
    l.newer = true;
    l.texts.push_back(std::move(text));
  } else if (auto m = us::ptx::parse(text, "archive"); m && us::ptx::unknown_instructions(**m).empty()) {
    l.spare.push_back({.text = std::move(text), .name = "archive", .module = std::move(*m)});
  }
  return Error::Success;
}

bool is_object(Bytes data) {
  return data.size() >= sizeof(us::u32) && us::ptx::container_of(data.data()) == us::ptx::Container::Elf;
}

// Answers as an H200's driver has them (tests/api/test_link_inputs.py).
Error add_object(Context& c, Linking& l, Bytes data) {
  if (!is_object(data)) return Error::Unknown;
  std::vector<Bytes> all;
  if (!us::nvjitlink::fat_binaries(data, all) || all.empty()) return Error::InvalidImage;
  for (const Bytes b : all) US_TRY(add_fat_binary(c, l, b, false));
  return Error::Success;
}

// It may have files that are no objects, and objects of the host's code alone, but not only these.
Error add_library(Context& c, Linking& l, Bytes data) {
  if (!us::nvjitlink::is_archive(data)) return Error::Unknown;
  std::vector<Bytes> all;
  for (const Bytes member : us::nvjitlink::archive_members(data))
    if (is_object(member) && !us::nvjitlink::fat_binaries(member, all)) return Error::InvalidImage;
  if (all.empty()) return Error::InvalidImage;
  for (const Bytes b : all) US_TRY(add_fat_binary(c, l, b, true));
  return Error::Success;
}

Error add_bundle(Linking& l, Bytes data) {
  const auto images = us::ptx::texts_of_bundle(data);
  if (!images) return Error::InvalidImage;
  l.newer = true;  // it may be of such, and stays a bundle
  for (const auto& i : *images) l.texts.push_back(i.ptx);
  return Error::Success;
}

// Machine code cannot be linked with PTX.
Error add(Linking& l, CUjitInputType type, const void* data, size_t size) {
  Context* c = nullptr;
  US_TRY(driver_context(c));
  if (!data || size == 0) return Error::InvalidValue;
  switch (type) {
    case CU_JIT_INPUT_PTX:
      l.texts.emplace_back(static_cast<const char*>(data), strnlen(static_cast<const char*>(data), size));
      if (l.texts.back().find(".version") != std::string::npos) return Error::Success;
      l.texts.pop_back();
      return Error::InvalidImage;
    case CU_JIT_INPUT_FATBINARY:
      if (size < 16) return Error::InvalidImage;
      if (us::ptx::container_of(data) == us::ptx::Container::Wrapper) return add_wrapped(*c, l, data);
      return add_fat_binary(*c, l, bytes_of(data, size), false);
    case CU_JIT_INPUT_CUBIN: {  // ours: what an earlier link or our NVRTC handed out
      if (size < 4) return Error::InvalidImage;
      if (us::ptx::container_of(data) == us::ptx::Container::Elf) return Error::NoBinaryForGpu;
      if (us::ptx::container_of(data) == us::ptx::Container::FatBinary)
        return add(l, CU_JIT_INPUT_FATBINARY, data, size);
      if (us::ptx::container_of(data) == us::ptx::Container::Bundle) return add_bundle(l, bytes_of(data, size));
      if (us::ptx::container_of(data) != us::ptx::Container::Text) return Error::InvalidImage;
      return add(l, CU_JIT_INPUT_PTX, data, size);
    }
    case CU_JIT_INPUT_OBJECT:
      return add_object(*c, l, bytes_of(data, size));
    case CU_JIT_INPUT_LIBRARY:
      return add_library(*c, l, bytes_of(data, size));
    case CU_JIT_INPUT_NVVM:
      return Error::NotSupported;
    default:
      return Error::InvalidValue;
  }
}

// What an archive has for the rest. Wrong PTX is found by the trial.
void take_spare(Linking& l) {
  std::vector<std::unique_ptr<us::ir::Module>> modules;
  for (const std::string& t : l.texts) {
    auto m = us::ptx::parse(t, "linked code");
    if (!m) return;
    modules.push_back(std::move(*m));
  }
  for (auto& taken : us::nvjitlink::take_needed(modules, l.spare)) {
    l.newer = true;
    l.texts.push_back(std::move(taken.text));
  }
}

Error complete(Linking& l) {
  if (l.texts.empty()) l.texts.emplace_back(".version 8.0\n.target sm_50\n.address_size 64\n");  // of nothing, nothing
  if (!l.spare.empty()) take_spare(l);
  l.result = l.texts.size() == 1 && !l.newer ? l.texts.front() + '\0' : us::ptx::make_bundle(l.texts);
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
