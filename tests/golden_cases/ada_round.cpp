// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <amct/quantize/ada_round.hpp>

#include "golden_cases/json_data.hpp"
#include "golden_cases/report.hpp"

namespace golden {

namespace {

using Shape = std::vector<std::size_t>;

constexpr std::size_t kSteps = 50;

/// Adam with torch's defaults and AMCT's rate, for one parameter.
class Adam {
 public:
  void step(amct::Parameter parameter) {
    first_.resize(parameter.value.size());
    second_.resize(parameter.value.size());
    ++steps_;
    const double rate = 1e-3 / (1.0 - std::pow(kFirst, steps_));
    const double norm = std::sqrt(1.0 - std::pow(kSecond, steps_));
    for (std::size_t i = 0; i < first_.size(); ++i) {
      const auto gradient = static_cast<double>(parameter.gradient[i]);
      first_[i] = kFirst * first_[i] + (1.0 - kFirst) * gradient;
      second_[i] = kSecond * second_[i] + (1.0 - kSecond) * gradient * gradient;
      const double change = rate * first_[i] / (std::sqrt(second_[i]) / norm + 1e-8);
      parameter.value[i] -= static_cast<float>(change);
    }
  }

 private:
  static constexpr double kFirst = 0.9;
  static constexpr double kSecond = 0.999;
  std::vector<double> first_;
  std::vector<double> second_;
  int steps_ = 0;
};

/// A layer of one of the cases: a sum of products input * weight, all strides 1, no padding.
struct Layer {
  std::string name;
  std::size_t groups = 1;
  Shape weight;
  Shape input;
  Shape output;

  [[nodiscard]] amct::ChannelLayout layout(bool channel_wise) const {
    std::size_t size = 1;
    for (const std::size_t dim : weight) size *= dim;
    if (!channel_wise) return amct::ChannelLayout::per_tensor(size);
    if (name.starts_with("ConvTranspose")) {
      return {groups, weight[0] / groups, weight[1], weight[2] * weight[3]};
    }
    return {1, 1, weight[0], size / weight[0]};
  }

  /// Calls visit(input, weight, output) with the indices of every product.
  template <class Visit>
  void products(Visit&& visit) const {
    if (name == "Linear") {
      for (std::size_t n = 0; n < output[0]; ++n)
        for (std::size_t o = 0; o < output[1]; ++o)
          for (std::size_t i = 0; i < input[1]; ++i) visit(n * input[1] + i, o * input[1] + i, n * output[1] + o);
      return;
    }
    const bool transposed = name.starts_with("ConvTranspose");
    // A transposed convolution is the same sum with input and output exchanged.
    const Shape& wide = transposed ? output : input;
    const Shape& narrow = transposed ? input : output;
    const std::size_t narrow_group = narrow[1] / groups;
    for (std::size_t n = 0; n < wide[0]; ++n)
      for (std::size_t a = 0; a < narrow[1]; ++a)
        for (std::size_t b = 0; b < weight[1]; ++b)
          for (std::size_t y = 0; y < narrow[2]; ++y)
            for (std::size_t x = 0; x < narrow[3]; ++x)
              for (std::size_t v = 0; v < weight[2]; ++v)
                for (std::size_t u = 0; u < weight[3]; ++u) {
                  const std::size_t channel = a / narrow_group * weight[1] + b;
                  const std::size_t at_wide = ((n * wide[1] + channel) * wide[2] + y + v) * wide[3] + x + u;
                  const std::size_t at_narrow = ((n * narrow[1] + a) * narrow[2] + y) * narrow[3] + x;
                  const std::size_t at_weight = ((a * weight[1] + b) * weight[2] + v) * weight[3] + u;
                  visit(transposed ? at_narrow : at_wide, at_weight, transposed ? at_wide : at_narrow);
                }
  }
};

Shape shape_of(const Json& tensor) { return tensor.at("shape").get<Shape>(); }

/// One AdaRound run of a layer over the whole batch.
class Training {
 public:
  explicit Training(const Json& test)
      : layer_{test.at("name").get<std::string>(), test.at("groups").get<std::size_t>(), shape_of(test.at("weight")),
               shape_of(test.at("input")), shape_of(test.at("float_output"))},
        weight_(floats(test.at("weight").at("data"))),
        bias_(floats(test.at("bias").at("data"))),
        input_(floats(test.at("input").at("data"))),
        target_(floats(test.at("float_output").at("data"))),
        soft_(weight_.size()),
        upstream_(weight_.size()) {
    std::vector<amct::Affine> channels;
    for (const float scale : floats(test.at("scale_list"))) channels.push_back({scale, 0});
    const amct::ChannelLayout layout = layer_.layout(test.at("channel_wise").get<bool>());
    ready_ = quantizer.calibrate(weight_, layout, channels).ok();
    amct::AdaRound<> by_kl;
    kl_agrees_ = by_kl.calibrate(weight_, layout).ok();
    for (std::size_t c = 0; c < channels.size(); ++c) {
      kl_agrees_ &= ulps(by_kl.params().channels[c].scale, channels[c].scale) <= 1;
    }
  }

  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] bool kl_agrees() const { return kl_agrees_; }
  [[nodiscard]] amct::Parameter alpha() { return quantizer.parameters()[0]; }
  [[nodiscard]] const std::vector<float>& soft_weight() {
    if (!quantizer.forward(weight_, soft_).ok()) soft_.clear();
    return soft_;
  }

