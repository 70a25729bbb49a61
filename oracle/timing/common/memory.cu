// SPDX-License-Identifier: Apache-2.0
// Layouts, gathers, histograms, tables and sorting, as they are commonly written.
#include "common.h"

__global__ void transpose_naive(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[x * n + y + j] = in[(y + j) * n + x];
}

template <int kPad>
__global__ void transpose_shared(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + kPad];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void channels_last(const float* in, float* out, int channels, int area) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x, image = i / (channels * area);
  const int c = i % channels, p = i / channels % area;
  out[i] = in[(image * channels + c) * area + p];
}

__global__ void structs_to_arrays(const float* in, float* x, float* y, float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = in[3 * i], y[i] = in[3 * i + 1], z[i] = in[3 * i + 2];
}

__global__ void gather_rows(const float4* table, const uint32_t* index, float4* out) {  // 64 floats a row
  const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / 16;
  out[i] = table[static_cast<size_t>(index[row]) * 16 + i % 16];
}

__global__ void embedding_bag(const float* table, const uint32_t* index, float* out, int many) {
  const int bag = blockIdx.x, d = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < many; ++k) sum += table[static_cast<size_t>(index[bag * many + k]) * blockDim.x + d];
  out[bag * blockDim.x + d] = sum / many;
}

__global__ void gather_words(const uint32_t* in, const uint32_t* index, uint32_t* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[index[i] % n];
}

__global__ void scatter_add(const float* in, const uint32_t* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(out + index[i] % n, in[i]);
}

__global__ void histogram_global(const uint8_t* in, uint32_t* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(bins + in[i], 1);
}

__global__ void histogram_shared(const uchar4* in, uint32_t* bins, int n) {
  __shared__ uint32_t mine[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) mine[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uchar4 v = in[i];
    atomicAdd(mine + v.x, 1), atomicAdd(mine + v.y, 1), atomicAdd(mine + v.z, 1), atomicAdd(mine + v.w, 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 256; k += blockDim.x)
    if (mine[k]) atomicAdd(bins + k, mine[k]);
}

__global__ void histogram_warps(const uint32_t* in, uint32_t* bins, int n) {  // a histogram for each warp
  __shared__ uint32_t mine[8][64];
  const int w = threadIdx.x / 32;
  for (int k = threadIdx.x; k < 8 * 64; k += blockDim.x) (&mine[0][0])[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[w][in[i] % 64], 1);
  __syncthreads();
  if (threadIdx.x < 64) {
    uint32_t sum = 0;
    for (int k = 0; k < 8; ++k) sum += mine[k][threadIdx.x];
    atomicAdd(bins + threadIdx.x, sum);
  }
}

__global__ void compact(const uint32_t* in, uint32_t* out, uint32_t* count, int n) {  // an atomic for each warp
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const uint32_t v = in[i];
  const bool keep = v & 1;
  const uint32_t all = __ballot_sync(~0u, keep);
  uint32_t at = 0;
  if (lane == 0) at = atomicAdd(count, __popc(all));
  at = __shfl_sync(~0u, at, 0);
  if (keep) out[at + __popc(all & ((1u << lane) - 1))] = v;
}

__global__ void hash_insert(const uint32_t* keys, uint32_t* table, uint32_t* values, uint32_t mask) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i] + 1;
  uint32_t slot = key * 2654435761u >> 7 & mask;
  for (;;) {
    const uint32_t old = atomicCAS(table + slot, 0u, key);
    if (old == 0 || old == key) break;
    slot = (slot + 1) & mask;
  }
  values[slot] = i;
}

__global__ void hash_find(const uint32_t* keys, const uint32_t* table, const uint32_t* values, uint32_t* out, uint32_t mask) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i] * 2 + 1;
  uint32_t slot = key * 2654435761u >> 7 & mask, found = ~0u;
  for (uint32_t k = table[slot]; k; k = table[slot = (slot + 1) & mask])
    if (k == key) {
      found = values[slot];
      break;
    }
  out[i] = found;
}

