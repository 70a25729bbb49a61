// SPDX-License-Identifier: Apache-2.0
// api_fuzz [--count N | --minutes M] [--start SEED] [--steps N] [--trace FILE] [--print]
// Sequences of calls of both APIs with arguments that an application could pass: valid, null, destroyed, at the edges.
// Every call returns, with a code that has a name; nothing else in the process changes; and after each sequence a copy
// and a launch still do their work. The calls of the current sequence are kept in the file of --trace, which survives a
// crash.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <tuple>

#include "api_world.h"

namespace fuzz {

const char* some_name(World& w) {
  static const char* names[] = {"plus", "nothing",      "fault",        "word",    "table",
                                "",     "no such name", "0000:01:00.0", "\xff\xff"};
  return w.r.chance(8) ? nullptr : names[w.r.below(9)];
}

void* some_pointer(World& w, Pointers kind) {
  if (w.r.chance(8)) return nullptr;
  if (kind != Pointers::Any) return w.slot();
  if (w.r.chance(30)) return w.slot();
  if (w.r.chance(40)) return w.handle<void*>();
  return reinterpret_cast<void*>(w.handle<unsigned long long>());
}

namespace {

const char kModule[] = R"(.version 8.6
.target sm_90
.address_size 64
.visible .global .align 4 .u32 word = 7;
.visible .const .align 4 .u32 table[16];
.visible .entry nothing() { ret; }
.visible .entry plus(.param .u64 p, .param .u32 n, .param .u32 add)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %q<3>;
  ld.param.u64 %q0, [p];
  ld.param.u32 %r0, [n];
  ld.param.u32 %r1, [add];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r0;
  @%p ret;
  mad.wide.u32 %q1, %r2, 4, %q0;
  ld.global.u32 %r5, [%q1];
  add.u32 %r5, %r5, %r1;
  st.global.u32 [%q1], %r5;
  ret;
}
.visible .entry fault()
{
  .reg .b64 %q;
  mov.u64 %q, 16;
  st.global.u32 [%q], 1;
  ret;
}
)";

class Trace {
 public:
  explicit Trace(const std::string& path) {
    if (path.empty()) return;
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || ftruncate(fd, kBytes) != 0) std::exit(2);
    text_ = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
  }
  void start(u64 seed) {
    at_ = 0;
    if (text_) std::memset(text_, 0, kBytes);
    add("seed " + std::to_string(seed));
  }
  void add(const std::string& line) {
    if (print) std::fprintf(stderr, "%s\n", line.c_str());
    if (!text_ || at_ + line.size() + 1 > kBytes) return;
    std::memcpy(text_ + at_, line.data(), line.size());
    at_ += line.size();
    text_[at_++] = '\n';
  }
  bool print = false;

 private:
  static constexpr std::size_t kBytes = 1 << 16;
  char* text_ = nullptr;
  std::size_t at_ = 0;
};

struct Settings {
  u64 count = 200, seed = 1;
  u32 steps = 60;
  double minutes = 0;
  bool print = false;
  std::string trace;
};

template <class T>
std::string shown(T v) {
  char s[40];
  if constexpr (std::is_pointer_v<T>)
    std::snprintf(s, sizeof s, "%p", reinterpret_cast<const void*>(v));
  else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>)
    std::snprintf(s, sizeof s, "%#llx", static_cast<unsigned long long>(v));
  else
    std::snprintf(s, sizeof s, "{}");
  return s;
}

class Sequence {
 public:
  Sequence(u64 seed, Trace& trace) : w(seed), trace_(trace) {}
  World w;
  std::string finding;

  template <class R, class... P>
  void call(const char* name, R (*f)(P...), [[maybe_unused]] Pointers kind) {
    std::tuple<P...> args{make<P>(w, kind)...};
    std::apply([&](P... a) { call_with(name, f, a...); }, args);
  }
  template <class R, class... P>
  void call_with(const char* name, R (*f)(P...), std::type_identity_t<P>... a) {
    std::string line = name;
    ((line += " " + shown(a)), ...);
    trace_.add(line);
    const auto start = std::chrono::steady_clock::now();
    const R code = f(a...);
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ++calls;
    trace_.add("  = " + std::to_string(static_cast<long long>(code)));
    if (s > 10) finding += std::string(name) + " took " + std::to_string(s) + " s\n";
    if (!documented(code)) finding += std::string(name) + " returned " + std::to_string(static_cast<int>(code)) + "\n";
    if (static_cast<int>(code) == 0 && !(std::strstr(name, "lloc") && (too_big(a) || ...))) (harvest(w, a), ...);
  }
  u64 calls = 0;

