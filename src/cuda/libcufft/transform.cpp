// SPDX-License-Identifier: Apache-2.0
#include "cuda/libcufft/transform.h"

#include <fftw3.h>

#include <algorithm>
#include <vector>

namespace us::cufft {
namespace {

// FFTW's planner is one for the whole process.
std::mutex& planner() {
  static std::mutex* const m = new std::mutex;
  return *m;
}

#define US_PRECISION(Name, prefix, Number)                    \
  struct Name {                                               \
    using Complex = prefix##_complex;                         \
    using Real = Number;                                      \
    using Plan = prefix##_plan;                               \
    static constexpr auto c2c = prefix##_plan_many_dft;       \
    static constexpr auto r2c = prefix##_plan_many_dft_r2c;   \
    static constexpr auto c2r = prefix##_plan_many_dft_c2r;   \
    static constexpr auto run_c2c = prefix##_execute_dft;     \
    static constexpr auto run_r2c = prefix##_execute_dft_r2c; \
    static constexpr auto run_c2r = prefix##_execute_dft_c2r; \
    static constexpr auto destroy = prefix##_destroy_plan;    \
  }
US_PRECISION(Single, fftwf, float);
US_PRECISION(Double, fftw, double);
#undef US_PRECISION

// An estimated plan touches no data, so the addresses only say what is in place.
template <class P>
void* make(const Shape& s, bool in_place, bool inverse, void* in, void* out) {
  const Layout a = s.in_layout(in_place), b = s.out_layout(in_place);
  auto* ci = static_cast<typename P::Complex*>(in);
  auto* co = static_cast<typename P::Complex*>(out);
  auto* ri = static_cast<typename P::Real*>(in);
  auto* ro = static_cast<typename P::Real*>(out);
  constexpr unsigned how = FFTW_ESTIMATE | FFTW_UNALIGNED;
  if (s.forward_real())
    return P::r2c(s.rank, s.n, s.batch, ri, a.embed, a.stride, a.dist, co, b.embed, b.stride, b.dist,
                  how | (in_place ? 0 : FFTW_PRESERVE_INPUT));
  if (s.inverse_real())
    return P::c2r(s.rank, s.n, s.batch, ci, a.embed, a.stride, a.dist, ro, b.embed, b.stride, b.dist, how);
  return P::c2c(s.rank, s.n, s.batch, ci, a.embed, a.stride, a.dist, co, b.embed, b.stride, b.dist,
                inverse ? FFTW_BACKWARD : FFTW_FORWARD, how | (in_place ? 0 : FFTW_PRESERVE_INPUT));
}

// Complex elements that a transform to real numbers reads: to the end of the last one.
size_t extent(const Shape& s, const Layout& l) {
  size_t last = 0;
  for (int d = 0; d < s.rank; ++d) {
    const int n = d + 1 == s.rank ? s.n[d] / 2 + 1 : s.n[d];
    last = last * static_cast<size_t>(l.embed[d]) + static_cast<size_t>(n - 1);
  }
  return static_cast<size_t>(s.batch - 1) * static_cast<size_t>(l.dist) + last * static_cast<size_t>(l.stride) + 1;
}

Shape without_layout(Shape s) {
  s.in.reset(), s.out.reset();
  return s;
}

template <class P>
void execute(const Shape& s, void* plan, void* in, void* out) {
  const auto p = static_cast<typename P::Plan>(plan);
  using C = typename P::Complex;
  using R = typename P::Real;
  if (s.forward_real()) return P::run_r2c(p, static_cast<R*>(in), static_cast<C*>(out));
  if (!s.inverse_real()) return P::run_c2c(p, static_cast<C*>(in), static_cast<C*>(out));
  if (in == out) return P::run_c2r(p, static_cast<C*>(in), static_cast<R*>(out));
  // FFTW would write to its input.
  const R* from = static_cast<const R*>(in);
  std::vector<R> copy(from, from + 2 * extent(s, s.in_layout(false)));
  P::run_c2r(p, reinterpret_cast<C*>(copy.data()), static_cast<R*>(out));
}

}  // namespace

Layout Shape::packed(bool real, bool in_place) const {
  Layout l;
  std::copy_n(n, 3, l.embed);
  int& row = l.embed[rank - 1];
  const bool half = type != CUFFT_C2C && type != CUFFT_Z2Z;
  if (half && !real) row = row / 2 + 1;
  if (half && real && in_place) row = 2 * (row / 2 + 1);
  l.dist = 1;
  for (int d = 0; d < rank; ++d) l.dist *= l.embed[d];
  return l;
}

Layout Shape::in_layout(bool in_place) const { return in ? *in : packed(forward_real(), in_place); }
Layout Shape::out_layout(bool in_place) const { return out ? *out : packed(inverse_real(), in_place); }

template <class Row>
void Shape::rows(bool of_in, bool in_place, Row row) const {
  const Layout l = of_in ? in_layout(in_place) : out_layout(in_place);
  const bool half = (forward_real() || inverse_real()) && parts(of_in) == 2;
  const size_t width = static_cast<size_t>(half ? n[rank - 1] / 2 + 1 : n[rank - 1]);
  const size_t x = static_cast<size_t>(rank > 2 ? n[0] : 1), y = static_cast<size_t>(rank > 1 ? n[rank - 2] : 1);
  const size_t stride = static_cast<size_t>(l.stride);
  const auto embed = [&](int d) { return static_cast<size_t>(l.embed[d]); };
  for (size_t r = 0, all = static_cast<size_t>(batch) * x * y; r < all; ++r) {
    const size_t b = r / (x * y), line = (rank > 2 ? r / y % x * embed(1) : 0) + r % y;
    row(b * static_cast<size_t>(l.dist) + line * (rank > 1 ? embed(rank - 1) : 0) * stride, width, stride);
  }
}

Shape::Spans Shape::touched(bool of_in, bool in_place) const {
  constexpr size_t kMost = 4096;  // rows; of more only where they begin and end together
  const size_t element = number_bytes() * static_cast<size_t>(parts(of_in));
  Spans all;
  rows(of_in, in_place, [&](size_t from, size_t width, size_t stride) {
    const size_t first = from * element, end = first + ((width - 1) * stride + 1) * element;
    if (!all.empty() && (first <= all.back().second || all.size() >= kMost)) {
      all.back() = {std::min(first, all.back().first), std::max(end, all.back().second)};
    } else {
      all.emplace_back(first, end);
    }
  });
  return all;
}

size_t Shape::numbers(bool of_in) const {
  size_t sum = 0;
  rows(of_in, false, [&](size_t, size_t width, size_t) { sum += width; });
  return sum * static_cast<size_t>(parts(of_in));
}

size_t Shape::work_bytes() const {
  size_t elements = static_cast<size_t>(batch);
  for (int d = 0; d < rank; ++d) elements *= static_cast<size_t>(n[d]);
  return elements * 2 * number_bytes();
}

Transform::~Transform() {
  std::lock_guard l(planner());
  for (auto& row : plans_)
    for (void* p : row)
      if (p && shape_.is_double())
        Double::destroy(static_cast<fftw_plan>(p));
      else if (p)
        Single::destroy(static_cast<fftwf_plan>(p));
}

void* Transform::plan(bool in_place, bool inverse, void* in, void* out) {
  std::lock_guard l(m_);
  void*& p = plans_[in_place][inverse];
  if (!p) {
    std::lock_guard one(planner());
    float never_read[4];  // of addresses FFTW looks only whether they are the same
    if (shape_.narrow) return p = make<Single>(without_layout(shape_), false, inverse, never_read, never_read + 2);
    p = shape_.is_double() ? make<Double>(shape_, in_place, inverse, in, out)
                           : make<Single>(shape_, in_place, inverse, in, out);
  }
  return p;
}

bool Transform::prepare(void* in, void* out, int direction) {
  return plan(in == out, direction == CUFFT_INVERSE, in, out) != nullptr;
}

void Transform::run_narrow(void* plan, void* in, void* out) const {
  const numerics::Format format = *shape_.narrow;
  std::vector<float> from(shape_.numbers(true)), to(shape_.numbers(false));
  // Calls number(its place in memory) for all numbers of the input or the output in order.
  const auto each = [&](bool of_in, void* memory, auto number) {
    const size_t parts = static_cast<size_t>(shape_.parts(of_in));
    shape_.rows(of_in, in == out, [&](size_t first, size_t width, size_t stride) {
      for (size_t i = 0; i < width * parts; ++i)
        number(static_cast<u16*>(memory)[(first + i / parts * stride) * parts + i % parts]);
    });
  };
  size_t at = 0;
  each(true, in, [&](u16 bits) { from[at++] = static_cast<float>(numerics::widen(bits, format)); });
  execute<Single>(without_layout(shape_), plan, from.data(), to.data());
  at = 0;
  each(false, out,
       [&](u16& bits) { bits = static_cast<u16>(numerics::narrow(to[at++], 0, format, numerics::Round::Nearest)); });
}

void Transform::run(void* in, void* out, int direction) {
  void* p = plan(in == out, direction == CUFFT_INVERSE, in, out);
  if (shape_.narrow)
    run_narrow(p, in, out);
  else if (shape_.is_double())
    execute<Double>(shape_, p, in, out);
  else
    execute<Single>(shape_, p, in, out);
}

}  // namespace us::cufft
