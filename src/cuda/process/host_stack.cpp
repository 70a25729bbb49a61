// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/host_stack.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

#include <string_view>

#include <fmt/format.h>

#include "base/demangle.h"

namespace us::cuda {
namespace {

constexpr int kDeepest = 24;
constexpr std::size_t kMostFrames = 8;

sanitizer::HostStack::Addresses take() {
  void* at[kDeepest];
  const int n = ::backtrace(at, kDeepest);
  sanitizer::HostStack::Addresses out;
  for (int i = 0; i < n; ++i) out.push_back(reinterpret_cast<u64>(at[i]));
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

// Return addresses: the call stands before them.
probe::SiteInfo in_words(const sanitizer::HostStack::Addresses& stack) {
  probe::SiteInfo s;
  for (const u64 address : stack) {
    Dl_info i = {};
    void* map = nullptr;
    const void* const at = reinterpret_cast<const void*>(address - 1);
    if (!::dladdr1(at, &i, &map, RTLD_DL_LINKMAP) || !i.dli_fname || ours(i)) continue;
    if (of_the_system(i) || s.frames.size() == kMostFrames) break;
    probe::Frame f;
    f.file = fmt::format("{}+0x{:x}", i.dli_fname, address - 1 - static_cast<const link_map*>(map)->l_addr);
    if (i.dli_sname) f.function = demangled(i.dli_sname);
    s.frames.push_back(std::move(f));
  }
  return s;
}

}  // namespace

sanitizer::HostStack host_stack() { return {take, in_words}; }

}  // namespace us::cuda