 private:
  static bool documented(cudaError_t e) { return std::strcmp(cudaGetErrorName(e), "unrecognized error code") != 0; }
  static bool documented(CUresult e) {
    const char* name = nullptr;
    return cuGetErrorName(e, &name) == CUDA_SUCCESS && name;
  }
  template <class T>
  static bool documented(T) {
    return true;
  }
  // Memory of which to set every byte would take minutes goes back at once.
  template <class T>
  static bool too_big(T argument) {
    CUdeviceptr p = 0, base = 0;
    std::size_t bytes = 0;
    if constexpr (std::is_same_v<T, void**> || std::is_same_v<T, CUdeviceptr*>)
      if (argument) std::memcpy(&p, argument, sizeof p);
    if constexpr (std::is_same_v<T, cudaPitchedPtr*>)
      if (argument) p = reinterpret_cast<CUdeviceptr>(argument->ptr);
    if (!p || cuMemGetAddressRange(&base, &bytes, p) != CUDA_SUCCESS || bytes <= 64 * kMiB) return false;
    cuMemFree(p), cuMemFreeHost(reinterpret_cast<void*>(p));
    return true;
  }
  Trace& trace_;
};

// --- calls whose arguments depend on each other ----------------------------------------------------------------------

#define CALL(f, ...) s.call_with(#f, f __VA_OPT__(, ) __VA_ARGS__)

std::size_t allocation_size(World& w) {
  static constexpr std::size_t sizes[] = {0, 1, 3, 16, 100, 256, 1000, 4096, 65536, 300000, kMiB};
  return w.r.chance(15) ? (w.r.chance(50) ? ~std::size_t(0) - w.r.below(5000) : std::size_t(1) << (40 + w.r.below(24)))
                        : sizes[w.r.below(11)];
}
void allocate(Sequence& s) {
  World& w = s.w;
  const std::size_t n = allocation_size(w);
  auto* out = static_cast<void**>(w.r.chance(5) ? nullptr : w.slot());
  auto* device = reinterpret_cast<CUdeviceptr*>(out);
  const auto stream = w.handle<cudaStream_t>();
  switch (w.r.below(10)) {
    case 0:
    case 1:
      return CALL(cudaMalloc, out, n);
    case 2:
      return CALL(cudaMallocAsync, out, n, stream);
    case 3:
      return CALL(cudaMallocManaged, out, n, static_cast<unsigned>(w.number(true)));
    case 4:
      return CALL(cudaMallocHost, out, n);
    case 5:
      return CALL(cudaMallocFromPoolAsync, out, n, w.handle<cudaMemPool_t>(), stream);
    case 6:
      return CALL(cuMemAllocManaged, device, n, static_cast<unsigned>(w.number(true)));
    case 7:
      return CALL(cuMemAllocHost, out, n);
    case 8:
      return CALL(cuMemAllocAsync, device, n, stream);
    default:
      return CALL(cuMemAlloc, device, n);
  }
}

void* device_side(World& w) {
  char* p = static_cast<char*>(w.r.chance(50) ? w.handle<void*>() : reinterpret_cast<void*>(w.handle<CUdeviceptr>()));
  return w.r.chance(20) ? p + w.number(true) : p;
}
std::size_t copy_size(World& w) { return w.r.chance(25) ? w.number(false) : 1 + w.r.below(5000); }

void copy(Sequence& s) {
  World& w = s.w;
  void *d = device_side(w), *e = device_side(w), *h = w.r.chance(5) ? nullptr : w.host();
  const auto dp = reinterpret_cast<CUdeviceptr>(d), ep = reinterpret_cast<CUdeviceptr>(e);
  const std::size_t n = copy_size(w);
  const auto stream = w.handle<cudaStream_t>();
  switch (w.r.below(12)) {
    case 0:
      return CALL(cudaMemcpy, d, h, n, cudaMemcpyHostToDevice);
    case 1:
      return CALL(cudaMemcpy, h, d, n, cudaMemcpyDeviceToHost);
    case 2:
      return CALL(cudaMemcpy, d, e, n, cudaMemcpyDeviceToDevice);
    case 3:
      return CALL(cudaMemcpy, d, e, n, static_cast<cudaMemcpyKind>(5 + w.r.below(1000)));
    case 4:
      return CALL(cudaMemcpyAsync, d, h, n, cudaMemcpyHostToDevice, stream);
    case 5:
      return CALL(cudaMemcpyAsync, h, d, n, cudaMemcpyDeviceToHost, stream);
    case 6:
      return CALL(cuMemcpyHtoD, dp, h, n);
    case 7:
      return CALL(cuMemcpyDtoH, h, dp, n);
    case 8:
      return CALL(cuMemcpyDtoD, dp, ep, n);
    case 9:
      return CALL(cuMemcpyDtoDAsync, dp, ep, n, stream);
    case 10:
      return CALL(cudaMemcpyPeer, d, static_cast<int>(w.number(true)) - 2, e, static_cast<int>(w.number(true)) - 2, n);
    default:
      return CALL(cuMemcpyHtoDAsync, dp, h, n, stream);
  }
}

