import { expect, test } from "@jest/globals";
import { verifyWebhook } from "@vendor-verification/client";
import { guideCases } from "./cases.ts";

test.each(guideCases(new Date()).map((one) => [one.name, one] as const))(
  "the client's verifyWebhook judges right: %s",
  async (_name, { scheme, body, headers, secret, genuine }) => {
    const other = scheme === "standard" ? "X-Service-Signature" : "webhook-signature";
    const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== other));
    const verified = verifyWebhook(Buffer.from(body), sent, secret);
    if (genuine) expect((await verified).payload.event).toBe("monitor.change_detected");
    else await expect(verified).rejects.toThrow();
  },
);
