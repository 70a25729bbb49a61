// SPDX-License-Identifier: Apache-2.0
#include "timing/code_load.h"

#include <algorithm>

#include "sass/image.h"

namespace us::timing {
namespace {

constexpr u64 kInstructionBytes = 16;

}  // namespace

CodeSizes code_sizes(const probe::LaunchInfo& l, const sass::Image* image) {
  CodeSizes of;
  of.variables = static_cast<u64>(std::ranges::count_if(l.symbols, [](const probe::Symbol& s) {
    return s.space == probe::Space::Global || s.space == probe::Space::Const;
  }));
  if (!image) {
    of.bytes = of.kernel_bytes = kInstructionBytes * l.sites;
    return of;
  }
  of.kernels = 0;
  for (const sass::Function& f : image->code.functions) {
    const u64 bytes = kInstructionBytes * f.instructions.size();
    of.kernels += f.kernel;
    of.bytes += bytes;
    if (f.name == l.name) of.kernel_bytes = bytes;
  }
  return of;
}

double module_load(const Parameters& p, const CodeSizes& of) {
  const auto kernels = static_cast<double>(of.kernels), variables = static_cast<double>(of.variables);
  return p.host_module + kernels * p.host_module_kernel + static_cast<double>(of.bytes) * p.host_module_byte +
         (of.variables ? p.host_variables + variables * p.host_variable : 0);
}

double kernel_load(const Parameters& p, const CodeSizes& of) {
  return p.host_load + static_cast<double>(of.kernel_bytes) * p.host_load_byte;
}

double LoadedCode::load(const Parameters& p, const probe::LaunchInfo& l, const sass::Image* image) {
  if (!kernels_.insert(l.kernel).second) return 0;
  const CodeSizes sizes = code_sizes(l, image);
  const bool module = modules_.emplace(image, image ? 0 : l.sites).second;
  return kernel_load(p, sizes) + (module ? module_load(p, sizes) : 0);
}

}  // namespace us::timing
