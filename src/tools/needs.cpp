// SPDX-License-Identifier: Apache-2.0
#include "tools/needs.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/demangle.h"
#include "tools/elf_file.h"
#include "tools/ptx_facts.h"
#include "tools/stripped_runtime.h"

namespace us::tools {
namespace {

constexpr std::string_view kToolkit[] = {"libcuda.so",  "libcudart",   "libcublas",    "libcufft",    "libcurand",
                                         "libcusparse", "libcusolver", "libcudnn",     "libcupti",    "libcufile",
                                         "libcutensor", "libnvrtc",    "libnvJitLink", "libnvfatbin", "libnvidia-ml",
                                         "libnvvm",     "libnccl",     "libnvshmem",   "libnpp",      "libnvjpeg"};
// They do their work without a driver.
constexpr std::string_view kNoDriver[] = {"libnvrtc", "libnvJitLink", "libnvfatbin", "libnvvm"};

bool begins(const std::string& name, const auto& list) {
  return std::ranges::any_of(list, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

void add_libraries(const ElfFile& elf, const std::function<bool(const std::string&)>& here, std::vector<Need>& out) {
  std::vector<std::string> ours, missing, stock;
  for (const std::string& name : elf.needed) {
    if (!begins(name, kToolkit)) continue;
    (here(name) ? ours : begins(name, kNoDriver) ? stock : missing).push_back(name);
  }
  if (!ours.empty()) out.push_back({Answer::Good, "libraries", fmt::format("{}: ours", fmt::join(ours, ", ")), {}});
  if (!stock.empty())
    out.push_back({Answer::Good,
                   "libraries",
                   fmt::format("{}: the toolkit's, which needs no driver", fmt::join(stock, ", ")),
                   {}});
  if (!missing.empty())
    out.push_back({Answer::Partly, "libraries", fmt::format("{}: not here", fmt::join(missing, ", ")),
                   "the toolkit's loads, but its calls fail, because it has machine code only: use code that comes as "
                   "PTX in its place (docs/faq.md)"});
}

void add_runtime(const ElfFile& elf, const std::string& file, std::vector<Need>& out) {
  const bool shared =
      std::ranges::any_of(elf.needed, [](const std::string& n) { return n.starts_with("libcudart.so"); });
  // The table of error names is in the runtime as a whole, so it survives stripping.
  if (shared || !elf.contains("cudaErrorCudartUnloading") || elf.soname.starts_with("libcudart")) return;
  if (begins(elf.soname, kNoDriver)) return;
  const auto public_function = [](const ElfFile::Symbol& s) {
    return s.defined && s.function && s.name == "cudaGetErrorName";
  };
  if (std::ranges::any_of(elf.symbols, public_function)) {
    out.push_back({Answer::Good, "runtime", "inside (libcudart_static), with symbols: its calls are sent to ours", {}});
    return;
  }
  if (const std::string archive = archive_of_runtime_in(elf, file); !archive.empty()) {
    out.push_back(
        {Answer::Good,
         "runtime",
         fmt::format("inside (libcudart_static), without symbols, which {} has: its calls are sent to ours", archive),
         {}});
    return;
  }
  out.push_back({Answer::Bad, "runtime", "inside (libcudart_static), without symbols: its calls cannot be sent to ours",
                 "take the file as it was before `strip`, link it with the shared runtime (nvcc -cudart shared), or "
                 "name the libcudart_static.a that it was linked from (`understudy run --static-runtime FILE`; Python "
                 "package nvidia-cuda-runtime, of the same version); cuda.bindings needs none of it"});
}

std::string tell(const std::map<std::string, u32>& entries) {
  std::vector<std::string> parts;
  for (const auto& [name, n] : entries) parts.push_back(n == 1 ? name : fmt::format("{} x {}", n, name));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Machine code without PTX, of whose kernels some have PTX in what it was linked from.
bool is_linked(const CodeImage& i) {
  return i.fit == CodeImage::Fit::None && i.without_ptx.size() < i.kernels.size() && !i.linked_from;
}

Need of_linked(const CodeImage& i) {
  const std::string held = fmt::format("{}", fmt::join(i.entries, ", "));
  const std::size_t all = i.kernels.size(), missing = i.without_ptx.size();
  if (!missing)
    return {Answer::Good,
            "code",
            fmt::format("1 linked image: {} of {} kernels by PTX that was linked: {}", all, all, held),
            {}};
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> named;
  for (const std::string& kernel : i.without_ptx)
    if (named.size() < kNamed) named.push_back(demangled(kernel));
  return {Answer::Partly, "code",
          fmt::format("1 linked image: {} of {} kernels by PTX that was linked: {}", all - missing, all, held),
          fmt::format("without PTX: {}{}; compile the objects that hold them with PTX, too", fmt::join(named, ", "),
                      missing > kNamed ? ", .." : "")};
}

void add_code(const ElfFile& elf, ptx::Target target, std::vector<Need>& out) {
  std::map<std::string, u32> held[3];
  u32 images[3] = {};
  const std::vector<CodeImage> all = code_in(elf, target);
  const bool linked = std::ranges::any_of(all, is_linked);
  for (const CodeImage& i : all) {
    if (is_linked(i) || (linked && i.linked_from && i.fit == CodeImage::Fit::None)) continue;  // told below
    const auto fit = static_cast<u32>(i.fit);
    ++images[fit];
    for (const std::string& e : i.entries) ++held[fit][e];
  }
  const auto count = [](u32 n) { return n == 1 ? std::string("1 image") : fmt::format("{} images", n); };
  if (images[0])
    out.push_back({Answer::Good, "code", fmt::format("{} with PTX: {}", count(images[0]), tell(held[0])), {}});
  if (images[1])
    out.push_back({Answer::Partly,
                   "code",
                   fmt::format("{} with PTX for newer devices only, which is run: {}", count(images[1]), tell(held[1])),
                   {}});
  if (images[2])
    out.push_back(
        {images[0] || images[1] ? Answer::Partly : Answer::Bad, "code",
         fmt::format("{} without PTX for the device: {}", count(images[2]), tell(held[2])),
         fmt::format("their kernels fail by name; compile with -gencode arch=compute_{0},code=compute_{0}, or "
                     "use code that is compiled at run time (docs/clients.md)",
                     target.sm)});
  for (const CodeImage& i : all)
    if (is_linked(i)) out.push_back(of_linked(i));
}

}  // namespace

std::vector<Need> needs_of(const ElfFile& elf, const std::string& file, ptx::Target target,
                           const std::function<bool(const std::string&)>& here) {
  std::vector<Need> out;
  add_runtime(elf, file, out);
  add_libraries(elf, here, out);
  add_code(elf, target, out);
  return out;
}

}  // namespace us::tools
