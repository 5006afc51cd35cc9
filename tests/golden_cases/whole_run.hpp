// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <amct/config/easy_config.hpp>
#include <amct/core/tensor.hpp>
#include <amct/flow/calibrate.hpp>
#include <amct/flow/prepare.hpp>
#include <amct/record/record.hpp>

#include "golden_cases/json_data.hpp"

/// \file
/// A whole run of the real AMCT in a folder: its inputs, and its files beside ours. Comparisons give what differs.

namespace golden {

/// easy.cfg, or AMCT's defaults with the number of batches that the notes tell.
[[nodiscard]] amct::EasyConfig config_of(const std::filesystem::path& run, const Json& notes);
/// calib_0.npy, calib_1.npy ...
[[nodiscard]] amct::flow::MemoryBatches batches_of(const std::filesystem::path& run);

/// Infinite if the shapes differ.
[[nodiscard]] float largest_difference(const amct::Tensor& a, const amct::Tensor& b);
[[nodiscard]] float largest_magnitude(const amct::Tensor& tensor);

[[nodiscard]] std::vector<std::string> compare_records(const amct::Record& ours, const amct::Record& theirs);
/// What quantize_model would quantize and AMCT's config.json.
[[nodiscard]] std::vector<std::string> compare_config(const amct::flow::Prepared& prepared,
                                                      const std::filesystem::path& run);
/// The network that is calibrated, with BatchNormalization folded and weights fake-quantized, beside modified.onnx.
/// \param balanced  the factors of balanced layers
[[nodiscard]] std::vector<std::string> compare_modified(const amct::flow::Prepared& prepared,
                                                        const amct::Record& balanced, const std::filesystem::path& run);
/// The deploy and fake-quant model that we write for a record, and what they compute, beside AMCT's.
[[nodiscard]] std::vector<std::string> compare_files(const amct::flow::Prepared& prepared, const amct::Record& record,
                                                     const std::filesystem::path& run);

}  // namespace golden
