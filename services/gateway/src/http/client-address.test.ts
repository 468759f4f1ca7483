import { expect, test } from "@jest/globals";
import { clientAddress, networkOf } from "./client-address.ts";

const address = (remoteAddress: string, forwarded: string | undefined, hops: number) =>
  clientAddress({ socket: { remoteAddress }, headers: { "x-forwarded-for": forwarded } } as never, hops);

test.each([
  ["192.0.2.1", undefined, 0, "192.0.2.1"],
  ["192.0.2.1", "198.51.100.7", 0, "192.0.2.1"],
  ["::ffff:192.0.2.1", undefined, 0, "192.0.2.1"],
  ["10.0.0.1", "198.51.100.7", 1, "198.51.100.7"],
  ["10.0.0.1", "203.0.113.9, 198.51.100.7", 1, "198.51.100.7"],
  ["10.0.0.1", "203.0.113.9, 198.51.100.7", 2, "203.0.113.9"],
  ["10.0.0.1", "6.6.6.6, 203.0.113.9, 198.51.100.7", 2, "203.0.113.9"],
  ["10.0.0.1", "198.51.100.7", 3, "198.51.100.7"],
  ["10.0.0.1", undefined, 1, "10.0.0.1"],
  ["10.0.0.1", "not an address", 1, "10.0.0.1"],
  ["2001:db8:1:2:3:4:5:6", undefined, 0, "2001:db8:1:2:3:4:5:6"],
  ["2001:DB8:1:2:ffff::1", undefined, 0, "2001:db8:1:2:ffff::1"],
  ["10.0.0.1", "2001:db8:1:3::9", 1, "2001:db8:1:3::9"],
])(
  "a connection from %s with X-Forwarded-For %j behind %d proxies comes from %s",
  (peer, forwarded, hops, expected) => {
    expect(address(peer, forwarded, hops)).toBe(expected);
  },
);

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"],
  ["not an address", "not an address"],
])("%s counts as %s", (from, network) => {
  expect(networkOf(from)).toBe(network);
});
