// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/promote_slots.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Scalar/SROA.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/types.h"

namespace us::codegen {
namespace {

constexpr std::size_t kFarthest = 200;  // edges that are looked at for one slot
// Values that meet in phis share a register: through all of the function, if they went on from phi to phi. Register
// allocation compares such a live range with all others. So what lives into one of these blocks stays in memory.
constexpr std::size_t kJoinsToCut = 64;  // every so many blocks of several predecessors

using Block = llvm::BasicBlock;
using Cuts = std::unordered_set<const Block*>;

Cuts cuts_of(llvm::Function& f) {
  Cuts cuts;
  std::size_t joins = 0;
  for (Block& b : f)
    if (!llvm::pred_empty(&b) && !b.getSinglePredecessor() && ++joins % kJoinsToCut == 0) cuts.insert(&b);
  return cuts;
}

// One slot: its accesses in the order of the code, block by block.
class Promoter {
 public:
  Promoter(llvm::AllocaInst* slot, std::vector<llvm::Instruction*> accesses, const Cuts& cuts)
      : slot_(slot), type_(slot->getAllocatedType()), accesses_(std::move(accesses)), cuts_(cuts) {}

  void run() {
    find_ends();
    if (!find_live_blocks()) return;
    for (Block* b : live_) make_phi(b);
    for (Block* b : live_) fill_phi(b);
    simplify();
    replace();
  }

 private:
  llvm::Value* stored(llvm::Instruction* i) const {
    auto* s = llvm::dyn_cast<llvm::StoreInst>(i);
    return s ? s->getValueOperand() : nullptr;
  }

  // What each block leaves in the slot, and which blocks begin with a load.
  void find_ends() {
    for (llvm::Instruction* i : accesses_) {
      Block* b = i->getParent();
      if (llvm::Value* v = stored(i))
        end_[b] = v;
      else if (!end_.contains(b))
        need(b);
    }
  }

  void need(Block* b) {
    if (start_.try_emplace(b, nullptr).second) live_.push_back(b);
    cut_ = cut_ || cuts_.contains(b);
  }

  // Blocks at whose start the slot's content is wanted; false if there are too many.
  bool find_live_blocks() {
    std::size_t edges = 0;
    for (std::size_t k = 0; k < live_.size() && !cut_; ++k)
      for (Block* p : llvm::predecessors(live_[k])) {
        if (++edges > kFarthest) return false;
        if (!end_.contains(p)) need(p);
      }
    return !cut_;
  }

  void make_phi(Block* b) {
    if (llvm::pred_empty(b))
      start_[b] = llvm::PoisonValue::get(type_);
    else if (!b->getSinglePredecessor())
      start_[b] = llvm::PHINode::Create(type_, static_cast<unsigned>(llvm::pred_size(b)), "", b->begin());
  }

  llvm::Value* at_start(Block* b) {
    std::vector<Block*> way;  // blocks of one predecessor in a row
    while (!static_cast<llvm::Value*>(start_[b])) {
      if (way.size() > kFarthest) return note(way, llvm::PoisonValue::get(type_));  // a ring that nothing reaches
      way.push_back(b);
      Block* p = b->getSinglePredecessor();
      if (auto e = end_.find(p); e != end_.end()) return note(way, e->second);
      b = p;
    }
    return note(way, start_[b]);
  }
  llvm::Value* note(const std::vector<Block*>& way, llvm::Value* v) {
    for (Block* b : way) start_[b] = v;
    return v;
  }
  llvm::Value* at_end(Block* b) {
    const auto e = end_.find(b);
    return e != end_.end() ? static_cast<llvm::Value*>(e->second) : at_start(b);
  }

  void fill_phi(Block* b) {
    auto* phi = llvm::dyn_cast_or_null<llvm::PHINode>(static_cast<llvm::Value*>(start_[b]));
    if (!phi || phi->getParent() != b || phi->getNumIncomingValues()) return;
    for (Block* p : llvm::predecessors(b)) phi->addIncoming(at_end(p), p);
    phis_.push_back(phi);
  }

