// SPDX-License-Identifier: Apache-2.0
// Threads that do random things to shared streams and events, to captures, graphs and pools of their own. What all of
// it adds up to is known; a watchdog reports when nothing makes progress any more. Meant for ThreadSanitizer.
//   api_stress [--seconds N] [--seed N] [--threads N] [--streams N] [--skip BITS]
//   api_stress --graphs N      N launches of graphs that come and go; memory must not grow
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <source_location>
#include <string>
#include <thread>
#include <vector>

namespace {

const char kModule[] = R"(.version 8.6
.target sm_80
.address_size 64
.visible .entry plus(.param .u64 sum, .param .u64 add)
{
  .reg .b64 %q<4>;
  ld.param.u64 %q0, [sum];
  ld.param.u64 %q1, [add];
  atom.global.add.u64 %q2, [%q0], %q1;
  ret;
}
)";
const char kLauncher[] = R"(.version 8.6
.target sm_80
.address_size 64
.extern .func (.param .b32 result) cudaGraphLaunch(.param .b64 exec, .param .b64 stream);
.visible .entry fires(.param .u64 exec, .param .u64 where, .param .u64 sum, .param .u64 bad)
{
  .reg .pred %p;
  .reg .b32 %r;
  .reg .b64 %q<5>;
  ld.param.u64 %q0, [exec];
  ld.param.u64 %q1, [where];
  ld.param.u64 %q2, [sum];
  ld.param.u64 %q3, [bad];
  .param .b64 a;
  .param .b64 b;
  .param .b32 c;
  st.param.b64 [a], %q0;
  st.param.b64 [b], %q1;
  call (c), cudaGraphLaunch, (a, b);
  ld.param.b32 %r, [c];
  setp.eq.u32 %p, %r, 0;
  @%p ret;
  atom.global.add.u64 %q4, [%q2], %q3;
  ret;
}
)";

using Place = std::source_location;
void must(cudaError_t e, Place at = Place::current()) {
  if (e == cudaSuccess) return;
  std::printf("line %u: %s\nFAIL\n", at.line(), cudaGetErrorName(e));
  std::fflush(stdout);
  std::_Exit(1);
}
void must(CUresult e, Place at = Place::current()) { must(static_cast<cudaError_t>(e), at); }

struct Options {
  unsigned seconds = 5, threads = 32, streams = 64, graphs = 0;
  unsigned long long seed = 0;
};

std::atomic<unsigned long long> steps{0}, expected{0}, host_calls{0}, expected_host_calls{0};
std::atomic<int> last_of[64];  // what each thread is at

struct World {
  cudaLibrary_t library = nullptr, launcher = nullptr;
  cudaKernel_t plus = nullptr, fires = nullptr;
  unsigned long long* sum = nullptr;
  std::vector<cudaStream_t> streams;
  std::vector<cudaEvent_t> events;
  cudaMemPool_t pool = nullptr;
  unsigned skip = 0;            // bits of the choices in play() to leave out
  std::shared_mutex capturing;  // a synchronisation of the device ends captures, whoever makes it
};
World world;

void called(void*) { ++host_calls; }

class Player {
 public:
  Player(unsigned number, unsigned long long seed) : number_(number), random_(seed + number * 7919) {}
  void play(std::chrono::steady_clock::time_point end);
  void graph_round() { graph(); }
  void begin();
  void end();

 private:
  unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool coin() { return pick(2); }
  cudaStream_t any_stream() { return world.streams[pick(static_cast<unsigned>(world.streams.size()))]; }
  cudaEvent_t any_event() { return world.events[pick(static_cast<unsigned>(world.events.size()))]; }
  unsigned long long add(cudaStream_t s) {
    unsigned long long value = 1 + pick(1000);
    void* args[] = {&world.sum, &value};
    must(cudaLaunchKernel(world.plus, dim3(1), dim3(1), args, 0, s));
    return value;
  }
  void set_own(cudaStream_t);
  unsigned long long work(cudaStream_t);
  unsigned long long capture(cudaGraph_t* out, unsigned shape);
  void pooled();
  void graph();
  void updated();
  void device_graph();
  void words();
  void short_stream();
  void copies();

  unsigned number_;
  std::mt19937_64 random_;
  cudaStream_t own_[3] = {};
  cudaEvent_t private_[3] = {};
  unsigned long long *device_ = nullptr, *pinned_ = nullptr, turn_ = 0;
  cudaGraphExec_t kept_ = nullptr, target_ = nullptr, launcher_ = nullptr;
  unsigned long long target_adds_ = 0;
};

