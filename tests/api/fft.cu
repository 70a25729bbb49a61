// SPDX-License-Identifier: Apache-2.0
// flags: -lcufft
// needs: cufft.h
// Transforms of every kind, shape and layout against the definition in double precision, in streams and captured, and
// the codes of wrong calls. Rounding differs between libraries, so what is printed is whether a result is close enough.
#include <cufft.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

using Complex = std::complex<double>;
using Long = long long;

int failures = 0;

// ---- a transform from the definition ----

struct Dims {
  int rank, n[3];
  int total() const { return n[0] * n[1] * n[2]; }
};

// sign -1: forward. One dimension after the other, each by its definition.
std::vector<Complex> transform(const Dims& d, std::vector<Complex> x, int sign) {
  const int n[3] = {d.n[0], d.n[1], d.n[2]};
  const int stride[3] = {n[1] * n[2], n[2], 1};
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<Complex> w(static_cast<size_t>(n[axis]));
    for (int i = 0; i < n[axis]; ++i) w[size_t(i)] = std::polar(1.0, sign * 2 * M_PI * i / n[axis]);
    std::vector<Complex> y(x.size());
    for (int at = 0; at < d.total(); ++at) {
      const int k = at / stride[axis] % n[axis], base = at - k * stride[axis];
      Complex sum = 0;
      for (int i = 0; i < n[axis]; ++i) sum += x[size_t(base + i * stride[axis])] * w[size_t(Long(i) * k % n[axis])];
      y[size_t(at)] = sum;
    }
    x = y;
  }
  return x;
}

double value(unsigned i) {
  i = (i ^ 61) * 2654435761u;
  i ^= i >> 15;
  return double(int(i % 2001) - 1000) / 1000;
}

// ---- layouts ----

struct Layout {
  int embed[3], stride, dist;
  size_t at(const Dims& d, int b, int flat, int row) const {  // flat: index in an array whose rows have `row` elements
    const int z = flat % row, y = flat / row % (d.rank > 1 ? d.n[d.rank - 2] : 1), x = d.rank > 2 ? flat / row / d.n[1] : 0;
    Long i = 0;
    if (d.rank == 1) i = z;
    if (d.rank == 2) i = Long(y) * embed[1] + z;
    if (d.rank == 3) i = (Long(x) * embed[1] + y) * embed[2] + z;
    return size_t(Long(b) * dist + i * stride);
  }
};

struct Case {
  const char* name;
  cufftType type;
  Dims d;
  int batch;
  bool in_place, given;  // given: the layouts below, else packed
  Layout in, out;
};

bool real_input(cufftType t) { return t == CUFFT_R2C || t == CUFFT_D2Z; }
bool real_output(cufftType t) { return t == CUFFT_C2R || t == CUFFT_Z2D; }
bool wide(cufftType t) { return t == CUFFT_D2Z || t == CUFFT_Z2D || t == CUFFT_Z2Z; }

Layout packed(const Case& c, bool real) {
  Layout l{{1, 1, 1}, 1, 1};
  for (int i = 0; i < c.d.rank; ++i) l.embed[i] = c.d.n[i];
  int& row = l.embed[c.d.rank - 1];
  const bool half = real_input(c.type) || real_output(c.type);
  if (half && !real) row = row / 2 + 1;
  if (half && real && c.in_place) row = 2 * (row / 2 + 1);
  for (int i = 0; i < c.d.rank; ++i) l.dist *= l.embed[i];
  return l;
}

// Numbers in memory, real or complex, of either precision.
struct Numbers {
  bool real, wide;
  size_t size() const { return (real ? 1 : 2) * (wide ? 8 : 4); }
  Complex get(const unsigned char* p, size_t i) const {
    p += i * size();
    const auto one = [&](int k) {
      double v;
      float f;
      if (wide) return std::memcpy(&v, p + 8 * k, 8), v;
      return std::memcpy(&f, p + 4 * k, 4), double(f);
    };
    return {one(0), real ? 0 : one(1)};
  }
  void set(unsigned char* p, size_t i, Complex c) const {
    p += i * size();
    for (int k = 0; k < (real ? 1 : 2); ++k) {
      const double v = k ? c.imag() : c.real();
      const float f = float(v);
      wide ? std::memcpy(p + 8 * k, &v, 8) : std::memcpy(p + 4 * k, &f, 4);
    }
  }
};

