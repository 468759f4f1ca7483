import { randomBytes } from "node:crypto";
import { type MonitorEvent, signWebhook } from "@vendor-verification/client";
import type { Command } from "../command.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { afterOption, beginning, followLimits } from "../follow.ts";
import { webhookBody } from "../webhook-body.ts";

/** As long as the service itself waits for a subscriber. */
const TIMEOUT_MS = 15_000;

export const listen: Command = {
  name: "listen",
  summary: "Forward events as signed webhooks to a server on your machine.",
  options: {
    "forward-to": { value: "URL", does: "Your server, such as http://localhost:3000/hook. Required." },
    secret: { value: "WHSEC", does: "Secret to sign with. Default: a new one, which is printed." },
    after: afterOption,
  },
  help: `
Needs no public address and no webhook_url: events are read from the service and posted from this machine, signed like
the service signs them. Each event is posted once and the answer's status is printed; Ctrl-C ends.
With --json the first line holds the secret, and each further line one event with the answer.

  vendor-verification listen --forward-to http://localhost:3000/hook

In another terminal, make an event:

  vendor-verification trigger`,
  async run({ client, output, signal }, args) {
    const url = args.required("forward-to");
    if (!URL.canParse(url) || !/^https?:/.test(url)) throw new UsageError("--forward-to must be an http or https URL.");
    const secret = args.text("secret") ?? `whsec_${randomBytes(32).toString("base64")}`;
    if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) {
      throw new UsageError("--secret must be whsec_ followed by base64.");
    }
    const caller = client();
    const after = await beginning(caller, args.text("after"), signal);
    output.result(
      { forward_to: url, secret },
      () => `Forwarding new events to ${url}\nSigning secret: ${secret}\nCtrl-C ends.`,
    );
    try {
      for await (const page of caller.followEvents({ after }, { signal, ...followLimits })) {
        for (const event of page.events) {
          const answer = await forward(event, { url, secret, signal });
          output.result({ event_id: event.id, ...answer }, () => lineOf(event, answer));
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return exitCodes.ok;
  },
};

/** What the receiver answered. */
interface Answer {
  readonly status?: number;
  /** Why there is no status. */
  readonly error?: string;
  readonly duration_ms: number;
}

async function forward(
  event: MonitorEvent,
  options: { url: string; secret: string; signal: AbortSignal },
): Promise<Answer> {
  const { url, secret, signal } = options;
  const sentAt = new Date();
  const body = JSON.stringify(webhookBody(event, sentAt));
  const headers = {
    "Content-Type": "application/json",
    "Idempotency-Key": event.id,
    "X-Delivery-Attempt": "1",
    ...(await signWebhook(body, { id: event.id, secrets: secret, sentAt })),
  };
  const startedAt = performance.now();
  const took = () => Math.round(performance.now() - startedAt);
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(url, { method: "POST", redirect: "manual", headers, body, signal: limit });
    await response.arrayBuffer();
    return { status: response.status, duration_ms: took() };
  } catch (error) {
    signal.throwIfAborted();
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return { error: cause?.code ?? message, duration_ms: took() };
  }
}

function lineOf({ detected_at, id, changes }: MonitorEvent, { status, error, duration_ms }: Answer): string {
  const summary = changes.map(({ field, previous, current }) => `${field} ${previous || "–"} → ${current || "–"}`);
  return `${detected_at}  ${id}  ${status ?? `no answer (${error})`}  ${duration_ms} ms  ${summary.join(", ")}`;
}
