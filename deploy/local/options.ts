import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { providersSection } from "../../services/verification/src/providers/config.ts";
import { StartError } from "./servers/start-error.ts";

export interface StartOptions {
  /** Return when everything is ready, and leave it running. */
  readonly detach: boolean;
  /** Delete the data of earlier runs first. */
  readonly fresh: boolean;
  /** Path of a SAM.gov public extract to load into live, `.dat` or `.ZIP`. */
  readonly registry: string | undefined;
  /** Path of an exclusions file to load into live, `.csv` or `.ZIP`. */
  readonly exclusions: string | undefined;
  readonly apiPort: number;
  readonly dashboardPort: number;
}

const USAGE = `Usage: npm start -- [--detach] [--fresh] [--registry FILE] [--exclusions FILE]

  --detach           return when everything is ready; npm run stop ends the run
  --fresh            delete the data of earlier runs first
  --registry FILE    load a SAM.gov public extract (.dat or .ZIP) into the live data
  --exclusions FILE  load a SAM.gov exclusions file (.csv or .ZIP) into the live data

Environment: API_PORT (8080), DASHBOARD_PORT (8081), LOG_LEVEL (info), VVS_LOCAL_DIR (.local), OTEL_… for telemetry;
to use your own servers MONGODB_URI, KAFKA_BROKERS, REDIS_URL.`;

/** Reads the command line and the environment. Errors: StartError for an invalid value. */
export function startOptions(args: string[], env: NodeJS.ProcessEnv): StartOptions {
  const { values } = parse(args);
  return {
    detach: values.detach ?? false,
    fresh: values.fresh ?? false,
    registry: readableFile("--registry", values.registry),
    exclusions: readableFile("--exclusions", values.exclusions),
    apiPort: portOf("API_PORT", env.API_PORT, 8080),
    dashboardPort: portOf("DASHBOARD_PORT", env.DASHBOARD_PORT, 8081),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        detach: { type: "boolean" },
        fresh: { type: "boolean" },
        registry: { type: "string" },
        exclusions: { type: "string" },
      },
    });
  } catch (error) {
    throw new StartError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

function readableFile(option: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const full = resolve(path);
  try {
    accessSync(full, constants.R_OK);
  } catch (cause) {
    throw new StartError(`${option}: ${path} does not exist or cannot be read.`, { cause });
  }
  if (!statSync(full).isFile()) throw new StartError(`${option}: ${path} is not a file.`);
  return full;
}

function portOf(name: string, text: string | undefined, standard: number): number {
  if (!text) return standard;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) throw new StartError(`${name} must be a port, 1–65535.`);
  return port;
}

/** Returns the environment's variables of live providers. */
export function providerVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => Object.hasOwn(providersSection, name)));
}
