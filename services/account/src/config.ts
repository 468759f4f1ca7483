import { environmentWithLocalRun, flag, keyRing, loadConfig, port, serviceSection, z } from "@vvs/config";
import { mongoSection } from "@vvs/mongo";
import { rpcSection } from "@vvs/rpc";
import { identityProvidersVariable } from "./identity-providers.ts";

const storeSection = {
  ...mongoSection,
  /** Peppers of API key hashes, the newest first; gateways have the same. Keys made with one that is gone are lost. */
  API_KEY_PEPPERS: keyRing(),
  /** Keys that seal webhook secrets and the secrets of authenticator apps, the newest first; held by this service alone. */
  WEBHOOK_SECRET_KEYS: keyRing(),
  /** The dashboard as browsers see it, for the links of mails. */
  DASHBOARD_URL: z
    .url({ protocol: /^https?$/, message: "must be a URL such as https://host" })
    .transform((text) => new URL(text))
    .prefault("http://localhost:8081"),
};

const mailSection = {
  /** smtp://user:password@host:587 or smtps://…:465. Without it nobody is sent a mail. */
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, message: "must be smtp://host or smtps://host" })
    .transform((text) => new URL(text))
    .optional(),
  /** Must the connection be encrypted before a mail is sent? `optional` is for a relay on a network that is trusted. */
  SMTP_TLS: z.enum(["required", "optional"]).default("required"),
  /** PEM file with further authorities to trust for SMTP. */
  SMTP_TLS_CA_PATH: z.string().optional(),
  /** Whom mails are from: address@host, or Name <address@host>. */
  MAIL_FROM: z
    .string()
    .regex(/^([^<>@]+ )?<?[^\s<>@]+@[^\s<>@]+>?$/, "must be an address, or Name <address>")
    .optional(),
  /** Of a local run alone: mails are kept for its /mailbox page, which anybody can read, in place of being sent. */
  LOCAL_MAILBOX: flag().default(false),
  /** May anybody create an organization by signing up? */
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
        ...mailSection,
        /** JSON: the identity providers that organizations sign in by, secrets included; see docs/single-sign-on.md. */
        IDENTITY_PROVIDERS: identityProvidersVariable().prefault("[]"),
        /** Address the gRPC server binds to; without TLS, loopback only. */
        RPC_HOST: z.string().default("127.0.0.1"),
        /** Its port. */
        RPC_PORT: port().default(50_051),
      })
      .refine(({ SMTP_URL, MAIL_FROM }) => !SMTP_URL || MAIL_FROM, {
        path: ["MAIL_FROM"],
        message: "is required with SMTP_URL",
      })
      .refine(({ LOCAL_MAILBOX, SMTP_URL, RPC_TLS_CA_PATH }) => !LOCAL_MAILBOX || !(SMTP_URL || RPC_TLS_CA_PATH), {
        path: ["LOCAL_MAILBOX"],
        message: "is for a local run alone: neither with SMTP_URL nor with RPC_TLS_…",
      })
      .refine(({ SIGN_UP_OPEN, SMTP_URL, LOCAL_MAILBOX }) => !SIGN_UP_OPEN || SMTP_URL || LOCAL_MAILBOX, {
        path: ["SIGN_UP_OPEN"],
        message: "needs SMTP_URL: addresses are confirmed by mail",
      }),
    process.env,
  );

/** What the operator's command needs: variables, or those of the local run in this folder. Errors: ConfigError. */
export const loadAdminConfig = () =>
  loadConfig(z.object(storeSection), environmentWithLocalRun(process.env, process.cwd()));
