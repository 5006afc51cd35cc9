// SPDX-License-Identifier: Apache-2.0
// XNNPACK's conversion operators.
#include <cstdlib>
#include <memory>

#include <xnnpack.h>

#include "peers/peers.hpp"

namespace bench {
namespace {

void require(xnn_status status) {
  if (status != xnn_status_success) std::abort();
}

/// An operator that is set up for its buffers; runs on this thread.
Work running(xnn_operator_t raw) {
  const std::shared_ptr<xnn_operator> owned(raw, [](xnn_operator_t op) { xnn_delete_operator(op); });
  return [owned] { require(xnn_run_operator(owned.get(), nullptr)); };
}

Work quantize(std::span<const float> x, std::span<std::int8_t> codes, amct::Affine affine) {
  require(xnn_initialize(nullptr));
  xnn_operator_t op = nullptr;
  const std::size_t n = x.size();
  require(
      xnn_create_convert_nc_f32_qs8(n, n, n, affine.scale, static_cast<std::int8_t>(affine.offset), -128, 127, 0, &op));
  require(xnn_setup_convert_nc_f32_qs8(op, 1, x.data(), codes.data(), nullptr));
  return running(op);
}

Work dequantize(std::span<const std::int8_t> codes, std::span<float> x, amct::Affine affine) {
  require(xnn_initialize(nullptr));
  xnn_operator_t op = nullptr;
  const std::size_t n = x.size();
  require(xnn_create_convert_nc_qs8_f32(n, n, n, affine.scale, static_cast<std::int8_t>(affine.offset), 0, &op));
  require(xnn_setup_convert_nc_qs8_f32(op, 1, codes.data(), x.data(), nullptr));
  return running(op);
}

[[maybe_unused]] const bool kEntered = enter({.name = "XNNPACK", .quantize = quantize, .dequantize = dequantize});

}  // namespace
}  // namespace bench
