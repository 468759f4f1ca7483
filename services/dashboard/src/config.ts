import { count, flag, loadConfig, port, serviceSection, z } from "@vvs/config";
import { rpcSection } from "@vvs/rpc";

/** Where browsers keep a Secure cookie without TLS. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

const publicUrl = () =>
  z.url({ protocol: /^https?$/, message: "must be a URL such as https://host" }).transform((text) => new URL(text));

const schema = z.object({
  ...serviceSection,
  ...rpcSection,
  /** Address the dashboard binds to. */
  HTTP_HOST: z.string().default("127.0.0.1"),
  /** Its port. */
  HTTP_PORT: port().default(8081),
  /** The dashboard as browsers see it, without a path; https but on the own machine. */
  DASHBOARD_URL: publicUrl()
    .refine(
      (url) => url.protocol === "https:" || LOOPBACK.has(url.hostname),
      "must be https, or sign-ins can't be kept",
    )
    .refine((url) => url.pathname === "/" && url.search === "" && url.hash === "", "must have no path")
    .prefault("http://localhost:8081"),
  /** The API as its clients see it, for the calls shown on pages. */
  PUBLIC_BASE_URL: publicUrl().prefault("http://127.0.0.1:8080"),
  /** Proxies in front that add to X-Forwarded-For; 0 takes the address of the connection as the client's. */
  TRUSTED_PROXY_HOPS: count().default(0),
  /** Of a local run alone: the page /mailbox shows the mails that account keeps, to anybody. */
  LOCAL_MAILBOX: flag().default(false),
  /** host:port of the account service. */
  ACCOUNT_ADDRESS: z.string().default("127.0.0.1:50051"),
  /** host:port of the verification service. */
  VERIFICATION_ADDRESS: z.string().default("127.0.0.1:50053"),
  /** host:port of the entity service. */
  ENTITY_ADDRESS: z.string().default("127.0.0.1:50052"),
  /** host:port of the monitor service. */
  MONITOR_ADDRESS: z.string().default("127.0.0.1:50054"),
  /** host:port of the webhook dispatcher. */
  WEBHOOK_DISPATCHER_ADDRESS: z.string().default("127.0.0.1:50055"),
});

export type DashboardConfig = z.infer<typeof schema>;

/** Errors: ConfigError with all problems at once. */
export const loadDashboardConfig = (): DashboardConfig => loadConfig(schema, process.env);
