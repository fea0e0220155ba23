// SPDX-License-Identifier: MIT
// Continues sums of products over keys that only some queries see. Included by kernels-inl.h for each vector target.

namespace hn = hwy::HWY_NAMESPACE;

// Calls use<i>() for each i below kCount.
template <std::size_t kCount, class Use>
HWY_INLINE void for_each_index(Use use) {
  [&]<std::size_t... kEach>(std::index_sequence<kEach...>) HWY_ATTR { (use.template operator()<kEach>(), ...); }
  (std::make_index_sequence<kCount>());
}

// The sums of kRows rows and a vector of queries stay in registers, and hide each other's latency. Only some queries
// see the keys from `first` to `end`; `all` is the end of the keys at the front that all of them see.
template <std::size_t kRows>
HWY_INLINE void extend_rows(const f32* HWY_RESTRICT exponentials, std::int64_t beside, const f32* HWY_RESTRICT factors,
                            std::int64_t factor_step, std::int64_t first, std::int64_t all, std::int64_t end,
                            const i32* HWY_RESTRICT firsts, const i32* HWY_RESTRICT ends, f32* HWY_RESTRICT sums) {
  const hn::ScalableTag<f32> d;
  const hn::RebindToSigned<decltype(d)> of_keys;
  hn::Vec<decltype(d)> own[kRows];
  for_each_index<kRows>([&]<std::size_t kRow>()
                            HWY_ATTR { own[kRow] = hn::LoadU(d, sums + static_cast<std::int64_t>(kRow) * beside); });
  std::int64_t key = first;
  for (; key < all; ++key) {
    const auto exponential = hn::LoadU(d, exponentials + key * beside);
    for_each_index<kRows>([&]<std::size_t kRow>() HWY_ATTR {
      own[kRow] =
          hn::MulAdd(exponential, hn::Set(d, factors[key * factor_step + static_cast<std::int64_t>(kRow)]), own[kRow]);
    });
  }
  const auto low = hn::LoadU(of_keys, firsts);
  const auto high = hn::LoadU(of_keys, ends);
  for (; key < end; ++key) {
    const auto number = hn::Set(of_keys, static_cast<i32>(key));
    const auto is_seen = hn::RebindMask(d, hn::AndNot(hn::Lt(number, low), hn::Lt(number, high)));
    const auto exponential = hn::LoadU(d, exponentials + key * beside);
    for_each_index<kRows>([&]<std::size_t kRow>() HWY_ATTR {
      const auto factor = hn::Set(d, factors[key * factor_step + static_cast<std::int64_t>(kRow)]);
      own[kRow] = hn::IfThenElse(is_seen, hn::MulAdd(exponential, factor, own[kRow]), own[kRow]);
    });
  }
  for_each_index<kRows>([&]<std::size_t kRow>()
                            HWY_ATTR { hn::StoreU(own[kRow], d, sums + static_cast<std::int64_t>(kRow) * beside); });
}

void extend(const f32* exponentials, std::int64_t beside, const f32* factors, std::int64_t rows, std::int64_t count,
            const i32* firsts, const i32* ends, f32* sums) noexcept {
  constexpr std::size_t kRows = 8;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<f32>()));
  for (std::int64_t lane = 0; lane < beside; lane += lanes) {
    const i32* const of_lanes = firsts + lane;
    const std::int64_t first = *std::min_element(of_lanes, of_lanes + lanes);
    const std::int64_t last_first = *std::max_element(of_lanes, of_lanes + lanes);
    const std::int64_t end = std::min<std::int64_t>(count, *std::max_element(ends + lane, ends + lane + lanes));
    const std::int64_t all = first == last_first ? *std::min_element(ends + lane, ends + lane + lanes) : first;
    const auto extend_some = [&]<std::size_t kSome>(std::int64_t row) HWY_ATTR {
      extend_rows<kSome>(exponentials + lane, beside, factors + row, rows, first, std::min(all, end), end, of_lanes,
                         ends + lane, sums + row * beside + lane);
    };
    std::int64_t row = 0;
    for (; row + static_cast<std::int64_t>(kRows) <= rows; row += static_cast<std::int64_t>(kRows)) {
      extend_some.template operator()<kRows>(row);
    }
    for (; row + 2 <= rows; row += 2) {
      extend_some.template operator()<2>(row);
    }
    for (; row < rows; ++row) {
      extend_some.template operator()<1>(row);
    }
  }
}