// The host's side always fits: pitch * height <= kHostBytes.
void copy_2d(Sequence& s) {
  World& w = s.w;
  void* d = device_side(w);
  const std::size_t host_pitch = w.r.below(2100), width = w.r.chance(20) ? w.number(false) : w.r.below(2100),
                    height = w.r.below(66), pitch = w.r.chance(30) ? w.number(false) : 512 * (1 + w.r.below(4));
  const bool fits = width <= host_pitch;  // else: refused before anything is touched
  const auto array = w.handle<cudaArray_t>();
  const std::size_t x = w.r.below(70), y = w.r.below(5);
  const auto stream = w.handle<cudaStream_t>();
  switch (w.r.below(fits ? 8u : 4u)) {
    case 0:
      return CALL(cudaMemcpy2D, d, pitch, w.host(), host_pitch, width, height, cudaMemcpyHostToDevice);
    case 1:
      return CALL(cudaMemcpy2D, w.host(), host_pitch, d, pitch, width, height, cudaMemcpyDeviceToHost);
    case 2:
      return CALL(cudaMemcpy2DAsync, d, pitch, device_side(w), host_pitch, width, height, cudaMemcpyDeviceToDevice,
                  stream);
    case 3:
      return CALL(cudaMemcpy2DToArray, array, x, y, w.host(), host_pitch, width, height, cudaMemcpyHostToDevice);
    case 4:
      return CALL(cudaMemcpy2DFromArray, w.host(), host_pitch, array, x, y, width, height, cudaMemcpyDeviceToHost);
    case 5:
      return CALL(cudaMemcpy2DFromArray, d, pitch, array, x, y, width, height, cudaMemcpyDeviceToDevice);
    case 6:
      return CALL(cudaMemcpy2DArrayToArray, array, x, y, w.handle<cudaArray_t>(), x, y, width, height,
                  cudaMemcpyDeviceToDevice);
    default: {
      CUDA_MEMCPY2D c = {};
      c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = w.host(), c.srcPitch = host_pitch;
      c.dstMemoryType = static_cast<CUmemorytype>(w.r.chance(10) ? 5 : 2 + w.r.below(2)),
      c.dstDevice = reinterpret_cast<CUdeviceptr>(d);
      c.dstArray = w.handle<CUarray>(), c.dstPitch = pitch, c.dstXInBytes = x, c.dstY = y;
      c.WidthInBytes = width, c.Height = height;
      return CALL(cuMemcpy2D, &c);
    }
  }
}

void copy_3d(Sequence& s) {
  World& w = s.w;
  cudaMemcpy3DParms p = {};
  const std::size_t pitch = 1 + w.r.below(300), rows = 1 + w.r.below(20);
  const bool to_device = w.r.chance(50);
  const cudaPitchedPtr host = {w.host(), pitch, pitch, rows},
                       device = {device_side(w), w.r.chance(30) ? w.number(false) : 512, 512, w.number(true)};
  p.extent = {w.r.chance(85) ? w.r.below(static_cast<u32>(pitch) + 1) : w.number(false),
              w.r.below(static_cast<u32>(rows) + 1), w.r.below(9)};
  if (p.extent.width > pitch) p.extent.height = p.extent.depth = 1, p.extent.width = std::min(p.extent.width, kMiB);
  const auto array = w.handle<cudaArray_t>();
  const bool use_array = w.r.chance(50);
  const cudaPos pos = {w.r.below(40), w.r.below(6), w.r.below(4)};
  if (to_device) {
    p.srcPtr = host, p.kind = cudaMemcpyHostToDevice, p.dstPos = pos;
    if (use_array)
      p.dstArray = array;
    else
      p.dstPtr = device;
  } else {
    p.dstPtr = host, p.kind = cudaMemcpyDeviceToHost, p.srcPos = pos;
    if (use_array)
      p.srcArray = array;
    else
      p.srcPtr = device;
  }
  if (use_array)
    p.extent.width = std::min<std::size_t>(p.extent.width, pitch / 16);  // counts elements of up to 16 bytes
  if (w.r.chance(70))
    CALL(cudaMemcpy3D, &p);
  else
    CALL(cudaMemcpy3DAsync, &p, w.handle<cudaStream_t>());
}

