// SPDX-License-Identifier: Apache-2.0
// Where variables live in their spaces.
//
//   shared   |0 .. reserved|kSharedBase: static variables the kernel can reach, as declared|extern []: dynamic|
//
// A variable has one offset for the whole module. Kernels that name the same variable would constrain each other;
// so a variable that only kernels name (no device function) first gets a copy per kernel (Symbol::alias names the
// original).
#include <algorithm>

#include "ptx/ptx.h"

namespace us::ptx {
namespace {

constexpr u64 kConstBank = 64 * 1024;
constexpr u64 kSharedWindow = 256 * 1024;
constexpr u32 kDynamicAlign = 16;

u64 align_up(u64 v, u64 a) { return (v + a - 1) & ~(a - 1); }

template <class F>
void for_each_symbol(std::vector<ir::Operand>& ops, F&& f) {
  for (ir::Operand& o : ops) {
    if (o.sym.valid()) f(o.sym);
    if (!o.elems.empty()) for_each_symbol(o.elems, f);
  }
}

template <class F>
void for_each_symbol(ir::Function& fn, F&& f) {
  for (ir::Block& b : fn.blocks)
    for (ir::Inst& i : b.insts) {
      for_each_symbol(i.ops, f);
      for (auto& c : i.call) {
        if (c.callee.valid()) f(c.callee);
        for_each_symbol(c.args, f);
      }
    }
}

class SharedLayout {
 public:
  explicit SharedLayout(ir::Module& m) : m_(m) {}

  void run() {
    undo_copies();
    collect();
    copy_per_kernel();
    find_reach();
    place();
  }

 private:
  using Bits = std::vector<bool>;
  bool is_shared(ir::SymId s) const {
    return m_.symbols[s.v].kind == ir::Symbol::Kind::Variable && m_.symbols[s.v].space == isa::Space::Shared;
  }

  void undo_copies() {
    for (ir::Function& f : m_.functions)
      for_each_symbol(f, [&](ir::SymId& s) {
        if (is_shared(s) && m_.symbols[s.v].alias.valid()) s = m_.symbols[s.v].alias;
      });
  }

  void collect() {
    const std::size_t n = m_.functions.size();
    uses_.resize(n);
    callees_.resize(n);
    indirect_.resize(n);
    address_taken_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      ir::Function& f = m_.functions[k];
      for_each_symbol(f, [&](ir::SymId& s) {
        if (is_shared(s)) uses_[k].push_back(s);
        if (m_.symbols[s.v].kind == ir::Symbol::Kind::Function) callees_[k].push_back(s);
      });
      for (const ir::Block& b : f.blocks)
        for (const ir::Inst& i : b.insts)
          for (const auto& c : i.call) indirect_[k] = indirect_[k] || !c.callee.valid();
      for (auto* list : {&uses_[k], &callees_[k]}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
      }
    }
    for (const ir::Symbol& s : m_.symbols)
      for (const auto& r : s.relocs) mark_taken(r.sym);
    for (const auto& list : callees_)
      for (const ir::SymId s : list)
        mark_taken(s);  // too many: a direct callee counts as address-taken, which is harmless
  }

  ir::FuncId function_of(ir::SymId s) const {
    for (u32 hops = 0; m_.symbols[s.v].alias.valid() && hops < 8; ++hops) s = m_.symbols[s.v].alias;
    return m_.symbols[s.v].kind == ir::Symbol::Kind::Function ? m_.symbols[s.v].func : ir::FuncId{};
  }
  void mark_taken(ir::SymId s) {
    const ir::FuncId f = function_of(s);
    if (f.valid() && !m_.functions[f.v].entry) address_taken_[f.v] = true;
  }

  void copy_per_kernel() {
    std::vector<u32> users(m_.symbols.size(), 0);
    Bits pinned(m_.symbols.size(), false);
    for (std::size_t k = 0; k < m_.functions.size(); ++k)
      for (const ir::SymId s : uses_[k]) {
        ++users[s.v];
        if (!m_.functions[k].entry) pinned[s.v] = true;
      }
    Bits taken(m_.symbols.size(), false);
    for (std::size_t k = 0; k < m_.functions.size(); ++k)
      for (ir::SymId& s : uses_[k]) {
        if (users[s.v] < 2 || pinned[s.v]) continue;
        if (taken[s.v])
          s = copy_for(k, s);
        else
          taken[s.v] = true;
      }
  }

  ir::SymId copy_for(std::size_t k, ir::SymId original) {
    ir::Symbol copy = m_.symbols[original.v];
    copy.name += "@" + m_.functions[k].name;
    copy.alias = original;
    ir::SymId id{static_cast<u32>(m_.symbols.size())};
    for (u32 j = 0; j < m_.symbols.size(); ++j)  // of an earlier layout
      if (m_.symbols[j].alias == original && m_.symbols[j].name == copy.name) id.v = j;
    if (id.v == m_.symbols.size()) m_.symbols.push_back(std::move(copy));
    for_each_symbol(m_.functions[k], [&](ir::SymId& s) {
      if (s == original) s = id;
    });
    return id;
  }

