// SPDX-License-Identifier: Apache-2.0
#include "driver/code/stored_to.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <unordered_map>

#include "isa/isa.h"

namespace us::driver {
namespace {

using ir::Operand;
using isa::Tok;

class Finder {
 public:
  Finder(const ir::Function& f, const u8* parameters) : f_(f), parameters_(parameters) {
    for (const ir::Block& b : f.blocks) {
      for (const ir::Phi& p : b.phis)
        for (const Operand& o : p.in) choices_[p.dest.v].push_back(&o);
      for (const ir::Inst& i : b.insts) ir::for_each_def(i, [&](ir::ValueId v) { definitions_[v.v].push_back(&i); });
    }
  }
  std::optional<std::vector<u64>> run() {
    for (const ir::Block& b : f_.blocks)
      for (const ir::Inst& i : b.insts)
        if (!note(i)) return {};
    return std::vector<u64>(found_.begin(), found_.end());
  }

 private:
  bool note(const ir::Inst& i) {
    if (!i.call.empty() || i.form == isa::Form::Unknown) return false;
    const std::string_view id = isa::info(i.form).id;
    if (id.starts_with("discard")) return false;
    if (!(isa::info(i.form).effects & (isa::kStore | isa::kAtomic | isa::kCopy))) return true;
    for (const Tok t : {Tok::shared, Tok::shared_cta, Tok::shared_cluster, Tok::local, Tok::param, Tok::param_func})
      if (i.has(t) && (isa::info(i.form).effects & isa::kCopy) == 0) return true;
    if (i.form == isa::Form::cp_async_ca || i.form == isa::Form::cp_async_cg) return true;
    if (isa::info(i.form).effects & isa::kCopy) return false;
    const bool known = id.starts_with("st") || id.starts_with("atom") || id.starts_with("red");
    for (const Operand& o : i.ops)
      if (known && o.kind == Operand::Kind::Address) return o.value.valid() && made_from(o.value);
    return false;
  }

  // Is there a parameter among what is added up to this?
  bool made_from(ir::ValueId v) {
    bool any = false;
    std::set<u32> seen;
    std::vector<u32> work{v.v};
    const auto look = [&](const Operand& o) {
      if (o.kind == Operand::Kind::Value && seen.insert(o.value.v).second) work.push_back(o.value.v);
    };
    seen.insert(v.v);
    while (!work.empty()) {
      const u32 at = work.back();
      work.pop_back();
      for (const Operand* o : choices_[at]) look(*o);
      for (const ir::Inst* i : definitions_[at]) {
        const std::string_view id = isa::info(i->form).id;
        if (i->has(Tok::param) && id.starts_with("ld")) any = parameter(*i, at) || any;
        const bool sums = id == "mov" || id.starts_with("cvta") || id.starts_with("add") || id.starts_with("sub") ||
                          id.starts_with("selp") || id.starts_with("and") || id.starts_with("or") ||
                          id.starts_with("mad");
        for (std::size_t k = isa::info(i->form).dests; sums && k < i->ops.size(); ++k) look(i->ops[k]);
        for (const Operand& o : i->merge) look(o);
      }
    }
    return any;
  }
  bool parameter(const ir::Inst& load, u32 into) {
    u64 element = 0;
    for (const Operand& e : load.ops[0].elems) {
      if (e.value.valid() && e.value.v == into) break;
      ++element;
    }
    for (const Operand& o : load.ops) {
      if (o.kind != Operand::Kind::Address || o.value.valid()) continue;
      for (const ir::Param& p : f_.params) {
        const u64 offset = static_cast<u64>(o.imm) + 8 * element;
        if (p.sym != o.sym || offset + 8 > p.size) continue;
        u64 value = 0;
        std::memcpy(&value, parameters_ + p.offset + offset, sizeof value);
        found_.insert(value);
        return true;
      }
    }
    return false;
  }

  const ir::Function& f_;
  const u8* const parameters_;
  std::unordered_map<u32, std::vector<const ir::Inst*>> definitions_;
  std::unordered_map<u32, std::vector<const Operand*>> choices_;
  std::set<u64> found_;
};

}  // namespace

std::optional<std::vector<u64>> stored_to(const ir::Function& f, const u8* parameters) {
  return Finder(f, parameters).run();
}

}  // namespace us::driver
