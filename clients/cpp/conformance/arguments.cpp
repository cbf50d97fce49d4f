#include "arguments.h"

#include <set>

namespace {

const std::set<std::string> kFlags = {"replay", "unary", "no-seal", "close", "until-ended"};

template <typename Setting, typename Value>
void set(Setting* setting, const std::optional<Value>& value) {
  if (value) *setting = static_cast<Setting>(*value);
}

}  // namespace

Arguments::Arguments(int count, char** words) {
  if (count < 2) throw Misuse("no command");
  command_ = words[1];
  for (int index = 2; index < count; ++index) {
    const std::string word = words[index];
    if (word.rfind("--", 0) != 0) throw Misuse(word);
    const std::string name = word.substr(2);
    if (kFlags.count(name) == 0 && ++index == count) throw Misuse(word + " has no value");
    options_[name] = words[index];
  }
}

const std::string& Arguments::required(const std::string& name) const {
  const auto found = options_.find(name);
  if (found == options_.end()) throw Misuse("--" + name + " is missing");
  return found->second;
}

std::string Arguments::text(const std::string& name, const std::string& otherwise) const {
  return has(name) ? required(name) : otherwise;
}

std::optional<double> Arguments::number(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  return std::stod(required(name));
}

std::optional<std::int64_t> Arguments::whole(const std::string& name) const {
  if (!has(name)) return std::nullopt;
  return std::stoll(required(name));
}

std::optional<vidscore::Duration> Arguments::time(const std::string& name) const {
  const std::optional<double> seconds = number(name);
  if (!seconds) return std::nullopt;
  return std::chrono::duration_cast<vidscore::Duration>(std::chrono::duration<double>(*seconds));
}

vidscore::Client Arguments::client() const {
  vidscore::ClientOptions options;
  options.token = text("token");
  set(&options.timeout, time("timeout-s"));
  set(&options.keepalive.interval, time("keepalive-interval-s"));
  set(&options.keepalive.timeout, time("keepalive-timeout-s"));
  if (has("ca")) {
    options.tls = vidscore::Tls{text("ca"), text("certificate"), text("key"), text("server-name")};
  }
  return vidscore::Client(required("address"), options);
}

vidscore::Batching Arguments::batching() const {
  vidscore::Batching batching;
  set(&batching.batch_frames, whole("batch-frames"));
  set(&batching.batch_interval, time("batch-interval-s"));
  set(&batching.queue_frames, whole("queue-frames"));
  if (has("block-timeout-s")) batching.block_timeout = time("block-timeout-s");
  const std::string policy = text("policy", "block");
  if (policy != "block" && policy != "raise") throw Misuse(policy);
  if (policy == "raise") batching.policy = vidscore::Policy::raise;
  return batching;
}

vidscore::Delivery Arguments::delivery() const {
  vidscore::Delivery delivery;
  set(&delivery.window_frames, whole("window-frames"));
  set(&delivery.acknowledge_timeout, time("acknowledge-timeout-s"));
  set(&delivery.close_timeout, time("close-timeout-s"));
  set(&delivery.retry.initial, time("retry-initial-s"));
  set(&delivery.retry.maximum, time("retry-maximum-s"));
  if (has("give-up-after-s")) delivery.retry.give_up_after = time("give-up-after-s");
  delivery.unary = has("unary");
  return delivery;
}
