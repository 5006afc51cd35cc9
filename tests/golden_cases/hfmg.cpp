// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <amct/observe/hfmg.hpp>

#include "golden_cases/inputs.hpp"
#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

using Findings = std::vector<std::string>;

amct::HfmgOptions options_of(const Json& params) {
  return {.symmetry = params.at("with_offset").get<bool>() ? amct::Symmetry::asymmetric : amct::Symmetry::symmetric,
          .batch_num = params.at("batch_num").get<std::size_t>(),
          .num_of_bins = params.at("num_of_bins").get<std::size_t>()};
}

void compare_near(Findings& findings, const std::string& what, double got, double want, double tolerance) {
  if (!(std::fabs(got - want) <= tolerance * std::fabs(want)))
    findings.push_back(what + " " + std::to_string(got) + ", expected " + std::to_string(want));
}

void compare_affine(Findings& findings, const std::string& what, amct::Affine got, const Json& want) {
  compare_near(findings, what + "scale", static_cast<double>(got.scale), number(want.at("scale")), 1e-6);
  if (got.offset != want.at("offset").get<std::int32_t>())
    findings.push_back(what + "offset " + std::to_string(got.offset));
}

amct::HfmgRange range_of(const Json& pair) { return {pair[0].get<std::size_t>(), pair[1].get<std::size_t>()}; }

std::string text_of(amct::HfmgRange range) {
  return "[" + std::to_string(range.left) + ", " + std::to_string(range.right) + "]";
}

void compare_histogram(Findings& findings, const amct::HfmgState& state, const Json& expect) {
  if (ulps(state.range.min, static_cast<float>(number(expect.at("hist_min")))) != 0) findings.push_back("hist_min");
  // AMCT keeps the width of a bin, and from it the upper end, which need not be the largest value to the last bit.
  const auto bins = static_cast<float>(state.counts.size());
  const float end = state.range.min + (state.range.max - state.range.min) / bins * bins;
  if (ulps(end, static_cast<float>(number(expect.at("hist_max")))) != 0) findings.push_back("hist_max");
  std::uint64_t total = 0;
  for (const std::uint64_t count : state.counts) total += count;
  if (total != expect.at("hist_total").get<std::uint64_t>()) findings.push_back("total " + std::to_string(total));
  if (!expect.contains("hist_counts_rle")) return;
  std::vector<std::uint64_t> counts;
  const Json& runs = expect.at("hist_counts_rle");
  for (std::size_t i = 0; i + 1 < runs.size(); i += 2)
    counts.insert(counts.end(), runs[i + 1].get<std::size_t>(), runs[i].get<std::uint64_t>());
  if (counts.size() != state.counts.size()) findings.push_back(std::to_string(state.counts.size()) + " bins");
  std::size_t different = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) different += counts[i] != state.counts.at(i) ? 1U : 0U;
  if (different > 0) findings.push_back(std::to_string(different) + " bins differ");
}

/// `loss_samples` are every k-th loss; k follows from how many there are.
void compare_losses(Findings& findings, const amct::HfmgResult& result, const Json& expect) {
  compare_near(findings, "best_loss", result.losses[result.best], number(expect.at("best_loss")), 1e-4);
  const Json& samples = expect.at("loss_samples");
  const std::size_t stride = std::max<std::size_t>(result.losses.size() / 16, 1);
  const std::size_t count = (result.losses.size() + stride - 1) / stride;
  if (samples.size() != count) findings.push_back(std::to_string(count) + " samples of losses");
  for (std::size_t i = 0; i < samples.size() && i * stride < result.losses.size(); ++i) {
    const std::size_t at = i * stride;
    compare_near(findings, "loss " + std::to_string(at), result.losses[at], number(samples[i]), 1e-4);
  }
}

void compare_ranges(Findings& findings, const amct::HfmgResult& result, const Json& expect) {
  if (result.ranges.size() != expect.at("num_search_ranges").get<std::size_t>())
    findings.push_back(std::to_string(result.ranges.size()) + " ranges");
  const Json& first = expect.at("first_ranges");
  for (std::size_t i = 0; i < first.size() && i < result.ranges.size(); ++i) {
    if (result.ranges[i] != range_of(first[i]))
      findings.push_back("range " + std::to_string(i) + " " + text_of(result.ranges[i]));
  }
  if (result.ranges.back() != range_of(expect.at("last_range")))
    findings.push_back("last range " + text_of(result.ranges.back()));
  if (result.best != expect.at("best_index").get<std::size_t>())
    findings.push_back("best index " + std::to_string(result.best));
  if (result.ranges[result.best] != range_of(expect.at("best_range")))
    findings.push_back("best range " + text_of(result.ranges[result.best]));
}

