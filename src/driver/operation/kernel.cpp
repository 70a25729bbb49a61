// SPDX-License-Identifier: Apache-2.0
#include "driver/operation/kernel.h"

#include <algorithm>

#include "base/demangle.h"
#include "driver/code/counts.h"
#include "driver/code/listen.h"
#include "driver/code/module.h"
#include "driver/code/occupancy.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory/workspaces.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

// What stays alive while a grid runs: its parameters, and the words cooperative groups count arrivals in.
struct GridBlock {
  ParamBlock params;
  Workspaces* workspaces = nullptr;
  u64 workspace = 0;
  ~GridBlock() {
    if (workspace) workspaces->put(workspace);
  }
};

Error fill_params(const ir::Function& f, const LaunchArgs& args, ParamBlock& out) {
  out.assign(f.param_bytes, 0);
  if (args.block) {
    if (args.block_bytes > out.size()) return Error::LaunchOutOfResources;
    std::copy_n(static_cast<const u8*>(args.block), args.block_bytes, out.data());
    return Error::Success;
  }
  if (f.params.empty()) return Error::Success;
  if (!args.pointers) return Error::InvalidValue;
  for (std::size_t i = 0; i < f.params.size(); ++i)
    std::copy_n(static_cast<const u8*>(args.pointers[i]), f.params[i].size, out.data() + f.params[i].offset);
  return Error::Success;
}

// A kernel of CUDA Tile says itself how many threads make its tiles: programs launch it with blocks of one.
void set_threads_of_tiles(const Function& f, LaunchConfig& c) {
  const FunctionInfo& i = f.info();
  const auto& said = f.ir().pragmas;
  if (!i.reqntid || c.block.x != 1 || c.block.y != 1 || c.block.z != 1) return;
  if (std::find(said.begin(), said.end(), "language 7") == said.end()) return;
  c.block = {i.block_limit[0], i.block_limit[1], i.block_limit[2]};
}

void give_workspace(GridBlock& block, Workspaces& workspaces, device::GridCtx& g) {
  block.workspaces = &workspaces;
  block.workspace = workspaces.take();
  if (!block.workspace) return;
  *reinterpret_cast<u32*>(block.workspace) = 8;  // size; the barrier follows
  g.envreg[1] = static_cast<u32>(block.workspace >> 32);
  g.envreg[2] = static_cast<u32>(block.workspace);
}

}  // namespace

void set_code(device::Launch& launch, std::shared_ptr<const codegen::Compiled> code) {
  launch.ctx.local_bytes = code->local_bytes;
  launch.ctx.code = code.get();
  launch.code = std::move(code);
}

Error KernelOp::check(Context& c) {
  set_threads_of_tiles(*function, config);
  US_TRY(validate(*function, config, cluster));
  where = {&c, c.id()};
  for (u32 i = 0; i < config.attribute_count; ++i) attributes[config.attributes[i].id] = config.attributes[i].value;
  config.attributes = nullptr;
  config.attribute_count = 0;
  if (!arguments) return Error::Success;
  packed = arguments->block != nullptr;
  packed_bytes = arguments->block_bytes;
  US_TRY(fill_params(function->ir(), *arguments, block));
  arguments.reset();
  return Error::Success;
}

static probe::Strategy strategy_of(const Settings& s, const ir::Function& kernel) {
  if (s.observer) return s.observer->strategy(demangled(kernel.name));
  return s.counts ? probe::Strategy::Counts : probe::Strategy::Nothing;
}

codegen::Variant KernelOp::variant(bool dependent) const {
  Runtime& runtime = where.context->runtime();
  const probe::Strategy probe = strategy_of(runtime.settings(), function->ir());
  return {.block = config.block,
          .cluster = cluster,
          .asks = runtime.asks(),
          .usual_space = runtime.space().usual(),
          .dependent = dependent && function->module().waits_for_grids(),
          .probe = probe,
          .by_chance = probe == probe::Strategy::Events && runtime.settings().seed != 0};
}

Error KernelOp::compile(bool dependent) {
  std::string log;
  const Error e = function->code(variant(dependent), code, log);
  if (failed(e)) where.context->runtime().report(log);
  return e;
}

// The function of a kernel node ends with its context: nodes may outlive both.
Error KernelOp::prepare(bool dependent) {
  US_TRY(validate(*function, config, cluster));
  return compile(dependent);
}

std::unique_ptr<device::Launch> KernelOp::launch(const Where& at, ParamBlock params) const {
  Context& context = *where.context;
  Runtime& runtime = context.runtime();
  auto held = std::make_shared<GridBlock>();
  held->params = std::move(params);
  const DeviceSpec& spec = context.device().spec();
  auto launch = std::make_unique<device::Launch>();
  device::GridCtx& g = launch->ctx;
  g.params = held->params.data();
  g.symbols = function->module().symbols();
  g.const_bank = function->module().const_bank();
  g.grid = config.grid;
  g.block = config.block;
  g.cluster = cluster;
  g.grid_id = runtime.next_grid_id();
  g.shared_static = function->info().shared_static;
  g.shared_dynamic = static_cast<u32>(config.dynamic_shared);
  g.nsmid = spec.sms;
  g.graph_exec = at.graph;
  if (config.cooperative) give_workspace(*held, runtime.workspaces(), g);
  const u32 threads = config.block.x * config.block.y * config.block.z;
  launch->cooperative = config.cooperative;
  launch->stack_bytes = context.stack_bytes();
  launch->max_resident_ctas = blocks_per_sm(spec, needs_at_hand(*function, threads, config.dynamic_shared)) * spec.sms;
  launch->keep_alive = std::move(held);
  Module& module = function->module();
  if (module.launches()) launch->runtime = context.device_runtime(module, at.depth, at.run);
  launch->record = record_of(*function, config, {&attributes, at.stream});
  if (code) set_code(*launch, code);
  if (Counts* counts = runtime.settings().counts; counts && !runtime.settings().observer)
    launch->listener = counts->listen(module.ir(), function->ir(), context.device().gpu().workers());
  return launch;
}

NodeRef KernelOp::node(std::unique_ptr<device::Launch> launch) const {
  Runtime& runtime = where.context->runtime();
  runtime.launched(*launch);
  NodeRef n = make_node(where.context->executor(), kType);
  if (probe::Observer* const o = runtime.settings().observer) listen(*o, *function, config, n->id, *launch);
  n->launch = std::move(launch);
  return n;
}

UpdateResult difference(const KernelOp& a, const KernelOp& b) {
  if (a.where.context != b.where.context) return UpdateResult::UnsupportedFunctionChange;
  return a.config.cooperative == b.config.cooperative ? UpdateResult::Success : UpdateResult::AttributesChanged;
}

}  // namespace us::driver
