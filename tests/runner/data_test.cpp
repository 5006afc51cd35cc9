// SPDX-License-Identifier: Apache-2.0
// What --data may name, and how images become numbers. An identity network shows what it was given.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <amct/core/shape.hpp>
#include <amct/core/tensor.hpp>
#include <amct/interop/dump_folder.hpp>
#include <amct/interop/npy.hpp>

#include "onnx/model_builder.hpp"
#include "runner/runner_fixture.hpp"
#include "support/image_file.hpp"
#include "support/zip_file.hpp"

namespace {

using amct::Shape;
using amct::Tensor;
using Numbers = std::vector<float>;
using Pixels = std::vector<std::uint8_t>;

/// An identity network with one input "x" or two, "x" and "z", and their data.
struct DataFixture : RunnerFixture {
  DataFixture() { std::filesystem::create_directory(work / "images"); }

  void use_identity(const std::vector<std::int64_t>& shape) {
    support::ModelBuilder net;
    net.input("x", shape).output("y", shape);
    net.node("Identity", "same", {"x"}, {"y"}).save(work / "net.onnx");
  }
  void use_two_inputs(std::int64_t batch) {
    support::ModelBuilder net;
    net.input("x", {batch, 3}).input("z", {batch, 1}).output("y", {batch, 3});
    net.node("Add", "sum", {"x", "z"}, {"y"}).save(work / "net.onnx");
  }
  [[nodiscard]] support::CommandResult run(const std::string& data, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"run", "--model", "net.onnx", "--data", data, "--outputs", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return amct(arguments);
  }
  /// What each batch held, one after the other.
  [[nodiscard]] std::vector<Numbers> batches(const std::string& data, const std::vector<std::string>& more = {}) const {
    const auto result = run(data, more);
    CAPTURE(result.output);
    REQUIRE(result.exit_code == 0);
    const amct::interop::DumpFolder dump(work / "out");
    std::vector<Numbers> found;
    for (const auto& entry : dump.entries()) {
      const Tensor tensor = dump.read(entry);
      const auto values = tensor.data<float>();
      found.emplace_back(values.begin(), values.end());
    }
    std::filesystem::remove_all(work / "out");
    return found;
  }
  void check_refused(const std::string& data, const std::vector<std::string>& more,
                     const std::vector<std::string>& parts) const {
    const auto result = run(data, more);
    CAPTURE(result.output);
    CHECK(result.exit_code == 1);
    for (const auto& part : parts) {
      CAPTURE(part);
      CHECK(result.output.find(part) != std::string::npos);
    }
  }
  void write_npy(const std::string& name, Shape shape, const Numbers& values) const {
    std::ostringstream out;
    amct::interop::write_npy(out, Tensor(std::move(shape), std::span<const float>(values)));
    support::write_text(work / name, out.str());
  }
  /// numpy.savez_compressed of files that are there.
  void pack(const std::string& name, const std::vector<std::string>& arrays) const {
    std::vector<std::pair<std::string, std::string>> members;
    for (const auto& array : arrays) members.emplace_back(array + ".npy", support::read_text(work / (array + ".npy")));
    support::write_zip(work / name, members, true);
  }
  [[nodiscard]] bool warns(const std::string& data, const std::vector<std::string>& more,
                           const std::string& part) const {
    const auto result = run(data, more);
    CAPTURE(result.output);
    CHECK(result.exit_code == 0);
    return result.output.find(part) != std::string::npos;
  }
};

}  // namespace

TEST_CASE_FIXTURE(DataFixture, "images become batches in the order of their names, scaled and normalized by channel") {
  use_identity({-1, 3, 1, 2});
  support::write_image(work / "images/b.png", 1, 2, 3, Pixels{0, 51, 102, 153, 204, 255});
  support::write_image(work / "images/a.png", 1, 2, 3, Pixels{255, 0, 0, 0, 255, 51});
  support::write_text(work / "images/notes.md", "not an image");
  CHECK(batches("images", {"--batch_size", "2", "--scale", "1"}) ==
        std::vector<Numbers>{{255, 0, 0, 255, 0, 51, 0, 153, 51, 204, 102, 255}});
  CHECK(batches("images", {"--batch_size", "1"})[1] == Numbers{0, 0.6F, 0.2F, 0.8F, 0.4F, 1});
  CHECK(batches("images", {"--batch_size", "1", "--channels", "bgr", "--scale", "1", "--mean", "2,1,0", "--std",
                           "2,1,0.5"})[1] == Numbers{50, 126.5F, 50, 203, 0, 306});
  CHECK(batches("images/b.png", {"--batch_size", "1"}).size() == 1);
}

