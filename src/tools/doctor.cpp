// SPDX-License-Identifier: Apache-2.0
// The verb `doctor`: what files need of CUDA, what of it is here, what to do.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "tools/elf_file.h"
#include "tools/exit_codes.h"
#include "tools/host.h"
#include "tools/needs.h"
#include "tools/program.h"
#include "tools/run.h"
#include "tools/terminal.h"

namespace us::tools {
namespace {

namespace fs = std::filesystem;

struct Tally {
  u32 files = 0, with_cuda = 0;
  Answer worst = Answer::Good;
};

bool is_ours(const std::string& library) { return fs::exists(library_directory() + "/" + library); }

void print(const Need& n) {
  constexpr std::pair<const char*, Style> kWord[] = {
      {"good", Style::Green}, {"partly", Style::Yellow}, {"bad", Style::Red}};
  const auto& [word, style] = kWord[static_cast<u32>(n.answer)];
  fmt::print("  {} {:<10} {}\n", styled(stdout, style, fmt::format("{:<7}", word)), n.topic, n.text);
  if (!n.advice.empty()) fmt::print("  {:<18} to do: {}\n", "", n.advice);
}

// False: it is neither a program nor a library.
bool examine(const std::string& file, Tally& tally, bool alone) {
  const auto elf = ElfFile::open(file);
  if (!elf) {
    if (alone)
      fmt::print("{}\n  it is no program or library of this machine: name one that it starts or loads\n", file);
    return false;
  }
  ++tally.files;
  const auto needs = needs_of(*elf, file, {}, is_ours);
  if (needs.empty()) {
    if (alone) fmt::print("{}\n  has nothing to do with CUDA itself; what it loads may\n", file);
    return true;
  }
  ++tally.with_cuda;
  fmt::print("{}\n", styled(stdout, Style::Bold, file));
  for (const Need& n : needs) {
    print(n);
    tally.worst = std::max(tally.worst, n.answer);
  }
  return true;
}

bool is_library(const fs::path& file) { return file.filename().string().find(".so") != std::string::npos; }

bool is_closed(const fs::path& directory) { return ::access(directory.c_str(), R_OK | X_OK) != 0; }

// False: it cannot be read.
bool examine_directory(const std::string& directory, Tally& tally) {
  std::vector<std::string> files;
  u32 closed = 0;
  std::error_code error, none;
  if (is_closed(directory)) error = {errno, std::generic_category()};
  fs::recursive_directory_iterator at;
  if (!error) at = fs::recursive_directory_iterator(directory, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->is_symlink(none)) continue;
    closed += at->is_directory(none) && is_closed(at->path());
    if (at->is_regular_file(none) && is_library(at->path())) files.push_back(at->path().string());
  }
  if (error) return complain(fmt::format("{}: {}", directory, error.message())), false;
  std::ranges::sort(files);
  for (const std::string& file : files) examine(file, tally, false);
  fmt::print("{} libraries, {} with CUDA\n", tally.files, tally.with_cuda);
  if (closed) {
    fmt::print("{} directories in it cannot be read\n", closed);
    tally.worst = std::max(tally.worst, Answer::Partly);
  }
  return true;
}

// What a run needs of this installation.
int examine_installation() {
  bool complete = true;
  for (const char* name :
       {"libcuda.so.1", "libcudart.so.13", "libcudart.so.12", "libunderstudy_loader.so", "libunderstudy_codegen.so"}) {
    const bool there = is_ours(name);
    complete &= there;
    print({there ? Answer::Good : Answer::Bad, "here", name, there ? "" : "install or build understudy as a whole"});
  }
  for (const char* name : {"libcufft.so.12", "libcublas.so.13", "libcublasLt.so.13", "libcusolver.so.12",
                           "libnvrtc.so.13", "understudy_python"})
    print({is_ours(name) ? Answer::Good : Answer::Partly, "here", name,
           is_ours(name) ? "" : "not built: see what cmake said was missing"});
  return complete ? 0 : kExitProblems;
}

}  // namespace

int show_needs(const std::string& what) {
  if (what.empty()) return examine_installation();
  const std::string program = find_program(what), path = program.empty() ? what : program;
  std::error_code error;
  if (!fs::exists(path, error)) return complain(fmt::format("{}: not found", what)), kExitNotFound;
  Tally tally;
  const bool read = fs::is_directory(path, error) ? examine_directory(path, tally) : examine(path, tally, true);
  if (!read) return kExitUsage;
  return tally.worst == Answer::Good ? 0 : kExitProblems;
}

}  // namespace us::tools
