import { expect, test } from "@jest/globals";
import { createAuthority } from "@vvs/egress/testing/certificates";
import { wayOut } from "./way-out.ts";

const authority = createAuthority();
const [mine, another] = [authority.issue(["DNS:sender.example"]), authority.issue(["DNS:another.example"])];
const plain = { WEBHOOK_ALLOW_PRIVATE_TARGETS: false };

test("nothing is shown, and connections are made directly, unless configured", () => {
  expect(wayOut(plain)).toEqual({ allowPrivateTargets: false, proxy: undefined, identity: undefined });
});

test("a proxy and an identity are taken as they are", () => {
  const { proxy, identity } = wayOut({
    ...plain,
    WEBHOOK_EGRESS_PROXY_URL: "http://us:secret@proxy.internal:4750",
    WEBHOOK_CLIENT_CERT: mine.cert,
    WEBHOOK_CLIENT_KEY: mine.key,
  });
  expect(proxy?.url.host).toBe("proxy.internal:4750");
  expect(identity).toEqual(mine);
});

test.each([
  ["a certificate alone", { WEBHOOK_CLIENT_CERT: mine.cert }, /both or none/],
  ["a key alone", { WEBHOOK_CLIENT_KEY: mine.key }, /both or none/],
  ["no certificate", { WEBHOOK_CLIENT_CERT: "none", WEBHOOK_CLIENT_KEY: mine.key }, /can't be used/],
  ["another's key", { WEBHOOK_CLIENT_CERT: mine.cert, WEBHOOK_CLIENT_KEY: another.key }, /can't be used/],
])("%s is told at the start, not at the first delivery", (_what, variables, problem) => {
  expect(() => wayOut({ ...plain, ...variables })).toThrow(problem);
});
