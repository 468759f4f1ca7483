import { expect, test } from "@jest/globals";
import { addressRule, isPublicAddress, isRange } from "./address.ts";

test.each([
  "1.1.1.1",
  "8.8.8.8",
  "93.184.215.14",
  "100.63.255.255",
  "100.128.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "::ffff:8.8.8.8",
  "::ffff:808:808",
  "2606:4700:4700::1111",
  "2A00:1450:4001:0831:0000:0000:0000:200E",
])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  ["this network", "0.0.0.0"],
  ["this network", "0.8.8.8"],
  ["private", "10.0.0.1"],
  ["private", "172.16.0.1"],
  ["private", "172.31.255.255"],
  ["private", "192.168.1.1"],
  ["carrier-grade NAT", "100.64.0.1"],
  ["carrier-grade NAT", "100.127.255.255"],
  ["loopback", "127.0.0.1"],
  ["loopback", "127.255.255.254"],
  ["link-local, metadata of clouds", "169.254.169.254"],
  ["metadata of a cloud", "100.100.100.200"],
  ["metadata of a cloud", "192.0.0.192"],
  ["host of a cloud, at a public address", "168.63.129.16"],
  ["host of a cloud, mapped", "::ffff:168.63.129.16"],
  ["protocol assignments", "192.0.0.8"],
  ["documentation", "192.0.2.1"],
  ["documentation", "198.51.100.7"],
  ["documentation", "203.0.113.7"],
  ["6to4 relays", "192.88.99.1"],
  ["AS112", "192.31.196.1"],
  ["AMT", "192.52.193.1"],
  ["benchmarking", "198.18.0.1"],
  ["benchmarking", "198.19.255.255"],
  ["multicast", "224.0.0.1"],
  ["multicast", "239.255.255.250"],
  ["reserved", "240.0.0.1"],
  ["broadcast", "255.255.255.255"],
  ["unspecified", "::"],
  ["loopback", "::1"],
  ["loopback", "0:0:0:0:0:0:0:1"],
  ["not in use", "::2"],
  ["mapped loopback", "::ffff:127.0.0.1"],
  ["mapped loopback", "::ffff:7f00:1"],
  ["mapped loopback", "0:0:0:0:0:FFFF:7F00:0001"],
  ["mapped private", "::ffff:10.0.0.1"],
  ["mapped metadata", "::ffff:169.254.169.254"],
  ["IPv4-compatible", "::127.0.0.1"],
  ["IPv4-compatible", "::10.0.0.1"],
  ["IPv4-compatible", "::8.8.8.8"],
  ["translated", "::ffff:0:7f00:1"],
  ["NAT64 of loopback", "64:ff9b::7f00:1"],
  ["NAT64 of loopback", "64:ff9b::127.0.0.1"],
  ["NAT64 of metadata", "64:ff9b::a9fe:a9fe"],
  ["NAT64 of a public address", "64:ff9b::808:808"],
  ["local NAT64", "64:ff9b:1::1"],
  ["local NAT64", "64:ff9b:1::10.0.0.1"],
  ["discard", "100::1"],
  ["not in use", "1::1"],
  ["not in use", "4000::1"],
  ["protocol assignments", "2001:1::1"],
  ["Teredo", "2001::1"],
  ["Teredo", "2001:0:7f00:1::"],
  ["benchmarking", "2001:2::1"],
  ["ORCHID", "2001:10::1"],
  ["ORCHIDv2", "2001:20::1"],
  ["documentation", "2001:db8::1"],
  ["documentation", "3fff::1"],
  ["6to4 of loopback", "2002:7f00:1::"],
  ["6to4 of private", "2002:a00:1::"],
  ["6to4 of a public address", "2002:808:808::"],
  ["AS112", "2620:4f:8000::1"],
  ["segment routing", "5f00::1"],
  ["unique local", "fc00::1"],
  ["unique local, metadata of a cloud", "fd00:ec2::254"],
  ["link-local", "fe80::1"],
  ["link-local with a zone", "fe80::1%eth0"],
  ["site-local", "fec0::1"],
  ["multicast", "ff02::1"],
  ["multicast", "ff0e::1"],
])("%s is not: %s", (_what, address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  "",
  "example.com",
  "8.8",
  "8.8.8",
  "134744072",
  "0x8080808",
  "0x8.8.8.8",
  "010.8.8.8",
  "8.8.8.8.",
  " 8.8.8.8",
  "8.8.8.8 ",
  "8.8.8.8:443",
  "8.8.8.8%1",
  "[2606:4700:4700::1111]",
  "::ffff:8.8.8.8.1",
  "８.8.8.8",
])("a text that is not an address, or in an unusual notation, is not public: %j", (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

const local = addressRule({
  allowPrivateTargets: true,
  refusedRanges: ["198.51.100.0/24", "10.1.0.0/16", "2001:db8::/32"],
});

test.each(["127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "fd00::1", "8.8.8.8"])(
  "a local run may reach %s",
  (address) => {
    expect(local(address)).toBe(true);
  },
);

test.each([
  "169.254.169.254",
  "169.254.170.2",
  "::ffff:169.254.169.254",
  "fd00:ec2::254",
  "fd20:ce::254",
  "fe80::1",
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
  "198.51.100.7",
  "::ffff:10.1.2.3",
  "2001:db8::1",
  "metadata.google.internal",
])("not even a local run reaches %s", (address) => {
  expect(local(address)).toBe(false);
});

test("a public address in a refused range is refused", () => {
  const rule = addressRule({ allowPrivateTargets: false, refusedRanges: ["8.8.8.0/24"] });
  expect([rule("8.8.8.8"), rule("8.8.4.4")]).toEqual([false, true]);
});

test.each([
  ["203.0.113.0/24", true],
  ["2001:db8::/32", true],
  ["203.0.113.7", false],
  ["203.0.113.0/33", false],
  ["10/8", false],
  ["example.com", false],
])("%s is a range: %s", (text, expected) => {
  expect(isRange(text)).toBe(expected);
});
