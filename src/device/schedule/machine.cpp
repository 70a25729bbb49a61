// SPDX-License-Identifier: Apache-2.0
#include "device/schedule/machine.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "device/schedule/crash.h"

namespace us::device {
namespace {
void futex_wait(std::atomic<u32>& word, u32 seen) {
  syscall(SYS_futex, reinterpret_cast<u32*>(&word), FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}
void futex_wake(std::atomic<u32>& word, u64 count) {
  syscall(SYS_futex, reinterpret_cast<u32*>(&word), FUTEX_WAKE_PRIVATE, int(std::min<u64>(count, 1 << 20)), nullptr,
          nullptr, 0);
}
u32 divide_up(u32 a, u32 b) { return (a + b - 1) / b; }

constexpr u64 kMostTurns = 1'000'000;

std::shared_ptr<Grid> make_grid(std::unique_ptr<Launch> launch, u32 spin_budget) {
  auto g = std::make_shared<Grid>();
  const GridCtx& c = launch->ctx;
  g->run = launch->code->run;
  g->run_cta = launch->code->run_cta;
  g->yields = launch->code->yields;
  g->shares = launch->code->shares;
  g->spin_budget = g->shares ? 1 : spin_budget;
  g->turns_left = kMostTurns;
  g->cluster_ctas = c.cluster.x * c.cluster.y * c.cluster.z;
  g->cta_threads = c.block.x * c.block.y * c.block.z;
  g->cta_warps = divide_up(g->cta_threads, kWarpSize);
  g->cluster_grid = {c.grid.x / c.cluster.x, c.grid.y / c.cluster.y, c.grid.z / c.cluster.z};
  g->clusters = u64(g->cluster_grid.x) * g->cluster_grid.y * g->cluster_grid.z;
  g->resident_limit = std::max(1u, launch->max_resident_ctas / g->cluster_ctas);
  if (launch->cooperative) g->resident_limit = u32(std::max<u64>(g->clusters, 1));
  g->unfinished = g->clusters;
  g->triggers = launch->code->triggers;
  g->tells_begun = bool(launch->begun);
  g->not_begun = g->clusters;
  g->untriggered = g->clusters * g->cluster_ctas;
  g->progress_ns = now_ns();
  if (const auto& l = launch->listener; l && l->strategy() == probe::Strategy::Events) g->listener = l.get();
  g->launch = std::move(launch);
  return g;
}

// A launch the driver should have refused.
std::string malformed(const Launch& l) {
  const GridCtx& c = l.ctx;
  u64 threads = u64(c.block.x) * c.block.y * c.block.z, ctas = u64(c.cluster.x) * c.cluster.y * c.cluster.z;
  if (!l.code || (!l.code->run && !l.code->run_cta)) return "launch without code";
  if (threads == 0 || threads > kMaxWarps * kWarpSize) return "launch with a block of no or more than 1024 threads";
  if (ctas == 0 || ctas > kMaxCluster) return "launch with a cluster of no or more than 16 blocks";
  if (c.grid.x % c.cluster.x || c.grid.y % c.cluster.y || c.grid.z % c.cluster.z)
    return "launch whose grid is not a multiple of its cluster";
  if (u64(c.shared_static) + c.shared_dynamic + kReservedShared > kCtaSharedStride)
    return "launch with more shared memory than a block can have";
  return {};
}
}  // namespace

Machine::Machine(GpuOptions o)
    : options(std::move(o)),
      print(options.printf_fifo_bytes, options.print),
      print_error(options.print_error),
      heap(options.space, options.malloc_heap_bytes),
      clock(options.deterministic) {
  install_crash_handler();
  if (!print_error) print_error = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
  if (options.workers == 0) options.workers = std::max(1u, std::thread::hardware_concurrency());
  if (options.deterministic) options.workers = 1;
  for (u32 i = 0; i < options.workers; ++i) workers.push_back(std::make_unique<Worker>(*this, i));
  for (auto& w : workers) started += w->start();
}

Machine::~Machine() {
  stopping_ = true;
  epoch.fetch_add(1);
  futex_wake(epoch, workers.size());
  for (auto& w : workers) w->join();
}

void Machine::submit(std::unique_ptr<Launch> launch) {
  if (std::string why = malformed(*launch); !why.empty()) {
    auto done = std::move(launch->done);
    launch.reset();
    if (done) done(Fault{Outcome::NotSupported, why});
    return;
  }
  GridCtx& ctx = launch->ctx;
  ctx.code = launch->code.get();
  const u32 shared = kReservedShared + divide_up(ctx.shared_static, 16) * 16 + ctx.shared_dynamic;
  ctx.shared_end = divide_up(shared, kSharedGrain) * kSharedGrain;
  if (options.space) ctx.global_start = options.space->global_start(), ctx.global_bytes = options.space->global_bytes();
  const u64 number = ctx.grid_id;
  std::shared_ptr<Grid> g = make_grid(std::move(launch), options.spin_budget);
  g->chance.begin(options.seed, number);
  u64 clusters = g->clusters;
  if (clusters == 0) return finish(g);
  std::vector<std::shared_ptr<Grid>> ended;
  {
    std::lock_guard lock(queue_lock_);
    busy_.begin(now_ns());
    queue_.push_back(std::move(g));
    auto unused = std::partition(retired_.begin(), retired_.end(), [](const auto& r) { return r.use_count() > 1; });
    std::move(unused, retired_.end(), std::back_inserter(ended));
    retired_.erase(unused, retired_.end());
  }
  wake(clusters);
}

u64 Machine::busy_ns() {
  std::lock_guard lock(queue_lock_);
  return busy_.busy_ns(now_ns());
}

void Machine::wake(u64 wanted) {
  submitter_cpu_.store(sched_getcpu(), std::memory_order_relaxed);
  epoch.fetch_add(1);
  u32 looking = looking_.load();
  if (wanted > looking && sleeping_.load()) futex_wake(epoch, wanted - looking);
}

std::shared_ptr<Grid> Machine::pick(const Grid* avoid) {
  std::lock_guard lock(queue_lock_);
  std::erase_if(queue_, [](const auto& g) { return g->exhausted(); });
  std::shared_ptr<Grid> second;
  for (const auto& g : queue_) {
    if (g->yields && g->resident.load(std::memory_order_relaxed) >= g->resident_limit) continue;
    if (g.get() != avoid) return g;
    second = g;
  }
  return second;
}

// The kernel likes to wake a worker on the core of the thread that submits. Spinning there would keep that thread from
// submitting more, so give the core back at once; elsewhere pure spinning reacts fastest.
void Machine::spin_while(u32 seen) {
  u64 until = now_ns() + kIdleSpinNs;
  while (epoch.load(std::memory_order_relaxed) == seen && now_ns() < until) {
    if (sched_getcpu() == submitter_cpu_.load(std::memory_order_relaxed)) sched_yield();
    for (int k = 0; k < 32 && epoch.load(std::memory_order_relaxed) == seen; ++k) _mm_pause();
  }
}

// Submissions that follow each other closely may all have counted on the same looking worker: who takes a grid and
// leaves others wakes the next.
void Machine::pass_on(const Grid& taken) {
  if (looking_.load() || !sleeping_.load()) return;
  const std::shared_ptr<Grid> other = pick(&taken);
  if (other && other.get() != &taken) futex_wake(epoch, 1);
}

std::shared_ptr<Grid> Machine::wait_for_work() {
  for (;;) {
    u32 seen = epoch.load();
    if (auto g = pick(nullptr)) {
      pass_on(*g);
      return g;
    }
    if (stopping_) return nullptr;
    looking_.fetch_add(1);
    spin_while(seen);
    looking_.fetch_sub(1);
    sleeping_.fetch_add(1);
    while (epoch.load() == seen) futex_wait(epoch, seen);
    sleeping_.fetch_sub(1);
  }
}

void Machine::end_clusters(const std::shared_ptr<Grid>& g, u64 count) {
  if (count && g->unfinished.fetch_sub(count) == count) finish(g);
}

void Machine::finish(const std::shared_ptr<Grid>& g) {
  Fault fault = std::move(g->fault);
  if (fault.outcome != Outcome::Ok && g->launch->faulted) g->launch->faulted(fault);
  if (probe::Listener* listener = g->launch->listener.get()) listener->ended();
  auto done = std::move(g->launch->done);
  g->launch->code.reset();
  g->launch->keep_alive.reset();
  print.flush();
  {
    std::lock_guard lock(queue_lock_);
    if (g->clusters) busy_.end(now_ns());
    retired_.push_back(g);
  }
  if (const auto runtime = std::move(g->launch->runtime))
    runtime->grid_ended(fault, std::move(done));
  else if (done)
    done(fault);
}

void Machine::fail(const std::shared_ptr<Grid>& g, Fault&& fault) {
  {
    std::lock_guard lock(g->fault_mutex);
    if (g->failed) return;
    g->fault = std::move(fault);
    g->failed = true;
  }
  u64 issued = g->next.exchange(kClosed);
  if (issued < g->clusters) end_clusters(g, g->clusters - issued);
}

}  // namespace us::device
