// SPDX-License-Identifier: Apache-2.0
#include "cuda/libnvjitlink/job.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/settings.h"
#include "ptx/bundle.h"
#include "ptx/entries.h"
#include "ptx/fatbin.h"
#include "ptx/ptx.h"
#include "ptx/register_limit.h"
#include "ptx/target.h"
#include "sass/elf.h"

namespace us::nvjitlink {
namespace {

constexpr u16 kDeviceMachine = 190;  // EM_CUDA
constexpr u32 kAnyTarget = ~0u;
constexpr u32 kLtoMagic = 0x7f4e43ed;  // what NVRTC and nvcc put before LTO-IR

const char* name_of(Kind k) {
  constexpr const char* kNames[] = {"NONE", "CUBIN", "PTX", "LTOIR", "FATBIN", "OBJECT", "LIBRARY", "INDEX"};
  return kNames[static_cast<u32>(k)];
}

ptx::Container container_of(Bytes b) {
  return b.size() < sizeof(u32) ? ptx::Container::Text : ptx::container_of(b.data());
}

Kind kind_of(Bytes b) {
  const u32 magic = sass::number_at<u32>(b, 0);
  if (magic == kLtoMagic) return Kind::LtoIr;
  if (is_archive(b)) return Kind::Library;
  switch (container_of(b)) {
    case ptx::Container::FatBinary:
      return Kind::Fatbin;
    case ptx::Container::Bundle:
      return Kind::Cubin;
    case ptx::Container::Elf: {
      const auto elf = sass::Elf::read(b);
      return elf && elf->machine == kDeviceMachine ? Kind::Cubin : Kind::Object;
    }
    case ptx::Container::Text:
      return ptx::is_ptx({reinterpret_cast<const char*>(b.data()), b.size()}) ? Kind::Ptx : Kind::None;
    case ptx::Container::Wrapper:  // refers to memory, not to what follows it
      break;
  }
  return Kind::None;
}

std::string text_of(Bytes b) {
  const auto* begin = reinterpret_cast<const char*>(b.data());
  return {begin, std::find(begin, begin + b.size(), '\0')};
}

// As the stock library's assembler words it.
std::string complaints(const std::vector<Diag>& diags) {
  std::string out;
  for (const Diag& d : diags)
    out += d.loc.file  // a line of the program's source
               ? fmt::format("ptxas error   : {}\n", d.message)
               : fmt::format("ptxas application ptx input, line {}; error   : {}\n", d.loc.line, d.message);
  return out + "ptxas fatal   : Ptx assembly aborted due to errors\n";
}

}  // namespace

Code Job::fail(Code code, const std::string& text) {
  errors_ += text + "\n";
  return code;
}

Code Job::add(Kind kind, Bytes data, const char* name) {
  if (!data.data()) return NullInput;
  if (data.empty()) return InvalidInput;
  const std::string called = name ? name : "";
  const Kind found = kind_of(data);
  if (kind == Kind::Any && found == Kind::None) return fail(UnrecognizedInput, "unrecognized input type: " + called);
  if (kind == Kind::Any) kind = found;
  if (kind < Kind::Cubin || kind > Kind::Library) return fail(IncorrectInputType, "unsupported input type: " + called);
  // An earlier link, our NVRTC or our ptxas made it.
  const bool ours = kind == Kind::Cubin && (found == Kind::Ptx || found == Kind::Fatbin);
  if (kind != found && !ours)
    return fail(IncorrectInputType,
                fmt::format("ERROR 1: bad input: does not match type NVJITLINK_INPUT_{}{}", name_of(kind), called));
  switch (ours ? found : kind) {
    case Kind::LtoIr:
      return add_lto(kind, data, called);
    case Kind::Fatbin:
      return add_fat_binary(data, called, false);
    case Kind::Object:
      return add_object(data, called, false);
    case Kind::Library:
      for (const Bytes member : archive_members(data))
        if (const Code e = add_object(member, called, true)) return e;
      return Success;
    case Kind::Ptx:
      return add_ptx(text_of(data), called, options_.target.sm);
    default:
      break;
  }
  if (container_of(data) == ptx::Container::Bundle) {
    const auto images = ptx::texts_of_bundle(data);
    if (!images) return fail(InvalidInput, "ERROR 1: " + images.diags()[0].message);
    for (const ptx::Image& i : *images)
      if (const Code e = add_ptx(i.ptx, called, kAnyTarget)) return e;
    return Success;
  }
  return fail(InvalidInput,
              "ERROR 1: understudy: " + called +
                  " is machine code (a cubin), which the virtual device does not run; link PTX or LTO-IR");
}

Code Job::add_file(Kind kind, const char* path) {
  if (!path) return NullInput;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return fail(InvalidInput, std::string("is a directory: ") + path);
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(InvalidInput, std::string("no such file: ") + path);
  const std::vector<u8> data{std::istreambuf_iterator<char>(file), {}};
  return add(kind, data, path);
}

Code Job::add_ptx(std::string text, const std::string& name, u32 newest) {
  auto m = ptx::parse(text, name);
  const std::vector<Diag> wrong = m ? ptx::unknown_instructions(**m) : m.diags();
  if (!wrong.empty()) {
    errors_ += complaints(wrong);
  } else if ((*m)->sm > newest) {
    errors_ += "ptxas fatal   : SM version specified by .target is higher than default SM version assumed\n";
  } else {
    newer_ |= (*m)->sm > options_.target.sm;
    texts_.push_back(std::move(text));
    names_.push_back(name);
    modules_.push_back(std::move(*m));
    return Success;
  }
  return fail(PtxCompile, "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (" + name + ")");
}

// With LTO its own form comes first, as in the stock library.
Code Job::add_fat_binary(Bytes data, const std::string& name, bool may_lack_code) {
  const bool lto = ptx::has_lto_ir(data);
  if (lto && options_.lto) return add_lto(Kind::Fatbin, data, name);
  auto image = ptx::find_ptx(data, options_.target);
  if (image) return add_ptx(image->ptx.c_str(), name, options_.target.sm);
  if (!ptx::is_no_ptx(image.diags())) return fail(InvalidInput, "ERROR 1: " + image.diags()[0].message);
  if (setting_text("no_newer_ptx").empty())
    if (const auto newer = ptx::find_newer_ptx(data, options_.target)) {
      if (!may_lack_code) return add_ptx(newer->ptx.c_str(), name, kAnyTarget);
      // A member that nobody calls may refer to what no input has (libcudadevrt.a).
      auto m = ptx::parse(newer->ptx.c_str(), name);
      if (m && ptx::unknown_instructions(**m).empty())
        spare_.push_back({.text = newer->ptx.c_str(), .name = name, .module = std::move(*m)});
      return Success;
    }
  if (lto) return fail(LtoNotEnabled, "ERROR 1: LTO-IR input cannot be used without LTO enabled (-lto)");
  // Of a library only what is called matters; a call without code is reported at the end.
  if (may_lack_code) return Success;
  return fail(InvalidInput, "ERROR 1: understudy: " + name + ": " + image.diags()[0].message);
}

Code Job::add_object(Bytes data, const std::string& name, bool may_lack_code) {
  std::vector<Bytes> all;
  const bool other_file = may_lack_code && container_of(data) != ptx::Container::Elf;
  if (!other_file && !fat_binaries(data, all)) return fail(InvalidInput, "ERROR 1: damaged object: " + name);
  for (const Bytes b : all)
    if (const Code e = add_fat_binary(b, name, may_lack_code)) return e;
  return Success;
}

Code Job::add_lto(Kind kind, Bytes data, const std::string& name) {
  if (!options_.lto) return fail(LtoNotEnabled, "ERROR 1: LTO-IR input cannot be used without LTO enabled (-lto)");
  lto_.push_back({kind, std::string(reinterpret_cast<const char*>(data.data()), data.size()), name});
  return Success;
}

Code Job::complete() {
  done_ = false;
  if (options_.ptx && !texts_.empty())
    return fail(IncorrectInputType, "ERROR: -ptx requires that all inputs have LTOIR");
  if (!lto_.empty()) {
    std::string made;
    if (const Code e = link_lto(options_, lto_, made, errors_)) return e;
    if (options_.ptx) return done_ = true, result_ = std::move(made), Success;
    if (const Code e = add_ptx(std::move(made), "LTO-IR", options_.target.sm)) return e;
    lto_.clear();
  }
  if (const Code e = link()) return fail(e, "ERROR 9: finish");
  if (options_.max_registers)
    for (std::string& t : texts_) t = ptx::with_register_limit(std::move(t), options_.max_registers);
  // Of a bundle the driver takes PTX for newer devices, too.
  result_ = texts_.size() == 1 && !newer_ ? texts_.front() + '\0' : ptx::make_bundle(texts_);
  done_ = true;
  return Success;
}

void Job::take_spare() {
  for (Spare& taken : take_needed(modules_, spare_)) {
    newer_ |= taken.module->sm > options_.target.sm;
    texts_.push_back(std::move(taken.text));
    names_.push_back(std::move(taken.name));
    modules_.push_back(std::move(taken.module));
  }
}

Code Job::link() {
  if (texts_.empty()) return errors_ += "error   : understudy: there is no PTX to link\n", Internal;
  for (std::size_t i = 0; modules_.size() < texts_.size(); ++i) {  // earlier links took theirs
    auto m = ptx::parse(texts_[i], names_[i]);
    if (!m) return errors_ += complaints(m.diags()), Internal;
    modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(i), std::move(*m));
  }
  take_spare();
  auto modules = std::exchange(modules_, {});
  std::unique_ptr<ir::Module> whole;
  if (modules.size() == 1) {
    whole = std::move(modules.front());
  } else {
    auto linked = ptx::link(std::move(modules), "linked");
    if (!linked) {
      for (const Diag& d : linked.diags()) errors_ += "error   : " + d.message + "\n";
      return Internal;
    }
    whole = std::move(*linked);
  }
  Code code = Success;
  for (const ir::Symbol& s : whole->symbols) {
    if (s.kind == ir::Symbol::Kind::Label || defined(*whole, s) || of_driver(s.name)) continue;
    errors_ += fmt::format("error   : Undefined reference to '{}' in '{}'\n", s.name, names_.front());
    code = Internal;
  }
  return code;
}

}  // namespace us::nvjitlink