void Player::begin() {
  for (auto& s : own_) must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (auto& e : private_) must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  must(cudaMalloc(reinterpret_cast<void**>(&device_), 4096));
  must(cudaMemset(device_, 0, 4096));
  must(cudaMallocHost(reinterpret_cast<void**>(&pinned_), 4096));
  std::memset(pinned_, 0, 4096);
}

void Player::end() {
  must(cudaDeviceSynchronize());
  for (cudaGraphExec_t e : {kept_, target_, launcher_})
    if (e) must(cudaGraphExecDestroy(e));
  for (auto s : own_) must(cudaStreamDestroy(s));
  for (auto e : private_) must(cudaEventDestroy(e));
  must(cudaFree(device_));
  must(cudaFreeHost(pinned_));
}

// Memory that only this piece of work touches.
void Player::set_own(cudaStream_t s) {
  void* p = nullptr;
  const unsigned bytes = 64 + pick(40000);
  must(cudaMallocAsync(&p, bytes, s));
  must(cudaMemsetAsync(p, 1, bytes, s));
  must(cudaFreeAsync(p, s));
}

// A few pieces of work.
unsigned long long Player::work(cudaStream_t s) {
  unsigned long long sum = 0;
  for (unsigned n = 1 + pick(3); n; --n) {
    sum += add(s);
    if (coin()) set_own(s);
  }
  return sum;
}

// The same shape gives the same topology: forks over three streams, a host function, memory of its own.
unsigned long long Player::capture(cudaGraph_t* out, unsigned shape) {
  unsigned long long sum = 0;
  const std::shared_lock capturing(world.capturing);
  must(cudaStreamBeginCapture(own_[0], coin() ? cudaStreamCaptureModeThreadLocal : cudaStreamCaptureModeRelaxed));
  sum += add(own_[0]);
  must(cudaEventRecord(private_[0], own_[0]));
  for (unsigned i = 1; i <= shape % 3; ++i) {
    must(cudaStreamWaitEvent(own_[i], private_[0], 0));
    sum += add(own_[i]);
    if (shape & 8) set_own(own_[i]);
    must(cudaEventRecord(private_[i], own_[i]));
  }
  sum += add(own_[0]);
  if (shape & 16) must(cudaLaunchHostFunc(own_[0], called, nullptr));
  for (unsigned i = 1; i <= shape % 3; ++i) must(cudaStreamWaitEvent(own_[0], private_[i], 0));
  sum += add(own_[0]);
  must(cudaStreamEndCapture(own_[0], out));
  return sum;
}

void Player::graph() {
  cudaGraph_t g;
  cudaGraphExec_t e;
  const unsigned shape = pick(32), launches = 1 + pick(4);
  const unsigned long long sum = capture(&g, shape);
  must(cudaGraphInstantiate(&e, g, 0));
  if (coin()) must(cudaGraphDestroy(g)), g = nullptr;
  for (unsigned i = 0; i < launches; ++i) must(cudaGraphLaunch(e, any_stream()));
  expected += sum * launches;
  if (shape & 16) expected_host_calls += launches;
  must(cudaGraphExecDestroy(e));  // while it runs
  if (g) must(cudaGraphDestroy(g));
}

void Player::updated() {
  cudaGraph_t g;
  const unsigned long long sum = capture(&g, 2);
  if (!kept_) {
    must(cudaGraphInstantiate(&kept_, g, 0));
  } else {
    cudaGraphExecUpdateResultInfo info;
    must(cudaGraphExecUpdate(kept_, g, &info));
  }
  must(cudaGraphLaunch(kept_, any_stream()));
  expected += sum;
  must(cudaGraphDestroy(g));
}

