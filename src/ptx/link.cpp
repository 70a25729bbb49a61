// SPDX-License-Identifier: Apache-2.0
// Linking: the symbols of all modules move into one table, by name where other modules may see them; then every id in
// code, initial values and signatures is rewritten.
#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "ir/sites.h"
#include "ptx/ptx.h"

namespace us::ptx {
namespace {

using Linkage = ir::Symbol::Linkage;

bool is_shared_name(const ir::Symbol& s) { return s.linkage != Linkage::Internal; }
bool is_definition(const ir::Module& m, const ir::Symbol& s) {
  if (s.alias.valid()) return true;
  if (s.kind == ir::Symbol::Kind::Function) return s.func.valid() && m.functions[s.func.v].defined;
  return s.linkage != Linkage::Extern;
}

class Linker {
 public:
  explicit Linker(std::string name) : out_(std::make_unique<ir::Module>()) { out_->name = std::move(name); }

  void add(ir::Module& m) {
    header(m);
    symbol_map_.assign(m.symbols.size(), {});
    function_map_.assign(m.functions.size(), {});
    taken_.assign(m.symbols.size(), false);
    for (u32 k = 0; k < m.symbols.size(); ++k)
      if (is_shared_name(m.symbols[k])) place_shared(m, k);
    find_dropped(m);
    for (u32 k = 0; k < m.symbols.size(); ++k)
      if (!is_shared_name(m.symbols[k]) && !symbol_map_[k].valid()) place_internal(m, k);
    for (u32 k = 0; k < m.functions.size(); ++k) place_function(m, k);
    rewrite_symbols(m);
    proto_base_ = static_cast<u32>(out_->protos.size());
    for (ir::Proto& p : m.protos) out_->protos.push_back(std::move(p));
    for (u32 k = 0; k < m.functions.size(); ++k) move_function(m, k);
  }

  Result<std::unique_ptr<ir::Module>> finish() {
    if (diags_.empty()) diags_ = assign_layout(*out_);
    if (!diags_.empty()) return std::move(diags_);
    ir::number_sites(*out_);
    return std::move(out_);
  }

 private:
  void header(const ir::Module& m) {
    Hash h;  // the order of the modules counts: it decides which definition stands
    for (u64 v : {out_->hash[0], out_->hash[1], m.hash[0], m.hash[1]}) h.word(v);
    out_->hash[0] = h.a;
    out_->hash[1] = h.b;
    if (m.version > out_->version) out_->version = m.version;
    if (m.sm > out_->sm || (m.sm == out_->sm && m.target.size() > out_->target.size())) {
      out_->sm = m.sm;
      out_->target = m.target;
    }
    out_->texmode_independent |= m.texmode_independent;
    out_->debug |= m.debug;
    file_base_ = static_cast<u32>(out_->files.size());
    out_->files.insert(out_->files.end(), m.files.begin(), m.files.end());
    inlined_base_ = static_cast<u32>(out_->inlined.size());
    for (ir::InlinedCall call : m.inlined) {
      rewrite(call.at);
      out_->inlined.push_back(std::move(call));
    }
  }

  void fail(const std::string& message) { diags_.push_back({Diag::Kind::Error, {}, message}); }

  // Decides where symbol k goes and whether it replaces what stands there.
  void place_shared(ir::Module& m, u32 k) {
    const ir::Symbol& s = m.symbols[k];
    const auto [it, fresh] = names_.try_emplace(s.name, ir::SymId{static_cast<u32>(out_->symbols.size())});
    if (fresh) return append(m, k);
    ir::Symbol& old = out_->symbols[it->second.v];
    symbol_map_[k] = it->second;
    if (old.kind != s.kind || (s.kind == ir::Symbol::Kind::Variable && old.space != s.space))
      return fail("'" + s.name + "' is declared differently in two modules");
    old.align = std::max(old.align, s.align);
    const bool had = is_definition(*out_, old), has = is_definition(m, s);
    if (!has) return;
    if (had) {
      const bool both_common = old.linkage == Linkage::Common && s.linkage == Linkage::Common;
      if (both_common && s.size > old.size)
        replace(m, k);
      else if (!both_common && old.linkage == Linkage::Common && s.linkage == Linkage::Visible)
        replace(m, k);
      else if (old.linkage == Linkage::Weak && s.linkage == Linkage::Visible)
        replace(m, k);
      else if (s.linkage == Linkage::Visible && old.linkage == Linkage::Visible)
        fail("'" + s.name + "' is defined in two modules");
      return;
    }
    replace(m, k);
  }

