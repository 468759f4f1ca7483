import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { outputOf } from "../../deploy/local/processes.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { playSamGovFiles } from "../outside/sam-gov-files.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";

const runbooks = join(projectRoot, "docs/runbooks");
const folder = temporaryFolder();
const sam = await playSamGovFiles();
const organizationId = (await createOrganization()).id;

/** Each command that is run, with what it needs instead of its placeholders, and how it must end. */
const RUN: Readonly<
  Record<string, { readonly args?: () => string[]; readonly code?: number; readonly prints: RegExp }>
> = {
  "npm run migrate": { prints: /./ },
  "npm run registry -- loads": { prints: /registry:/ },
  // The product has loaded exclusions of today, and SAM.gov has no newer extract here.
  "npm run registry -- refresh exclusions": { args: () => ["--to", folder], prints: /up to date/ },
  "npm run registry -- refresh registry": { args: () => ["--to", folder], code: 75, prints: /no newer file yet/ },
  "npm run redrive -- live.verification.requested": { prints: /./ },
  "npm run admin": { prints: /organization set-budget/ },
  "npm run admin -- organization set-budget": { code: 1, prints: /budget/ },
  "npm run admin -- organization withdraw-tin-match ID": { prints: /org_/ },
  "npm run admin -- organization set-private-hosts ID --hosts HOST": { prints: /org_/ },
  "curl -i https://YOUR-HOST/v1/health": { prints: /HTTP\/1.1 200 OK/ },
};
/** Not run here, since the files would change what other tests see; the local run's test does. */
const LOADS = /^npm run registry -- load --environment live (?:--registry FILE )?--exclusions FILE$/;

const commands = new Set(
  readdirSync(runbooks).flatMap((file) =>
    [...readFileSync(join(runbooks, file), "utf8").matchAll(/`((?:npm run|curl) [^`]+)`/g)].map(([, command]) =>
      command!.replaceAll(/\s+/g, " "),
    ),
  ),
);

function run(command: string, more: readonly string[]) {
  const product = sharedProduct();
  const [program, ...args] = command
    .replace("https://YOUR-HOST", product.baseUrl)
    .replace(/\bID\b/, organizationId)
    .replace(/\bHOST\b/, "hooks.example.com")
    .split(" ");
  const silent = program === "npm" ? ["--silent"] : [];
  const env = { ...product.environment, SAM_GOV_API_KEY: sam.apiKey, SAM_GOV_BASE_URL: sam.baseUrl };
  return outputOf([program!, ...silent, ...args, ...more], { cwd: projectRoot, env });
}

test("every npm and curl command of the runbooks is run here", () => {
  const unknown = [...commands].filter(
    (command) => !(command in RUN) && !LOADS.test(command) && command !== "npm run X",
  );
  expect(unknown).toEqual([]);
});

test.each(Object.keys(RUN))(
  "a runbook's command works as written: %s",
  async (command) => {
    expect(commands).toContain(command);
    const { args = () => [], code = 0, prints } = RUN[command]!;
    const ended = await run(command, args());
    expect(ended.output).toMatch(prints);
    expect(ended.code).toBe(code);
  },
  120_000,
);
