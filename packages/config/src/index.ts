import { readFileSync } from "node:fs";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";

/**
 * Reads a configuration from environment variables. Instead of a variable NAME, NAME_FILE may be the path of a file
 * with the value, so that secrets can be mounted. An empty value counts as absent. Errors: ConfigError with all
 * problems.
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

/** A TCP port; 0 chooses a free one. */
export const port = () => z.coerce.number().int().min(0).max(65_535);

/** true or false. */
export const flag = () => z.enum(["true", "false"]).transform((value) => value === "true");

/** A whole number, in the unit that the variable's name says. */
export const count = (minimum = 0) => z.coerce.number().int().min(minimum);

/**
 * Versioned secret keys of 32 bytes, newest first: `id:base64[,id:base64…]`. The first key writes new values, the
 * others still read old ones, so that keys can be rotated without downtime.
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

/** Variables of every service. */
export const serviceSection = {
  /** Lowest level that is logged. */
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]).default("info"),
  /** Address the admin server (/livez, /readyz, /metrics) binds to. */
  ADMIN_HOST: z.string().default("0.0.0.0"),
  /** Its port. */
  ADMIN_PORT: port().default(9090),
  /** Seconds between becoming unready and refusing new work, so that load balancers notice. */
  DRAIN_SECONDS: count().default(5),
  /** Seconds after that in which running work may finish. Work that takes longer is ended, and the service exits 1. */
  FINISH_SECONDS: count(1).default(25),
};

export { ConfigError } from "./config-error.ts";
export { environmentWithLocalRun } from "./local-run.ts";
export { z };
