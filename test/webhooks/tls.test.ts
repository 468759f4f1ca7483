import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { expect, test } from "@jest/globals";
import { listening, temporaryFolder } from "@vvs/testing";
import { createAuthority } from "../../packages/egress/src/testing/certificates.ts";
import { startTestStack } from "./stack.ts";

const authority = createAuthority();
const stranger = createAuthority();
const folder = temporaryFolder();
/** Webhooks received, each with the names in the sender's certificate. */
const received: { eventId: unknown; userAgent: unknown; peer: string | undefined }[] = [];

/** Starts a subscriber with this certificate; returns its URL. */
async function subscriber(certificate: { cert: string; key: string }): Promise<string> {
  const options = { ...certificate, ca: authority.ca, requestCert: true, rejectUnauthorized: false };
  const server = createServer(options, ({ headers, socket }, response) => {
    const peer = (socket as TLSSocket).getPeerCertificate().subjectaltname;
    received.push({ eventId: headers["webhook-id"], userAgent: headers["user-agent"], peer });
    response.end();
  });
  return `https://127.0.0.1:${await listening(server)}/hook`;
}

const identity = authority.issue(["DNS:sender.example"]);
const files = { "ca.pem": authority.ca, "cert.pem": identity.cert, "key.pem": identity.key };
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
const stack = await startTestStack({
  environment: {
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
    WEBHOOK_CLIENT_CERT_FILE: join(folder, "cert.pem"),
    WEBHOOK_CLIENT_KEY_FILE: join(folder, "key.pem"),
    WEBHOOK_USER_AGENT: "who-we-are/7",
  },
});

test("a subscriber with a valid certificate receives the event and can identify the sender", async () => {
  const event = await stack.tell(await subscriber(authority.issue(["IP:127.0.0.1"])));
  await stack.deliveryOf(event, ({ status }) => status === "delivered");
  expect(received).toEqual([{ eventId: event.eventId, userAgent: "who-we-are/7", peer: "DNS:sender.example" }]);
});

test("a subscriber with a certificate of an unknown authority is sent nothing", async () => {
  const event = await stack.tell(await subscriber(stranger.issue(["IP:127.0.0.1"])));
  const { attempts, status } = await stack.deliveryOf(event, (delivery) => delivery.attempts.length > 0);
  expect(attempts[0]).toMatchObject({ error: "tls", answer_excerpt: "" });
  expect(status).toBe("pending");
  expect(received.map(({ eventId }) => eventId)).not.toContain(event.eventId);
});
