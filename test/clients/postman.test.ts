import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { ensureFetched } from "../../deploy/local/servers/downloads.ts";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { operations } from "../../services/gateway/src/openapi/operations.ts";
import { createOrganization } from "../support/organization.ts";
import { runCommand } from "../support/packed-clients.ts";
import { sharedProduct } from "../support/product.ts";

const NEWMAN = "newman@6.2.2";
const RUNS = 2;

const folder = temporaryFolder();

/** Returns newman's program. It comes from npm's registry, once. */
async function newman(): Promise<string> {
  const download = {
    ...{ folder: NEWMAN.replace("@", "-"), title: NEWMAN, sizeMb: 20, needs: [] },
    async fetch(target: string) {
      const quiet = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
      await runCommand("npm", ["install", ...quiet, "--prefix", target, NEWMAN], { cwd: target });
    },
  };
  const tool = await ensureFetched(download, { cacheDir: serverCacheDir(process.env), log: console.log });
  return join(tool, "node_modules/newman/bin/newman.js");
}

test("every request of the Postman collection succeeds in its order, also when it is run again", async () => {
  const program = await newman();
  const { keys } = await createOrganization();
  const [collection, report] = [join(folder, "postman.json"), join(folder, "report.json")];
  await writeFile(collection, await (await fetch(`${sharedProduct().baseUrl}/docs/postman.json`)).text());
  const reporters = ["--reporters", "cli,json", "--reporter-json-export", report];
  const choice = ["--env-var", `api_key=${keys.sandbox}`, "--iteration-count", String(RUNS), ...reporters];
  await runCommand(process.execPath, [program, "run", collection, ...choice], { cwd: folder });
  const { run } = JSON.parse(await readFile(report, "utf8"));
  const answers: { item: { name: string }; response: { code: number }; assertions?: object[] }[] = run.executions;
  expect(answers.filter(({ response, assertions }) => response.code >= 300 || assertions?.length !== 1)).toEqual([]);
  expect(answers.length).toBe(RUNS * operations.length);
}, 180_000);
