// SPDX-License-Identifier: Apache-2.0
#include "cuda/libnvjitlink/options.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace us::nvjitlink {
namespace {

constexpr std::string_view kFlags[] = {
#define US_LINK_FLAG(text) text,
#define US_LINK_VALUE(text)
#include "cuda/libnvjitlink/options.inc"
#undef US_LINK_FLAG
#undef US_LINK_VALUE
};
constexpr std::string_view kValues[] = {
#define US_LINK_FLAG(text)
#define US_LINK_VALUE(text) text "=",
#include "cuda/libnvjitlink/options.inc"
#undef US_LINK_FLAG
#undef US_LINK_VALUE
};
constexpr std::string_view kArch = "-arch=", kMaxRegisters = "-maxrregcount=";

bool is_option(std::string_view o) {
  return std::ranges::find(kFlags, o) != std::end(kFlags) ||
         std::ranges::any_of(kValues, [&](std::string_view v) { return o.starts_with(v) && o.size() > v.size(); });
}

// "sm_90a", "compute_90"
Code read_arch(std::string_view value, Options& out, bool& is_virtual) {
  is_virtual = value.starts_with("compute_");
  if (!is_virtual && !value.starts_with("sm_")) return UnrecognizedOption;
  value.remove_prefix(value.find('_') + 1);
  u32 sm = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), sm);
  const std::string_view rest(end, static_cast<std::size_t>(value.data() + value.size() - end));
  if (error != std::errc() || (rest != "" && rest != "a" && rest != "f")) return UnrecognizedArch;
  constexpr u32 kOldest = 50;
  if (sm < kOldest) return UnsupportedArch;
  out.target = {.sm = sm, .arch_specific = rest == "a"};
  return Success;
}

}  // namespace

Code read_options(u32 count, const char* const* given, Options& out) {
  if (count && !given) return NullInput;
  std::string_view arch;
  for (u32 i = 0; i < count; ++i) {
    if (!given[i]) return NullInput;
    const std::string_view o = given[i];
    if (!is_option(o)) return UnrecognizedOption;
    if (o.starts_with(kArch)) arch = o.substr(kArch.size());
    if (o.starts_with(kMaxRegisters)) {
      const char* const end = o.data() + o.size();
      const auto [behind, error] = std::from_chars(o.data() + kMaxRegisters.size(), end, out.max_registers);
      if (error != std::errc() || behind != end) return UnrecognizedOption;
    }
    out.lto |= o == "-lto" || o == "-dlto";
    out.ptx |= o == "-ptx";
    out.text.emplace_back(o);
  }
  if (arch.empty()) return MissingArch;
  bool is_virtual = false;
  if (const Code e = read_arch(arch, out, is_virtual)) return e;
  return (is_virtual && !out.ptx) || (out.ptx && !out.lto) ? IncompatibleOptions : Success;
}

}  // namespace us::nvjitlink