unsigned extent(World& w, unsigned most) {
  static constexpr unsigned wrong[] = {0, 1025, 65536, 0x80000000u, 0xffffffffu};
  return w.r.chance(10) ? wrong[w.r.below(5)] : 1 + w.r.below(most);
}
void launch(Sequence& s) {
  World& w = s.w;
  // Pointers of the program's own memory never reach the kernel as a destination.
  u64 p = w.r.chance(30) ? 0 : reinterpret_cast<u64>(device_side(w));
  u32 n = w.r.below(300), add = 1;
  cudaPointerAttributes a = {};
  const bool ours = cudaPointerGetAttributes(&a, reinterpret_cast<void*>(p)) == cudaSuccess;
  if (!ours || a.type == cudaMemoryTypeUnregistered) p = 0;
  if (p == 0 && !w.r.chance(5)) n = 0;
  if (p) n = std::min<u32>(n, 1);  // the smallest allocations hold little more
  void* args[] = {&p, &n, &add};
  const unsigned shared = w.r.chance(80) ? 0 : static_cast<unsigned>(w.number(false));
  const auto stream = w.handle<CUstream>();
  const unsigned gx = extent(w, 8), gy = extent(w, 2), bx = extent(w, 64), by = extent(w, 2);
  if (w.r.chance(50))
    return CALL(cuLaunchKernel, w.handle<CUfunction>(), gx, gy, 1, bx, by, 1, shared, stream, args, nullptr);
  if (w.r.chance(70))
    return CALL(cudaLaunchKernel, w.handle<cudaKernel_t>(), dim3(gx, gy), dim3(bx, by), args, shared, stream);
  CUlaunchConfig c = {gx, gy, 1, bx, by, 1, shared, stream, nullptr, 0};
  CUlaunchAttribute attributes[2];
  std::memcpy(attributes, w.slot(), sizeof attributes);
  c.attrs = attributes, c.numAttrs = w.r.below(3);
  // Attributes that name events and memory of the program hold what it could hold.
  for (CUlaunchAttribute& x : attributes)
    if (static_cast<int>(x.id) > 2 && static_cast<int>(x.id) != 4) std::memset(&x.value, 0, sizeof x.value);
  CALL(cuLaunchKernelEx, &c, w.handle<CUfunction>(), args, nullptr);
}

void load(Sequence& s) {
  World& w = s.w;
  std::string damaged = kModule;
  if (w.r.chance(40)) damaged[w.r.below(static_cast<u32>(damaged.size()))] = static_cast<char>(w.r.next());
  const void* image = damaged.c_str();
  switch (w.r.below(3)) {
    case 0:
      return CALL(cuModuleLoadData, static_cast<CUmodule*>(w.slot()), image);
    case 1:
      return CALL(cuLibraryLoadData, static_cast<CUlibrary*>(w.slot()), image, nullptr, nullptr, 0, nullptr, nullptr,
                  0);
    default:
      return CALL(cudaLibraryLoadData, static_cast<cudaLibrary_t*>(w.slot()), image, nullptr, nullptr, 0, nullptr,
                  nullptr, 0);
  }
}

void contexts(Sequence& s) {
  World& w = s.w;
  if (w.r.chance(60))
    CALL(cuCtxCreate, static_cast<CUcontext*>(w.slot()), nullptr, w.field(), static_cast<CUdevice>(w.number(true)) - 1);
  else
    CALL(cudaDeviceReset);
}

using Step = std::function<void(Sequence&)>;
const std::vector<Step>& steps() {
  static const std::vector<Step> all = {
#define US_ANY(f) [](Sequence& s) { s.call(#f, f, Pointers::Any); },
#define US_HOST(f) [](Sequence& s) { s.call(#f, f, Pointers::Host); },
#define US_SMALL(f) [](Sequence& s) { s.call(#f, f, Pointers::Small); },
#include "api_calls.inc"
  };
  return all;
}

// --- a sequence and what must hold after it --------------------------------------------------------------------------

