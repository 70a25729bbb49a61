// SPDX-License-Identifier: Apache-2.0
#include "ptx/target.h"

#include <set>
#include <string_view>

namespace us::ptx {
namespace {

struct Since {
  std::string_view beginning;  // of the mnemonic
  u32 sm;
};
constexpr Since kSince[] = {
    {"barrier.cluster", 90}, {"clusterlaunchcontrol.", 100},
    {"cp.async.bulk", 90},   {"cp.reduce.async.bulk", 90},
    {"elect.sync", 90},      {"getctarank", 90},
    {"griddepcontrol", 90},  {"mapa", 90},
    {"setmaxnreg", 90},      {"stmatrix", 90},
    {"tcgen05.", 100},       {"wgmma.", 90},
};

std::string_view mnemonic(const ir::Inst& i) {
  return i.form == isa::Form::Unknown ? std::string_view(i.text) : isa::info(i.form).pattern;
}

}  // namespace

std::string beyond_target(const ir::Module& m, u32 sm) {
  if (m.sm > sm) return ".target " + m.target + " is above the device's sm_" + std::to_string(sm);
  for (const ir::Function& f : m.functions)
    for (const ir::Block& b : f.blocks)
      for (const ir::Inst& i : b.insts)
        for (const Since& since : kSince)
          if (m.sm < since.sm && mnemonic(i).starts_with(since.beginning))
            return std::to_string(i.loc.line) + ": " + std::string(mnemonic(i)) + " needs .target sm_" +
                   std::to_string(since.sm) + " or higher";
  return {};
}

std::vector<Diag> unknown_instructions(const ir::Module& m) {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> all;
    for (u32 f = 1; f < static_cast<u32>(isa::Form::Count); ++f) {
      const std::string_view pattern = isa::info(static_cast<isa::Form>(f)).pattern;
      all.insert(pattern.substr(0, pattern.find_first_of(".{ ")));
    }
    return all;
  }();
  std::vector<Diag> out;
  for (const ir::Function& f : m.functions)
    for (const ir::Block& b : f.blocks)
      for (const ir::Inst& i : b.insts) {
        const std::string name = i.text.substr(0, i.text.find('.'));
        if (i.form != isa::Form::Unknown || names.contains(name)) continue;
        out.push_back({Diag::Kind::Error, i.loc, "Not a name of any known instruction: '" + name + "'"});
      }
  return out;
}

}  // namespace us::ptx
