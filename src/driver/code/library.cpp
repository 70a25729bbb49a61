// SPDX-License-Identifier: Apache-2.0
#include "driver/code/library.h"

#include <algorithm>
#include <cstring>

#include "driver/code/assembler.h"
#include "driver/code/device_library.h"
#include "driver/device.h"
#include "driver/runtime.h"
#include "ptx/entries.h"
#include "ptx/fatbin.h"
#include "ptx/mapped.h"
#include "ptx/ptx.h"
#include "ptx/target.h"

namespace us::driver {

Library::Library(Runtime& r, const void* image, std::string name) : runtime_(r), image_(image), name_(std::move(name)) {
  if (ptx::container_of(image) != ptx::Container::Text) return;
  const char* const text = static_cast<const char*>(image);
  text_.assign(text, ::strnlen(text, ptx::mapped_from(image).size()));
  image_ = nullptr;
}

Library::Library(Runtime& r, const void* image, std::function<std::string()> owner) : Library(r, image, std::string()) {
  owner_ = std::move(owner);
}

Library::Library(Runtime& r, std::unique_ptr<ir::Module> m, std::string name)
    : runtime_(r), name_(std::move(name)), parsed_(true), module_(std::move(m)) {}

namespace {
// An ELF file for another machine than the device.
bool is_of_host(const void* image) {
  constexpr u16 kDeviceMachine = 190;  // EM_CUDA
  constexpr std::size_t kMachineAt = 18;
  if (ptx::container_of(image) != ptx::Container::Elf) return false;
  u16 machine = 0;
  std::memcpy(&machine, static_cast<const char*>(image) + kMachineAt, sizeof machine);
  return machine != kDeviceMachine;
}
}  // namespace

std::string in_one_line(std::string_view log) {
  const std::size_t first = log.find('\n');
  if (first == log.npos) return std::string(log);
  std::string_view complaint = log.substr(first + 1);
  complaint = complaint.substr(0, complaint.find('\n'));
  complaint.remove_prefix(std::min(complaint.find_first_not_of(' '), complaint.size()));
  return std::string(log.substr(0, first)) + " " + std::string(complaint);
}

Error Library::module(const ir::Module*& out) {
  std::lock_guard l(m_);
  if (!parsed_) {
    parsed_ = true;
    if (owner_) name_ = owner_();
    error_ = parse();
    if (failed(error_)) runtime_.refused(in_one_line(log_));
    text_.clear();
  }
  out = module_.get();
  return error_;
}

Error Library::parse() {
  const DeviceSpec& d = runtime_.device(0).spec();
  const bool text = image_ == nullptr;
  if (!text && is_of_host(image_)) {
    log_ = name_ + ": this is a file of the host (a program, library or object), not device code";
    return Error::InvalidImage;
  }
  if (text && (!ptx::is_ptx(text_) || text_.find(".version") == text_.npos)) {
    log_ = name_ + ": this is no PTX: it does not begin with .version";
    return Error::InvalidImage;
  }
  const ptx::Target target{.sm = d.cc_major * 10 + d.cc_minor};
  auto images = ptx::find_images(text ? text_.c_str() : image_, target);
  if (!text && !images && ptx::is_no_ptx(images.diags()) && runtime_.settings().newer_ptx)
    if (auto others = ptx::find_newer_ptx(image_, target); others) images = std::move(others);
  auto parsed = images ? ptx::load(*images, name_) : Result<std::unique_ptr<ir::Module>>(images.diags());
  if (parsed) parsed = add_device_library(std::move(*parsed));
  if (parsed) {
    if (text) log_ = ptx::beyond_target(**parsed, d.cc_major * 10 + d.cc_minor);
    if (const auto unknown = text ? ptx::unknown_instructions(**parsed) : std::vector<Diag>(); !unknown.empty())
      log_ = std::to_string(unknown.front().loc.line) + ": " + unknown.front().message;
    if (!log_.empty()) {
      log_ = name_ + ": " + log_;
      return Error::InvalidPtx;
    }
    module_ = std::move(*parsed);
    if (module_->sm > target.sm)
      runtime_.ran_newer_ptx(name_, module_->sm);
    else  // the machine code for the device is other code
      keep_facts(std::move(*images), target.sm);
    return Error::Success;
  }
  log_ = name_ + ":";
  for (const Diag& m : parsed.diags()) {
    log_ += "\n  ";
    if (m.loc.line) log_ += std::to_string(m.loc.line) + ":" + std::to_string(m.loc.col) + ": ";
    log_ += m.message;
  }
  if (ptx::is_no_ptx(parsed.diags())) return Error::NoBinaryForGpu;
  return images ? Error::InvalidPtx : Error::InvalidImage;
}

// The machine code of the program, if it is whole; the PTX, if the assembler must be asked.
void Library::keep_facts(std::vector<ptx::Image> images, u32 sm) {
  std::vector<std::string> code;
  if (image_) code = ptx::find_machine_code(image_, {.sm = sm});
  const std::lock_guard l(facts_m_);
  for (std::string& c : code) {
    auto cubin = sass::read_cubin({reinterpret_cast<const u8*>(c.data()), c.size()});
    if (!cubin) continue;
    if (!cubin->linked) {
      parts_.objects.push_back(std::move(c));
    } else if (!cubin_ && !cubin->kernels.empty()) {
      cubin_ = std::move(*cubin);
      origin_ = FactSource::Cubin;
    }
  }
  if (runtime_.settings().observer) observed_ = images;
  parts_.ptx = std::move(images);
  if (cubin_ || runtime_.assembler().absent()) parts_ = {};
}

Facts Library::facts_at_hand() const {
  const std::lock_guard l(facts_m_);
  return {cubin_ ? &*cubin_ : nullptr, origin_};
}

Facts Library::facts() {
  const std::lock_guard l(facts_m_);
  if (!parts_.ptx.empty()) {
    const DeviceSpec& d = runtime_.device(0).spec();
    if ((cubin_ = runtime_.assembler().ask(parts_, d.cc_major * 10 + d.cc_minor))) origin_ = FactSource::Ptxas;
    parts_ = {};
  }
  return {cubin_ ? &*cubin_ : nullptr, origin_};
}

std::shared_ptr<const sass::Image> Library::machine_code(std::string& why) {
  const std::lock_guard l(facts_m_);
  if (!observed_.empty()) {
    const DeviceSpec& d = runtime_.device(0).spec();
    const std::vector<ptx::Image> images = std::exchange(observed_, {});
    auto made = images.size() == 1
                    ? runtime_.assembler().image(images.front(), d.cc_major * 10 + d.cc_minor)
                    : Result<sass::Image>(Diag{Diag::Kind::Error, {}, "the module is linked of several pieces of PTX"});
    if (made)
      machine_code_ = std::make_shared<const sass::Image>(std::move(*made));
    else
      no_machine_code_ = made.diags().front().message;
  }
  why = machine_code_ || !no_machine_code_.empty() ? no_machine_code_ : "the program brings no PTX for the device";
  return machine_code_;
}

Kernel& Library::kernel(const std::string& name) {
  std::lock_guard l(m_);
  auto& k = kernels_[name];
  if (!k) {
    k = std::make_unique<Kernel>(Kernel{this, name});
    runtime_.kernel_made(k.get());
  }
  return *k;
}

Error Library::find_kernel(const std::string& name, Kernel*& out) {
  const ir::Module* m = nullptr;
  US_TRY(module(m));
  for (const ir::Function& f : m->functions) {
    if (!f.entry || !f.defined || f.name != name) continue;
    out = &kernel(name);
    return Error::Success;
  }
  return Error::NotFound;
}

std::vector<Kernel*> Library::made_kernels() {
  std::lock_guard l(m_);
  std::vector<Kernel*> out;
  for (const auto& [name, kernel] : kernels_) out.push_back(kernel.get());
  return out;
}

Error Library::list_kernels(std::vector<Kernel*>& out) {
  const ir::Module* m = nullptr;
  if (failed(module(m))) return Error::Success;  // none, as a driver says
  for (const ir::Function& f : m->functions)
    if (f.entry && f.defined) out.push_back(&kernel(f.name));
  return Error::Success;
}

}  // namespace us::driver
