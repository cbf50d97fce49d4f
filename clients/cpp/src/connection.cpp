#include "connection.h"

#include <google/protobuf/wrappers.pb.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <sstream>

#include "certificates.h"
#include "checks.h"
#include "versions.h"
#include "vidscore/version.h"

namespace vidscore::detail {
namespace {

/// A report of a million rows; grpc's own limit of 4 MiB is too small for many sequences.
constexpr int kMaximumResponseBytes = 256 << 20;
/// How long grpc waits before it connects again, so that it is no slower than Retry.
constexpr int kReconnectMinimumMs = 200;
constexpr int kReconnectMaximumMs = 10'000;

bool is_port(const std::string& text) {
  const bool digits =
      !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == text.npos;
  return digits && std::stoi(text) <= 65535;
}

/// Name or address of the machine; empty for a local socket.
std::string host_of(const std::string& target) {
  constexpr char kExpected[] = "host:port, [address]:port or unix:path";
  const bool spaced = std::any_of(target.begin(), target.end(),
                                  [](unsigned char sign) { return sign <= ' ' || sign == 0x7f; });
  const bool web = target.rfind("http:", 0) == 0 || target.rfind("https:", 0) == 0;
  if (target.empty() || spaced || web) refuse("target", quoted(target), kExpected);
  if (target.rfind("unix:", 0) == 0) return "";
  // "dns:///host:port" is grpc's own way to name a resolver.
  const std::string authority = target.substr(target.rfind('/') + 1);
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string::npos || colon == 0 || !is_port(authority.substr(colon + 1))) {
    refuse("target", quoted(target), kExpected);
  }
  const std::string host = authority.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') return host.substr(1, host.size() - 2);
  if (host.find(':') != host.npos) refuse("target", quoted(target), kExpected);
  return host;
}

bool is_loopback(const std::string& host) {
  if (host.empty() || host == "localhost" || host == "::1") return true;
  const bool address = host.find_first_not_of("0123456789.") == std::string::npos;
  return address && host.rfind("127.", 0) == 0 && std::count(host.begin(), host.end(), '.') == 3;
}

void check_token(const std::string& token, const std::string& host, const ClientOptions& options) {
  // The text never shows the token, because errors end up in logs.
  const bool printable =
      std::all_of(token.begin(), token.end(), [](char sign) { return sign >= '!' && sign <= '~'; });
  if (!printable)
    refuse("token", "something else", "printable ASCII without spaces or line breaks");
  if (!options.tls && !options.allow_plaintext_token && !is_loopback(host)) {
    refuse("token", "an unencrypted connection to " + host,
           "tls, or allow_plaintext_token on a network that nobody else can read");
  }
}

std::string read(const char* argument, const std::string& path) {
  if (path.empty()) return "";
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    refuse(argument, path + ": " + (errno == 0 ? "empty" : std::strerror(errno)), "a PEM file");
  }
  return text.str();
}

std::shared_ptr<grpc::ChannelCredentials> credentials_of(const std::optional<Tls>& tls) {
  if (!tls) return grpc::InsecureChannelCredentials();
  if (tls->certificate.empty() != tls->private_key.empty()) {
    refuse(tls->certificate.empty() ? "certificate" : "private_key", "none",
           "certificate and private_key together, or neither");
  }
  check_certificates(*tls);
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = read("root_certificates", tls->root_certificates);
  options.pem_private_key = read("private_key", tls->private_key);
  options.pem_cert_chain = read("certificate", tls->certificate);
  return grpc::SslCredentials(options);
}

int milliseconds_of(Duration time) {
  using std::chrono::milliseconds;
  const Duration bounded = std::min<Duration>(time, milliseconds(INT_MAX));
  return static_cast<int>(std::chrono::ceil<milliseconds>(bounded).count());
}

void set_keepalive(const Keepalive& keepalive, grpc::ChannelArguments* arguments) {
  const int timeout_ms = milliseconds_of(keepalive.timeout);
  arguments->SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds_of(keepalive.interval));
  arguments->SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, timeout_ms);
  // Newer releases of grpc have a separate timeout for pings, of a minute.
  arguments->SetInt("grpc.http2.ping_timeout_ms", timeout_ms);
  arguments->SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

grpc::ChannelArguments arguments_of(const std::string& host, const ClientOptions& options) {
  const std::optional<Tls>& tls = options.tls;
  grpc::ChannelArguments arguments;
  set_keepalive(options.keepalive, &arguments);
  arguments.SetUserAgentPrefix(std::string("vidscore-cpp/") + kVersion);
  arguments.SetMaxReceiveMessageSize(kMaximumResponseBytes);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMinimumMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaximumMs);
  // A proxy of the environment is for the network, not for this machine.
  if (is_loopback(host)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (tls && !tls->server_name.empty()) arguments.SetSslTargetNameOverride(tls->server_name);
  return arguments;
}

}  // namespace

Connection::Connection(const std::string& target, const ClientOptions& options)
    : timeout_(options.timeout) {
  const std::string host = host_of(target);
  check_positive("timeout", timeout_);
  check(options.keepalive);
  if (!options.token.empty()) {
    check_token(options.token, host, options);
    authorization_ = "Bearer " + options.token;
  }
  channel_ =
      grpc::CreateCustomChannel(target, credentials_of(options.tls), arguments_of(host, options));
  benchmarks_ = wire::BenchmarkService::NewStub(channel_);
  evaluators_ = wire::EvaluatorService::NewStub(channel_);
  scoring_ = wire::ScoringService::NewStub(channel_);
  servers_ = wire::ServerService::NewStub(channel_);
  submissions_ = wire::SubmissionService::NewStub(channel_);
}

void Connection::prepare(grpc::ClientContext* context,
                         const std::optional<Duration>& timeout) const {
  context->AddMetadata(kClientVersionKey, kVersion);
  if (!authorization_.empty()) context->AddMetadata("authorization", authorization_);
  if (timeout) {
    const auto time =
        std::chrono::duration_cast<std::chrono::system_clock::duration>(std::min(*timeout, kAges));
    context->set_deadline(std::chrono::system_clock::now() + time);
  }
}

void Connection::check_server_of(const grpc::ClientContext& context) {
  const auto& trailing = context.GetServerTrailingMetadata();
  const auto found = trailing.find(kServerVersionKey);
  if (found == trailing.end()) return;
  check_server(std::string(found->second.data(), found->second.size()), kVersion);
}

int Connection::health(const std::string& service) const {
  // The messages of `grpc.health.v1` have one field each, a string and an enumeration, and so the
  // same bytes as the wrappers of these types: no generated code is needed for them.
  using Request = google::protobuf::StringValue;
  using Answer = google::protobuf::Int32Value;
  Request request;
  request.set_value(service);
  const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                         grpc::internal::RpcMethod::NORMAL_RPC, channel_);
  const auto call = [&](grpc::ClientContext* context, Answer* answer) {
    return grpc::internal::BlockingUnaryCall<Request, Answer, grpc::protobuf::MessageLite,
                                             grpc::protobuf::MessageLite>(channel_.get(), method,
                                                                          context, request, answer);
  };
  return answer<Answer>(call).value();
}

}  // namespace vidscore::detail
