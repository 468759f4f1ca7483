import { randomBytes } from "node:crypto";
import { attemptHeaders } from "../../services/webhook-dispatcher/src/attempt/request.ts";
import { signaturesOf } from "../../services/webhook-dispatcher/src/attempt/signature.ts";

export type Scheme = "standard" | "service";

/** A webhook as it arrives, and whether a subscriber with `secret` must accept it. */
export interface Case {
  readonly name: string;
  readonly scheme: Scheme;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
  readonly genuine: boolean;
}

interface Situation {
  readonly name: string;
  readonly signedWith: readonly string[];
  readonly secret: string;
  readonly genuine: boolean;
  readonly ageSeconds?: number;
  readonly arrives?: (body: string) => string;
  readonly without?: readonly string[];
}

const freshSecret = (bytes: number) => `whsec_${randomBytes(bytes).toString("base64")}`;

/** Returns what a subscriber can receive, each for both schemes, signed by the code that signs deliveries. */
export function guideCases(now: Date): Case[] {
  const [previous, current, strangers] = [freshSecret(24), freshSecret(32), freshSecret(32)];
  const rotating = [current, previous];
  const situations: Situation[] = [
    { name: "the secret", signedWith: [current], secret: current, genuine: true },
    { name: "the new secret during a rotation", signedWith: rotating, secret: current, genuine: true },
    { name: "the old secret during a rotation", signedWith: rotating, secret: previous, genuine: true },
    { name: "a retry's age", signedWith: [current], secret: current, genuine: true, ageSeconds: 240 },
    { name: "the old secret after the rotation", signedWith: [current], secret: previous, genuine: false },
    { name: "another organization's secret", signedWith: rotating, secret: strangers, genuine: false },
    { name: "a replay of an old webhook", signedWith: rotating, secret: current, genuine: false, ageSeconds: 600 },
    {
      name: "a changed body",
      signedWith: rotating,
      secret: current,
      genuine: false,
      arrives: (body) => body.replace("expired", "active"),
    },
    {
      name: "no signature",
      signedWith: rotating,
      secret: current,
      genuine: false,
      without: ["X-Service-Signature", "webhook-signature"],
    },
  ];
  return situations.flatMap((situation) =>
    (["standard", "service"] as const).map((scheme) => signedCase(situation, scheme, now)),
  );
}

function signedCase(situation: Situation, scheme: Scheme, now: Date): Case {
  const { signedWith, ageSeconds = 0, arrives = (body: string) => body, without = [] } = situation;
  const sentAt = new Date(now.getTime() - ageSeconds * 1000);
  const body = JSON.stringify({
    event: "monitor.change_detected",
    changes: [{ field: "sam_registration.legal_name", previous: "Łódź & Straße GmbH", current: "expired" }],
    delivered_at: sentAt.toISOString(),
  });
  const event_id = "evt_01m7ygwpy7f3hbpxmvr5c4zsjg";
  const signatures = signaturesOf({ secrets: signedWith, eventId: event_id, sentAt, body });
  const signed = attemptHeaders({ event_id }, { number: 1, sentAt, signatures });
  const headers = Object.fromEntries(Object.entries(signed).filter(([name]) => !without.includes(name)));
  return { ...situation, name: `${scheme}: ${situation.name}`, scheme, body: arrives(body), headers };
}
