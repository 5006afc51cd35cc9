// SPDX-License-Identifier: Apache-2.0
#include <amct/protobuf/record_scanner.hpp>

#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using amct::protobuf::detail::RecordScanner;
using amct::protobuf::detail::TextEntry;

std::vector<TextEntry> entries_of(const std::string& text) {
  std::istringstream stream(text);
  RecordScanner scanner(stream);
  std::vector<TextEntry> entries;
  for (TextEntry entry; scanner.next(entry);) entries.push_back(entry);
  return entries;
}

std::vector<std::string> texts_of(const std::string& text) {
  std::vector<std::string> texts;
  for (const auto& entry : entries_of(text)) texts.push_back(entry.text);
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a text is cut behind the bracket that closes a top-level field") {
  CHECK(texts_of("record {\n a { } }\nrecord <b: 1>") == Texts{"record {\n a { } }", "record <b: 1>"});
  CHECK(texts_of("record: [{a: [1, 2]}, {}] prune_record {}") == Texts{"record: [{a: [1, 2]}, {}]", "prune_record {}"});
}

TEST_CASE("brackets in strings and comments do not count") {
  CHECK(texts_of("a { k: \"}\\\"}\" } b {}") == Texts{"a { k: \"}\\\"}\" }", "b {}"});
  CHECK(texts_of("a { k: '}\\'}\"' } b {}") == Texts{"a { k: '}\\'}\"' }", "b {}"});
  CHECK(texts_of("a { # } \"\n } b {}") == Texts{"a { # } \"\n }", "b {}"});
}

TEST_CASE("a string ends with its line, so that a missing quote costs one entry only") {
  CHECK(texts_of("a { k: \"x\n } b {}") == Texts{"a { k: \"x\n }", "b {}"});
  CHECK(texts_of("a { k: \"x\\\n } b {}") == Texts{"a { k: \"x\\\n }", "b {}"});
}

TEST_CASE("white space, comments, one separator and a byte order mark between entries are passed over") {
  CHECK(texts_of("").empty());
  CHECK(texts_of(" \t\r\n\v\f# record {}\n#").empty());
  CHECK(texts_of("\xEF\xBB\xBF a {} ; b {}, # c\n c {}") == Texts{"a {}", "b {}", "c {}"});
  CHECK(texts_of("a {} ;; b {}") == Texts{"a {}", "; b {}"});
  CHECK(texts_of("; a {}") == Texts{"; a {}"});
}

TEST_CASE("what is not closed comes as it is, for the parser to judge") {
  CHECK(texts_of("a: 1 b") == Texts{"a: 1 b"});
  CHECK(texts_of("a { b {") == Texts{"a { b {"});
  CHECK(texts_of("} a {}") == Texts{"}", "a {}"});
}

TEST_CASE("every byte of an entry has its place in the file") {
  const auto entries = entries_of("# one\n  a {} b {\n\tc: 1 }");
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].start.line == 2);
  CHECK(entries[0].start.column == 3);
  CHECK(entries[1].place_of(0).column == 8);
  CHECK(entries[1].place_of(5).line == 3);
  CHECK(entries[1].place_of(5).column == 2);
  CHECK(entries[1].place_of(1000).column == 8);  // the end
}

TEST_CASE("entries across the blocks that are read arrive whole") {
  std::string text;
  for (int i = 0; i < 3; ++i) text += "a { k: '" + std::string(70000, 'x') + "' }\n";
  const auto texts = texts_of(text);
  REQUIRE(texts.size() == 3);
  for (const auto& entry : texts) CHECK(entry.size() == 70000 + 11);
}

TEST_CASE("an entry above the limit is refused where it starts") {
  std::istringstream stream("a {}\n b { k: '" + std::string(amct::protobuf::kMaxRecordEntryBytes, 'x') + "' }");
  RecordScanner scanner(stream);
  TextEntry entry;
  CHECK(scanner.next(entry));
  try {
    (void)scanner.next(entry);
    FAIL("an entry of any size was accepted");
  } catch (const amct::Error& error) {
    CHECK(error.code() == amct::ErrorCode::record_syntax);
    CHECK(error.where().line == 2);
    CHECK(error.where().column == 2);
    CHECK(error.message() == "an entry has more than 67108864 bytes");
  }
}
