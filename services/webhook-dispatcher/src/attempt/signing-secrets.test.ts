import { expect, test } from "@jest/globals";
import { ServiceError } from "@vvs/errors";
import { captureLogs, eventually } from "@vvs/testing";
import { createSigningSecretCache } from "./signing-secrets.ts";

test("secrets are available again when those of any organization are, whichever failed first", async () => {
  const unavailable = new Set<string>();
  const secrets = createSigningSecretCache({
    async ask(organizationId) {
      if (unavailable.has(organizationId)) throw new ServiceError("service_unavailable");
      return { secrets: [], privateHosts: [] };
    },
    logger: captureLogs().logger,
  });
  await secrets.secretsOf("org_2");
  unavailable.add("org_1");
  expect(await secrets.secretsOf("org_1")).toBeUndefined();
  expect(secrets.isUnavailable()).toBe(true);
  await eventually(() => !secrets.isUnavailable());
  secrets.close();
});
