import { count, environmentWithLocalRun, flag, keyRing, loadConfig, port, serviceSection, z } from "@vvs/config";
import { callsSection } from "@vvs/fair-queue";
import { mongoSection } from "@vvs/mongo";
import { rpcSection } from "@vvs/rpc";
import { identityProvidersVariable } from "./sso/identity-providers.ts";

const storeSection = {
  ...mongoSection,
  /** Peppers of API key hashes, newest first, the same as in gateways. Keys hashed with a removed pepper stop working. */
  API_KEY_PEPPERS: keyRing(),
  /** Keys that encrypt webhook secrets, secrets of authenticator apps and queued emails, newest first. Only this service has them. */
  WEBHOOK_SECRET_KEYS: keyRing(),
  /** Public URL of the dashboard: links in emails lead there, and passkeys are made for its host. */
  DASHBOARD_URL: z
    .url({ protocol: /^https?$/, message: "must be a URL such as https://host" })
    .transform((text) => new URL(text))
    .prefault("http://localhost:8081"),
};

/** A part of account: what services need to know about keys, and what people do. Each can be a process of its own. */
export type AccountPart = "keys" | "people";

const mailSection = {
  /** smtp://user:password@host:587 or smtps://…:465. Without it no emails are sent. */
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, message: "must be smtp://host or smtps://host" })
    .transform((text) => new URL(text))
    .optional(),
  /** Whether SMTP connections must be encrypted. Use `optional` only for a relay on a trusted network. */
  SMTP_TLS: z.enum(["required", "optional"]).default("required"),
  /** PEM file with additional certificate authorities to trust for SMTP. */
  SMTP_TLS_CA_PATH: z.string().optional(),
  /** Sender of emails: address@host, or Name <address@host>. */
  MAIL_FROM: z
    .string()
    .regex(/^([^<>@]+ )?<?[^\s<>@]+@[^\s<>@]+>?$/, "must be an address, or Name <address>")
    .optional(),
  /** Only for local runs: keeps emails for the /mailbox page, which anyone can read, instead of sending them. */
  LOCAL_MAILBOX: flag().default(false),
  /** Whether anyone can create an organization by signing up. */
  SIGN_UP_OPEN: flag().default(false),
};

export type AccountConfig = ReturnType<typeof loadAccountConfig>;

/** The service's configuration. Errors: ConfigError. */
export const loadAccountConfig = () =>
  loadConfig(
    z
      .object({
        ...serviceSection,
        ...storeSection,
        ...rpcSection,
        ...callsSection,
        ...mailSection,
        /** The same, of which only the keys part needs them. */
        API_KEY_PEPPERS: keyRing().optional(),
        /** Maximum number of an organization's sandbox requests in the request log, besides those of the last day. */
        SANDBOX_KEPT_REQUESTS: count(1).default(10_000),
        /** Identity providers of organizations as JSON, including their secrets; see docs/single-sign-on.md. */
        IDENTITY_PROVIDERS: identityProvidersVariable().prefault("[]"),
        /** Address that the gRPC server binds to; without TLS, loopback only. */
        RPC_HOST: z.string().default("127.0.0.1"),
        /** Port of the gRPC server. */
        RPC_PORT: port().default(50_051),
        /** The part that this process serves; by default both. */
        ACCOUNT_PART: z.enum(["keys", "people", "both"]).default("both"),
      })
      .refine((config) => config.API_KEY_PEPPERS || !servedParts(config).has("keys"), { path: ["API_KEY_PEPPERS"] })
      .refine(({ SMTP_URL, MAIL_FROM }) => !SMTP_URL || MAIL_FROM, {
        path: ["MAIL_FROM"],
        message: "is required with SMTP_URL",
      })
      .refine(({ LOCAL_MAILBOX, SMTP_URL, RPC_TLS_CA_PATH }) => !LOCAL_MAILBOX || !(SMTP_URL || RPC_TLS_CA_PATH), {
        path: ["LOCAL_MAILBOX"],
        message: "is only for local runs: remove SMTP_URL and RPC_TLS_…",
      })
      .refine(({ SIGN_UP_OPEN, SMTP_URL, LOCAL_MAILBOX }) => !SIGN_UP_OPEN || SMTP_URL || LOCAL_MAILBOX, {
        path: ["SIGN_UP_OPEN"],
        message: "requires SMTP_URL: addresses are confirmed by email",
      }),
    process.env,
  );

/** Returns the parts that a process serves. */
export function servedParts({ ACCOUNT_PART: part }: { ACCOUNT_PART: AccountPart | "both" }): ReadonlySet<AccountPart> {
  return new Set(part === "both" ? ["keys", "people"] : [part]);
}

/** Name of this process in logs and metrics. People that are a process of their own have their own, so that alerts see their silence. */
export const processName = () => (process.env.ACCOUNT_PART === "people" ? "account-people" : "account");

/** Configuration of the operator's command, from variables or from the local run in this folder. Errors: ConfigError. */
export const loadAdminConfig = () =>
  loadConfig(z.object(storeSection), environmentWithLocalRun(process.env, process.cwd()));