  // Phis of one value only.
  void simplify() {
    for (bool changed = true; changed;) {
      changed = false;
      for (llvm::PHINode*& phi : phis_) {
        llvm::Value* same = phi ? only_value(*phi) : nullptr;
        if (!same) continue;
        phi->replaceAllUsesWith(same);
        phi->eraseFromParent();
        phi = nullptr;
        changed = true;
      }
    }
  }
  llvm::Value* only_value(llvm::PHINode& phi) const {
    llvm::Value* same = nullptr;
    for (llvm::Value* v : phi.incoming_values()) {
      if (v == &phi || v == same) continue;
      if (same) return nullptr;
      same = v;
    }
    return same ? same : llvm::PoisonValue::get(type_);
  }
  void replace() {
    Block* block = nullptr;
    llvm::Value* now = nullptr;
    for (llvm::Instruction* i : accesses_) {
      if (i->getParent() != block) block = i->getParent(), now = nullptr;
      if (llvm::Value* v = stored(i)) {
        now = v;
      } else {
        if (!now) now = at_start(block);
        if (now == i) now = llvm::PoisonValue::get(type_);  // a block that nothing reaches
        i->replaceAllUsesWith(now);
      }
    }
    for (llvm::Instruction* i : accesses_) i->eraseFromParent();
    slot_->eraseFromParent();
  }

  llvm::AllocaInst* slot_;
  llvm::Type* type_;
  std::vector<llvm::Instruction*> accesses_;
  std::unordered_map<Block*, llvm::WeakTrackingVH> end_, start_;
  std::vector<Block*> live_;
  std::vector<llvm::PHINode*> phis_;
  const Cuts& cuts_;
  bool cut_ = false;
};

bool whole_access(const llvm::AllocaInst* slot, const llvm::User* u) {
  if (const auto* l = llvm::dyn_cast<llvm::LoadInst>(u))
    return l->isSimple() && l->getType() == slot->getAllocatedType();
  const auto* s = llvm::dyn_cast<llvm::StoreInst>(u);
  return s && s->isSimple() && s->getValueOperand() != slot &&
         s->getValueOperand()->getType() == slot->getAllocatedType();
}

bool promotable(const llvm::AllocaInst* slot) {
  if (slot->isArrayAllocation() || !slot->getAllocatedType()->isSingleValueType()) return false;
  return std::all_of(slot->user_begin(), slot->user_end(), [&](const llvm::User* u) { return whole_access(slot, u); });
}

}  // namespace

void promote_slots(llvm::Function& f) {
  std::vector<llvm::AllocaInst*> slots;
  std::unordered_map<const llvm::Value*, std::vector<llvm::Instruction*>> accesses;
  for (llvm::Instruction& i : f.getEntryBlock())
    if (auto* a = llvm::dyn_cast<llvm::AllocaInst>(&i); a && promotable(a)) {
      slots.push_back(a);
      accesses[a];
    }
  for (Block& b : f)
    for (llvm::Instruction& i : b) {
      const llvm::Value* at = llvm::getLoadStorePointerOperand(&i);
      if (!at) continue;
      if (const auto it = accesses.find(at); it != accesses.end()) it->second.push_back(&i);
    }
  const Cuts cuts = cuts_of(f);
  for (llvm::AllocaInst* a : slots) Promoter(a, std::move(accesses[a]), cuts).run();
}

llvm::PreservedAnalyses PromoteSlots::run(llvm::Function& f, llvm::FunctionAnalysisManager& fam) {
  if (!f.hasFnAttribute(kManyBlocksAttribute)) return llvm::SROAPass(llvm::SROAOptions::ModifyCFG).run(f, fam);
  promote_slots(f);
  return llvm::PreservedAnalyses::none();
}

}  // namespace us::codegen
