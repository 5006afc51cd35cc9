// SPDX-License-Identifier: Apache-2.0
#include <amct/core/flavour.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace amct;

namespace {

bool allows(std::span<const int> bits, int value) { return std::find(bits.begin(), bits.end(), value) != bits.end(); }

}  // namespace

TEST_CASE("K1: every flavour has a row in its place, and is found by its name") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kFlavours.size(); ++i) {
    CHECK(static_cast<std::size_t>(kFlavours[i].flavour) == i);
    CHECK(&rules_of(kFlavours[i].flavour) == &kFlavours[i]);
    CHECK(flavour_named(kFlavours[i].name) == kFlavours[i].flavour);
    CHECK(allows(kFlavours[i].activation_bits, 8));
    CHECK(allows(kFlavours[i].weight_bits, 8));
    names.insert(kFlavours[i].name);
  }
  CHECK(names == std::set<std::string_view>{"pytorch", "onnx", "mindspore", "tensorflow", "hotwheels",
                                            "hotwheels-dynamic", "caffe"});
  CHECK_FALSE(flavour_named("torch").has_value());
  CHECK_FALSE(flavour_named("").has_value());
}

TEST_CASE("K1: the known clashes between flavours") {
  const auto& pytorch = rules_of(Flavour::pytorch);
  const auto& hotwheels = rules_of(Flavour::hotwheels);
  const auto& tensorflow = rules_of(Flavour::tensorflow);

  CHECK(pytorch.channel_wise_elsewhere == ChannelWiseElsewhere::refused);
  CHECK(hotwheels.channel_wise_elsewhere == ChannelWiseElsewhere::ignored);
  CHECK(rules_of(Flavour::mindspore).channel_wise_elsewhere == ChannelWiseElsewhere::ignored);
  CHECK((pytorch.search_open && pytorch.search_lowest == 0.0));
  CHECK((hotwheels.search_lowest == 0.7 && hotwheels.search_highest == 1.3 && !hotwheels.search_open));
  CHECK_FALSE(pytorch.quant_enable_required);
  CHECK(hotwheels.quant_enable_required);
  CHECK_FALSE(pytorch.shift_bit_allowed);
  CHECK(hotwheels.shift_bit_allowed);
  CHECK(pytorch.pool_has_weight_factors);
  CHECK_FALSE(tensorflow.pool_has_weight_factors);
  CHECK_FALSE(pytorch.shared_weights_quantized);
  CHECK(hotwheels.shared_weights_quantized);
  CHECK(pytorch.degenerate_scale == DegenerateScale::one);
  CHECK(hotwheels.degenerate_scale == DegenerateScale::eps);
  CHECK_FALSE(pytorch.fold.transposed);
  CHECK((tensorflow.fold.grouped && tensorflow.fold.transposed && tensorflow.fold.standalone));
  CHECK(hotwheels.fold.when_saving);
  CHECK(pytorch.unknown_config_fields_refused);
  CHECK_FALSE(hotwheels.unknown_config_fields_refused);
}

TEST_CASE("K1: the files of a flavour") {
  CHECK(rules_of(Flavour::pytorch).record_dialect == RecordDialect::pytorch);
  CHECK(rules_of(Flavour::mindspore).record_dialect == RecordDialect::mindspore);
  CHECK(rules_of(Flavour::hotwheels).config_family == ConfigFamily::fx);
  CHECK(rules_of(Flavour::hotwheels_dynamic).config_family == ConfigFamily::classic_list);
  CHECK((rules_of(Flavour::pytorch).writes_fake_quant_model && !rules_of(Flavour::pytorch).writes_float_model));
  CHECK((!rules_of(Flavour::hotwheels).writes_fake_quant_model && rules_of(Flavour::hotwheels).writes_float_model));
}

TEST_CASE("K38: vector scales only for the layer kinds that a flavour lists") {
  CHECK(may_be_channel_wise(rules_of(Flavour::pytorch), LayerKind::conv_transpose1d));
  CHECK_FALSE(may_be_channel_wise(rules_of(Flavour::pytorch), LayerKind::linear));
  CHECK(may_be_channel_wise(rules_of(Flavour::mindspore), LayerKind::conv2d));
  CHECK_FALSE(may_be_channel_wise(rules_of(Flavour::mindspore), LayerKind::conv_transpose2d));
  CHECK(may_be_channel_wise(rules_of(Flavour::tensorflow), LayerKind::conv_transpose2d));
  CHECK_FALSE(may_be_channel_wise(rules_of(Flavour::tensorflow), LayerKind::linear));
}

TEST_CASE("Activations above eight bits only where a flavour has them") {
  CHECK(may_have_wide_activation(rules_of(Flavour::pytorch), LayerKind::linear));
  CHECK_FALSE(may_have_wide_activation(rules_of(Flavour::pytorch), LayerKind::conv3d));
  CHECK_FALSE(may_have_wide_activation(rules_of(Flavour::pytorch), LayerKind::avg_pool2d));
  CHECK(may_have_wide_activation(rules_of(Flavour::hotwheels), LayerKind::other));
  CHECK_FALSE(may_have_wide_activation(rules_of(Flavour::caffe), LayerKind::conv2d));
}

TEST_CASE("Record dialects have names of their own") {
  std::set<std::string_view> names;
  for (const RecordDialect dialect : kAllRecordDialects) names.insert(name_of(dialect));
  CHECK(names.size() == std::size(kAllRecordDialects));
  CHECK_FALSE(names.contains("unknown"));
}

TEST_CASE("K1: algorithms and kinds of layers of the calibration configs") {
  const auto& pytorch = rules_of(Flavour::pytorch);
  const auto& dynamic = rules_of(Flavour::hotwheels_dynamic);
  CHECK((pytorch.has_hfmg && pytorch.has_ada_round && pytorch.has_dmq && !pytorch.has_snq));
  CHECK((dynamic.has_snq && !dynamic.has_hfmg && !dynamic.has_ada_round && !dynamic.has_dmq));
  CHECK((!pytorch.overrides_inherit && dynamic.overrides_inherit));
  CHECK((pytorch.int4_needs_even_channels && !dynamic.int4_needs_even_channels));
  CHECK(contains(pytorch.weighted_kinds, LayerKind::lstm));
  CHECK_FALSE(contains(rules_of(Flavour::mindspore).weighted_kinds, LayerKind::conv_transpose2d));
  CHECK(contains(pytorch.narrow_weight_kinds, LayerKind::conv2d));
  CHECK_FALSE(contains(pytorch.narrow_weight_kinds, LayerKind::linear));
  CHECK(contains(pytorch.symmetric_kinds, LayerKind::conv3d));
}
