// SPDX-License-Identifier: Apache-2.0
// libnvfatbin.so.13 and .12: the stock library makes fat binaries. What our compilers and linkers hand out as a CUBIN
// is PTX, and goes in as PTX.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"
#include "cuda/api.h"
#include "cuda/stock/stock_library.h"
#include "ptx/fatbin.h"
#include "ptx/ptx.h"

namespace {

using namespace us;

enum Code : int { Success, Internal, ElfArchMismatch, ElfSizeMismatch, MissingPtxVersion, NullPointer };
using Handle = void*;

void* stock_function(const char* name) {
  static void* const library = cuda::open_stock({.file = "libnvfatbin.so." US_NVFATBIN_MAJOR,
                                                 .setting = "nvfatbin",
                                                 .variable = "UNDERSTUDY_NVFATBIN",
                                                 .major = US_NVFATBIN_MAJOR,
                                                 .beside = nullptr,
                                                 .needed = "this program makes fat binaries at run time"});
  return library ? dlsym(library, name) : nullptr;
}

template <class... A>
Code call(const char* name, A... arguments) {
  auto* f = reinterpret_cast<Code (*)(A...)>(stock_function(name));
  return f ? f(arguments...) : Internal;
}

// One text, as NVRTC and libnvJitLink hand it out, with or without its end.
bool is_text(std::span<const char> data) {
  return data.size() >= sizeof(u32) && ptx::container_of(data.data()) == ptx::Container::Text &&
         ptx::is_ptx({data.data(), data.size()});
}

bool is_bundle(std::span<const char> data) {
  return data.size() >= sizeof(u32) && ptx::container_of(data.data()) == ptx::Container::Bundle;
}

}  // namespace

US_API Code nvFatbinAddCubin(Handle h, const void* code, size_t size, const char* arch, const char* name) {
  const std::span<const char> data(static_cast<const char*>(code), code ? size : 0);
  if (is_bundle(data)) {
    std::fprintf(
        stderr,
        "understudy: nvFatbinAddCubin: this is linked PTX of several texts, which is no image of a fat binary; "
        "link with nvJitLink to one, or add each by nvFatbinAddPTX\n");
    return ElfSizeMismatch;
  }
  if (!is_text(data)) return call("nvFatbinAddCubin", h, code, size, arch, name);
  const std::string text(data.begin(), std::find(data.begin(), data.end(), '\0'));
  const char* const none = nullptr;
  return call("nvFatbinAddPTX", h, text.c_str(), text.size() + 1, arch, name, none);
}

// The rest is the stock library's.
US_API Code nvFatbinCreate(Handle* out, const char** options, size_t count) {
  return call("nvFatbinCreate", out, options, count);
}
US_API Code nvFatbinDestroy(Handle* h) { return call("nvFatbinDestroy", h); }
US_API Code nvFatbinAddPTX(Handle h, const char* code, size_t size, const char* arch, const char* name,
                           const char* options) {
  return call("nvFatbinAddPTX", h, code, size, arch, name, options);
}
US_API Code nvFatbinAddLTOIR(Handle h, const void* code, size_t size, const char* arch, const char* name,
                             const char* options) {
  return call("nvFatbinAddLTOIR", h, code, size, arch, name, options);
}
US_API Code nvFatbinAddIndex(Handle h, const void* code, size_t size, const char* name) {
  return call("nvFatbinAddIndex", h, code, size, name);
}
US_API Code nvFatbinAddReloc(Handle h, const void* code, size_t size) {
  return call("nvFatbinAddReloc", h, code, size);
}
US_API Code nvFatbinAddTileIR(Handle h, const void* code, size_t size, const char* name, const char* options) {
  return call("nvFatbinAddTileIR", h, code, size, name, options);
}
US_API Code nvFatbinSize(Handle h, size_t* out) { return call("nvFatbinSize", h, out); }
US_API Code nvFatbinGet(Handle h, void* out) { return call("nvFatbinGet", h, out); }
US_API Code nvFatbinVersion(unsigned* major, unsigned* minor) { return call("nvFatbinVersion", major, minor); }
US_API const char* nvFatbinGetErrorString(Code code) {
  auto* f = reinterpret_cast<const char* (*)(Code)>(stock_function("nvFatbinGetErrorString"));
  return f ? f(code) : "NVFATBIN_ERROR_INTERNAL";
}