__global__ void binary_search(const uint32_t* sorted, const uint32_t* keys, uint32_t* out, uint32_t n) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i];
  uint32_t low = 0, high = n;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (sorted[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  out[i] = low;
}

__global__ void radix_count(const uint32_t* in, uint32_t* counts, int shift) {  // 16 digits, 1024 keys of a CTA
  __shared__ uint32_t mine[16];
  if (threadIdx.x < 16) mine[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 4; ++k) atomicAdd(mine + (in[blockIdx.x * 1024 + k * 256 + threadIdx.x] >> shift & 15), 1);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

// Sorts 256 keys by one digit, in shared memory.
__global__ void radix_rank(const uint32_t* in, uint32_t* out, int shift) {
  __shared__ uint32_t base[8][16], start[16], keys[256];
  const int t = threadIdx.x, w = t / 32, lane = t % 32;
  const uint32_t key = in[blockIdx.x * 256 + t], digit = key >> shift & 15;
  const uint32_t same = __match_any_sync(~0u, digit);
  const uint32_t rank = __popc(same & ((1u << lane) - 1));
  if (t < 128) base[t / 16][t % 16] = 0;
  __syncthreads();
  if (rank == 0) base[w][digit] = __popc(same);
  __syncthreads();
  if (t < 16) {
    uint32_t sum = 0;
    for (int k = 0; k < 8; ++k) {
      const uint32_t v = base[k][t];
      base[k][t] = sum, sum += v;
    }
    uint32_t before = sum;
    for (int d = 1; d < 16; d *= 2) {
      const uint32_t u = __shfl_up_sync(0xffff, before, d);
      if (lane >= d) before += u;
    }
    start[t] = before - sum;
  }
  __syncthreads();
  keys[start[digit] + base[w][digit] + rank] = key;
  __syncthreads();
  out[blockIdx.x * 256 + t] = keys[t];
}

__global__ void bitonic_shared(uint32_t* data) {  // 1024 keys of a CTA of 512
  __shared__ uint32_t s[1024];
  const int t = threadIdx.x;
  uint32_t* mine = data + blockIdx.x * 1024;
  s[t] = mine[t], s[t + 512] = mine[t + 512];
  for (int size = 2; size <= 1024; size *= 2)
    for (int d = size / 2; d; d /= 2) {
      __syncthreads();
      const int i = 2 * t - (t & (d - 1)), j = i + d;
      const bool up = (i & size) == 0;
      if ((s[i] > s[j]) == up) {
        const uint32_t v = s[i];
        s[i] = s[j], s[j] = v;
      }
    }
  __syncthreads();
  mine[t] = s[t], mine[t + 512] = s[t + 512];
}

__global__ void merge_paths(const uint32_t* a, const uint32_t* b, uint32_t* out, int n) {  // 8 elements a thread
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  int low = max(0, first - n), high = min(first, n);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (a[middle] <= b[first - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  int i = low, j = first - low;
  for (int k = 0; k < 8; ++k) {
    const bool left = j >= n || (i < n && a[i] <= b[j]);
    out[first + k] = left ? a[i++] : b[j++];
  }
}

__global__ void im2col(const float* in, float* out, int channels, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % n, y = i / n % n, c = i / (n * n);
  for (int k = 0; k < 9; ++k) {
    const int u = x + k % 3 - 1, v = y + k / 3 - 1;
    out[((c * 9 + k) * n + y) * n + x] = u >= 0 && u < n && v >= 0 && v < n ? in[(c * n + v) * n + u] : 0;
  }
}

__global__ void count_bytes(const char* text, uint32_t* found, int n) {  // a pattern of four letters
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 4 > n) return;
  if (text[i] == 'a' && text[i + 1] == 'b' && text[i + 2] == 'a') atomicAdd(found, 1);
}

__global__ void chase(const uint32_t* next, uint32_t* out, int steps) {
  uint32_t at = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < steps; ++k) at = next[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

int main() {
  const int n = 4 << 20, side = 2048;
  float *a = floats(n), *b = zeros<float>(n * 3);
  uint32_t *u = numbers(n, n), *v = zeros<uint32_t>(n), *w = zeros<uint32_t>(n);
  uint8_t* bytes = reinterpret_cast<uint8_t*>(filled<uint8_t>(n * 2, [](size_t) { return next_random() % 256; }));
  uint32_t* sorted = filled<uint32_t>(n, [](size_t i) { return static_cast<uint32_t>(2 * i); });
  transpose_naive<<<dim3(side / 32, side / 32), dim3(32, 8)>>>(a, b, side);
  transpose_shared<0><<<dim3(side / 32, side / 32), dim3(32, 8)>>>(a, b, side);
  transpose_shared<1><<<dim3(side / 32, side / 32), dim3(32, 8)>>>(a, b, side);
  channels_last<<<n / 256, 256>>>(a, b, 64, 1024);
  structs_to_arrays<<<(1 << 20) / 256, 256>>>(a, b, b + n, b + 2 * n, 1 << 20);
  uint32_t* rows = numbers(65536, 65536);
  gather_rows<<<65536 * 16 / 256, 256>>>(reinterpret_cast<float4*>(a), rows, reinterpret_cast<float4*>(b));
  embedding_bag<<<4096, 64>>>(a, rows, b, 16);
  gather_words<<<n / 2 / 256, 256>>>(u, u + n / 2, v, n);
  scatter_add<<<n / 4 / 256, 256>>>(a, u, b, n);
  histogram_global<<<528, 256>>>(bytes, v, n / 2);
  histogram_shared<<<528, 256>>>(reinterpret_cast<uchar4*>(bytes), v, n / 2);
  histogram_warps<<<528, 256>>>(u, v, n);
  compact<<<n / 256, 256>>>(u, v, w, n);
  must(cudaMemset(v, 0, n * 4), "cudaMemset");
  hash_insert<<<n / 8 / 256, 256>>>(u, v, w, n / 4 - 1);
  hash_find<<<n / 4 / 256, 256>>>(u, v, w, reinterpret_cast<uint32_t*>(b), n / 4 - 1);
  binary_search<<<n / 4 / 256, 256>>>(sorted, u, v, n);
  radix_count<<<n / 1024, 256>>>(u, v, 4);
  radix_rank<<<n / 4 / 256, 256>>>(u, v, 4);
  bitonic_shared<<<1024, 512>>>(u);
  merge_paths<<<n / 4 / 8 / 256 * 2, 256>>>(sorted, sorted + 100, v, n / 4);
  im2col<<<(1 << 20) / 256, 256>>>(a, zeros<float>(9 << 20), 16, 256);
  count_bytes<<<n * 2 / 256, 256>>>(reinterpret_cast<char*>(bytes), v, n * 2);
  std::vector<uint32_t> order(1 << 20);
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (size_t i = order.size() - 1; i; --i) std::swap(order[i], order[next_random() % i]);
  chase<<<264, 256>>>(filled<uint32_t>(order.size(), [&](size_t i) { return order[i]; }), v, 24);
  return finish();
}