cufftResult execute(cufftHandle plan, cufftType t, void* in, void* out, int direction) {
  switch (t) {
    case CUFFT_C2C:
      return cufftExecC2C(plan, static_cast<cufftComplex*>(in), static_cast<cufftComplex*>(out), direction);
    case CUFFT_R2C:
      return cufftExecR2C(plan, static_cast<cufftReal*>(in), static_cast<cufftComplex*>(out));
    case CUFFT_C2R:
      return cufftExecC2R(plan, static_cast<cufftComplex*>(in), static_cast<cufftReal*>(out));
    case CUFFT_Z2Z:
      return cufftExecZ2Z(plan, static_cast<cufftDoubleComplex*>(in), static_cast<cufftDoubleComplex*>(out), direction);
    case CUFFT_D2Z:
      return cufftExecD2Z(plan, static_cast<cufftDoubleReal*>(in), static_cast<cufftDoubleComplex*>(out));
    default:
      return cufftExecZ2D(plan, static_cast<cufftDoubleComplex*>(in), static_cast<cufftDoubleReal*>(out));
  }
}

cufftResult make_plan(const Case& c, cufftHandle* plan) {
  if (c.given) {
    int n[3], in[3], out[3];
    for (int i = 0; i < 3; ++i) n[i] = c.d.n[i], in[i] = c.in.embed[i], out[i] = c.out.embed[i];
    return cufftPlanMany(plan, c.d.rank, n, in, c.in.stride, c.in.dist, out, c.out.stride, c.out.dist, c.type, c.batch);
  }
  if (c.batch > 1 && c.d.rank > 1) {
    int n[3] = {c.d.n[0], c.d.n[1], c.d.n[2]};
    return cufftPlanMany(plan, c.d.rank, n, nullptr, 1, 0, nullptr, 1, 0, c.type, c.batch);
  }
  if (c.d.rank == 1) return cufftPlan1d(plan, c.d.n[0], c.type, c.batch);
  if (c.d.rank == 2) return cufftPlan2d(plan, c.d.n[0], c.d.n[1], c.type);
  return cufftPlan3d(plan, c.d.n[0], c.d.n[1], c.d.n[2], c.type);
}

