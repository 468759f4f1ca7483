import { createHmac, timingSafeEqual } from "node:crypto";

/** Returns the event, or throws. body: the bytes as received; headers: lower-case names; secret: whsec_... */
export function verifyWebhook(body, headers, secret) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) throw new Error("too old");
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  const isGenuine = (headers["webhook-signature"] ?? "").split(" ").some((one) => {
    const sent = Buffer.from(one.replace(/^v1,/, ""), "base64");
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
  if (!isGenuine) throw new Error("not signed with this secret");
  return JSON.parse(body);
}
