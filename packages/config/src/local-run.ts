import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";

/**
 * Returns the environment of a command. If `env` names the server that the command uses, that is `env` itself.
 * Otherwise the variables of the local run are added (`environment.json` in VVS_LOCAL_DIR or in `.local` of `cwd`,
 * written by `npm start`), so that a command finds that run without settings. Variables of `env` win over the file.
 * Errors: ConfigError if the file can't be used.
 */
export function environmentWithLocalRun(
  env: NodeJS.ProcessEnv,
  cwd: string,
  server: "MONGODB_URI" | "KAFKA_BROKERS" = "MONGODB_URI",
): NodeJS.ProcessEnv {
  if (env[server] || env[`${server}_FILE`]) return env;
  const path = resolve(cwd, env.VVS_LOCAL_DIR || ".local", "environment.json");
  if (!existsSync(path)) return env;
  const own = Object.entries(env).filter(([, value]) => value !== "");
  return { ...variablesOf(path), ...Object.fromEntries(own) };
}

function variablesOf(path: string): Record<string, string> {
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new ConfigError(`${path}: can't be read as an object of variables`, { cause });
  }
}