/// While batches are still missing, AMCT's operator returns the scale of the last one's extremes.
void compare_before_batch_num(Findings& findings, const std::vector<std::vector<float>>& batches, const Json& expect,
                              amct::CodeRange range, amct::Symmetry symmetry) {
  const Json before = expect.value("before_batch_num", Json::array());
  for (std::size_t i = 0; i < before.size(); ++i) {
    amct::ValueRange ends;
    if (!ends.extend(batches.at(i)).ok()) findings.push_back("batch was refused");
    compare_affine(findings, "batch " + std::to_string(i) + " ",
                   amct::affine_from_range(ends.min, ends.max, range, symmetry), before[i]);
  }
}

Findings compare(const Json& test, const std::filesystem::path& folder) {
  const amct::HfmgOptions options = options_of(test.at("params"));
  const amct::CodeRange range{test.at("params").at("num_bits").get<int>()};
  const auto batches = inputs_of(test, folder);
  amct::Hfmg observer(options);
  for (const auto& batch : batches) {
    const amct::Status status = observer.observe(batch);
    if (test.contains("ok") && !test.at("ok").get<bool>())
      return status.code == amct::StatusCode::not_finite ? Findings{} : Findings{"was not refused"};
    if (!status.ok()) return {"was refused"};
  }
  if (!observer.ready()) return {"was not ready"};
  const Json& expect = test.at("expect");
  const amct::HfmgResult result = observer.search(range);
  Findings findings;
  if (result.affine != observer.compute(range)) findings.push_back("compute and search differ");
  compare_affine(findings, "", result.affine, expect);
  const float scale = result.affine.scale;
  const auto clip = [&](std::int32_t code) { return static_cast<double>(static_cast<float>(code) * scale); };
  compare_near(findings, "clip_max", clip(range.max() - result.affine.offset), number(expect.at("clip_max")), 1e-6);
  compare_near(findings, "clip_min", clip(range.min() - result.affine.offset), number(expect.at("clip_min")), 1e-6);
  compare_histogram(findings, observer.state(), expect);
  compare_ranges(findings, result, expect);
  compare_losses(findings, result, expect);
  compare_before_batch_num(findings, batches, expect, range, options.symmetry);
  return findings;
}

Findings compare_edges(const Json& row) {
  std::vector<std::uint64_t> counts(row.at("bins").get<std::size_t>());
  amct::hfmg::add_counts(floats(row.at("values")), static_cast<float>(number(row.at("min"))),
                         static_cast<float>(number(row.at("max"))), counts);
  return counts == row.at("counts").get<std::vector<std::uint64_t>>() ? Findings{} : Findings{"counts differ"};
}

Findings compare_merge(const Json& row) {
  const auto range_of_row = [&](const char* name) {
    return amct::ValueRange{static_cast<float>(number(row.at(name)[0])), static_cast<float>(number(row.at(name)[1]))};
  };
  auto counts = row.at("new_hist").get<std::vector<std::uint64_t>>();
  amct::hfmg::add_rebinned(row.at("hist").get<std::vector<std::uint64_t>>(), range_of_row("range"),
                           range_of_row("new_range"), counts);
  return counts == row.at("merged").get<std::vector<std::uint64_t>>() ? Findings{} : Findings{"counts differ"};
}

void run_hfmg(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  const auto name = [](const Json& test) { return "hfmg " + test.at("name").get<std::string>(); };
  for (const auto& test : data.at("cases")) report.judge(name(test), compare(test, file.parent_path()));
  const Json meta = data.value("meta", Json::object());
  for (const auto& test : meta.value("degenerate", Json::array()))
    report.judge(name(test), compare(test, file.parent_path()));
  for (const auto& row : meta.value("histc_edges", Json::array()))
    report.judge("hfmg histc_edges " + row.at("values").dump(), compare_edges(row));
  for (const auto& row : meta.value("merge", Json::array()))
    report.judge("hfmg merge " + row.at("hist").dump(), compare_merge(row));
}

const Registered kRegistered{"hfmg", run_hfmg};

}  // namespace

}  // namespace golden
