// SPDX-License-Identifier: Apache-2.0
#include "driver/code/assembler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "base/hash.h"
#include "driver/code/child.h"
#include "driver/code/find_assemblers.h"
#include "ptx/ptx.h"
#include "ptx/statement_lines.h"

namespace us::driver {
namespace {

namespace fs = std::filesystem;
constexpr TimeLimit kLimit = {60, 300};

bool is_program(const std::string& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec) && access(path.c_str(), X_OK) == 0;
}

// A directory of our own for the time of a run.
class Scratch {
 public:
  Scratch() {
    std::error_code ec;
    std::string name = fs::temp_directory_path(ec).string() + "/understudy-XXXXXX";
    if (mkdtemp(name.data())) path_ = name;
  }
  ~Scratch() {
    std::error_code ec;
    if (!path_.empty()) fs::remove_all(path_, ec);
  }
  explicit operator bool() const { return !path_.empty(); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }

 private:
  std::string path_;
};

// The words behind .target of the text: "sm_90a", "debug".
std::vector<std::string> target_of(const std::string& ptx) {
  std::vector<std::string> words;
  const std::size_t at = ptx.find("\n.target");
  if (at == std::string::npos) return words;
  std::istringstream line(ptx.substr(at + 8, ptx.find('\n', at + 8) - at - 8));
  for (std::string word; std::getline(line, word, ',');) {
    std::erase_if(word, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    words.push_back(word);
  }
  return words;
}

// What decides about registers, of what the compiler would have told its assembler.
bool decides(std::string_view option) {
  for (const std::string_view start : {"-maxrregcount=", "--maxrregcount=", "-O", "--opt-level=", "--compile-only"})
    if (option.starts_with(start)) return true;
  return option == "-c";
}

struct Job {
  std::vector<std::string> options;  // the architecture first
  bool link = false;
};

Job job_of(const ptx::Image& i, u32 sm, bool link) {
  Job job{{fmt::format("-arch=sm_{}", sm)}, link};
  const std::vector<std::string> target = target_of(i.ptx);
  if (!target.empty() && target[0] == fmt::format("sm_{}a", sm)) job.options[0] += "a";
  if (std::ranges::count(target, "debug")) job.options.push_back("--device-debug");
  std::istringstream words(i.options);
  for (std::string word; words >> word;)
    if (decides(word)) job.options.push_back(word);
  job.link |= std::ranges::any_of(job.options, [](auto& o) { return o == "--compile-only" || o == "-c"; });
  if (link && std::ranges::count(job.options, "--compile-only") == 0) job.options.push_back("--compile-only");
  return job;
}

std::optional<sass::Cubin> read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<u8> bytes{std::istreambuf_iterator<char>(in), {}};
  auto cubin = sass::read_cubin(bytes);
  if (!cubin) return {};
  return std::move(*cubin);
}

struct Outcome {
  ChildEnd end = ChildEnd::Failed;
  std::optional<sass::Cubin> cubin;
};

Outcome assemble(const std::string& ptxas, const Parts& parts, u32 sm) {
  const Scratch scratch;
  if (!scratch) return {ChildEnd::TimeOut, {}};  // nothing is known about the module
  bool link = parts.ptx.size() > 1;
  std::string arch;
  std::vector<std::string> objects;
  for (std::size_t i = 0; i < parts.ptx.size(); ++i) {
    const Job job = job_of(parts.ptx[i], sm, link);
    link |= job.link;
    arch = job.options.front();
    std::vector<std::string> command = {ptxas, scratch.file(fmt::format("{}.ptx", i), parts.ptx[i].ptx.c_str()), "-o",
                                        scratch.file(fmt::format("{}.cubin", i))};
    command.insert(command.end(), job.options.begin(), job.options.end());
    if (const ChildEnd end = run_child(command, kLimit); end != ChildEnd::Good) return {end, {}};
    objects.push_back(command[3]);
  }
  if (!link) return {ChildEnd::Good, read(objects.front())};
  const std::string linked = scratch.file("linked.cubin");
  std::vector<std::string> command = {fs::path(ptxas).parent_path() / "nvlink", arch, "-o", linked};
  for (std::size_t i = 0; i < parts.objects.size(); ++i)
    objects.push_back(scratch.file(fmt::format("object{}.cubin", i), parts.objects[i]));
  command.insert(command.end(), objects.begin(), objects.end());
  const ChildEnd end = run_child(command, kLimit);
  return {end, end == ChildEnd::Good ? read(linked) : std::nullopt};
}

// "line 7: Parsing error near ..", of "ptxas /tmp/../code.ptx, line 7; error : Parsing error near ..".
std::string first_error(const std::string& path) {
  std::ifstream in(path);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    last = line;
    const std::size_t at = std::min(line.find("error"), line.find("fatal")), place = line.find("line ");
    if (at == std::string::npos) continue;
    const std::size_t text = line.find(':', at);
    if (place == std::string::npos || place > at || text == std::string::npos) return line;
    return fmt::format("line {}{}", std::strtoul(line.c_str() + place + 5, nullptr, 10), line.substr(text));
  }
  return last.empty() ? "it ended without a word" : last;
}

// "Unsupported .version 9.4; current version is '9.0'"
bool is_too_new(const std::vector<Diag>& problems) {
  return std::ranges::any_of(problems,
                             [](const Diag& d) { return d.message.find("Unsupported .version") != d.message.npos; });
}

