// SPDX-License-Identifier: MIT
#include "tls/certificates/certificate_authority.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "tls/certificates/certificate_builder.h"
#include "tls/certificates/pem.h"

namespace titanium::tls {
namespace {

constexpr std::time_t kDay = 24 * 60 * 60;
// Clocks of clients may be behind.
constexpr std::time_t kBackDated = 2 * kDay;
constexpr std::time_t kRootLifetime = 3652 * kDay;
// Clients refuse more than 200 days for certificates made from 2026 on.
constexpr std::time_t kLeafLifetime = 199 * kDay;

std::unexpected<LoadError> fail(const std::string& path, const std::string& what) {
  return std::unexpected(LoadError{path + ": " + what});
}

std::unexpected<LoadError> fail_errno(const std::string& path, const char* doing) {
  return fail(path, std::string(doing) + ": " + std::strerror(errno));
}

bool exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

// mkdir -p; every folder that is made is for this user only.
LoadResult<void> make_folders(const std::string& folder) {
  std::size_t end = 0;
  while (end != std::string::npos) {
    end = folder.find('/', end + 1);
    const std::string part = folder.substr(0, end);
    if (part.empty() || exists(part)) continue;
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      return fail_errno(part, "cannot create folder");
    }
  }
  return {};
}

bool is_owner_trusted(const struct stat& info) {
  return info.st_uid == ::geteuid() || info.st_uid == 0;
}

// Whoever can write here could put a key of their own in our place.
LoadResult<void> check_folder(const std::string& folder) {
  struct stat info;
  if (::stat(folder.c_str(), &info) != 0) return fail_errno(folder, "cannot open folder");
  if (!S_ISDIR(info.st_mode)) return fail(folder, "is not a folder");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(folder, "other users can write to this folder of a CA key; try: chmod 700");
  }
  if (!is_owner_trusted(info)) return fail(folder, "this folder belongs to another user");
  return {};
}

LoadResult<void> check_key_file(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return fail_errno(path, "cannot open");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return fail(path, "other users can read this CA key; make a new one, or try: chmod 600");
  }
  if (!is_owner_trusted(info)) return fail(path, "this CA key belongs to another user");
  return {};
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd) == 0;
}

// Creates `path` with this content, whole or not at all, unless it exists: then the file that is
// there stays, and that is no error. A link, not a rename, since a rename would replace it.
LoadResult<void> create_once(const std::string& path, std::string_view content) {
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);  // Mode 0600.
  if (fd < 0) return fail_errno(path, "cannot create");
  const bool written = write_all(fd, content);
  const int write_errno = errno;
  ::close(fd);
  const bool linked = written && (::link(temporary.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int link_errno = errno;
  ::unlink(temporary.c_str());
  if (linked) return {};
  errno = written ? link_errno : write_errno;
  return fail_errno(path, "cannot create");
}

struct RootFiles {
  std::string certificate;
  std::string key;
};

// The key first: whoever finds a key without certificate completes the pair, so that neither two
// processes at once nor one that died half-way leave a pair that does not fit.
LoadResult<void> create_missing(const RootFiles& files) {
  const bool had_certificate = exists(files.certificate);
  if (!exists(files.key)) {
    if (had_certificate) {
      return fail(files.key, "missing, but its certificate " + files.certificate +
                                 " is there; restore the key or remove the certificate");
    }
    if (auto done = create_once(files.key, to_pem(make_key().get())); !done) return done;
  }
  if (had_certificate) return {};
  if (auto safe = check_key_file(files.key); !safe) return safe;
  auto text = read_file(files.key);
  if (!text) return fail(files.key, text.error().what);
  auto key = parse_private_key(*text, {});
  if (!key) return fail(files.key, key.error().what);
  const std::time_t now = std::time(nullptr);
  auto root = make_root(key->get(), "Titanium CA",
                        {.not_before = now - kBackDated, .not_after = now + kRootLifetime});
  if (!root) return std::unexpected(std::move(root.error()));
  return create_once(files.certificate, to_pem(root->get()));
}

LoadResult<KeyPairPem> load_root(const RootFiles& files) {
  if (auto safe = check_key_file(files.key); !safe) return std::unexpected(std::move(safe.error()));
  auto pem = load_key_pair(files.certificate, files.key, {});
  if (!pem) return pem;
  auto pair = parse_key_pair(*pem);
  if (!pair) return fail(files.certificate, pair.error().what);
  X509* root = pair->chain.front().get();
  if (X509_check_ca(root) == 0) return fail(files.certificate, "is not the certificate of a CA");
  if (X509_cmp_current_time(X509_get0_notAfter(root)) < 0) {
    return fail(files.certificate, "has expired; remove it to get a new one for the same key");
  }
  return pem;
}

std::time_t expiry_of(const X509* certificate) {
  tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) return 0;
  return ::timegm(&parts);
}

// A home as named by the environment or the user data base, if it is there.
std::string home_folder() {
  const char* home = std::getenv("HOME");
  std::string folder = home == nullptr ? "" : home;
  if (folder.empty()) {
    std::array<char, 4096> buffer;
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
        found != nullptr) {
      folder = found->pw_dir;
    }
  }
  const bool usable = folder.size() > 1 && folder.starts_with('/') && exists(folder);
  return usable ? folder : std::string();
}

}  // namespace

LoadResult<CertificateAuthority> CertificateAuthority::open_or_create(const std::string& folder) {
  if (folder.empty()) return std::unexpected(LoadError{"the CA needs a folder"});
  const RootFiles files{.certificate = folder + "/root.pem", .key = folder + "/root.key"};
  if (auto made = make_folders(folder); !made) return std::unexpected(std::move(made.error()));
  if (auto safe = check_folder(folder); !safe) return std::unexpected(std::move(safe.error()));
  if (auto made = create_missing(files); !made) return std::unexpected(std::move(made.error()));
  auto root = load_root(files);
  if (!root) return std::unexpected(std::move(root.error()));
  return CertificateAuthority(std::move(*root));
}

LoadResult<KeyPairPem> CertificateAuthority::issue(std::span<const std::string> names) const {
  auto root = parse_key_pair(root_);
  if (!root) return std::unexpected(std::move(root.error()));
  X509* issuer = root->chain.front().get();
  const PrivateKey key = make_key();
  const std::time_t start = std::time(nullptr) - kBackDated;
  auto leaf = make_leaf(
      key.get(), names,
      {.not_before = start, .not_after = std::min(start + kLeafLifetime, expiry_of(issuer))},
      issuer, root->key.get());
  if (!leaf) return std::unexpected(std::move(leaf.error()));
  return KeyPairPem{.certificate_chain = to_pem(leaf->get()) + root_.certificate_chain,
                    .private_key = to_pem(key.get())};
}

std::string default_certificate_folder() {
  const char* data = std::getenv("XDG_DATA_HOME");
  // Relative paths are to be ignored, says the XDG base directory specification.
  if (data != nullptr && data[0] == '/') return std::string(data) + "/titanium";
  if (const std::string home = home_folder(); !home.empty()) {
    return home + "/.local/share/titanium";
  }
  return "/var/lib/titanium";
}

}  // namespace titanium::tls
