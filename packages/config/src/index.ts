import { readFileSync } from "node:fs";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";

/**
 * Reads a configuration from environment variables. A variable NAME may also come as NAME_FILE, a path whose content is
 * the value, so that secrets can be mounted. An empty value counts as absent.
 * Errors: ConfigError with all problems at once.
 */
export function loadConfig<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.infer<S> {
  const problems: string[] = [];
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = readVariable(name, env, problems);
    if (value !== undefined && value !== "") values[name] = value;
  }
  const parsed = schema.safeParse(values);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const name = issue.path.join(".");
      problems.push(values[name] === undefined ? `${name}: is required` : `${name}: ${issue.message}`);
    }
  }
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems.join("\n"));
  return parsed.data;
}

function readVariable(name: string, env: NodeJS.ProcessEnv, problems: string[]): string | undefined {
  const path = env[`${name}_FILE`];
  if (!path) return env[name];
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    problems.push(`${name}_FILE: can't be read`);
    return undefined;
  }
}

/** A TCP port; 0 takes any free one. */
export const port = () => z.coerce.number().int().min(0).max(65_535);

/** true or false. */
export const flag = () => z.enum(["true", "false"]).transform((value) => value === "true");

/** A whole number of milliseconds, seconds or things, as the variable's name says. */
export const count = (minimum = 0) => z.coerce.number().int().min(minimum);

/**
 * Versioned secret keys, newest first: `id:base64[,id:base64…]`. New values are made with the first, old ones are still
 * read with the others, so that keys rotate without downtime. Each is 32 bytes.
 */
export const keyRing = () =>
  z.string().transform((text, context): readonly SecretKey[] => {
    const keys = text.split(",").map((part) => {
      const [id = "", encoded = ""] = part.trim().split(/:(.*)/s);
      return { id, key: Buffer.from(encoded, "base64") };
    });
    if (keys.some(({ id, key }) => !/^[\w-]{1,32}$/.test(id) || key.length !== 32)) {
      context.addIssue({ code: "custom", message: "must be id:base64 of 32 bytes, several separated by commas" });
    }
    return keys;
  });

/** One key of a ring. */
export interface SecretKey {
  readonly id: string;
  readonly key: Buffer;
}

/** The variables every service takes. */
export const serviceSection = {
  /** Least severe level that is logged. */
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]).default("info"),
  /** Address the admin server (/livez, /readyz, /metrics) binds to. */
  ADMIN_HOST: z.string().default("0.0.0.0"),
  /** Its port. */
  ADMIN_PORT: port().default(9090),
  /** Seconds between turning unready and refusing new work, so that load balancers notice. */
  DRAIN_SECONDS: count().default(5),
  /** Seconds after that for what is held to finish; work that takes longer is cut off and the service exits 1. */
  FINISH_SECONDS: count(1).default(25),
};

export { ConfigError } from "./config-error.ts";
export { environmentWithLocalRun } from "./local-run.ts";
export { z };
