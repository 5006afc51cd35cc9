// SPDX-License-Identifier: Apache-2.0
// Samples of the hotwheels guide for the static graph, calibrated on networks and run in integers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/config/fx_json.hpp>
#include <amct/flow/deploy.hpp>
#include <amct/flow/execution.hpp>
#include <amct/flow/fx_jobs.hpp>
#include <amct/flow/fx_prepare.hpp>
#include <amct/flow/fx_save.hpp>
#include <amct/onnx/import.hpp>
#include <amct/protobuf/record_file.hpp>
#include <amct/protobuf/record_writer.hpp>

#include "support/config_text.hpp"
#include "support/data.hpp"
#include "support/fx_network.hpp"
#include "support/graph_builder.hpp"
#include "support/ops.hpp"
#include "support/quantizers.hpp"
#include "support/temp_dir.hpp"
#include "support/text_file.hpp"

using namespace amct;

namespace {

const FlavourRules& kRules = rules_of(Flavour::hotwheels);

/// The first pictures of the example data.
std::vector<Tensor> pictures(std::int64_t count) {
  Tensor batch(ElementType::float32, Shape{count, 1, 28, 28});
  std::ifstream file(support::tests_folder() / "../examples/data/calibration/batch_0.bin", std::ios::binary);
  file.read(reinterpret_cast<char*>(batch.data<float>().data()), static_cast<std::streamsize>(batch.bytes()));
  REQUIRE(file.good());
  return {batch};
}

/// A network trained on Fashion-MNIST (tests/data/networks).
graph::Graph trained(const std::string& name) {
  return amct::onnx::import_model(support::tests_folder() / "data/networks" / (name + "_fashion_bn.onnx"));
}

/// Lets a layer have the name that a sample gives it.
void rename(graph::Graph& graph, const std::string& weight, const std::string& node, const std::string& to) {
  graph.find_node(node)->name = to;
  graph.value(support::find_value(graph, weight)).name = to + ".weight";
}

/// Codes of quantized layers in fake_quant and in real_quant.
struct Comparison {
  std::size_t codes = 0;
  std::size_t different = 0;
  std::int64_t most = 0;  ///< largest difference
  Record record{};
};

template <class T>
void compare(const Tensor& fake, const Tensor& real, Comparison& result) {
  REQUIRE(fake.size() == real.size());
  for (std::size_t i = 0; i < fake.size(); ++i) {
    const std::int64_t difference = std::int64_t{fake.data<T>()[i]} - real.data<T>()[i];
    ++result.codes;
    result.different += difference != 0 ? 1U : 0U;
    result.most = std::max(result.most, std::abs(difference));
  }
}

/// Calibrates and saves as the static graph does, writes the record and reads it back, and compares the two modes.
Comparison run(const flow::PreparedFx& prepared, const std::vector<Tensor>& batch) {
  flow::Calibration calibration(prepared.graph, flow::jobs_of(prepared, support::quantizers()),
                                flow::calibration_options(prepared), support::ops());
  while (!calibration.complete()) (void)calibration.observe(batch);
  const flow::Recorded saved = flow::fold_fx(prepared, calibration.finish());
  const support::TempDir folder;
  support::write_text(folder / "record.txt",
                      protobuf::record_text(saved.record, {.dialect = RecordDialect::hotwheels}));
  CHECK(protobuf::read_record_file(folder / "record.txt", {.dialect = RecordDialect::hotwheels}).layers ==
        saved.record);

  const auto deployed = flow::deploy(saved.graph, saved.record, flow::deploy_options(kRules));
  const flow::Execution fake(deployed, flow::Mode::fake_quant, support::integer_ops(), {.every_layer = true});
  const flow::Execution real(deployed, flow::Mode::real_quant, support::integer_ops(), {.every_layer = true});
  const auto expected = flow::layer_codes(fake, batch);
  const auto codes = flow::layer_codes(real, batch);
  REQUIRE_FALSE(expected.empty());
  REQUIRE(codes.size() == expected.size());
  Comparison result{.record = saved.record};
  for (const auto& layer : expected) {
    CAPTURE(layer.first);
    const Tensor& tensor = layer.second;
    if (tensor.type() == ElementType::int16) compare<std::int16_t>(tensor, codes.at(layer.first), result);
    else compare<std::int8_t>(tensor, codes.at(layer.first), result);
  }
  return result;
}

flow::PreparedFx easy(graph::Graph graph, const std::string& seed, const flow::OmMapping& mapping = {}) {
  const auto file = support::seed(seed);
  return flow::prepare_fx(std::move(graph), support::config_file(file), file.string(), kRules, support::quantizers(),
                          support::ops(), mapping);
}
flow::PreparedFx full(graph::Graph graph, const ConfigValue& config) {
  return flow::prepare_fx_full(std::move(graph), config, "config.json", kRules, support::quantizers(), support::ops());
}

/// Convolution, Relu, MaxPool, addition and fully connected layer, with the names of the guide.
graph::Graph small_net(std::int64_t channels, bool with_pool) {
  support::GraphBuilder net;
  net.input("x", {1, 1, 28, 28})
      .initializer("conv1.w", support::whole_numbers({channels, 1, 3, 3}, 1))
      .node("Conv", "conv1", {"x", "conv1.w"}, "c");
  if (with_pool) {
    return net.node("Relu", "relu", {"c"}, "r")
        .node("MaxPool", "maxpool", {"r"}, "y", {{"kernel_shape", support::Ints{2, 2}}})
        .output("y")
        .build();
  }
  return net.initializer("fc.w", support::whole_numbers({26, 10}, 2))
      .node("Sigmoid", "sigmoid", {"c"}, "s")
      .node("Add", "add", {"c", "s"}, "a")
      .initializer("rows", support::int64s({-1, 26}))
      .node("Reshape", "reshape", {"a", "rows"}, "f")
      .node("Gemm", "fc", {"f", "fc.w"}, "y")
      .output("y")
      .build();
}

}  // namespace

