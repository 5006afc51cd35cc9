// SPDX-License-Identifier: Apache-2.0
#include <amct/config/distill_groups.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace amct;

namespace {

using Names = std::vector<std::string>;
using Groups = std::vector<Names>;

NetworkNode node(const std::string& name, const std::string& op_type, std::vector<std::string> inputs) {
  return {.name = name, .op_type = op_type, .inputs = std::move(inputs), .outputs = {name + "_out"}};
}

/// conv1 bn1 relu1 -> (conv2 bn2) + relu1 -> add relu2 -> fc (a MatMul) with a bias
const Network kNetwork{node("conv1", "Conv", {"x"}),
                       node("bn1", "BatchNormalization", {"conv1_out"}),
                       node("relu1", "Relu", {"bn1_out"}),
                       node("conv2", "Conv", {"relu1_out"}),
                       node("bn2", "BatchNormalization", {"conv2_out"}),
                       node("add", "Add", {"bn2_out", "relu1_out"}),
                       node("relu2", "Relu", {"add_out"}),
                       node("fc", "MatMul", {"relu2_out"}),
                       node("bias", "Add", {"fc_out"}),
                       node("gelu", "GELU", {"bias_out"})};
const std::set<std::string> kAll{"conv1", "conv2", "fc"};

}  // namespace

TEST_CASE("Each layer takes its BatchNormalization and activation along") {
  DistillGrouper grouper(kNetwork);
  grouper.add_rest(kAll, 1);
  CHECK(grouper.groups() == Groups{{"conv1", "bn1", "relu1"}, {"conv2", "bn2"}, {"fc", "gelu"}});
}

TEST_CASE("Several layers form a group, the last ones a smaller one") {
  DistillGrouper grouper(kNetwork);
  grouper.add_rest(kAll, 2);
  CHECK(grouper.groups() == Groups{{"conv1", "bn1", "relu1", "conv2", "bn2"}, {"fc", "gelu"}});
}

TEST_CASE("A layer that is not quantized is in no group") {
  DistillGrouper grouper(kNetwork);
  grouper.add_rest({"conv2"}, 1);
  CHECK(grouper.groups() == Groups{{"conv2", "bn2"}});
}

TEST_CASE("A group given by its ends holds the nodes on the ways between them, the rest is grouped by itself") {
  DistillGrouper grouper(kNetwork);
  CHECK(grouper.add("relu1", "relu2").empty());
  grouper.add_rest(kAll, 5);
  CHECK(grouper.groups() == Groups{{"conv1", "bn1"}, {"relu1", "conv2", "bn2", "add", "relu2"}, {"fc", "gelu"}});
}

TEST_CASE("A node that another consumer needs as well ends a group") {
  const Network network{node("conv", "Conv", {"x"}), node("bn", "BatchNormalization", {"conv_out"}),
                        node("relu", "Relu", {"conv_out"})};
  DistillGrouper grouper(network);
  grouper.add_rest({"conv"}, 1);
  CHECK(grouper.groups() == Groups{{"conv"}});
}

TEST_CASE("The ends of a group exist, follow each other and are free") {
  DistillGrouper grouper(kNetwork);
  CHECK(grouper.add("nothere", "fc") == "there is no node \"nothere\"");
  CHECK(grouper.add("fc", "nothere") == "there is no node \"nothere\"");
  CHECK(grouper.add("fc", "conv1") == "node \"conv1\" does not follow \"fc\"");
  CHECK(grouper.add("conv1", "bn1").empty());
  CHECK(grouper.add("conv1", "relu1") == "node \"conv1\" is in another group");
  CHECK(grouper.add("conv2", "conv2").empty());
  CHECK(grouper.add("relu1", "add") == "node \"conv2\" is in another group");
}

TEST_CASE("Groups given by all their names are checked too") {
  DistillGrouper grouper(kNetwork);
  CHECK(grouper.add(Names{"conv1", "relu1"}).empty());
  CHECK(grouper.add(Names{}) == "the group is empty");
  CHECK(grouper.add(Names{"bn2", "conv2"}) == "node \"conv2\" stands behind a later one");
  CHECK(grouper.add(Names{"bn1", "relu1"}) == "node \"relu1\" is in another group");
  CHECK(grouper.add(Names{"nothere"}) == "there is no node \"nothere\"");
  CHECK(grouper.groups() == Groups{{"conv1", "relu1"}});
}