  // Functions each kernel can get to.
  void find_reach() {
    for (std::size_t k = 0; k < m_.functions.size(); ++k) {
      if (!m_.functions[k].entry || !m_.functions[k].defined) continue;
      Bits seen(m_.functions.size(), false);
      std::vector<std::size_t> work{k};
      seen[k] = true;
      bool any_indirect = false;
      const auto visit = [&](std::size_t f) {
        if (!seen[f]) seen[f] = true, work.push_back(f);
      };
      while (!work.empty()) {
        const std::size_t f = work.back();
        work.pop_back();
        for (const ir::SymId s : callees_[f])
          if (const ir::FuncId g = function_of(s); g.valid()) visit(g.v);
        if (indirect_[f] && !any_indirect) {
          any_indirect = true;
          for (std::size_t g = 0; g < address_taken_.size(); ++g)
            if (address_taken_[g]) visit(g);
        }
      }
      std::vector<ir::SymId> vars;
      for (std::size_t f = 0; f < seen.size(); ++f)
        if (seen[f]) vars.insert(vars.end(), uses_[f].begin(), uses_[f].end());
      std::sort(vars.begin(), vars.end());
      vars.erase(std::unique(vars.begin(), vars.end()), vars.end());
      kernels_.push_back({k, std::move(vars), kSharedBase});
    }
  }

  void place() {
    std::vector<std::vector<std::size_t>> kernels_of(m_.symbols.size());
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      for (const ir::SymId s : kernels_[k].vars) kernels_of[s.v].push_back(k);
    for (const bool dynamic : {false, true}) {
      for (u32 v = 0; v < m_.symbols.size(); ++v) {
        ir::Symbol& s = m_.symbols[v];
        if (!is_shared({v}) || s.unsized != dynamic) continue;
        u64 at = kSharedBase;
        for (const std::size_t k : kernels_of[v]) at = std::max(at, kernels_[k].end);
        s.offset = align_up(at, dynamic ? std::max(dynamic_align(kernels_of[v]), s.align) : s.align);
        // Dynamic variables all begin at the same place.
        for (const std::size_t k : kernels_of[v]) kernels_[k].end = s.offset + (dynamic ? 0 : s.size);
      }
    }
    settle_dynamic(kernels_of);
    for (const Kernel& k : kernels_)
      m_.functions[k.index].shared_bytes = static_cast<u32>(std::min<u64>(k.end - kSharedBase, ~0u));
  }

  u32 dynamic_align(const std::vector<std::size_t>& kernels) const {
    u32 a = kDynamicAlign;
    for (const std::size_t k : kernels)
      for (const ir::SymId s : kernels_[k].vars)
        if (m_.symbols[s.v].unsized) a = std::max(a, m_.symbols[s.v].align);
    return a;
  }

  // Several dynamic variables of a kernel must agree, also when another kernel moved one of them.
  void settle_dynamic(const std::vector<std::vector<std::size_t>>& kernels_of) {
    for (bool changed = true; changed;) {
      changed = false;
      for (u32 v = 0; v < m_.symbols.size(); ++v) {
        if (!is_shared({v}) || !m_.symbols[v].unsized) continue;
        for (const std::size_t k : kernels_of[v]) {
          u64 top = std::max(kernels_[k].end, m_.symbols[v].offset);
          changed = changed || top != m_.symbols[v].offset || top != kernels_[k].end;
          m_.symbols[v].offset = kernels_[k].end = top;
        }
      }
    }
  }

  struct Kernel {
    std::size_t index;
    std::vector<ir::SymId> vars;
    u64 end;
  };
  ir::Module& m_;
  std::vector<std::vector<ir::SymId>> uses_, callees_;
  std::vector<bool> indirect_, address_taken_;
  std::vector<Kernel> kernels_;
};

}  // namespace

std::vector<Diag> assign_layout(ir::Module& m) {
  std::vector<Diag> diags;
  u64 const_end = 0;
  for (ir::Function& f : m.functions) f.local_bytes = 0;
  for (ir::Symbol& s : m.symbols) {
    if (s.kind != ir::Symbol::Kind::Variable) continue;
    if (s.space == isa::Space::Const && s.linkage != ir::Symbol::Linkage::Extern) {
      s.offset = align_up(const_end, s.align);
      const_end = s.offset + s.size;
    } else if (s.space == isa::Space::Local && s.func.valid()) {
      ir::Function& f = m.functions[s.func.v];
      s.offset = align_up(f.local_bytes, s.align);
      if (s.offset + s.size > ~0u) {
        diags.push_back({Diag::Kind::Error, f.loc, "the .local variables of '" + f.name + "' are too large"});
        continue;
      }
      f.local_bytes = static_cast<u32>(s.offset + s.size);
    }
  }
  if (const_end > kConstBank)
    diags.push_back(
        {Diag::Kind::Error,
         {},
         "the .const variables need " + std::to_string(const_end) + " bytes, more than " + std::to_string(kConstBank)});
  SharedLayout(m).run();
  for (const ir::Function& f : m.functions)
    if (f.entry && f.shared_bytes > kSharedWindow - kSharedBase)
      diags.push_back({Diag::Kind::Error, f.loc,
                       "the .shared variables of '" + f.name + "' need " + std::to_string(f.shared_bytes) +
                           " bytes, more than a CTA can have"});
  return diags;
}

}  // namespace us::ptx