  /// Reconstruction loss; adds its gradient to alpha's.
  double reconstruct() {
    const std::vector<float>& soft = soft_weight();
    std::vector<double> error(target_.size());
    const std::size_t inner = target_.size() / (layer_.output[0] * layer_.output[1]);
    for (std::size_t i = 0; i < error.size(); ++i) {
      error[i] = static_cast<double>(bias_[i / inner % layer_.output[1]]) - static_cast<double>(target_[i]);
    }
    layer_.products([&](std::size_t in, std::size_t w, std::size_t out) {
      error[out] += static_cast<double>(input_[in]) * static_cast<double>(soft[w]);
    });
    const auto rows = static_cast<double>(error.size() / layer_.output[1]);
    double loss = 0.0;
    for (const double e : error) loss += e * e / rows;
    std::vector<double> gradient(soft.size());
    layer_.products([&](std::size_t in, std::size_t w, std::size_t out) {
      gradient[w] += 2.0 * error[out] * static_cast<double>(input_[in]) / rows;
    });
    for (std::size_t i = 0; i < gradient.size(); ++i) upstream_[i] = static_cast<float>(gradient[i]);
    std::vector<float> ignored(soft.size());
    if (!quantizer.backward(weight_, upstream_, ignored).ok()) return -1.0;
    return loss;
  }

  amct::AdaRound<> quantizer{amct::AdaRoundOptions{.num_iteration = kSteps}};

 private:
  Layer layer_;
  std::vector<float> weight_, bias_, input_, target_, soft_, upstream_;
  bool ready_ = false;
  bool kl_agrees_ = false;
};

struct Tolerance {
  double absolute = 0.0;
  double relative = 0.0;
};

/// \param undecided  elements that are not compared, by element; may be empty
void compare_all(std::vector<std::string>& findings, const std::string& what, std::span<const float> got,
                 const Json& tensor, Tolerance tolerance, const std::vector<bool>& undecided = {}) {
  const auto want = floats(tensor.at("data"));
  if (want.size() != got.size()) return findings.push_back("number of " + what);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!undecided.empty() && undecided[i]) continue;
    const double distance = std::fabs(static_cast<double>(got[i]) - static_cast<double>(want[i]));
    if (distance <= tolerance.absolute + tolerance.relative * std::fabs(static_cast<double>(want[i]))) continue;
    findings.push_back(what + " " + std::to_string(i) + " " + std::to_string(got[i]) + ", expected " +
                       std::to_string(want[i]));
  }
}

/// A weight that is a whole number of steps starts where the sigmoid begins to be clipped, and its first gradient, the
/// rounding noise of the layer's float sums (below 1e-9), decides on which side it goes on. On both sides it is rounded
/// down, by less than 1e-3 of a step; its weight is compared, its alpha must stay within 0.006 of the start.
std::vector<bool> starts_at_edge(std::span<const float> alpha) {
  std::vector<bool> edges;
  for (const float a : alpha) edges.push_back(amct::ada_round::soft_rounding(a).value < 1e-6F);
  return edges;
}

void compare_loss(std::vector<std::string>& findings, const std::string& what, double got, double want) {
  if (!(std::fabs(got - want) <= 1e-4 * want))
    findings.push_back(what + " " + std::to_string(got) + ", expected " + std::to_string(want));
}

std::vector<std::string> compare(const Json& test) {
  Training training(test);
  if (!training.ready()) return {"was refused"};
  std::vector<std::string> findings;
  if (!training.kl_agrees()) findings.push_back("scales differ from those of the KL search");
  compare_all(findings, "initial alpha", training.alpha().value, test.at("alpha_init"), {1e-4});
  compare_all(findings, "initial weight", training.soft_weight(), test.at("quantize_weight_init"), {1e-6});
  const std::vector<bool> edges = starts_at_edge(training.alpha().value);
  Adam adam;
  for (std::size_t step = 0; step < kSteps; ++step) {
    const amct::Parameter alpha = training.alpha();
    std::fill(alpha.gradient.begin(), alpha.gradient.end(), 0.0F);
    const double reconstruction = training.reconstruct();
    const double rounding = training.quantizer.regularize(step);
    for (const auto& row : test.at("trace")) {
      if (row.at("iteration").get<std::size_t>() != step) continue;
      const std::string at = " of step " + std::to_string(step);
      compare_loss(findings, "reconstruction loss" + at, reconstruction, number(row.at("recon_loss")));
      compare_loss(findings, "rounding loss" + at, rounding, number(row.at("round_loss")));
      if (!row.at("grad_alpha").is_null())
        compare_all(findings, "gradient" + at, alpha.gradient, row.at("grad_alpha"), {1e-7, 1e-3}, edges);
    }
    adam.step(alpha);
  }
  compare_all(findings, "final alpha", training.alpha().value, test.at("alpha_final"), {1e-4}, edges);
  compare_all(findings, "final alpha", training.alpha().value, test.at("alpha_final"), {6e-3});
  compare_all(findings, "final weight", training.soft_weight(), test.at("quantize_weight_final"), {1e-5});
  return findings;
}

std::vector<std::string> compare_beta(const Json& row) {
  const amct::AdaRoundOptions options{.num_iteration = row[0].get<std::size_t>()};
  const double beta = amct::ada_round::beta(row[1].get<std::size_t>(), options);
  return std::fabs(beta - number(row[2])) <= 1e-12 * beta ? std::vector<std::string>{}
                                                          : std::vector<std::string>{"beta " + std::to_string(beta)};
}

void run_ada_round(const std::filesystem::path& file, Report& report) {
  const Json data = read_json(file);
  for (const auto& test : data.at("cases")) {
    report.judge("ada_round " + test.at("name").get<std::string>(), compare(test));
  }
  for (const auto& row : data.value("meta", Json::object()).value("betas_iterations_iteration_value", Json::array())) {
    report.judge("ada_round beta " + row.dump(), compare_beta(row));
  }
}

const Registered kRegistered{"ada_round", run_ada_round};

}  // namespace

}  // namespace golden
