import { randomUUID } from "node:crypto";
import type { Api } from "../../support/api.ts";
import { send, sendForm } from "./send.ts";

/** What an attacker knows and has: its own organization's keys, and one of the vendors that it created. */
export interface Attacker {
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  readonly keys: { readonly live: string; readonly sandbox: string };
  /** Passwords are guessed for this person of the other organization. */
  readonly victim: string;
  readonly vendors: { readonly live: string; readonly sandbox: string; readonly changing: string };
}

/** Calls, of which a number is always running: the next one begins when one is answered. */
export interface Attack {
  /** What is sent, for people. */
  readonly about: string;
  /** Number of calls that run at the same time. */
  readonly atOnce: number;
  /** Whether each of these is made once: what they begin is the attack. */
  readonly once?: boolean;
  /** Makes one call; returns its status. POSTs to `hook` are answered. */
  call(attacker: Attacker, hook: string): Promise<number>;
  /** Undoes what would go on after the attack. */
  undo?(sandbox: Api): Promise<void>;
}

const check = { checks: ["sam_registration"], mode: "realtime" };
/** Addresses of strangers, as the proxy in front of the dashboard reports them. */
const anyAddress = () => `100.${[0, 0, 0].map(() => Math.floor(Math.random() * 256)).join(".")}`;

export const attacks = {
  lookups: {
    about: "fuzzy look-ups of long names by one organization",
    atOnce: 200,
    call: ({ baseUrl, keys }) =>
      send(`${baseUrl}/v1/entities/lookup`, keys.live, {
        legal_name: "General Construction Services and Technology Group of America Incorporated",
        address: "100 Main Street, Springfield, IL 62701",
        mode: "fuzzy",
      }),
  },
  lists: {
    about: "lists of 100 created entities by one organization",
    atOnce: 200,
    call: ({ baseUrl, keys }) => send(`${baseUrl}/v1/entities?limit=100`, keys.live),
  },
  creations: {
    about: "creations of entities by one organization",
    atOnce: 200,
    call: ({ baseUrl, keys }) =>
      send(`${baseUrl}/v1/entities`, keys.live, { legal_name: `Attacker ${randomUUID()} LLC` }),
  },
  verifications: {
    about: "realtime verifications of a registered vendor by one organization",
    atOnce: 200,
    call: ({ baseUrl, keys, vendors }) =>
      send(`${baseUrl}/v1/verifications`, keys.live, { entity_id: vendors.live, ...check }),
  },
  sandbox: {
    about: "realtime verifications with a test key",
    atOnce: 200,
    call: ({ baseUrl, keys, vendors }) =>
      send(`${baseUrl}/v1/verifications`, keys.sandbox, { entity_id: vendors.sandbox, ...check }),
  },
  keys: {
    about: "calls with invented API keys, from different addresses",
    atOnce: 50,
    call: ({ baseUrl }) =>
      send(`${baseUrl}/v1/monitors`, `svc_live_${randomUUID().replaceAll("-", "")}000000`, undefined, {
        "x-forwarded-for": anyAddress(),
      }),
  },
  sign_ins: {
    about: "wrong passwords for the second organization's user, from different addresses",
    atOnce: 50,
    call({ dashboardUrl, victim }) {
      const email = Math.random() < 0.1 ? victim : `${randomUUID()}@test.example`;
      return sendForm(`${dashboardUrl}/sign-in`, { email, password: "a guess" }, { "x-forwarded-for": anyAddress() });
    },
  },
  events: {
    about: "monitors with a test key, each with a change and a webhook every 5 s",
    atOnce: 100,
    once: true,
    call: ({ baseUrl, keys, vendors }, hook) =>
      send(`${baseUrl}/v1/monitors`, keys.sandbox, {
        entity_id: vendors.changing,
        checks: ["sam_registration"],
        frequency: "hourly",
        webhook_url: hook,
      }),
    async undo(sandbox) {
      const { monitors } = (await sandbox.get("/v1/monitors?limit=100")).body;
      await Promise.all(monitors.map(({ id }: { id: string }) => sandbox.delete(`/v1/monitors/${id}`)));
    },
  },
} satisfies Readonly<Record<string, Attack>>;

export type AttackName = keyof typeof attacks;

export const attackNamed = (name: AttackName): Attack => attacks[name];
