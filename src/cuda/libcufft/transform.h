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

namespace us::cufft {

struct Layout {
  int embed[3] = {0, 0, 0};
  int stride = 1, dist = 0;
};

struct Shape {
  cufftType type = CUFFT_C2C;
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
  size_t work_bytes() const;  // what a program is told to set aside; nothing is written there

 private:
  Layout packed(bool real, bool in_place) const;
};

// FFTW's plans for one shape, made when they are first needed. Any number of threads may run it at once.
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
  const Shape shape_;
  std::mutex m_;            // guards plans_
  void* plans_[2][2] = {};  // [in place][inverse]
};

}  // namespace us::cufft
