import { expect, test } from "@jest/globals";
import { addressGroup, networkGroup } from "./address-groups.ts";

test.each([
  ["203.0.113.7", "203.0.113.7", "203.0.113.0/24"],
  ["::ffff:203.0.113.7", "203.0.113.7", "203.0.113.0/24"],
  ["::FFFF:203.0.113.7", "203.0.113.7", "203.0.113.0/24"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["2001:0db8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["2001:db8::1", "2001:db8:0:0::/64", "2001:db8:0::/48"],
  ["2001:db8:1:2::", "2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["fe80::1%eth0", "fe80:0:0:0::/64", "fe80:0:0::/48"],
  ["::1", "0:0:0:0::/64", "0:0:0::/48"],
  ["", "", ""],
  ["x".repeat(500), "x".repeat(64), "x".repeat(64)],
])("%s counts as %s, of the network %s", (address, group, network) => {
  expect([addressGroup(address), networkGroup(address)]).toEqual([group, network]);
});