// A graph whose kernel launches another.
void Player::device_graph() {
  if (!launcher_) {
    cudaGraph_t g;
    const std::shared_lock capturing(world.capturing);
    must(cudaStreamBeginCapture(own_[0], cudaStreamCaptureModeThreadLocal));
    target_adds_ = add(own_[0]);
    must(cudaStreamEndCapture(own_[0], &g));
    must(cudaGraphInstantiate(&target_, g, cudaGraphInstantiateFlagDeviceLaunch));
    must(cudaGraphUpload(target_, own_[0]));
    must(cudaGraphDestroy(g));
    must(cudaStreamBeginCapture(own_[0], cudaStreamCaptureModeThreadLocal));
    unsigned long long where = (1ull + pick(3)) << 56, bad = 1ull << 60;
    void* args[] = {&target_, &where, &world.sum, &bad};
    must(cudaLaunchKernel(world.fires, dim3(1), dim3(1), args, 0, own_[0]));
    must(cudaStreamEndCapture(own_[0], &g));
    must(cudaGraphInstantiate(&launcher_, g, cudaGraphInstantiateFlagDeviceLaunch));
    must(cudaGraphDestroy(g));
  }
  must(cudaGraphLaunch(launcher_, any_stream()));
  expected += target_adds_;
}

void Player::pooled() {
  const cudaStream_t s = any_stream();
  unsigned long long *p = nullptr, value = 1 + pick(50);
  if (coin())
    must(cudaMallocAsync(reinterpret_cast<void**>(&p), 8 + pick(100000), s));
  else
    must(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&p), 8 + pick(100000), world.pool, s));
  must(cudaMemsetAsync(p, 0, 8, s));
  void* args[] = {&p, &value};
  must(cudaLaunchKernel(world.plus, dim3(1), dim3(1), args, 0, s));
  must(cudaFreeAsync(p, s));
}

void Player::words() {
  const CUdeviceptr at = reinterpret_cast<CUdeviceptr>(device_);
  must(cuStreamWriteValue64(own_[2], at, ++turn_, 0));  // always the same stream: the word only grows
  must(cuStreamWaitValue64(any_stream(), at, turn_, CU_STREAM_WAIT_VALUE_GEQ));
  must(cudaStreamSynchronize(own_[2]));
}

void Player::short_stream() {
  cudaStream_t s;
  must(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -static_cast<int>(pick(6))));
  must(cudaStreamWaitEvent(s, any_event(), 0));
  expected += work(s);
  must(cudaEventRecord(any_event(), s));
  must(cudaStreamDestroy(s));
}

void Player::copies() {
  const cudaStream_t s = own_[1];
  must(cudaStreamSynchronize(s));
  pinned_[0] = random_();
  must(cudaMemcpyAsync(device_ + 32, pinned_, 8, cudaMemcpyHostToDevice, s));
  must(cudaMemcpyAsync(pinned_ + 1, device_ + 32, 8, cudaMemcpyDeviceToHost, s));
  must(cudaStreamSynchronize(s));
  if (pinned_[1] != pinned_[0]) must(cudaErrorUnknown);
}

void Player::play(std::chrono::steady_clock::time_point until) {
  must(cudaSetDevice(0));
  while (std::chrono::steady_clock::now() < until) {
    const unsigned what = pick(16);
    if (world.skip >> what & 1) continue;
    last_of[number_ % 64] = static_cast<int>(what);
    switch (what) {
      case 0:
      case 1:
        expected += add(any_stream());
        break;
      case 2:
        must(cudaEventRecord(any_event(), any_stream()));
        break;
      case 3:
        must(cudaStreamWaitEvent(any_stream(), any_event(), 0));
        break;
      case 4:
        ++expected_host_calls;
        must(cudaLaunchHostFunc(any_stream(), called, nullptr));
        break;
      case 5:
        pooled();
        break;
      case 6:
        graph();
        break;
      case 7:
        updated();
        break;
      case 8:
        device_graph();
        break;
      case 9:
        words();
        break;
      case 10:
        short_stream();
        break;
      case 11:
        copies();
        break;
      case 12:
        must(cudaStreamSynchronize(any_stream()));
        break;
      case 13: {
        const cudaError_t e = coin() ? cudaStreamQuery(any_stream()) : cudaEventQuery(any_event());
        if (e != cudaErrorNotReady) must(e);
        cudaGetLastError();
        break;
      }
      case 14:
        must(cudaEventSynchronize(any_event()));
        break;
      default: {
        void* p = nullptr;
        must(cudaMalloc(&p, 1000));
        if (pick(8) == 0)
          if (const std::unique_lock l(world.capturing, std::try_to_lock); l) must(cudaDeviceSynchronize());
        must(cudaFree(p));
      }
    }
    ++steps;
  }
}