TEST_CASE_FIXTURE(DataFixture, "images are resized with half-pixel centres and cropped in the middle") {
  use_identity({1, 1, 2, 2});
  // 4 x 8: each row 0, 10, ..., 70, rows 80 apart.
  Pixels pixels;
  for (int i = 0; i < 32; ++i) pixels.push_back(static_cast<std::uint8_t>(i % 8 * 10 + i / 8 * 20));
  support::write_image(work / "images/a.png", 4, 8, 1, pixels);
  // The short side to 2 makes 2 x 4; each pixel lies between four: (5, 15 | 45, 55) + columns.
  CHECK(batches("images", {"--resize", "2", "--crop", "2", "--scale", "1"})[0] == Numbers{35, 55, 75, 95});
  CHECK(batches("images", {"--resize", "2,2", "--scale", "1"})[0] == Numbers{25, 65, 65, 105});
  CHECK(batches("images", {"--crop", "2,2", "--scale", "1"})[0] == Numbers{50, 60, 70, 80});
  check_refused("images", {"--resize", "2"}, {"a.png", "is 4 x 8 pixels", "2 x 4 resized", "expected 2 x 2", "--crop"});
  check_refused("images", {"--resize", "0"}, {"--resize", "expected one size"});
  check_refused("images", {"--std", "0"}, {"--std", "above 0"});
}

TEST_CASE_FIXTURE(DataFixture, "layout nhwc, and a shape that says the other one is named with the remedy") {
  use_identity({1, 1, 2, 3});
  support::write_image(work / "images/a.png", 1, 2, 3, Pixels{1, 2, 3, 4, 5, 6});
  CHECK(batches("images", {"--layout", "nhwc", "--scale", "1"})[0] == Numbers{1, 2, 3, 4, 5, 6});
  use_identity({1, 4, 2, 3});
  check_refused("images", {}, {"[model.shape]", "[1,4,2,3]", "3 channels stand last", "--layout nhwc"});
}

TEST_CASE_FIXTURE(DataFixture, "JPEG files are read, in gray too") {
  use_identity({1, 1, 8, 8});
  support::write_image(work / "images/a.jpg", 8, 8, 3, Pixels(192, 128));
  const auto found = batches("images", {"--scale", "1"});
  for (const float value : found[0]) CHECK(value == doctest::Approx(128.0).epsilon(0.02));
}

TEST_CASE_FIXTURE(DataFixture, "preprocessing in a file is that of the options, and options overrule it") {
  use_identity({1, 3, 1, 2});
  support::write_image(work / "images/a.png", 2, 4, 3, Pixels(24, 100));
  support::write_text(work / "p.yaml",
                      "resize: [1, 2]\nchannels: bgr\nscale: 1\nmean: [1, 2, 3]\nstd: 2\n"
                      "inputs:\n  x:\n    mean: 50\n");
  CHECK(batches("images", {"--preprocess", "p.yaml"})[0] == Numbers(6, 25.0F));
  CHECK(batches("images", {"--preprocess", "p.yaml", "--mean", "1,2,3", "--std", "1"})[0] ==
        Numbers{99, 99, 98, 98, 97, 97});
  CHECK(warns("images", {"--preprocess", "p.yaml"}, "input \"x\": 1 image, resize 1 x 2, bgr, nchw, scale 1"));
  const std::map<std::string, std::string> wrong{{"crop: 0\n", "p.yaml:1:7 crop"},
                                                 {"sise: 3\n", "p.yaml:1:7 sise"},
                                                 {"a: [\n", "[config.syntax]"},
                                                 {"channels: cmyk\n", "rgb, bgr, gray"},
                                                 {"inputs:\n  w:\n    mean: 1\n", "\"w\""}};
  for (const auto& [text, part] : wrong) {
    CAPTURE(text);
    support::write_text(work / "p.yaml", text);
    check_refused("images", {"--preprocess", "p.yaml", "--resize", "1,2"}, {part});
  }
  check_refused("images", {"--preprocess", "none.yaml"}, {"[io.read]", "none.yaml"});
  CHECK(warns("images", {"--resize", "1,2", "--mean", "104,117,123"}, "is --scale 1 meant?"));
}

