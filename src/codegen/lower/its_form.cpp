// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/its_form.h"

#include <map>
#include <set>

#include "ir/edit.h"
#include "isa/operands.h"

namespace us::codegen {
namespace {

using ir::Block;
using ir::BlockId;
using ir::Inst;
using ir::Operand;
using ir::Terminator;
using ir::ValueId;
using ir::Width;

bool is_convergent(const Inst& i) {
  return i.form != isa::Form::Unknown && (isa::info(i.form).effects & isa::kConvergent);
}
bool is_barrier(const Inst& i) { return is_convergent(i) && (isa::info(i.form).effects & isa::kYield); }

Width operand_width(const Inst& i, u32 k) {
  const isa::OperandSpec& o = isa::operands_of(i.form).specs[k];
  return ir::width_of(o.want == isa::OperandSpec::Want::Fixed ? o.type : i.types[o.index]);
}

class ItsForm {
 public:
  explicit ItsForm(ir::Function& f) : f_(f) {
    std::set<u32> written;
    for (Block& b : f_.blocks)
      for (Inst& i : b.insts) {
        const bool known = i.guard.kind == Operand::Kind::None && i.form == isa::Form::mov && !i.ops.empty() &&
                           i.ops.back().kind == Operand::Kind::Imm;
        const bool parameter =
            i.guard.kind == Operand::Kind::None && i.form == isa::Form::ld && i.has(isa::Tok::param) && f_.entry;
        ir::for_each_def(i, [&](ValueId v) {
          const bool once = written.insert(v.v).second;
          if (once && (known || parameter))
            same_.insert(v.v);
          else
            same_.erase(v.v);
        });
      }
  }

  void run() {
    for (u32 b = 0; b < f_.blocks.size(); ++b)
      for (std::size_t k = 0; k < f_.blocks[b].insts.size(); ++k) {
        const Inst& i = f_.blocks[b].insts[k];
        if (alone_.count(b) || (!is_barrier(i) && gate_of(i) == Gate::None)) continue;
        split(b, k);
        break;
      }
    for (auto& [key, sites] : sites_)
      if (sites.size() > 1) unite(sites);
  }

 private:
  using Key = std::tuple<u32, std::string, std::vector<isa::Type>>;

  // Instruction k of block b gets a block of its own; what follows it, another one.
  void split(u32 b, std::size_t k) {
    const u32 own = ir::add_blocks(f_, 2), rest = own + 1;
    ir::cut(f_, b, k + 1, rest);
    Block& head = f_.blocks[b];
    Inst i = std::move(head.insts.back());
    head.insts.pop_back();
    head.term = i.guard.kind == Operand::Kind::None ? ir::jump(own, i.loc) : ir::fork(i.guard, own, rest, i.loc);
    i.guard = Operand{};
    f_.blocks[own].term = ir::jump(rest, i.loc);
    alone_.insert(own);
    if (gate_of(i) == Gate::Members) sites_[key(i)].push_back(own);
    f_.blocks[own].insts.push_back(std::move(i));
  }

  static Key key(const Inst& i) {
    return {static_cast<u32>(i.form), i.toks.to_string(), {i.types.begin(), i.types.end()}};
  }

  // The mask is the same in all lanes, as can be told from the text.
  bool told(const Operand& mask) const {
    return mask.kind == Operand::Kind::Imm || (mask.kind == Operand::Kind::Value && same_.count(mask.value.v));
  }

  // What a whole warp brings to the common place: there it can no longer be told that the masks are the same, and all
  // lanes take part whatever such a mask says (llvm/members.cpp).
  void let_whole_warps_in(Block& from, Operand& mask, const SrcLoc& loc) {
    if (!f_.entry || !told(mask) || (mask.kind == Operand::Kind::Imm && static_cast<u32>(mask.imm) == kFullMask))
      return;
    const Operand active = ir::new_register(f_, Width::B32), whole = ir::new_register(f_, Width::Pred),
                  all = ir::new_register(f_, Width::B32);
    from.insts.push_back(ir::make_inst("activemask.b32", {active}, loc));
    from.insts.push_back(ir::make_inst("setp.eq.s32", {whole, Operand{}, active, ir::literal(-1)}, loc));
    from.insts.push_back(ir::make_inst("selp.b32", {all, active, mask, whole}, loc));
    mask = all;
  }

  void unite(const std::vector<u32>& sites) {
    const u32 common = ir::add_blocks(f_);
    const Inst first = f_.blocks[sites[0]].insts[0];
    const std::size_t dests = isa::info(first.form).dests;
    Inst one = first;
    one.site = ir::kNoSite;  // who arrives is counted there
    for (std::size_t k = 0; k < one.ops.size(); ++k) {
      bool present = false;
      for (u32 s : sites) present = present || f_.blocks[s].insts[0].ops[k].kind != Operand::Kind::None;
      if (present) one.ops[k] = ir::new_register(f_, operand_width(first, static_cast<u32>(k)));
    }
    const Operand site = ir::new_register(f_, Width::B32);
    Terminator out;
    out.kind = Terminator::Kind::Switch;
    out.cond = site;
    out.loc = first.loc;
    for (u32 n = 0; n < sites.size(); ++n) {
      Block& from = f_.blocks[sites[n]];
      Inst i = std::move(from.insts[0]);
      const u32 rest = from.term.targets[0].v, arrival = sites[n];
      from.insts.clear();
      let_whole_warps_in(from, i.ops[static_cast<std::size_t>(isa::operands_of(i.form).membermask)], i.loc);
      from.term = ir::jump(common, i.loc);
      from.term.site = i.site;
      auto add = [&](u32 block, Width w, const Operand& to, const Operand& source) {
        f_.blocks[block].insts.push_back(ir::make_move(w, to, source, i.loc));
      };
      for (std::size_t k = dests; k < i.ops.size(); ++k)
        if (i.ops[k].kind != Operand::Kind::None)
          add(arrival, operand_width(first, static_cast<u32>(k)), one.ops[k], i.ops[k]);
      add(arrival, Width::B32, site, ir::literal(n));
      const u32 leave = ir::add_blocks(f_);
      for (std::size_t k = 0; k < dests; ++k)
        if (i.ops[k].kind == Operand::Kind::Value) add(leave, f_.regs[i.ops[k].value.v], i.ops[k], one.ops[k]);
      f_.blocks[leave].term = ir::jump(rest, i.loc);
      out.targets.push_back(BlockId{leave});
    }
    f_.blocks[common].insts = {std::move(one)};
    f_.blocks[common].term = std::move(out);
  }

  ir::Function& f_;
  std::set<u32> same_;  // registers that are written once, with a number or a parameter
  std::map<Key, std::vector<u32>> sites_;
  std::set<u32> alone_;
};

}  // namespace

Gate gate_of(const Inst& i) {
  if (!is_convergent(i) || is_barrier(i)) return Gate::None;
  if (isa::operands_of(i.form).membermask >= 0) return Gate::Members;
  return i.has(isa::Tok::sync) && i.has(isa::Tok::aligned) ? Gate::Warp : Gate::None;
}

void to_its_form(ir::Function& f) { ItsForm(f).run(); }

}  // namespace us::codegen
