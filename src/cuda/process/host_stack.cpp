// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/host_stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <ranges>
#include <string_view>

#include <fmt/format.h>

#include "base/demangle.h"
#include "cuda/process/python_stack.h"

namespace us::cuda {
namespace {

constexpr int kDeepest = 24;
constexpr std::size_t kMostFrames = 8;

// No address: a number of python_stack's.
constexpr u64 kPython = u64{1} << 63;

sanitizer::HostStack::Addresses take_python() {
  sanitizer::HostStack::Addresses out;
  for (const u32 number : python_stack()) out.push_back(kPython | number);
  return out;
}

sanitizer::HostStack::Addresses take() {
  void* at[kDeepest];
  const int n = ::backtrace(at, kDeepest);
  sanitizer::HostStack::Addresses out;
  for (int i = 0; i < n; ++i) out.push_back(reinterpret_cast<u64>(at[i]));
  for (const u64 place : take_python()) out.push_back(place);
  return out;
}

bool ours(const Dl_info& i) {
  static const void* const self = [] {
    Dl_info mine = {};
    ::dladdr(reinterpret_cast<const void*>(&host_stack), &mine);
    return static_cast<const void*>(mine.dli_fbase);
  }();
  const std::string_view file = i.dli_fname;
  return i.dli_fbase == self || file.find("libcudart.so") != file.npos;
}

// What starts main() and threads is nobody's code.
bool of_the_system(const Dl_info& i) {
  const std::string_view file = i.dli_fname, name = file.substr(file.rfind('/') + 1);
  return name.starts_with("libc.so") || name.starts_with("ld-linux") || name.starts_with("libpthread");
}

// Packages, and what runs Python: behind them come Python's own functions, which say more.
bool of_python(const Dl_info& i) {
  const std::string_view file = i.dli_fname, name = file.substr(file.rfind('/') + 1);
  return file.find("/site-packages/") != file.npos || file.find("/dist-packages/") != file.npos ||
         file.find("/lib-dynload/") != file.npos || name.starts_with("libffi") || name.starts_with("libpython") ||
         name.starts_with("python");
}

// Return addresses: the call stands before them.
probe::SiteInfo in_words(const sanitizer::HostStack::Addresses& stack) {
  probe::SiteInfo s;
  const auto python = std::ranges::find_if(stack, [](u64 at) { return (at & kPython) != 0; });
  const bool in_python = python != stack.end();
  for (const u64 address : std::ranges::subrange(stack.begin(), python)) {
    Dl_info i = {};
    void* map = nullptr;
    const void* const at = reinterpret_cast<const void*>(address - 1);
    if (!::dladdr1(at, &i, &map, RTLD_DL_LINKMAP) || !i.dli_fname || ours(i)) continue;
    if (of_the_system(i) || s.frames.size() == kMostFrames || (in_python && of_python(i))) break;
    probe::Frame f;
    f.file = fmt::format("{}+0x{:x}", i.dli_fname, address - 1 - static_cast<const link_map*>(map)->l_addr);
    if (i.dli_sname) f.function = demangled(i.dli_sname);
    s.frames.push_back(std::move(f));
  }
  for (const u64 place : std::ranges::subrange(python, stack.end()))
    s.frames.push_back(python_place(static_cast<u32>(place)));
  return s;
}

}  // namespace

sanitizer::HostStack host_stack() { return {take, in_words, take_python}; }

}  // namespace us::cuda
