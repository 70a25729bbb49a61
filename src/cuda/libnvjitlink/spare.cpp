// SPDX-License-Identifier: Apache-2.0
#include "cuda/libnvjitlink/spare.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace us::nvjitlink {

bool of_driver(std::string_view name) {
  constexpr std::string_view kKnown[] = {"vprintf", "malloc", "free", "__assertfail"};
  return name.starts_with("cuda") || name.starts_with("__cuda") || std::ranges::find(kKnown, name) != std::end(kKnown);
}

bool defined(const ir::Module& m, const ir::Symbol& s) {
  if (s.kind == ir::Symbol::Kind::Function) return s.alias.valid() || (s.func.valid() && m.functions[s.func.v].defined);
  return s.linkage != ir::Symbol::Linkage::Extern || s.space == isa::Space::Shared;
}

std::vector<Spare> take_needed(const std::vector<std::unique_ptr<ir::Module>>& modules, std::vector<Spare>& spare) {
  std::set<std::string, std::less<>> missing, there;
  const auto look = [&](const ir::Module& m) {
    for (const ir::Symbol& s : m.symbols)
      if (s.kind != ir::Symbol::Kind::Label && (defined(m, s) || !of_driver(s.name)))
        (defined(m, s) ? there : missing).insert(s.name);
  };
  for (const auto& m : modules) look(*m);
  const auto wanted = [&](const Spare& each) {
    return std::ranges::any_of(each.module->symbols, [&](const ir::Symbol& s) {
      return s.kind != ir::Symbol::Kind::Label && s.linkage != ir::Symbol::Linkage::Internal &&
             defined(*each.module, s) && missing.contains(s.name) && !there.contains(s.name);
    });
  };
  std::vector<Spare> taken;
  for (auto next = std::ranges::find_if(spare, wanted); next != spare.end();
       next = std::ranges::find_if(spare, wanted)) {
    look(*next->module);
    taken.push_back(std::move(*next));
    spare.erase(next);
  }
  return taken;
}

}  // namespace us::nvjitlink
