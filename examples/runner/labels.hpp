// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <amct/core/tensor.hpp>

namespace runner {

/// Class numbers, one a sample: a .npy of any numeric type, or a text with a line for each, "label" or "path label".
/// \throws amct::Error io_read; data_format naming file and line
[[nodiscard]] std::vector<std::int64_t> read_labels(const std::string& file);

/// Class numbers of texts, such as DataFolder::labels(). \param place  in messages
/// \throws amct::Error data_format naming the first that is no whole number
[[nodiscard]] std::vector<std::int64_t> class_numbers(const std::vector<std::string>& labels, const std::string& place);

/// Samples whose class has the greatest score, or one of the five greatest. Of equal scores the first counts as
/// greater; a sample with NaN among its scores is no hit.
struct TopHits {
  std::size_t top1 = 0, top5 = 0;
};

/// \param scores  float32 [samples, classes], with as many samples as labels; further axes must be of size 1
/// \throws amct::Error model_shape for other scores, data_format for a label that is no class
[[nodiscard]] TopHits count_hits(const amct::Tensor& scores, std::span<const std::int64_t> labels);

/// The class with the greatest score of each sample, the first of equals; -1 if one is NaN. Empty if these are no
/// scores of this many samples.
[[nodiscard]] std::vector<std::int64_t> best_classes(const amct::Tensor& scores, std::size_t samples);

}  // namespace runner