constexpr const char* kInstall = "`pip install nvidia-cuda-nvcc` installs a new one for a Python program";

}  // namespace

Assembler::Assembler(std::string ptxas, std::string cache_dir)
    : ptxas_(std::move(ptxas)), cache_(cache_dir), made_(std::move(cache_dir), "machine_code", "understudy-code 1") {}

std::string Assembler::find() {
  const std::vector<std::string> all = find_assemblers();
  return all.empty() ? "" : all.front();
}

std::string Assembler::key_of(const std::string& ptxas, const Parts& parts, u32 sm) {
  Hash h;
  struct stat s = {};
  stat(ptxas.c_str(), &s);
  h.text(ptxas);
  for (const u64 v : {u64(s.st_size), u64(s.st_mtim.tv_sec), u64(s.st_mtim.tv_nsec), u64{sm}}) h.word(v);
  for (const ptx::Image& i : parts.ptx) {
    h.text(i.ptx);
    h.text(i.options);
  }
  for (const std::string& o : parts.objects) h.text(o);
  return fmt::format("{:016x}{:016x}", h.a, h.b);
}

std::vector<std::string> Assembler::programs() const {
  if (ptxas_ == "none") return {};
  return ptxas_.empty() ? find_assemblers() : std::vector{ptxas_};
}

bool Assembler::absent() {
  const std::lock_guard lock(m_);
  if (!absent_) absent_ = programs().empty();
  return *absent_;
}

Result<sass::Image> Assembler::image(const ptx::Image& text, u32 sm) {
  const std::vector<std::string> all = programs();
  if (all.empty())
    return Diag{Diag::Kind::Error,
                {},
                fmt::format("no ptxas was found, which makes machine code of PTX: see --ptxas; {}", kInstall)};
  ptx::Image lines = text;
  lines.ptx = ptx::one_statement_per_line(text.ptx);
  auto module = ptx::parse(ptx::without_locations(lines.ptx), "profile");
  if (!module) return module.diags();
  const auto read_code = [&](const std::string& ptxas, const std::string& elf) -> Result<sass::Image> {
    auto code = sass::read_code({reinterpret_cast<const u8*>(elf.data()), elf.size()});
    if (!code) return code.diags();
    sass::Image out{std::move(*module), nullptr, std::move(*code), ptxas};
    out.program = std::make_unique<sass::Program>(*out.module, sass::lines_of_sites(*out.module));
    return out;
  };
  const Parts parts{.ptx = {lines}, .objects = {}};
  for (const std::string& ptxas : all)
    if (const auto elf = made_.load(key_of(ptxas, parts, sm))) return read_code(ptxas, *elf);
  std::vector<Diag> problems;
  for (const std::string& ptxas : all) {
    const auto elf = machine_code(ptxas, lines, sm);
    if (!elf) {
      problems = elf.diags();
      if (is_too_new(problems)) continue;
      break;
    }
    auto image = read_code(ptxas, *elf);
    if (image) made_.store(key_of(ptxas, parts, sm), *elf);
    return image;
  }
  if (is_too_new(problems)) problems.back().message += std::string("; ") + kInstall;
  return problems;
}

// Another one may do what the first cannot: it may be too old for the PTX.
std::optional<sass::Cubin> Assembler::ask(const Parts& parts, u32 sm) {
  const std::lock_guard lock(m_);
  if (parts.ptx.empty()) return {};
  for (const std::string& ptxas : programs()) {
    const std::string key = key_of(ptxas, parts, sm);
    std::optional<sass::Cubin> known = cache_.load(key);
    if (!known) {
      Outcome o = assemble(ptxas, parts, sm);
      if (o.end == ChildEnd::TimeOut) return {};  // of a machine too busy: the next run asks again
      known = o.cubin ? std::move(*o.cubin) : sass::Cubin{};
      cache_.store(key, *known);
    }
    if (!known->kernels.empty()) return known;
  }
  return {};
}

Result<std::string> Assembler::machine_code(const std::string& ptxas, const ptx::Image& image, u32 sm) {
  const auto problem = [](std::string text) { return Diag{Diag::Kind::Error, {}, std::move(text)}; };
  if (!is_program(ptxas)) return problem(ptxas + ": is no program");
  const Scratch scratch;
  if (!scratch) return problem("no directory for temporary files");
  const std::string elf = scratch.file("code.cubin");
  std::vector<std::string> command = {ptxas, scratch.file("code.ptx", image.ptx.c_str()), "-o", elf};
  const Job job = job_of(image, sm, false);
  command.insert(command.end(), job.options.begin(), job.options.end());
  if (std::ranges::count(job.options, "--device-debug") == 0) command.push_back("-lineinfo");
  // What it prints goes to a file: the shell's first argument.
  const std::string printed = scratch.file("printed");
  std::vector<std::string> shell = {"/bin/sh", "-c", "exec \"$@\" >\"$0\" 2>&1", printed};
  shell.insert(shell.end(), command.begin(), command.end());
  switch (run_child(shell, kLimit)) {
    case ChildEnd::Failed:
      return problem(fmt::format("{} makes no machine code for {} of the PTX: {}", ptxas, job.options.front(),
                                 first_error(printed)));
    case ChildEnd::TimeOut:
      return problem(ptxas + ": takes too long");
    case ChildEnd::Good:
      break;
  }
  std::ifstream in(elf, std::ios::binary);
  return std::string{std::istreambuf_iterator<char>(in), {}};
}

}  // namespace us::driver
