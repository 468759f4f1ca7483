import { expect, test } from "@jest/globals";
import { createAuthority } from "@vvs/egress/testing/certificates";
import { egressConfig } from "./egress-config.ts";

const authority = createAuthority();
const [mine, another] = [authority.issue(["DNS:sender.example"]), authority.issue(["DNS:another.example"])];
const plain = { WEBHOOK_ALLOW_PRIVATE_TARGETS: false };

test("without configuration there is no proxy and no client certificate", () => {
  expect(egressConfig(plain)).toEqual({ allowPrivateTargets: false, proxy: undefined, identity: undefined });
});

test("a proxy and a client certificate are taken from the configuration", () => {
  const { proxy, identity } = egressConfig({
    ...plain,
    WEBHOOK_EGRESS_PROXY_URL: "http://us:secret@proxy.internal:4750",
    WEBHOOK_CLIENT_CERT: mine.cert,
    WEBHOOK_CLIENT_KEY: mine.key,
  });
  expect(proxy?.url.host).toBe("proxy.internal:4750");
  expect(identity).toEqual(mine);
});

test.each([
  ["a certificate without a key", { WEBHOOK_CLIENT_CERT: mine.cert }, /both or none/],
  ["a key without a certificate", { WEBHOOK_CLIENT_KEY: mine.key }, /both or none/],
  ["an invalid certificate", { WEBHOOK_CLIENT_CERT: "none", WEBHOOK_CLIENT_KEY: mine.key }, /can't be used/],
  [
    "the key of another certificate",
    { WEBHOOK_CLIENT_CERT: mine.cert, WEBHOOK_CLIENT_KEY: another.key },
    /can't be used/,
  ],
])("%s is an error at the start, not at the first delivery", (_what, variables, problem) => {
  expect(() => egressConfig({ ...plain, ...variables })).toThrow(problem);
});
