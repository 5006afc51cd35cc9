// SPDX-License-Identifier: Apache-2.0
// The numeric core is usable in programs built without exceptions and RTTI.

#include <amct/amct.hpp>
#include <amct/kernel/gemm_s8.hpp>
#include <amct/observe/concept.hpp>
#include <amct/observe/hfmg.hpp>
#include <amct/observe/ifmr.hpp>
#include <amct/observe/ifmr_stream.hpp>
#include <amct/observe/kl_divergence.hpp>
#include <amct/observe/kl_weight.hpp>
#include <amct/observe/lloyd.hpp>
#include <amct/observe/log_histogram.hpp>
#include <amct/observe/luq_mse.hpp>
#include <amct/observe/min_max.hpp>
#include <amct/observe/moving_average_min_max.hpp>
#include <amct/observe/per_channel.hpp>
#include <amct/observe/percentile.hpp>
#include <amct/observe/skip_non_finite.hpp>
#include <amct/observe/snq.hpp>
#include <amct/quantize/ada_round.hpp>
#include <amct/quantize/any_quantizer.hpp>
#include <amct/quantize/arq.hpp>
#include <amct/quantize/arq_retrain.hpp>
#include <amct/quantize/bias.hpp>
#include <amct/quantize/builtin.hpp>
#include <amct/quantize/channel_values.hpp>
#include <amct/quantize/clip_ends.hpp>
#include <amct/quantize/concept.hpp>
#include <amct/quantize/dmq.hpp>
#include <amct/quantize/fixed.hpp>
#include <amct/quantize/kv_cache.hpp>
#include <amct/quantize/lnq.hpp>
#include <amct/quantize/luq.hpp>
#include <amct/quantize/nuq.hpp>
#include <amct/quantize/observed.hpp>
#include <amct/quantize/registry.hpp>
#include <amct/quantize/scheme.hpp>
#include <amct/quantize/shift_search.hpp>
#include <amct/quantize/snq.hpp>
#include <amct/quantize/torch_fake_quantize.hpp>
#include <amct/quantize/ulq.hpp>
#include <amct/quantize/ulq_scale.hpp>
#include <amct/quantize/with_bits.hpp>

#include <cstdint>

int main() {
  const float data[] = {-1.0F, 0.5F, 2.0F, -0.25F};
  amct::Ifmr ifmr;
  amct::MinMax min_max;
  amct::Arq<amct::Int4> arq;
  if (!ifmr.observe(data) || !min_max.observe(data) || !arq.calibrate(data, amct::ChannelLayout::per_tensor(4)))
    return 1;
  std::int8_t codes[4];
  amct::quantize<>(std::span<const float>(data), std::span<std::int8_t>(codes), min_max.compute(amct::Int8::range),
                   amct::Int8::range);
  return codes[2] == 127 && amct::is_usable(ifmr.compute(amct::Int16::range)) ? 0 : 1;
}
