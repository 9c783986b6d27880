// SPDX-License-Identifier: MIT
#include "load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace titanium::probe {
namespace {

// Values below 2^kPartBits have a bucket each; every power of two above is cut into as many parts,
// so a bucket is at most 1/128 of its values wide.
constexpr unsigned kPartBits = 7;
constexpr std::uint64_t kParts = std::uint64_t{1} << kPartBits;
// Larger values share the last bucket: 2^36 µs are 19 hours.
constexpr unsigned kTopBits = 36;
constexpr std::uint64_t kTop = (std::uint64_t{1} << kTopBits) - 1;
constexpr std::size_t kBuckets = (kTopBits - kPartBits + 1) * kParts;

constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
  value = std::min(value, kTop);
  const auto width = static_cast<unsigned>(std::bit_width(value));
  if (width <= kPartBits) return value;
  const unsigned shift = width - kPartBits - 1;
  // The value without its leading bit tells the part.
  return (shift + 1) * kParts + ((value >> shift) - kParts);
}

// The largest value of a bucket.
constexpr std::uint64_t last_of(std::size_t bucket) noexcept {
  if (bucket < kParts) return bucket;
  const std::size_t shift = bucket / kParts - 1;
  return ((kParts + bucket % kParts + 1) << shift) - 1;
}

static_assert(bucket_of(127) == 127 && bucket_of(128) == 128 && bucket_of(255) == 255);
static_assert(bucket_of(256) == 256 && bucket_of(257) == 256 && last_of(256) == 257);
static_assert(bucket_of(kTop) == kBuckets - 1 && last_of(kBuckets - 1) == kTop);

}  // namespace

Histogram::Histogram() : buckets_(kBuckets) {}

void Histogram::record(std::uint64_t microseconds) noexcept {
  ++buckets_[bucket_of(microseconds)];
  ++count_;
  max_ = std::max(max_, microseconds);
}

void Histogram::merge(const Histogram& other) noexcept {
  for (std::size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

void Histogram::clear() noexcept {
  std::ranges::fill(buckets_, 0);
  count_ = max_ = 0;
}

std::uint64_t Histogram::percentile(double percent) const noexcept {
  if (count_ == 0) return 0;
  // 99.9 / 100 * 1000 is a little more than 999, which must not become the last value.
  constexpr double kRounding = 1e-6;
  const double wanted = std::clamp(percent, 0.0, 100.0) / 100.0 * static_cast<double>(count_);
  const auto rank =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(wanted - kRounding)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= rank) return i == kBuckets - 1 ? max_ : std::min(last_of(i), max_);
  }
  return max_;
}

}  // namespace titanium::probe
