#include "versions.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "failing.h"

namespace vidscore::detail {
namespace {

constexpr int kMinorsApart = 1;
constexpr std::size_t kMostDigits = 6;
constexpr char kDigits[] = "0123456789";
constexpr char kRest[] = "0123456789abcdefghijklmnopqrstuvwxyz.+-";

/// Major and minor version.
using Version = std::pair<int, int>;

/// A number of few digits that a text has at a place, which moves after it.
std::optional<int> take_number(const std::string& text, std::size_t* place) {
  const std::size_t end = std::min(text.find_first_not_of(kDigits, *place), text.size());
  const std::string digits = text.substr(*place, std::min(end - *place, kMostDigits));
  if (digits.empty()) return std::nullopt;
  *place += digits.size();
  return std::stoi(digits);
}

std::optional<Version> parse(const std::string& text) {
  std::size_t place = 0;
  const std::optional<int> major = take_number(text, &place);
  if (!major || place >= text.size() || text[place++] != '.') return std::nullopt;
  const std::optional<int> minor = take_number(text, &place);
  if (!minor || text.find_first_not_of(kRest, place) != std::string::npos) return std::nullopt;
  return Version(*major, *minor);
}

}  // namespace

void check_server(const std::string& server, const std::string& client) {
  const std::optional<Version> theirs = parse(server);
  const std::optional<Version> ours = parse(client);
  if (!theirs || !ours) return;
  const bool near = std::abs(theirs->second - ours->second) <= kMinorsApart;
  if (theirs->first == ours->first && near) return;
  ErrorFacts facts;
  facts.kind = ErrorKind::version;
  facts.reason = "VERSION_UNSUPPORTED";
  facts.message =
      "the server has version " + server + " and the client " + client +
      ", which works with servers of the same major version and at most " +
      std::to_string(kMinorsApart) + " minor version away: " +
      (*theirs > *ours ? "update the client" : "update the server, or use an older client");
  facts.metadata = {{"client_version", client}, {"server_version", server}};
  raise(Error(std::move(facts)));
}

}  // namespace vidscore::detail
