// SPDX-License-Identifier: Apache-2.0
#include "tools/check/symbolise.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "tools/program.h"

namespace us::tools {
namespace {

namespace fs = std::filesystem;
using Frames = std::vector<probe::Frame>;

// False: a place that needs nothing.
bool split(const probe::Frame& f, std::string& module, std::string& offset) {
  const std::size_t plus = f.file.rfind("+0x");
  if (f.line || plus == std::string::npos) return false;
  module = f.file.substr(0, plus);
  offset = f.file.substr(plus + 1);
  return true;
}

// What a program prints; empty if it cannot be started.
std::string output_of(const std::vector<std::string>& command) {
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> argv;
    for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    ::unsetenv("LD_LIBRARY_PATH");  // ours, and LD_PRELOAD
    ::unsetenv("LD_PRELOAD");
    const int null = ::open("/dev/null", O_RDWR);
    ::dup2(null, STDIN_FILENO), ::dup2(out[1], STDOUT_FILENO), ::dup2(null, STDERR_FILENO);
    ::execv(command.front().c_str(), argv.data());
    ::_exit(127);
  }
  ::close(out[1]);
  std::string text;
  char part[4096];
  for (ssize_t n = 1; child > 0 && n > 0;) {
    n = ::read(out[0], part, sizeof part);
    if (n > 0) text.append(part, static_cast<size_t>(n));
    if (n < 0 && errno == EINTR) n = 1;
  }
  ::close(out[0]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return text;
}

// "file:12" of addr2line, "file:12:3" of llvm-symbolizer; "(discriminator 1)" may follow.
probe::Frame frame_of(const std::string& function, std::string place) {
  probe::Frame f;
  f.function = function == "??" ? "" : function;
  if (const std::size_t at = place.find(" (discr"); at != place.npos) place.resize(at);
  std::vector<u32> numbers;
  while (numbers.size() < 2) {
    const std::size_t colon = place.rfind(':');
    if (colon == place.npos) break;
    u32 n = 0;
    const char* const last = place.data() + place.size();
    const auto [end, error] = std::from_chars(place.data() + colon + 1, last, n);
    if (end != last && place.substr(colon + 1) != "?") break;
    numbers.push_back(n);
    place.resize(colon);
  }
  if (numbers.empty() || numbers.back() == 0 || place == "??") return f;
  f.file = place;
  f.line = numbers.back();
  f.column = numbers.size() == 2 ? numbers.front() : 0;
  return f;
}

std::string symboliser() {
  for (const char* name : {"llvm-symbolizer", "addr2line"})
    if (std::string path = find_program(name); !path.empty()) return path;
  return {};
}

// By offset.
std::map<std::string, Frames> look_up(const std::string& program, const std::string& module,
                                      const std::vector<std::string>& offsets) {
  const bool llvm = fs::path(program).filename().string().starts_with("llvm");
  std::vector<std::string> command = {program, "-f", "-C", "-i", "-a", "-e", module};
  if (llvm) command = {program, "--functions=linkage", "--demangle", "--inlines", "-a", "-e", module};
  command.insert(command.end(), offsets.begin(), offsets.end());
  std::map<std::string, Frames> out;
  std::istringstream in(output_of(command));
  std::size_t next = 0;
  Frames* now = nullptr;
  for (std::string line, place; std::getline(in, line);) {
    if (line.empty()) continue;
    if (line.starts_with("0x")) {  // addresses come back in the order in which they were asked
      now = next < offsets.size() ? &out[offsets[next++]] : nullptr;
      continue;
    }
    if (!std::getline(in, place)) break;
    if (now) now->push_back(frame_of(line, place));
  }
  return out;
}

}  // namespace

void symbolise(std::vector<sanitizer::Finding>& findings) {
  std::map<std::string, std::map<std::string, Frames>> wanted;  // by module and offset
  std::string module, offset;
  for (const sanitizer::Finding& f : findings)
    for (const sanitizer::Party& p : f.parties)
      for (const probe::Frame& at : p.site.frames)
        if (split(at, module, offset)) wanted[module][offset];
  if (wanted.empty()) return;
  const std::string program = symboliser();
  for (auto& [name, places] : wanted) {
    std::vector<std::string> offsets;
    for (const auto& [at, frames] : places) offsets.push_back(at);
    if (!program.empty()) places = look_up(program, name, offsets);
  }
  for (sanitizer::Finding& f : findings)
    for (sanitizer::Party& p : f.parties) {
      Frames frames;
      for (probe::Frame& at : p.site.frames) {
        if (!split(at, module, offset)) {
          frames.push_back(std::move(at));
          continue;
        }
        Frames found = wanted[module][offset];
        if (found.empty()) found.emplace_back();
        for (probe::Frame& one : found) {
          if (one.function.empty()) one.function = at.function;
          if (one.file.empty()) one.file = fs::path(module).filename().string();
          frames.push_back(std::move(one));
        }
      }
      p.site.frames = std::move(frames);
    }
}

}  // namespace us::tools
