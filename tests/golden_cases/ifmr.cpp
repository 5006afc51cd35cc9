// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <amct/observe/ifmr.hpp>
#include <amct/observe/ifmr_stream.hpp>

#include "golden_cases/inputs.hpp"
#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

amct::IfmrOptions options_of(const Json& params) {
  return {.symmetry = params.at("with_offset").get<bool>() ? amct::Symmetry::asymmetric : amct::Symmetry::symmetric,
          .batch_num = params.at("batch_num").get<std::size_t>(),
          .max_percentile = params.at("max_percentile").get<double>(),
          .min_percentile = params.at("min_percentile").get<double>(),
          .search_start = params.at("search_start").get<double>(),
          .search_end = params.at("search_end").get<double>(),
          .search_step = params.at("search_step").get<double>()};
}

void compare_ulps(std::vector<std::string>& findings, const std::string& what, float got, const Json& expected,
                  int allowed) {
  const auto want = static_cast<float>(number(expected));
  if (ulps(got, want) > allowed)
    findings.push_back(what + " " + std::to_string(got) + ", expected " + std::to_string(want));
}

/// Losses are sums whose order is free; below 1e-12 of the squared data they are rounding noise.
void compare_loss(std::vector<std::string>& findings, const std::string& what, double got, double want, float largest) {
  if (want <= 1e-12 * static_cast<double>(largest) * static_cast<double>(largest)) return;
  if (std::fabs(got - want) > 1e-5 * want)
    findings.push_back(what + " " + std::to_string(got) + ", expected " + std::to_string(want));
}

/// The observer that keeps no data must choose the same candidate or a neighbour of it.
void compare_stream(std::vector<std::string>& findings, const Json& test, const std::filesystem::path& folder,
                    std::int64_t best) {
  const amct::IfmrOptions options = options_of(test.at("params"));
  amct::IfmrStream observer({.symmetry = options.symmetry,
                             .max_percentile = options.max_percentile,
                             .min_percentile = options.min_percentile,
                             .search_start = options.search_start,
                             .search_end = options.search_end,
                             .search_step = options.search_step});
  for (const auto& batch : inputs_of(test, folder)) {
    if (!observer.observe(batch).ok()) findings.push_back("the stream refused a batch");
  }
  const auto found = observer.search(amct::CodeRange{test.at("params").at("num_bits").get<int>()});
  if (std::abs(static_cast<std::int64_t>(found.best) - best) > 1)
    findings.push_back("the stream's best_index is " + std::to_string(found.best));
}

std::vector<std::string> compare(const Json& test, const std::filesystem::path& folder) {
  const Json& expect = test.at("expect");
  const amct::CodeRange range{test.at("params").at("num_bits").get<int>()};
  amct::Ifmr observer(options_of(test.at("params")));
  float largest = 0.0F;
  std::vector<std::string> findings;
  for (const auto& batch : inputs_of(test, folder)) {
    if (!observer.observe(batch).ok()) findings.push_back("a batch was refused");
    for (const float value : batch) largest = std::max(largest, std::fabs(value));
  }
  const amct::IfmrResult result = observer.search(range);
  if (!observer.ready()) findings.push_back("the observer is not ready");

  const auto best = expect.at("best_index").get<std::int64_t>();
  compare_stream(findings, test, folder, best);
  const auto distance = std::abs(static_cast<std::int64_t>(result.best) - best);
  const double margin = expect.contains("second_best_rel_margin") && !expect.at("second_best_rel_margin").is_null()
                            ? number(expect.at("second_best_rel_margin"))
                            : 1.0;
  // A closer margin than this depends on the order of summation: either neighbour is right, and its scale with it.
  if (distance == 1 && margin < 1e-5) return findings;
  if (distance != 0)
    findings.push_back("best_index " + std::to_string(result.best) + ", expected " + std::to_string(best));
  if (result.affine.offset != expect.at("offset").get<std::int32_t>()) {
    findings.push_back("offset " + std::to_string(result.affine.offset) + ", expected " + expect.at("offset").dump());
  }
  compare_ulps(findings, "scale", result.affine.scale, expect.at("scale"), 4);
  compare_ulps(findings, "percentile_max", result.percentile_max, expect.at("percentile_max"), 0);
  compare_ulps(findings, "percentile_min", result.percentile_min, expect.at("percentile_min"), 0);
  const auto scale = result.affine.scale;
  compare_ulps(findings, "clip_max", static_cast<float>(range.max() - result.affine.offset) * scale,
               expect.at("clip_max"), 4);
  compare_ulps(findings, "clip_min", -static_cast<float>(result.affine.offset - range.min()) * scale,
               expect.at("clip_min"), 4);
  if (result.losses.size() != expect.at("num_candidates").get<std::size_t>()) {
    findings.push_back(std::to_string(result.losses.size()) + " candidates");
    return findings;
  }
  const Json losses = expect.value("losses", Json());  // large runs keep only the best one
  compare_loss(findings, "best_loss", result.losses[result.best], number(expect.at("best_loss")), largest);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    compare_loss(findings, "loss " + std::to_string(i), result.losses[i], number(losses[i]), largest);
  }
  return findings;
}

std::vector<std::string> compare_grid(const Json& grid) {
  amct::IfmrOptions options;
  options.search_start = grid.at("start").get<double>();
  options.search_end = grid.at("end").get<double>();
  options.search_step = grid.at("step").get<double>();
  const auto ratios = amct::ifmr::ratios(options);
  std::vector<std::string> findings;
  if (ratios.size() != grid.at("count").get<std::size_t>())
    findings.push_back("count " + std::to_string(ratios.size()));
  if (grid.contains("last") && ulps(ratios.back(), static_cast<float>(number(grid.at("last")))) != 0)
    findings.push_back("last value");
  if (!grid.at("values").is_null() && ratios != floats(grid.at("values"))) findings.push_back("values differ");
  return findings;
}

std::vector<std::string> compare_rejected(const std::string& name) {
  const float bad = name == "nan" ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  amct::Ifmr observer;
  const auto status = observer.observe(std::vector<float>{0.5F, bad});
  if (status.code != amct::StatusCode::not_finite || status.index != 1) return {"was not refused"};
  return {};
}

void run_ifmr(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    report.judge("ifmr " + test.at("name").get<std::string>(), compare(test, file.parent_path()));
  }
  const Json meta = data.value("meta", Json::object());
  for (const auto& row : meta.value("percentile_rank", Json::array())) {
    const auto rank = amct::ifmr::rank(row[0].get<double>(), row[1].get<std::size_t>());
    report.judge("ifmr percentile_rank " + row.dump(), rank == row[2].get<std::size_t>()
                                                           ? std::vector<std::string>{}
                                                           : std::vector<std::string>{"rank " + std::to_string(rank)});
  }
  for (const auto& grid : meta.value("candidate_grids", Json::array())) {
    report.judge("ifmr candidate_grid " + grid.at("step").dump(), compare_grid(grid));
  }
  for (const auto& rejected : meta.value("rejected", Json::array())) {
    const auto name = rejected.at("name").get<std::string>();
    if (name != "nan" && name != "inf") continue;  // other element types cannot be passed to a span of floats
    report.judge("ifmr rejected " + name, compare_rejected(name));
  }
}

const Registered kRegistered{"ifmr", run_ifmr};

}  // namespace

}  // namespace golden
