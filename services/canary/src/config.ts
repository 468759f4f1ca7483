import { loadConfig, port, serviceSection, z } from "@vvs/config";

const schema = z.object({
  ...serviceSection,
  /** Address the receiver of webhooks binds to. */
  HTTP_HOST: z.string().default("127.0.0.1"),
  /** Its port. */
  HTTP_PORT: port().default(8_082),
  /** Base URL of the API, as the canary reaches it. */
  API_BASE_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:8080"),
  /** Test key of an organization that only the canary uses. */
  CANARY_API_KEY: z.string().regex(/^svc_test_\S+$/, "must be a test key (svc_test_…)"),
  /** That organization's webhook secrets of the sandbox, separated by commas: two during a change. */
  CANARY_WEBHOOK_SECRETS: z
    .string()
    .transform((text) => text.split(",").map((part) => part.trim()))
    .refine(
      (secrets) => secrets.every((secret) => secret.startsWith("whsec_")),
      "must be whsec_…, separated by commas",
    ),
  /** URL of the receiver, as webhook-dispatcher reaches it. The operator admits its host for the canary’s organization if its address is private. */
  CANARY_WEBHOOK_URL: z.url({ protocol: /^https?$/ }),
});

/** Reads the configuration from the environment. Errors: ConfigError that lists all problems. */
export const loadCanaryConfig = () => loadConfig(schema, process.env);
