// SPDX-License-Identifier: Apache-2.0
#include <amct/graph/quant_nodes.hpp>

#include <doctest/doctest.h>

#include <limits>

#include "support/graph_builder.hpp"

using namespace amct;
using namespace amct::graph;

namespace {

Node quant(std::vector<std::pair<std::string, Attribute>> attributes) {
  Node node = make_quant("q", {.scale = 0.5F, .offset = 3, .bits = 8}, 0, 1);
  for (auto& [name, value] : attributes) node.set_attribute(name, std::move(value));
  return node;
}

/// "field: message" of the Error that reading a node throws.
template <class Read>
std::string refused(const Node& node, Read&& read) {
  const auto error = support::error_of([&] { (void)read(node); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::model_unsupported);
  CHECK(error->where().layer == node.name);
  return error->where().field + ": " + error->message();
}

DequantFactors factors_of(const Tensor& parameter) {
  Graph graph;
  const ValueId id = graph.add_value({.name = "param", .initializer = parameter});
  return dequant_factors({.op_type = "AscendDequant", .name = "d", .inputs = {kNoValue, id}}, graph);
}

}  // namespace

TEST_CASE("A quant node says what was written into it, at every width") {
  for (int bits = 4; bits <= 16; ++bits) {
    const Node node = make_quant("q", {.scale = 0.1F, .offset = -5, .bits = bits}, 0, 1);
    const QuantTarget target = quant_target(node);
    CHECK(target.scale == 1.0F / 0.1F);
    CHECK(target.offset == -5);
    CHECK(target.range == CodeRange{bits});
    CHECK(target.lowest == target.range.min());
    CHECK(target.highest == target.range.max());
    CHECK(code_type(target.range) == (bits <= 8 ? ElementType::int8 : ElementType::int16));
  }
}

TEST_CASE("An anti-quant node holds the offset that the device adds, and is read back as offset_d") {
  const Node node = make_anti_quant("a", {.scale = 0.5F, .offset = -128, .bits = 8}, 0, 1);
  CHECK(node.attribute_or<float>("offset", 0.0F) == 128.0F);
  CHECK(anti_quant_source(node) == AntiQuantSource{0.5F, -128});
  const Node wide = make_anti_quant("a", {.scale = 0.5F, .offset = -32768, .bits = 16}, 0, 1);
  CHECK(anti_quant_source(wide).offset == -32768);
}

TEST_CASE("A ReQuant may keep codes within narrower bounds") {
  const QuantTarget target = quant_target(quant({{"code_min", std::int64_t{3}}, {"code_max", std::int64_t{90}}}));
  CHECK(target.lowest == 3);
  CHECK(target.highest == 90);
}

TEST_CASE("Attributes that no node of AMCT has are refused by name") {
  const auto read = [](const Node& node) { return quant_target(node); };
  CHECK(refused(quant({{"scale", 0.0F}}), read) == "scale: got 0.0, expected a finite number above 0");
  CHECK(refused(quant({{"scale", std::numeric_limits<float>::infinity()}}), read).starts_with("scale: got inf"));
  CHECK(refused(quant({{"offset", 0.5F}}), read) == "offset: got 0.5, expected a whole number from -32768 to 32768");
  CHECK(refused(quant({{"offset", std::numeric_limits<float>::quiet_NaN()}}), read).starts_with("offset: got nan"));
  CHECK(refused(quant({{"dst_type", std::string("UINT8")}}), read) ==
        "dst_type: got \"UINT8\", expected INT4, INT8 or INT16");
  CHECK(refused(quant({{"num_bits", std::int64_t{9}}}), read) == "num_bits: got 9, expected 2 to 8");
  CHECK(refused(quant({{"code_max", std::int64_t{128}}}), read) == "code_max: got 128, expected -128 to 127");
  CHECK(refused(quant({{"code_min", std::int64_t{5}}, {"code_max", std::int64_t{4}}}), read) ==
        "code_min: got 5, expected at most code_max, 4");
  CHECK(refused(quant({{"contract", std::string("other")}}), [](const Node& node) {
          return requant_rule(node);
        }).starts_with("contract: got \"other\", expected two_products"));
}

TEST_CASE("The contract of a ReQuant is read by its name, two products if there is none") {
  CHECK(requant_rule(quant({})) == RequantRule::two_products);
  for (const RequantRule rule : kAllRequantRules) {
    CHECK(requant_rule(quant({{"contract", std::string(name_of(rule))}})) == rule);
  }
}

TEST_CASE("The parameter of a dequant node gives scales and shifts back") {
  const DequantFactors plain = factors_of(dequant_parameter(0.5F, {0.5F, 3.0F}));
  CHECK(plain.scales == std::vector<float>{0.25F, 1.5F});
  CHECK(plain.shifts.empty());
  CHECK(factors_of(dequant_parameter(0.5F, {0.5F, 3.0F}, {7, 16})).shifts == std::vector<int>{7, 16});
  CHECK(factors_of(dequant_parameter(0.5F, {0.5F, 3.0F}, {0, 0})).shifts.empty());
}

TEST_CASE("Another parameter is refused") {
  const auto message = [](const Tensor& parameter) {
    const auto error = support::error_of([&] { (void)factors_of(parameter); });
    REQUIRE(error);
    CHECK(error->where().field == "param");
    return error->message();
  };
  CHECK(message(support::floats({1}, {1})) == "got float32 [1], expected uint64, one value or one a channel");
  CHECK(message(Tensor(ElementType::uint64, Shape{0})).starts_with("got uint64 [0]"));
  CHECK(message(Tensor(ElementType::uint64, Shape{1, 1})).starts_with("got uint64 [1,1]"));
  Tensor offset(ElementType::uint64, Shape{1});
  offset.data<std::uint64_t>()[0] = std::uint64_t{1} << 40U;
  CHECK(message(offset) == "has an offset of the weights, expected 0");
  const Node without{.op_type = "AscendDequant", .name = "d", .inputs = {kNoValue}};
  CHECK(refused(without, [](const Node& node) {
          return dequant_factors(node, {});
        }).starts_with("param: is no initializer"));
}
