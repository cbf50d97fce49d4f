// The command line.

#pragma once

#include <vidscore/client.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>

/// A wrong command line, or an invalid file of frames.
class Misuse : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A command with its options.
class Arguments {
 public:
  Arguments(int count, char** words);

  const std::string& command() const { return command_; }
  bool has(const std::string& name) const { return options_.count(name) > 0; }
  const std::string& required(const std::string& name) const;
  std::string text(const std::string& name, const std::string& otherwise = "") const;
  std::optional<double> number(const std::string& name) const;
  std::optional<std::int64_t> whole(const std::string& name) const;
  std::optional<vidscore::Duration> time(const std::string& name) const;

  /// Connect with the common options.
  vidscore::Client client() const;
  /// How frames are batched; missing options keep the client's defaults.
  vidscore::Batching batching() const;
  /// How frames are delivered, likewise.
  vidscore::Delivery delivery() const;

 private:
  std::string command_;
  std::map<std::string, std::string> options_;
};