TEST_CASE_FIXTURE(DataFixture, "a list of files keeps its order, and each place a file may have is found") {
  use_identity({1, 1, 1, 1});
  for (const int value : {1, 2, 3}) {
    support::write_image(work / ("images/my " + std::to_string(value) + ".png"), 1, 1, 1, Pixels{std::uint8_t(value)});
  }
  support::write_text(work / "images/list.txt", "my 3.png 0\r\nimages/my 1.png 1\n\nmy 2.png 1\n");
  CHECK(batches("images/list.txt", {"--scale", "1"}) == std::vector<Numbers>{{3}, {1}, {2}});
  support::write_text(work / "images/list.txt", "my 3.png 0\nmy 4.png 1\n");
  check_refused("images/list.txt", {}, {"list.txt:2", "my 4.png"});
  support::write_text(work / "images/list.txt", "my 3.png 0\nmy 1.png\n");
  check_refused("images/list.txt", {}, {"list.txt", "has no label in 1 of 2 lines"});
  check_refused("net.onnx", {}, {"net.onnx", "extensions"});
}

TEST_CASE_FIXTURE(DataFixture, "what is no image, or does not belong together, is named") {
  use_identity({1, 1, 1, 1});
  support::write_text(work / "images/a.png", "no image");
  check_refused("images", {}, {"[data.format]", "a.png", "is no PNG or JPEG image"});
  write_npy("images/b.npy", {1, 1, 1, 1}, {1});
  check_refused("images", {}, {"[data.format]", "b.npy", "stands beside a.png"});
  std::filesystem::remove(work / "images/a.png");
  check_refused("images", {"--mean", "1"}, {"[data.format]", "holds no images"});
}

