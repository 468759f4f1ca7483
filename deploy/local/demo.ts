import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What a person or a script needs to use a local run; in .local/demo.json while it is up. */
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
/** The variables of the run: operators' commands find it by them. */
const ENVIRONMENT = "environment.json";

/** Writes the files that tell of the run, readable by their owner alone. */
export function writeRunInformation(folder: string, demo: Demo, environment: Readonly<Record<string, string>>): void {
  for (const [name, content] of [
    [ENVIRONMENT, environment],
    [DEMO, demo],
  ] as const) {
    writeFileSync(join(folder, name), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  }
}

/** Removes them: they tell of no run any more. */
export function removeRunInformation(folder: string): void {
  for (const name of [DEMO, ENVIRONMENT]) rmSync(join(folder, name), { force: true });
}
