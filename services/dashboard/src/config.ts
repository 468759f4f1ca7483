import { count, flag, loadConfig, port, serviceSection, z } from "@vvs/config";
import { callsSection } from "@vvs/fair-queue";
import { rpcSection } from "@vvs/rpc";

/** Hosts for which browsers keep Secure cookies without TLS. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

const publicUrl = () =>
  z.url({ protocol: /^https?$/, message: "must be a URL such as https://host" }).transform((text) => new URL(text));

const schema = z.object({
  ...serviceSection,
  ...rpcSection,
  ...callsSection,
  /** Address the dashboard binds to. */
  HTTP_HOST: z.string().default("127.0.0.1"),
  /** Port the dashboard listens on. */
  HTTP_PORT: port().default(8081),
  /** Public URL of the dashboard, without a path; must be https except on the local machine. */
  DASHBOARD_URL: publicUrl()
    .refine(
      (url) => url.protocol === "https:" || LOOPBACK.has(url.hostname),
      "must be https, because browsers would not keep the session cookie",
    )
    .refine((url) => url.pathname === "/" && url.search === "" && url.hash === "", "must have no path")
    .prefault("http://localhost:8081"),
  /** Public URL of the API, for the example calls shown on pages. */
  PUBLIC_BASE_URL: publicUrl().prefault("http://127.0.0.1:8080"),
  /** Number of proxies in front that add to X-Forwarded-For; 0 uses the address of the connection as the client's. */
  TRUSTED_PROXY_HOPS: count().default(0),
  /** For local runs only: /mailbox shows the emails that the account service keeps, to everyone. */
  LOCAL_MAILBOX: flag().default(false),
  /** host:port of the account service, or of its keys part if people have a deployment of their own. */
  ACCOUNT_ADDRESS: z.string().default("127.0.0.1:50051"),
  /** host:port of account's people part; where absent, ACCOUNT_ADDRESS. */
  ACCOUNT_PEOPLE_ADDRESS: z.string().optional(),
  /** host:port of the verification service. */
  VERIFICATION_ADDRESS: z.string().default("127.0.0.1:50053"),
  /** host:port of the entity service. */
  ENTITY_ADDRESS: z.string().default("127.0.0.1:50052"),
  /** host:port of the monitor service. */
  MONITOR_ADDRESS: z.string().default("127.0.0.1:50054"),
  /** host:port of the webhook dispatcher. */
  WEBHOOK_DISPATCHER_ADDRESS: z.string().default("127.0.0.1:50055"),
});

/** Loads the configuration from the environment. Errors: ConfigError with all problems. */
export const loadDashboardConfig = () => loadConfig(schema, process.env);
