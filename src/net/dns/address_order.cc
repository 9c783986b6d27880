// SPDX-License-Identifier: MIT
#include "net/dns/address_order.h"

#include <algorithm>
#include <cstddef>

namespace titanium::net {

std::vector<SocketAddress> interleave_families(const std::vector<SocketAddress>& addresses,
                                               bool ipv6_last) {
  if (addresses.empty()) return {};
  const bool first_is_ipv6 = !ipv6_last && addresses.front().is_ipv6();
  std::vector<SocketAddress> first;
  std::vector<SocketAddress> second;
  for (const SocketAddress& address : addresses) {
    (address.is_ipv6() == first_is_ipv6 ? first : second).push_back(address);
  }
  if (ipv6_last) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  std::vector<SocketAddress> mixed;
  mixed.reserve(addresses.size());
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    if (i < first.size()) mixed.push_back(first[i]);
    if (i < second.size()) mixed.push_back(second[i]);
  }
  return mixed;
}

}  // namespace titanium::net