  // Functions of this module that give way to another module's.
  void find_dropped(const ir::Module& m) {
    dropped_.assign(m.functions.size(), false);
    for (u32 k = 0; k < m.functions.size(); ++k) {
      const ir::SymId s = m.functions[k].sym;
      dropped_[k] = is_shared_name(m.symbols[s.v]) && !taken_[s.v];
    }
  }

  void place_internal(ir::Module& m, u32 k) {
    const ir::Symbol& s = m.symbols[k];
    const bool local = s.kind == ir::Symbol::Kind::Variable && s.func.valid();
    if (local && dropped_[s.func.v]) return;
    append(m, k);
    ir::Symbol& now = out_->symbols.back();
    if (const u32 n = internal_names_[now.name]++; n != 0) now.name += "$" + std::to_string(n + 1);
  }

  void append(ir::Module& m, u32 k) {
    symbol_map_[k] = ir::SymId{static_cast<u32>(out_->symbols.size())};
    taken_[k] = true;
    out_->symbols.push_back(std::move(m.symbols[k]));
  }

  void replace(ir::Module& m, u32 k) {
    ir::Symbol& old = out_->symbols[symbol_map_[k].v];
    const ir::FuncId slot = old.func;
    taken_[k] = true;
    const ir::FuncId mine = m.symbols[k].func;
    old = std::move(m.symbols[k]);
    if (old.kind == ir::Symbol::Kind::Function && slot.valid() && mine.valid()) {
      function_map_[mine.v] = slot;
      old.func = mine;                     // rewritten with the rest
      for (ir::Symbol& v : out_->symbols)  // variables of the body that is gone
        if (v.kind == ir::Symbol::Kind::Variable && v.func == slot) v.func = {};
    }
  }

  void place_function(ir::Module& m, u32 k) {
    if (function_map_[k].valid()) return;
    if (dropped_[k]) {
      function_map_[k] = out_->symbols[symbol_map_[m.functions[k].sym.v].v].func;
      return;
    }
    function_map_[k] = ir::FuncId{static_cast<u32>(out_->functions.size())};
    out_->functions.emplace_back();
  }

  // Only symbols that came from this module have ids of this module.
  void rewrite_symbols(const ir::Module& m) {
    for (u32 k = 0; k < m.symbols.size(); ++k) {
      if (!taken_[k]) continue;
      ir::Symbol& s = out_->symbols[symbol_map_[k].v];
      if (s.func.valid()) s.func = function_map_[s.func.v];
      if (s.alias.valid()) s.alias = symbol_map_[s.alias.v];
      for (auto& r : s.relocs) r.sym = symbol_map_[r.sym.v];
    }
  }

  void rewrite(ir::Operand& o) {
    if (o.sym.valid()) o.sym = symbol_map_[o.sym.v];
    for (ir::Operand& e : o.elems) rewrite(e);
  }
  void rewrite(SrcLoc& l) const {
    if (l.file) l.file += file_base_;
    if (l.inlined) l.inlined += inlined_base_;
  }
  void rewrite(ir::Inst& i) {
    rewrite(i.loc);
    for (ir::Operand& o : i.ops) rewrite(o);
    for (auto& c : i.call) {
      if (c.callee.valid()) c.callee = symbol_map_[c.callee.v];
      if (c.proto != ~0u) c.proto += proto_base_;
      for (ir::Operand& o : c.args) rewrite(o);
      for (ir::Operand& o : c.rets) rewrite(o);
    }
  }

  void move_function(ir::Module& m, u32 k) {
    if (dropped_[k]) return;
    ir::Function& f = m.functions[k];
    f.sym = symbol_map_[f.sym.v];
    f.name = out_->symbols[f.sym.v].name;
    for (auto* list : {&f.params, &f.rets})
      for (ir::Param& p : *list)
        if (p.sym.valid()) p.sym = symbol_map_[p.sym.v];
    for (ir::Block& b : f.blocks) {
      for (ir::Inst& i : b.insts) rewrite(i);
      rewrite(b.term.loc);
    }
    out_->functions[function_map_[k].v] = std::move(f);
  }

  std::unique_ptr<ir::Module> out_;
  std::vector<Diag> diags_;
  std::unordered_map<std::string, ir::SymId> names_;
  std::unordered_map<std::string, u32> internal_names_;
  std::vector<ir::SymId> symbol_map_;  // of the module being added
  std::vector<ir::FuncId> function_map_;
  std::vector<bool> taken_;  // symbols that stand in the result as this module has them
  std::vector<bool> dropped_;
  u32 proto_base_ = 0, file_base_ = 0, inlined_base_ = 0;
};

}  // namespace

Result<std::unique_ptr<ir::Module>> link(std::vector<std::unique_ptr<ir::Module>> modules, std::string name) {
  Linker l(std::move(name));
  for (auto& m : modules) l.add(*m);
  return l.finish();
}

}  // namespace us::ptx
