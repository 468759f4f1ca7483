import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Addresses and credentials of a local run; stored in .local/demo.json while it runs. */
export interface Demo {
  readonly base_url: string;
  readonly dashboard_url: string;
  readonly mongodb_uri: string;
  readonly kafka_brokers: string;
  readonly redis_url: string;
  readonly organizations: readonly DemoOrganization[];
}

export interface DemoOrganization {
  readonly name: string;
  readonly plan: string;
  readonly email: string;
  readonly password: string;
  readonly live_key: string;
  readonly test_key: string;
  readonly webhook_secret_live: string;
  readonly webhook_secret_test: string;
}

const DEMO = "demo.json";
/** The variables of the run, with which operators' commands find it. */
const ENVIRONMENT = "environment.json";

/** Writes the files that describe the run, readable only by their owner. */
export function writeRunInformation(folder: string, demo: Demo, environment: Readonly<Record<string, string>>): void {
  for (const [name, content] of [
    [ENVIRONMENT, environment],
    [DEMO, demo],
  ] as const) {
    writeFileSync(join(folder, name), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  }
}

/** Removes the files that describe the run. */
export function removeRunInformation(folder: string): void {
  for (const name of [DEMO, ENVIRONMENT]) rmSync(join(folder, name), { force: true });
}
