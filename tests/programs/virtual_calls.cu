// SPDX-License-Identifier: Apache-2.0
// Objects with virtual functions, built on the device; lanes of one warp call different classes.
#include "program.h"
using namespace program;

struct Shape {
  uint32_t id;
  __host__ __device__ explicit Shape(uint32_t i) : id(i) {}
  __host__ __device__ virtual ~Shape() {}
  __host__ __device__ virtual uint32_t area() const = 0;
  __host__ __device__ virtual uint32_t scaled(uint32_t by) const { return area() * by + id; }
};
struct Square : Shape {
  uint32_t side;
  __host__ __device__ Square(uint32_t i, uint32_t s) : Shape(i), side(s) {}
  __host__ __device__ uint32_t area() const override { return side * side; }
};
struct Box : Square {
  uint32_t other;
  __host__ __device__ Box(uint32_t i, uint32_t a, uint32_t b) : Square(i, a), other(b) {}
  __host__ __device__ uint32_t area() const override { return side * other; }
  __host__ __device__ uint32_t scaled(uint32_t by) const override { return Square::scaled(by) ^ other; }
};
struct Cloud : Shape {
  __host__ __device__ explicit Cloud(uint32_t i) : Shape(i) {}
  __host__ __device__ uint32_t area() const override {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < id % 7; ++k) sum = mix(sum + k);
    return sum;
  }
};

__host__ __device__ Shape* make(uint32_t i) {
  switch (mix(i) % 3) {
    case 0: return new Square(i, i % 100);
    case 1: return new Box(i, i % 50, i % 60);
    default: return new Cloud(i);
  }
}

__global__ void build(Shape** shapes) { shapes[blockIdx.x * blockDim.x + threadIdx.x] = make(blockIdx.x * blockDim.x + threadIdx.x); }
__global__ void measure(Shape** shapes, uint32_t* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  out[i] = shapes[i]->scaled(3) + shapes[(i * 7 + 1) % n]->area();
}
__global__ void destroy(Shape** shapes) { delete shapes[blockIdx.x * blockDim.x + threadIdx.x]; }

int main() {
  const int n = 256;
  Device<Shape*> shapes(n);
  Device<uint32_t> out(n);
  build<<<2, 128>>>(shapes);
  MUST_RUN();
  measure<<<2, 128>>>(shapes, out);
  MUST_RUN();
  destroy<<<2, 128>>>(shapes);
  MUST_RUN();
  std::vector<Shape*> host(n);
  std::vector<uint32_t> want(n);
  for (int i = 0; i < n; ++i) host[i] = make(i);
  for (int i = 0; i < n; ++i) want[i] = host[i]->scaled(3) + host[(i * 7 + 1) % n]->area();
  for (Shape* s : host) delete s;
  expect_equal("virtual calls", out.copy(), want);
  return finish();
}
