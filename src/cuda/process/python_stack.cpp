// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/python_stack.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace us::cuda {
namespace {

constexpr std::size_t kMostFrames = 8;
constexpr std::size_t kMostText = 16 << 10;

// What the interpreter prints when a process crashes: it needs no lock, and reads only what its thread writes.
struct Interpreter {
  void (*dump)(int file, void* thread) = nullptr;
  void* (*thread)() = nullptr;
  int (*begun)() = nullptr;
};

// Looked for again until it is there: a program may start an interpreter later.
const Interpreter* interpreter() {
  static std::atomic<const Interpreter*> found{nullptr};
  const Interpreter* i = found;
  if (!i) {
    Interpreter now;
    now.dump = reinterpret_cast<void (*)(int, void*)>(::dlsym(RTLD_DEFAULT, "_Py_DumpTraceback"));
    now.thread = reinterpret_cast<void* (*)()>(::dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
    now.begun = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
    if (!now.dump || !now.thread || !now.begun) return nullptr;
    static const Interpreter all = now;
    found = i = &all;
  }
  return i->begun() ? i : nullptr;
}

// A file of the calling thread's that has no name.
struct Scratch {
  int file = ::memfd_create("understudy", MFD_CLOEXEC);
  ~Scratch() {
    if (file >= 0) ::close(file);
  }
};

struct Places {
  std::mutex m;
  std::map<std::string, u32, std::less<>> numbers;  // by the interpreter's line
  std::deque<probe::Frame> all;
};
Places& places() {
  static Places* const p = new Places;
  return *p;
}

//   File "vecadd.py", line 8 in main
bool parse(std::string_view line, probe::Frame& f) {
  constexpr std::string_view kFile = "  File \"", kLine = "\", line ", kIn = " in ";
  if (!line.starts_with(kFile)) return false;
  const std::size_t end = line.rfind(kLine);
  if (end == line.npos || end < kFile.size()) return false;
  const std::string_view rest = line.substr(end + kLine.size());
  const std::size_t in = rest.find(kIn);
  if (in == rest.npos) return false;
  f.file = line.substr(kFile.size(), end - kFile.size());
  f.function = rest.substr(in + kIn.size());
  return std::from_chars(rest.data(), rest.data() + in, f.line).ec == std::errc();
}

bool of_package(const probe::Frame& f) {
  if (f.file.starts_with('<')) return !f.file.starts_with("<stdin>") && !f.file.starts_with("<string>");
  return f.file.find("/site-packages/") != f.file.npos || f.file.find("/dist-packages/") != f.file.npos ||
         f.file.find("/lib/python3") != f.file.npos || f.file.find("/understudy_python/") != f.file.npos;
}

}  // namespace

std::vector<u32> python_stack() {
  const Interpreter* const i = interpreter();
  void* const thread = i ? i->thread() : nullptr;
  if (!thread) return {};
  thread_local Scratch scratch;
  thread_local std::string text;
  if (scratch.file < 0) return {};
  i->dump(scratch.file, thread);
  text.resize(kMostText);
  const ssize_t n = ::pread(scratch.file, text.data(), text.size(), 0);
  (void)!::ftruncate(scratch.file, 0);
  ::lseek(scratch.file, 0, SEEK_SET);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  std::vector<u32> out;
  Places& p = places();
  const std::lock_guard held(p.m);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    auto at = p.numbers.find(line);
    if (at == p.numbers.end()) {
      probe::Frame f;
      if (!parse(line, f)) continue;
      at = p.numbers.emplace(line, static_cast<u32>(p.all.size())).first;
      p.all.push_back(std::move(f));
    }
    out.push_back(at->second);
  }
  const auto own = std::ranges::find_if(out, [&](u32 at) { return !of_package(p.all[at]); });
  if (own != out.end()) out.erase(out.begin(), own);
  if (out.size() > kMostFrames) out.resize(kMostFrames);
  return out;
}

probe::Frame python_place(u32 number) {
  Places& p = places();
  const std::lock_guard held(p.m);
  return number < p.all.size() ? p.all[number] : probe::Frame();
}

}  // namespace us::cuda