TEST_CASE("cube_only_8bit: the matrix unit's layers of a residual network, equal codes in both modes") {
  const auto result = run(easy(trained("resnet"), "yaml_cube_only_8bit.yaml"), pictures(2));
  for (const auto& layer : result.record) {
    CAPTURE(layer.name);
    CHECK(layer.name.find("Add") == std::string::npos);
    CHECK(layer.record_d[0].num_bits_d == 8);
  }
  CHECK(find_record(result.record, "stem.0")->scale_w.size() > 1);
  CHECK(find_record(result.record, "fc")->scale_w.size() == 1);
  CHECK(result.codes > 10000);
  CHECK(result.different == 0);
}

TEST_CASE("cube_only_12bit: the data of the matrix unit have 12 bits, the second input of a product 8") {
  const auto result = run(easy(trained("vit"), "yaml_cube_only_12bit.yaml"), pictures(1));
  std::size_t products = 0;
  for (const auto& layer : result.record) {
    CAPTURE(layer.name);
    CHECK(layer.record_d[0].num_bits_d == 12);
    if (layer.record_d.size() < 2) continue;
    ++products;
    CHECK(layer.record_d[0].offset_d == 0);
    CHECK(layer.record_d[1].num_bits_d == 8);
  }
  CHECK(products >= 4);
  // float32 does not hold every sum of products of 12 and 8 bits; integers do.
  CHECK(result.most <= 1);
  CHECK(result.different * 1000 <= result.codes);
}

TEST_CASE("The guide's easy config: torch's FakeQuantize for conv1, LUQ for pools, widths of a mapping file") {
  auto net = trained("resnet");
  rename(net, "stem.0.weight", "/stem/stem.0/Conv", "conv1");
  const flow::OmMapping mapping{.read = [](const std::filesystem::path& path) {
    CHECK(path == support::seed("om_json/resnet50.om.json"));
    return support::config(R"({"graph": [{"op": [{"name": "fc", "type": "MatMulV2",
        "input_desc": [{"dtype": "DT_INT16"}]}]}]})");
  }};
  const auto prepared = easy(net, "yaml_easy.yaml", mapping);
  const auto result = run(prepared, pictures(2));
  CHECK(prepared.plan.find("conv1")->weights->name == "torch.quantization.FakeQuantize");
  CHECK(find_record(result.record, "conv1")->scale_w.size() == 16);
  CHECK(find_record(result.record, "fc")->record_d[0].num_bits_d == 8);  // mapping files count for additions
  CHECK(result.different == 0);
}

TEST_CASE("The easy config that the guide's Python writes: 12 bits for fc") {
  const auto result = run(easy(trained("resnet"), "yaml_dump.yaml"), pictures(2));
  CHECK(find_record(result.record, "fc")->record_d[0].num_bits_d == 12);
  CHECK(find_record(result.record, "stem.0")->record_d[0].num_bits_d == 8);
  CHECK(result.different == 0);
}

TEST_CASE("The guide's full config: an addition of two inputs, a convolution and a fully connected layer") {
  const auto result =
      run(full(small_net(4, false), support::config_file(support::seed("fx_config.json"))), pictures(1));
  REQUIRE(result.record.size() == 3);
  CHECK(find_record(result.record, "add")->record_d.size() == 2);
  CHECK(result.different == 0);
}

TEST_CASE("K42: the guide's Fixed sample: conv1 of two channels and maxpool") {
  const auto result = run(full(small_net(2, true), support::config_file(support::seed("fx_fixed.json"))), pictures(1));
  CHECK(find_record(result.record, "maxpool")->record_d[0].scale_d == 0.0118393F);
  CHECK(find_record(result.record, "conv1")->scale_w == std::vector<float>{0.010429775F, 0.009767545F});
  CHECK(result.different == 0);
}

TEST_CASE("K20: the guide's sample of a class by its path, on a convolution") {
  auto net = small_net(2, true);
  net.nodes.pop_back();  // the pool, which the sample does not name
  net.outputs = {support::find_value(net, "r")};
  const auto result = run(full(net, support::mended_custom_sample()), pictures(1));
  REQUIRE(result.record.size() == 1);
  CHECK(result.record[0].scale_w.size() == 2);
  CHECK(result.different == 0);
}