TEST_CASE_FIXTURE(DataFixture, "arrays are split and put together to batches of any size") {
  use_identity({-1, 2});
  std::filesystem::create_directory(work / "arrays");
  write_npy("arrays/a.npy", {3, 2}, {0, 1, 2, 3, 4, 5});
  write_npy("arrays/b.npy", {2}, {6, 7});
  write_npy("arrays/c.npy", {1, 2}, {8, 9});
  CHECK(batches("arrays", {"--batch_size", "2"}) == std::vector<Numbers>{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(warns("arrays", {"--batch_size", "2"},
              "arrays: the last sample is left out, since 5 fill no whole batches of 2"));
  CHECK(batches("arrays", {"--batch_size", "5"}) == std::vector<Numbers>{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}});
  CHECK(batches("arrays/a.npy", {"--input_shape", "x:1,2"}).size() == 3);
  std::filesystem::create_directory(work / "upper");
  std::filesystem::copy(work / "arrays/a.npy", work / "upper/A.NPY");
  CHECK(batches("upper", {"--batch_size", "3"}) == std::vector<Numbers>{{0, 1, 2, 3, 4, 5}});
  CHECK(batches("upper", {"--input_shape", "x:3,2"}) == std::vector<Numbers>{{0, 1, 2, 3, 4, 5}});
  check_refused("arrays", {"--input_shape", "x:3,2"}, {"b.npy", "has shape [2], expected [3,2]"});
  check_refused("arrays", {}, {"[model.shape]", "net.onnx", "axis 0", "--batch_size"});
  check_refused("arrays/a.npy", {"--batch_size", "4"}, {"[data.empty]"});
}

TEST_CASE_FIXTURE(DataFixture, "an archive holds all inputs by their names, whatever their order") {
  use_two_inputs(2);
  write_npy("z.npy", {4, 1}, {10, 20, 30, 40});
  write_npy("x.npy", {4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  pack("all.npz", {"z", "x"});
  const std::vector<Numbers> sums{{11, 12, 13, 24, 25, 26}, {37, 38, 39, 50, 51, 52}};
  CHECK(batches("all.npz") == sums);
  CHECK(batches("x.npy;z.npy") == sums);
  check_refused("x.npy", {}, {"[data.format]", "--data_dir", "one for each of 2 inputs"});
  pack("some.npz", {"x"});
  check_refused("some.npz", {}, {"some.npz", "\"z\"", "has no array of this name, only \"x\""});
  std::filesystem::create_directory(work / "archives");
  write_npy("z.npy", {2, 1}, {10, 20});
  write_npy("x.npy", {2, 3}, {1, 2, 3, 4, 5, 6});
  pack("archives/0.npz", {"z", "x"});
  CHECK(batches("archives") == std::vector<Numbers>{sums[0]});
  use_two_inputs(-1);
  CHECK(batches("archives", {"--batch_size", "1"}).size() == 2);
  write_npy("z.npy", {3, 1}, {10, 20, 30});
  const auto unequal =
      amct({"eval", "--model", "net.onnx", "--metric_command", "echo 1", "--batch_size", "4", "--data", "x.npy;z.npy"});
  CAPTURE(unequal.output);
  CHECK(unequal.exit_code == 1);
  CHECK(unequal.output.find("holds 3 samples, expected 2 as in x.npy") != std::string::npos);
}

TEST_CASE_FIXTURE(DataFixture, "a network without inputs, or with one beyond all sizes, is refused") {
  write_npy("x.npy", {1, 2}, {1, 2});
  support::ModelBuilder net;
  net.output("y", {2}).initializer("c", {2}, {1, 2});
  net.node("Identity", "same", {"c"}, {"y"}).save(work / "net.onnx");
  check_refused("x.npy", {}, {"[model.shape]", "net.onnx", "has no inputs"});
  use_identity({std::int64_t{1} << 32, std::int64_t{1} << 32});
  check_refused("x.npy", {}, {"[model.shape]", "\"x\"", "at most 2^31 elements"});
}

TEST_CASE_FIXTURE(DataFixture, "channels in the wrong place are found in arrays, with both shapes") {
  use_identity({1, 3, 2, 4});
  write_npy("a.npy", {1, 2, 4, 3}, Numbers(24, 1.0F));
  check_refused("a.npy", {}, {"a.npy", "[1,2,4,3]", "expected [1,3,2,4]", "looks like NHWC", "(0, 3, 1, 2)"});
}

TEST_CASE_FIXTURE(DataFixture, "constant and repeated batches give a warning with the file") {
  use_identity({1, 2});
  std::filesystem::create_directory(work / "arrays");
  write_npy("arrays/a.npy", {1, 2}, {0.5F, 0.5F});
  write_npy("arrays/b.npy", {1, 2}, {1, 2});
  write_npy("arrays/c.npy", {1, 2}, {1, 2});
  CHECK(warns("arrays", {}, "a.npy: all 2 values of input \"x\" are 0.5"));
  CHECK(warns("arrays", {}, "c.npy: holds the same batch as arrays/b.npy"));
  write_npy("arrays/c.npy", {1, 2}, {1, std::numeric_limits<float>::quiet_NaN()});
  check_refused("arrays", {}, {"[data.not_finite]", "c.npy", "NaN at index 1"});
  check_refused("arrays", {"--batch_size", "1"}, {"[data.not_finite]", "c.npy", "NaN at index 1"});
}

TEST_CASE_FIXTURE(DataFixture, "pixels that are not normalized as in training give a warning with the numbers") {
  support::ModelBuilder net;
  net.input("x", {1, 1, 4, 4}).output("y", {1, 1, 4, 4});
  net.initializer("w", {1, 1, 1, 1}, {2}).initializer("one", {1}, {1}).initializer("zero", {1}, {0});
  net.initializer("var", {1}, {4});
  net.node("Conv", "conv", {"x", "w"}, {"c"});
  net.node("BatchNormalization", "bn", {"c", "one", "zero", "zero", "var"}, {"y"}).save(work / "net.onnx");
  Pixels pixels;
  for (int i = 0; i < 16; ++i) pixels.push_back(static_cast<std::uint8_t>(17 * i));
  support::write_image(work / "images/a.png", 4, 4, 1, pixels);
  CHECK(!warns("images", {"--mean", "0.5", "--std", "0.3"}, "in training"));
  CHECK(warns("images", {"--scale", "1"}, "\"bn\" reads values that spread 78"));
  CHECK(warns("images", {"--scale", "1"}, "input \"x\" holds 0 to 255, mean 128"));
}