void make_world(unsigned streams) {
  must(cudaSetDevice(0));
  must(cudaLibraryLoadData(&world.library, kModule, nullptr, nullptr, 0, nullptr, nullptr, 0));
  must(cudaLibraryGetKernel(&world.plus, world.library, "plus"));
  must(cudaLibraryLoadData(&world.launcher, kLauncher, nullptr, nullptr, 0, nullptr, nullptr, 0));
  must(cudaLibraryGetKernel(&world.fires, world.launcher, "fires"));
  must(cudaMalloc(reinterpret_cast<void**>(&world.sum), 8));
  must(cudaMemset(world.sum, 0, 8));
  world.streams.resize(streams);
  world.events.resize(2 * streams);
  for (unsigned i = 0; i < streams; ++i)
    must(cudaStreamCreateWithFlags(&world.streams[i], i % 4 ? cudaStreamNonBlocking : cudaStreamDefault));
  for (unsigned i = 0; i < 2 * streams; ++i)
    must(cudaEventCreateWithFlags(&world.events[i], i % 2 ? cudaEventDisableTiming : cudaEventDefault));
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  must(cudaMemPoolCreate(&world.pool, &props));
  must(cudaDeviceSynchronize());
}

void end_world() {
  for (auto s : world.streams) must(cudaStreamDestroy(s));
  for (auto e : world.events) must(cudaEventDestroy(e));
  must(cudaMemPoolDestroy(world.pool));
  must(cudaFree(world.sum));
  must(cudaLibraryUnload(world.library));
  must(cudaLibraryUnload(world.launcher));
}

// Nothing has moved for a minute: say who was at what, and end.
void watch(const std::atomic<bool>& over, unsigned threads) {
  unsigned long long before = 0;
  for (int still = 0; !over;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const unsigned long long now = steps;
    still = now == before ? still + 1 : 0;
    before = now;
    if (still < 60) continue;
    std::printf("nothing moves; threads are at");
    for (unsigned t = 0; t < threads && t < 64; ++t) std::printf(" %d", last_of[t].load());
    std::printf("\nFAIL\n");
    std::fflush(stdout);
    std::_Exit(2);
  }
}

bool check_sums() {
  unsigned long long sum = 0;
  must(cudaDeviceSynchronize());
  must(cudaMemcpy(&sum, world.sum, 8, cudaMemcpyDeviceToHost));
  std::printf("%llu steps, sum %llu of %llu, host functions %llu of %llu\n", steps.load(), sum, expected.load(),
              host_calls.load(), expected_host_calls.load());
  return sum == expected && host_calls == expected_host_calls;
}

bool play(const Options& o) {
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  std::thread watcher([&] { watch(over, o.threads); });
  std::vector<Player> players;
  for (unsigned t = 0; t < o.threads; ++t) players.emplace_back(t, o.seed);
  for (auto& p : players) p.begin();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(o.seconds);
  for (auto& p : players) threads.emplace_back([&p, until] { p.play(until); });
  for (auto& t : threads) t.join();
  const bool good = check_sums();
  for (auto& p : players) p.end();
  over = true;
  watcher.join();
  return good;
}

long resident_kb() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmRSS:")) return std::atol(line.c_str() + 6);
  return 0;
}

bool many_graphs(const Options& o) {
  Player p(0, o.seed);
  p.begin();
  long before = 0;
  for (unsigned i = 0; i < o.graphs; ++i) {
    p.graph_round();
    if (i % 64 == 0) must(cudaDeviceSynchronize());
    if (i == o.graphs / 4) before = resident_kb();
  }
  const bool good = check_sums();
  const long grown = resident_kb() - before;
  std::printf("%u graphs; resident memory grew by %ld kB in the last three quarters\n", o.graphs, grown);
  p.end();
  return good && grown < 16 * 1024;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  o.seed = std::random_device{}();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const unsigned long long v = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seconds") o.seconds = static_cast<unsigned>(v);
    if (name == "--threads") o.threads = static_cast<unsigned>(v);
    if (name == "--streams") o.streams = static_cast<unsigned>(v);
    if (name == "--graphs") o.graphs = static_cast<unsigned>(v);
    if (name == "--seed") o.seed = v;
    if (name == "--skip") world.skip = static_cast<unsigned>(v);
  }
  std::printf("seed %llu\n", o.seed);
  std::fflush(stdout);
  make_world(o.streams);
  const bool good = o.graphs ? many_graphs(o) : play(o);
  end_world();
  std::printf(good ? "good\n" : "FAIL\n");
  return good ? 0 : 1;
}
