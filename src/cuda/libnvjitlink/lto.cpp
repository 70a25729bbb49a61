// SPDX-License-Identifier: Apache-2.0
// LTO-IR is the vendor's own form. The stock library reads it and, asked for PTX, needs no GPU.
#include <dlfcn.h>

#include <algorithm>

#include "cuda/libnvjitlink/job.h"
#include "cuda/stock/stock_library.h"

namespace us::nvjitlink {
namespace {

cuda::StockLibrary meant(const char* needed) {
  return {.file = "libnvJitLink.so." US_NVJITLINK_MAJOR,
          .setting = "nvjitlink",
          .variable = "UNDERSTUDY_NVJITLINK",
          .major = US_NVJITLINK_MAJOR,
          .beside = nullptr,
          .needed = needed};
}

void* stock_for_lto() {
  static void* const library = cuda::open_stock(meant("this program links LTO-IR"));
  return library;
}

template <class... A>
int call_in(void* library, const char* name, A... arguments) {
  auto* f = library ? reinterpret_cast<int (*)(A...)>(dlsym(library, name)) : nullptr;
  return f ? f(arguments...) : static_cast<int>(Internal);
}

template <class... A>
int call(const char* name, A... arguments) {
  return call_in(stock_for_lto(), name, arguments...);
}

class StockLink {
 public:
  explicit StockLink(const Options& o) {
    std::vector<const char*> text;
    for (const std::string& t : o.text) text.push_back(t.c_str());
    if (!o.ptx) text.push_back("-ptx");
    code = call<void**, u32, const char**>("nvJitLinkCreate", &handle_, static_cast<u32>(text.size()), text.data());
    if (code) handle_ = nullptr;  // it leaves a handle behind that cannot be used
  }
  ~StockLink() {
    if (handle_) call<void**>("nvJitLinkDestroy", &handle_);
  }
  StockLink(const StockLink&) = delete;
  StockLink& operator=(const StockLink&) = delete;

  void add(const LtoInput& i) {
    if (code) return;
    code = call<void*, int, const void*, size_t, const char*>("nvJitLinkAddData", handle_, static_cast<int>(i.kind),
                                                              i.data.data(), i.data.size(), i.name.c_str());
  }
  void complete() {
    if (!code) code = call<void*>("nvJitLinkComplete", handle_);
  }
  std::string text(const char* size_of, const char* get) {
    size_t n = 0;
    if (!handle_ || call<void*, size_t*>(size_of, handle_, &n) || n == 0) return {};
    std::string s(n, '\0');
    call<void*, char*>(get, handle_, s.data());
    return s.c_str();
  }

  int code = 0;

 private:
  void* handle_ = nullptr;
};

}  // namespace

Code link_lto(const Options& options, const std::vector<LtoInput>& inputs, std::string& ptx, std::string& errors) {
  if (!stock_for_lto()) {
    errors += "ERROR 1: understudy: LTO-IR needs the CUDA toolkit's libnvJitLink.so." US_NVJITLINK_MAJOR
              ", which was not found\n";
    return Internal;
  }
  StockLink link(options);
  for (const LtoInput& i : inputs) link.add(i);
  link.complete();
  errors += link.text("nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog");
  if (link.code) return static_cast<Code>(link.code);
  ptx = link.text("nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx");
  return ptx.empty() ? NvvmCompile : Success;
}

bool stock_version(unsigned& major, unsigned& minor) {
  static void* const library = cuda::open_stock(meant(nullptr));
  return call_in<unsigned*, unsigned*>(library, "nvJitLinkVersion", &major, &minor) == Success;
}

}  // namespace us::nvjitlink
