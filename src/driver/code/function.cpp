// SPDX-License-Identifier: Apache-2.0
#include "driver/code/function.h"

#include <algorithm>
#include <set>

#include "base/demangle.h"
#include "device/device_runtime.h"
#include "driver/code/compile_notice.h"
#include "driver/code/library.h"
#include "driver/code/module.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/runtime.h"
#include "trace/recorder.h"

namespace us::driver {
namespace {

FunctionInfo info_of(const ir::Function& f, const DeviceSpec& d) {
  FunctionInfo i;
  i.reqntid = f.reqntid[0] != 0;
  u32 threads = d.max_threads_per_block;
  for (int k = 0; k < 3; ++k) i.block_limit[k] = i.reqntid ? std::max(1u, f.reqntid[k]) : f.maxntid[k];
  if (i.block_limit[0]) {
    threads = i.block_limit[0];
    for (int k = 1; k < 3; ++k) threads *= std::max(1u, i.block_limit[k]);
  }
  i.max_threads_per_block = std::min(threads, d.max_threads_per_block);
  i.shared_static = f.shared_bytes;
  for (int k = 0; k < 3; ++k) i.cluster[k] = f.reqnctapercluster[0] ? std::max(1u, f.reqnctapercluster[k]) : 0;
  i.max_cluster_rank = f.maxclusterrank;
  i.explicit_cluster = f.explicitcluster;
  return i;
}

}  // namespace

Function::Function(Module& m, const ir::Function& f)
    : module_(m), ir_(f), info_(info_of(f, m.context().device().spec())) {
  const DeviceSpec& d = m.context().device().spec();
  estimate_ = estimate(f, m.ir(), d, info_.max_threads_per_block, m.const_bytes());
  max_dynamic_shared = default_dynamic_shared(estimate_);
  if (exact(m.library().facts_at_hand(), f.name, d, info_.max_threads_per_block, exact_)) know(exact_);
}

int Function::default_dynamic_shared(const Resources& r) const {
  const u32 limit = module_.context().device().spec().shared_per_block;
  return static_cast<int>(limit > r.shared_static ? limit - r.shared_static : 0);
}

void Function::know(const Resources& r) const {
  int before = default_dynamic_shared(estimate_);  // unless the program has set another
  max_dynamic_shared.compare_exchange_strong(before, default_dynamic_shared(r));
  best_.store(&r, std::memory_order_release);
  const auto& told = module_.context().runtime().settings().resources;
  if (told) told(ir_.name, r.origin);
}

const Resources& Function::resources() const {
  if (const Resources* r = best_.load(std::memory_order_acquire)) return *r;
  std::call_once(asked_, [this] {
    const DeviceSpec& d = module_.context().device().spec();
    const Facts facts = module_.library().facts();
    know(exact(facts, ir_.name, d, info_.max_threads_per_block, exact_) ? exact_ : estimate_);
  });
  return *best_.load(std::memory_order_acquire);
}

const Resources& Function::resources_at_hand() const {
  const Resources* r = best_.load(std::memory_order_acquire);
  return r ? *r : estimate_;
}

bool Function::launches_grids() const {
  const ir::Module& m = module_.ir();
  std::set<const ir::Function*> seen{&ir_};
  for (std::vector<const ir::Function*> work{&ir_}; !work.empty();) {
    const ir::Function& f = *work.back();
    work.pop_back();
    for (const ir::Block& b : f.blocks)
      for (const ir::Inst& i : b.insts)
        for (const ir::Inst::Call& c : i.call) {
          if (!c.callee.valid()) continue;
          const ir::Symbol& s = m.symbols[c.callee.v];
          if (device::launches_grids(s.name)) return true;
          if (s.func.valid() && seen.insert(&m.functions[s.func.v]).second) work.push_back(&m.functions[s.func.v]);
        }
  }
  return false;
}

Error Function::set_max_dynamic_shared(int bytes, const DeviceSpec& d) {
  if (bytes < 0 || static_cast<u64>(bytes) + resources_at_hand().shared_static > d.shared_per_block_optin)
    return Error::InvalidValue;
  max_dynamic_shared = bytes;
  return Error::Success;
}

Error Function::set_required_cluster(int axis, int blocks) {
  if (info_.cluster[0]) return Error::NotPermitted;
  if (blocks < 0) return Error::InvalidValue;
  required_cluster[axis] = static_cast<u32>(blocks);
  return Error::Success;
}

bool Function::ready_code(const codegen::Variant& wanted, std::shared_ptr<const codegen::Compiled>& out) {
  std::unique_lock l(m_, std::try_to_lock);
  if (!l) return false;
  for (const Entry& e : variants_)
    if (e.variant == wanted) out = e.code;
  return out != nullptr;
}

Result<std::shared_ptr<const codegen::Compiled>> Function::compile(const codegen::Variant& variant) {
  Runtime& runtime = module_.context().runtime();
  const CompileNotice notice(runtime.settings().compiling, ir_.name, told_compiling_);
  trace::Compile record;
  record.begin = trace::now_ns();
  auto compiled = runtime.jit().compile(module_.ir(), ir_.name, variant);
  if (trace::Recorder* const r = runtime.settings().recorder) {
    record.end = trace::now_ns();
    record.name = r->name(ir_.name);
    record.call = r->current_call();
    record.from_cache = compiled && (*compiled)->from_cache;
    r->write(record, trace::Kind::Compile);
  }
  return compiled;
}

Error Function::code(const codegen::Variant& wanted, std::shared_ptr<const codegen::Compiled>& out, std::string& log) {
  std::lock_guard l(m_);
  const auto find = [&](const codegen::Variant& v) {
    for (const Entry& e : variants_)
      if (e.variant == v) return e.code;
    return std::shared_ptr<const codegen::Compiled>();
  };
  if ((out = find(wanted))) return Error::Success;
  Runtime& runtime = module_.context().runtime();
  codegen::Variant variant = wanted;
  if (variants_.size() >= runtime.settings().variants_per_kernel) {
    variant.block = {0, 0, 0};
    if ((out = find(variant))) return Error::Success;
  }
  const auto begin = std::chrono::steady_clock::now();
  auto compiled = compile(variant);
  if (!compiled) {
    log = "kernel " + demangled(ir_.name) + " does not compile:";
    for (const Diag& d : compiled.diags()) log += "\n  " + d.message;
    runtime.refused(in_one_line(log));
    return Error::InvalidPtx;
  }
  out = *compiled;
  if (runtime.settings().compiled)
    runtime.settings().compiled(*out, demangled(ir_.name), std::chrono::steady_clock::now() - begin);
  variants_.push_back({variant, out});
  return Error::Success;
}

}  // namespace us::driver
