// SPDX-License-Identifier: Apache-2.0
#include <amct/core/args.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::ArgReader;
using amct::Args;
using amct::StatusCode;

}  // namespace

TEST_CASE("of equal names the last value wins and keeps the place of the first") {
  const Args args{{"num_bits", std::int64_t{8}}, {"fixed_min", true}, {"num_bits", std::int64_t{12}}};
  REQUIRE(args.all().size() == 2);
  CHECK(args.all()[0].name == "num_bits");
  CHECK(std::get<std::int64_t>(*args.find("num_bits")) == 12);
  CHECK(args.find("observer") == nullptr);
}

TEST_CASE("arguments are read by type, and absent ones leave the option") {
  const Args args{{"fixed_min", true},
                  {"observer", std::string("IFMRObserver")},
                  {"num_bits", std::int64_t{8}},
                  {"search_step", 0.02},
                  {"scale", 0.5},
                  {"list", std::vector<double>{1.0, 2.0}}};
  ArgReader reader(args);
  bool fixed_min = false;
  std::string observer;
  int bits = 0;
  double step = 0.0;
  std::vector<float> scale;
  std::vector<float> list;
  float other = 7.0F;
  reader.read("fixed_min", fixed_min);
  reader.read("observer", observer);
  reader.read("num_bits", bits);
  reader.read("search_step", step);
  reader.read("scale", scale);
  reader.read("list", list);
  reader.read("other", other);
  CHECK(reader.status().ok());
  CHECK(fixed_min);
  CHECK(observer == "IFMRObserver");
  CHECK(bits == 8);
  CHECK(step == 0.02);
  CHECK(scale == std::vector<float>{0.5F});
  CHECK(list == std::vector<float>{1.0F, 2.0F});
  CHECK(other == 7.0F);
}

TEST_CASE("whole numbers serve as reals, and whole reals as integers") {
  const Args args{{"clip_max", std::int64_t{3}}, {"batch_num", 2.0}};
  ArgReader reader(args);
  float clip = 0.0F;
  std::size_t batches = 0;
  reader.read("clip_max", clip);
  reader.read("batch_num", batches);
  CHECK(reader.status().ok());
  CHECK(clip == 3.0F);
  CHECK(batches == 2);
}

TEST_CASE("the first argument of a wrong type is named with what was expected") {
  const Args args{{"num_bits", 7.5}, {"fixed_min", std::string("yes")}};
  ArgReader reader(args);
  int bits = 8;
  bool fixed_min = false;
  reader.read("num_bits", bits);
  reader.read("fixed_min", fixed_min);
  const amct::Status status = reader.status();
  CHECK(status.code == StatusCode::bad_option);
  CHECK(std::string(status.name) == "num_bits");
  CHECK(status.value == 7.5);
  CHECK(std::string(status.allowed) == "a whole number");
  CHECK(bits == 8);
}

TEST_CASE("numbers beyond every option, negative counts and NaN are refused") {
  for (const double bad : {1e30, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const Args args{{"batch_num", bad}};
    ArgReader reader(args);
    std::size_t batches = 1;
    reader.read("batch_num", batches);
    CHECK(reader.status().code == StatusCode::bad_option);
    CHECK(batches == 1);
  }
}

TEST_CASE("an argument that nobody reads is an error unless it is ignored") {
  const Args args{{"dtype", std::string("torch.qint8")}, {"num_bit", std::int64_t{8}}};
  ArgReader reader(args);
  reader.ignore("dtype");
  CHECK(std::string(reader.status().name) == "num_bit");
  CHECK(std::string(reader.status().allowed) == "no such argument");
  reader.ignore("num_bit");
  CHECK(reader.status().ok());
}
