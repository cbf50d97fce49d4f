#include "certificates.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <fstream>
#include <memory>
#include <string>

#include "failing.h"

namespace vidscore::detail {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using File = std::unique_ptr<BIO, decltype(&BIO_free)>;

/// Without a password OpenSSL would ask for one at the terminal.
int no_password(char*, int, int, void*) { return 0; }

bool is_there(const std::string& path) { return std::ifstream(path).good(); }

Certificate read_certificate(const char* argument, const std::string& path) {
  const File file(BIO_new_file(path.c_str(), "rb"), BIO_free);
  X509* found = file ? PEM_read_bio_X509(file.get(), nullptr, no_password, nullptr) : nullptr;
  ERR_clear_error();
  if (found == nullptr) refuse(argument, path + " without a certificate", "a PEM file");
  return Certificate(found, X509_free);
}

Key read_key(const std::string& path) {
  const File file(BIO_new_file(path.c_str(), "rb"), BIO_free);
  EVP_PKEY* found =
      file ? PEM_read_bio_PrivateKey(file.get(), nullptr, no_password, nullptr) : nullptr;
  ERR_clear_error();
  if (found == nullptr) refuse("private_key", path + " without a key", "a PEM file");
  return Key(found, EVP_PKEY_free);
}

}  // namespace

void check_certificates(const Tls& tls) {
  if (is_there(tls.root_certificates)) read_certificate("root_certificates", tls.root_certificates);
  if (!is_there(tls.certificate) || !is_there(tls.private_key)) return;
  const Certificate certificate = read_certificate("certificate", tls.certificate);
  const Key key = read_key(tls.private_key);
  const bool belong = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!belong) refuse("private_key", tls.private_key, "the key of " + tls.certificate);
}

}  // namespace vidscore::detail