void run(const Case& given, int direction) {
  Case c = given;
  if (!c.given) c.in = packed(c, real_input(c.type)), c.out = packed(c, real_output(c.type));
  for (int i = c.d.rank; i < 3; ++i) c.d.n[i] = 1;
  const Dims d{3, {c.d.n[0], c.d.n[1], c.d.n[2]}};
  const int last = c.d.n[c.d.rank - 1], half = last / 2 + 1, rows = d.total() / last;
  const bool inverse = real_output(c.type) || (!real_input(c.type) && direction == CUFFT_INVERSE);
  const Numbers from{real_input(c.type), wide(c.type)}, to{real_output(c.type), wide(c.type)};
  const int in_row = real_output(c.type) ? half : last, out_row = real_input(c.type) ? half : last;
  const size_t in_count = c.in.at(c.d, c.batch - 1, rows * in_row - 1, in_row) + 1;
  const size_t out_count = c.out.at(c.d, c.batch - 1, rows * out_row - 1, out_row) + 1;
  const size_t bytes = std::max(in_count * from.size(), out_count * to.size()) + 64;
  std::vector<unsigned char> input(bytes, 0x5a), output(bytes, 0xa5);
  std::vector<Complex> expected;
  for (int b = 0; b < c.batch; ++b) {
    std::vector<Complex> x(static_cast<size_t>(d.total()));
    for (int i = 0; i < d.total(); ++i) x[size_t(i)] = {value(unsigned(b * 7919 + 2 * i)), real_input(c.type) ? 0 : value(unsigned(b * 7919 + 2 * i + 1))};
    if (real_output(c.type)) {  // a spectrum of real numbers: that of the real parts
      for (auto& v : x) v = v.real();
      x = transform(d, x, -1);
    }
    for (int i = 0; i < rows * in_row; ++i) from.set(input.data(), c.in.at(c.d, b, i, in_row), x[size_t(i / in_row * last + i % in_row)]);
    const auto y = transform(d, x, inverse ? 1 : -1);
    expected.insert(expected.end(), y.begin(), y.end());
  }
  void *in, *out;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cufftHandle plan = 0;
  cufftResult r = make_plan(c, &plan);
  if (r == CUFFT_SUCCESS) r = cufftSetStream(plan, stream);
  bool close[2] = {true, true}, kept = true, rest = true;
  for (int captured = 0; captured < 2 && r == CUFFT_SUCCESS; ++captured) {
    void* const target = c.in_place ? in : out;
    if (!c.in_place) cudaMemcpy(out, output.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(in, input.data(), bytes, cudaMemcpyHostToDevice);
    if (captured) {
      cudaGraph_t graph;
      cudaGraphExec_t exec;
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
      r = execute(plan, c.type, in, target, direction);
      cudaStreamEndCapture(stream, &graph);
      cudaStreamSynchronize(stream);
      std::vector<unsigned char> before(bytes);
      cudaMemcpy(before.data(), in, bytes, cudaMemcpyDeviceToHost);
      kept = kept && before == input;  // nothing happens before the launch
      cudaGraphInstantiate(&exec, graph, 0);
      cudaGraphDestroy(graph);
      cudaGraphLaunch(exec, stream);
      cudaStreamSynchronize(stream);
      cudaGraphExecDestroy(exec);
    } else {
      r = execute(plan, c.type, in, target, direction);
      cudaStreamSynchronize(stream);
    }
    std::vector<unsigned char> got(bytes);
    cudaMemcpy(got.data(), target, bytes, cudaMemcpyDeviceToHost);
    double worst = 0, scale = 0;
    std::vector<bool> written(bytes);
    for (int b = 0; b < c.batch; ++b)
      for (int i = 0; i < rows * out_row; ++i) {
        const size_t at = c.out.at(c.d, b, i, out_row);
        const Complex want = expected[size_t(b * d.total() + i / out_row * last + i % out_row)];
        const Complex have = to.get(got.data(), at);
        worst = std::max(worst, to.real ? std::abs(have.real() - want.real()) : std::abs(have - want));
        scale = std::max(scale, std::abs(want));
        for (size_t k = 0; k < to.size(); ++k) written[at * to.size() + k] = true;
      }
    if (!c.in_place)
      for (size_t k = 0; k < bytes; ++k) rest = rest && (written[k] || got[k] == 0xa5);
    close[captured] = worst <= scale * (wide(c.type) ? 1e-13 : 5e-6);
  }
  std::printf("%-44s %s: %d, %s, captured %s%s%s\n", c.name, inverse ? "inverse" : "forward", int(r), close[0] ? "right" : "WRONG",
              close[1] ? "right" : "WRONG", kept ? "" : ", ran DURING the capture", rest ? "" : ", wrote ELSEWHERE");
  failures += r != CUFFT_SUCCESS || !close[0] || !close[1] || !kept || !rest;
  cufftDestroy(plan);
  cudaStreamDestroy(stream);
  cudaFree(in);
  cudaFree(out);
}

void shapes() {
  const cufftType complex_types[] = {CUFFT_C2C, CUFFT_Z2Z}, real_types[] = {CUFFT_R2C, CUFFT_D2Z, CUFFT_C2R, CUFFT_Z2D};
  const Dims shapes[] = {{1, {1}}, {1, {2}}, {1, {64}}, {1, {100}}, {1, {97}}, {1, {1024}}, {2, {8, 12}}, {2, {7, 9}}, {3, {4, 6, 8}}, {3, {3, 5, 7}}};
  char name[80];
  for (const Dims& s : shapes)
    for (int batch : {1, 3})
      for (bool in_place : {false, true}) {
        const auto one = [&](cufftType t) {
          std::snprintf(name, sizeof name, "type %02x, %d x %d x %d, batch %d, %s", int(t), s.n[0], s.rank > 1 ? s.n[1] : 1,
                        s.rank > 2 ? s.n[2] : 1, batch, in_place ? "in place" : "apart");
          const Case c{name, t, s, batch, in_place, false, {}, {}};
          run(c, CUFFT_FORWARD);
          if (t == CUFFT_C2C || t == CUFFT_Z2Z) run(c, CUFFT_INVERSE);
        };
        for (cufftType t : complex_types) one(t);
        for (cufftType t : real_types) one(t);
      }
}

void layouts() {
  run({"columns of a matrix", CUFFT_C2C, {1, {16}}, 5, false, true, {{16}, 5, 1}, {{16}, 5, 1}}, CUFFT_FORWARD);
  run({"columns of a matrix, in place", CUFFT_Z2Z, {1, {16}}, 5, true, true, {{16}, 5, 1}, {{16}, 5, 1}}, CUFFT_INVERSE);
  run({"rows to columns", CUFFT_C2C, {1, {20}}, 4, false, true, {{20}, 1, 20}, {{20}, 4, 1}}, CUFFT_FORWARD);
  run({"real, every third", CUFFT_R2C, {1, {30}}, 2, false, true, {{30}, 3, 100}, {{16}, 2, 40}}, CUFFT_FORWARD);
  run({"to real, every third", CUFFT_Z2D, {1, {30}}, 2, false, true, {{16}, 2, 40}, {{30}, 3, 100}}, CUFFT_INVERSE);
  run({"part of a larger image", CUFFT_C2C, {2, {6, 10}}, 3, false, true, {{9, 14}, 1, 126}, {{6, 11}, 2, 140}}, CUFFT_INVERSE);
  run({"part of a larger real image", CUFFT_D2Z, {2, {6, 10}}, 2, false, true, {{7, 16}, 1, 112}, {{6, 8}, 1, 50}}, CUFFT_FORWARD);
  run({"part of a larger box", CUFFT_C2R, {3, {3, 4, 6}}, 2, false, true, {{3, 5, 5}, 1, 80}, {{3, 4, 8}, 1, 100}}, CUFFT_INVERSE);
}

void code(const char* what, cufftResult r) { std::printf("%-44s %d\n", what, int(r)); }

void codes() {
  cufftHandle plan = 0, other = 0;
  size_t bytes = 0;
  void* p;
  cudaMalloc(&p, 1 << 16);
  auto* c = static_cast<cufftComplex*>(p);
  code("plan of no elements", cufftPlan1d(&plan, 0, CUFFT_C2C, 1));
  code("plan of -1 elements", cufftPlan1d(&plan, -1, CUFFT_C2C, 1));
  code("batch of 0", cufftPlan1d(&plan, 8, CUFFT_C2C, 0));
  code("batch of -1", cufftPlan1d(&plan, 8, CUFFT_C2C, -1));
  code("unknown type", cufftPlan1d(&plan, 8, static_cast<cufftType>(0x55), 1));
  code("2d, the first side 0", cufftPlan2d(&plan, 0, 8, CUFFT_C2C));
  code("3d, the first side -3", cufftPlan3d(&plan, -3, 8, 8, CUFFT_C2C));
  int n[4] = {8, 8, 8, 8};
  code("many, rank 0", cufftPlanMany(&plan, 0, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1));
  code("many, rank 4", cufftPlanMany(&plan, 4, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1));
  code("many, stride 0", cufftPlanMany(&plan, 1, n, n, 0, 8, n, 1, 8, CUFFT_C2C, 1));
  code("many, only one embedding", cufftPlanMany(&plan, 1, n, n, 1, 8, nullptr, 1, 8, CUFFT_C2C, 1));
  code("destroy what never was", cufftDestroy(9999));
  code("exec without plan", cufftExecC2C(9999, c, c, CUFFT_FORWARD));
  code("stream without plan", cufftSetStream(9999, nullptr));
  code("size without plan", cufftGetSize(9999, &bytes));
  code("create", cufftCreate(&plan));
  code("exec of an unmade plan", cufftExecC2C(plan, c, c, CUFFT_FORWARD));
  code("size of an unmade plan", cufftGetSize(plan, &bytes));
  code("no automatic work area", cufftSetAutoAllocation(plan, 0));
  code("make", cufftMakePlan1d(plan, 1 << 10, CUFFT_C2C, 1, &bytes));
  code("make again", cufftMakePlan1d(plan, 1 << 10, CUFFT_C2C, 1, &bytes));
  void* area = nullptr;
  cudaMalloc(&area, bytes ? bytes : 1);
  code("work area", cufftSetWorkArea(plan, area));
  code("exec", cufftExecC2C(plan, c, c, CUFFT_FORWARD));
  code("direction 0", cufftExecC2C(plan, c, c, 0));
  code("direction 2", cufftExecC2C(plan, c, c, 2));
  code("destroy", cufftDestroy(plan));
  code("destroy again", cufftDestroy(plan));
  code("estimate", cufftEstimate1d(1024, CUFFT_C2C, 4, &bytes));
  code("estimate of nothing", cufftEstimate1d(0, CUFFT_C2C, 4, &bytes));
  int version = 0, major = 0;
  code("version", cufftGetVersion(&version));
  code("property", cufftGetProperty(MAJOR_VERSION, &major));
  std::printf("version %d, of which major %d\n", version / 1000, major);
  Long m[1] = {48};
  code("create", cufftCreate(&other));
  code("make with 64-bit numbers", cufftMakePlanMany64(other, 1, m, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 2, &bytes));
  code("destroy", cufftDestroy(other));
  cudaStream_t s;
  cudaStreamCreate(&s);
  cufftPlan1d(&plan, 64, CUFFT_C2C, 1);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  code("legacy stream during a capture", cufftExecC2C(plan, c, c, CUFFT_FORWARD));
  cudaGraph_t graph;
  std::printf("%-44s %d\n", "its end", int(cudaStreamEndCapture(s, &graph)));
  code("destroy", cufftDestroy(plan));
}

}  // namespace

int main() {
  shapes();
  layouts();
  codes();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