#define MUST(x)                                     \
  if (const auto e = (x); static_cast<int>(e) != 0) \
  return std::string("afterwards: " #x " returned ") + std::to_string(static_cast<int>(e)) + "\n"

std::string still_works() {
  for (CUcontext c = nullptr; cuCtxPopCurrent(&c) == CUDA_SUCCESS;) {
  }
  MUST(cudaSetDevice(0));
  cudaDeviceSynchronize();  // what is left of the sequence, its faults too
  MUST(cudaDeviceReset());
  cudaGetLastError();
  std::vector<u32> in(1000), out(1000);
  for (u32 k = 0; k < in.size(); ++k) in[k] = k * k;
  void* d = nullptr;
  MUST(cudaMalloc(&d, 4000));
  MUST(cudaMemcpy(d, in.data(), 4000, cudaMemcpyHostToDevice));
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  MUST(cuModuleLoadData(&m, kModule));
  MUST(cuModuleGetFunction(&f, m, "plus"));
  u32 n = 1000, add = 5;
  void* args[] = {&d, &n, &add};
  MUST(cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, nullptr, args, nullptr));
  MUST(cudaMemcpy(out.data(), d, 4000, cudaMemcpyDeviceToHost));
  MUST(cuModuleUnload(m));
  MUST(cudaFree(d));
  for (u32 k = 0; k < out.size(); ++k)
    if (out[k] != in[k] + 5) return "afterwards: a wrong result\n";
  return "";
}

std::string run(u64 seed, const Settings& settings, Trace& trace, u64& calls) {
  Sequence s(seed, trace);
  World& w = s.w;
  trace.start(seed);
  cudaSetDevice(0);
  cudaFree(nullptr);
  for (int k = 0; k < 3; ++k) allocate(s);
  CALL(cuModuleLoadData, static_cast<CUmodule*>(w.slot()), static_cast<const void*>(kModule));
  CALL(cudaLibraryLoadData, static_cast<cudaLibrary_t*>(w.slot()), static_cast<const void*>(kModule), nullptr, nullptr,
       0, nullptr, nullptr, 0);
  for (const char* name : {"plus", "nothing"}) {
    CALL(cuModuleGetFunction, static_cast<CUfunction*>(w.slot()), w.handle<CUmodule>(), name);
    CALL(cudaLibraryGetKernel, static_cast<cudaKernel_t*>(w.slot()), w.handle<cudaLibrary_t>(), name);
  }
  w.remember<CUstream>(nullptr);
  for (u32 k = 0; k < settings.steps; ++k) {
    const u32 what = w.r.below(100);
    if (what < 8)
      allocate(s);
    else if (what < 16)
      copy(s);
    else if (what < 21)
      copy_2d(s);
    else if (what < 24)
      copy_3d(s);
    else if (what < 30)
      launch(s);
    else if (what < 32)
      load(s);
    else if (what < 33)
      contexts(s);
    else
      w.r.pick(steps())(s);
  }
  trace.add("the end");
  calls += s.calls;
  for (u64 c : w.pool<CUcontext>()) cuCtxDestroy(reinterpret_cast<CUcontext>(c));
  return s.finding + still_works();
}

}  // namespace
}  // namespace fuzz

int main(int argc, char** argv) {
  using namespace fuzz;
  Settings s;
  for (int k = 1; k < argc; ++k) {
    const std::string a = argv[k];
    const char* value = k + 1 < argc ? argv[k + 1] : "";
    if (a == "--count")
      s.count = std::strtoull(value, nullptr, 0), ++k;
    else if (a == "--start")
      s.seed = std::strtoull(value, nullptr, 0), ++k;
    else if (a == "--minutes")
      s.minutes = std::strtod(value, nullptr), ++k;
    else if (a == "--steps")
      s.steps = static_cast<u32>(std::strtoul(value, nullptr, 0)), ++k;
    else if (a == "--trace")
      s.trace = value, ++k;
    else if (a == "--print")
      s.print = true;
    else
      return std::fprintf(
                 stderr,
                 "usage: api_fuzz [--count N | --minutes M] [--start SEED] [--steps N] [--trace FILE] [--print]\n"),
             2;
  }
  Trace trace(s.trace);
  trace.print = s.print;
  const auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  u64 done = 0, calls = 0;
  int findings = 0;
  double told = 0;
  auto progress = [&] {
    std::printf("%llu sequences, %llu calls, %d findings, %.1f s, next --start %llu\n",
                static_cast<unsigned long long>(done), static_cast<unsigned long long>(calls), findings, elapsed(),
                static_cast<unsigned long long>(s.seed + done));
    std::fflush(stdout);
  };
  cuInit(0);
  while (s.minutes > 0 ? elapsed() < 60 * s.minutes : done < s.count) {
    const std::string f = run(s.seed + done, s, trace, calls);
    if (!f.empty()) {
      ++findings;
      std::printf("seed %llu: %s", static_cast<unsigned long long>(s.seed + done), f.c_str());
      std::fflush(stdout);
    }
    ++done;
    if (elapsed() > told + 60) told = elapsed(), progress();
  }
  progress();
  return findings != 0;
}
