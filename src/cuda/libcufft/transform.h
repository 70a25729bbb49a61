// SPDX-License-Identifier: Apache-2.0
// A Fourier transform as cuFFT describes it, carried out by FFTW on memory of the (virtual) device.
//
// Layout of a batch: element (x, y, z) of transform b lies at  b * dist + ((x * embed[1] + y) * embed[2] + z) * stride.
// Without embeddings it is packed; in place, rows of real numbers are then padded to the room of their complex results.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <cufft.h>

#include "numerics/numerics.h"

namespace us::cufft {

struct Layout {
  int embed[3] = {0, 0, 0};
  int stride = 1, dist = 0;
};

struct Shape {
  cufftType type = CUFFT_C2C;              // of numbers in 16 bits: what it would be in 32
  std::optional<numerics::Format> narrow;  // numbers have 16 bits
  int rank = 0, batch = 1;
  int n[3] = {1, 1, 1};
  std::optional<Layout> in, out;  // both or none

  bool is_double() const { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
  bool forward_real() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool inverse_real() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  Layout in_layout(bool in_place) const;
  Layout out_layout(bool in_place) const;
  // What a run touches: bytes from the start of `in` or `out`, first and one behind the last; row by row if there are
  // gaps between.
  using Spans = std::vector<std::pair<size_t, size_t>>;
  Spans touched(bool of_in, bool in_place) const;
  // Calls row(first element, elements, stride) for all rows in order: elements of the input or the output.
  template <class Row>
  void rows(bool of_in, bool in_place, Row row) const;
  size_t numbers(bool of_in) const;  // that the input or the output has, an imaginary part counted as one
  int parts(bool of_in) const { return (of_in ? forward_real() : inverse_real()) ? 1 : 2; }  // numbers of an element
  size_t work_bytes() const;  // what a program is told to set aside; nothing is written there

 private:
  size_t number_bytes() const { return narrow ? 2 : is_double() ? sizeof(double) : sizeof(float); }
  Layout packed(bool real, bool in_place) const;
};

// FFTW's plans for one shape, made when they are first needed. Any number of threads may run it at once. Numbers in 16
// bits are transformed as 32-bit numbers, in copies without gaps.
class Transform {
 public:
  explicit Transform(const Shape& s) : shape_(s) {}
  ~Transform();
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
  const Shape& shape() const { return shape_; }
  bool prepare(void* in, void* out, int direction);  // false: FFTW has no plan for it
  void run(void* in, void* out, int direction);      // what was prepared

 private:
  void* plan(bool in_place, bool inverse, void* in, void* out);
  void run_narrow(void* plan, void* in, void* out) const;
  const Shape shape_;
  std::mutex m_;            // guards plans_
  void* plans_[2][2] = {};  // [in place][inverse]
};

}  // namespace us::cufft
