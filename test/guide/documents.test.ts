import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { expect, test } from "@jest/globals";
import { temporaryFolder, testMongo } from "@vvs/testing";
import { projectRoot } from "../../deploy/local/services.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { blocksOf, isCode, namedSnippets } from "./snippets.ts";

const documents = readdirSync(join(projectRoot, "docs"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`);
const textOf = (document: string) => readFileSync(join(projectRoot, document), "utf8");
const folder = temporaryFolder();

test("every block of code in README and docs is one that a test runs, and every JSON can be read", () => {
  const code = ["README.md", ...documents].flatMap((document) =>
    blocksOf(textOf(document))
      .filter(isCode)
      .map(({ language, name }) => `${document}: ${name ?? `a block of ${language || "no language"} without a name`}`),
  );
  // The tests of README and of the guide run all their blocks.
  expect(code.filter((one) => !/^(README|docs\/webhooks)\.md: [\w.-]+$/.test(one))).toEqual([
    "docs/operations.md: create-user.js",
    "docs/snapshots.md: snapshots.mjs",
    "docs/snapshots.md: snapshots.py",
    "docs/snapshots.md: verify.sh",
  ]);
  for (const document of ["README.md", ...documents]) {
    const json = blocksOf(textOf(document)).filter(({ language }) => language === "json");
    for (const block of json) expect(() => JSON.parse(block.code)).not.toThrow();
  }
});

/** Writes the snippets of a document into the folder. */
function write(document: string): ReadonlyMap<string, string> {
  const snippets = namedSnippets(textOf(document));
  for (const [name, code] of snippets) writeFileSync(join(folder, name), code);
  return snippets;
}

test("snapshots are checked by the code in docs/snapshots.md, and by the operator's command", async () => {
  const snippets = write("docs/snapshots.md");
  symlinkSync(join(projectRoot, "services/entity/node_modules"), join(folder, "node_modules"));
  const { sandbox } = await createOrganization();
  const entity = { legal_name: "Café Río & Sons, LLC", identifiers: { cage: "1ABC2" } };
  const { id } = (await sandbox.post("/v1/entities", entity)).body;
  const verify = { entity_id: id, checks: ["sam_registration"], mode: "realtime" };
  await sandbox.post("/v1/verify", verify);
  const { snapshots } = (await sandbox.get(`/v1/entities/${id}/snapshots`)).body;
  const changed = { ...snapshots[0], entity: { ...snapshots[0].entity, legal_name: "Other" } };

  const { isUnchanged, isChain } = await import(pathToFileURL(join(folder, "snapshots.mjs")).href);
  expect([isUnchanged(snapshots[0]), isUnchanged(changed)]).toEqual([true, false]);
  expect([isChain(snapshots), isChain([changed])]).toEqual([true, false]);
  const python = spawnSync(
    "python3",
    ["-c", "import json, sys, snapshots; print([snapshots.is_unchanged(one) for one in json.load(sys.stdin)])"],
    { cwd: folder, input: JSON.stringify([snapshots[0], changed]), encoding: "utf8" },
  );
  expect([python.stderr, python.stdout.trim()]).toEqual(["", "[True, False]"]);

  const command = spawnSync("sh", ["-euc", snippets.get("verify.sh")!], {
    cwd: projectRoot,
    env: { ...process.env, ...sharedProduct().environment, ENTITY_ID: id },
    encoding: "utf8",
  });
  expect([command.status, command.status === 0 ? "" : command.stdout + command.stderr]).toEqual([0, ""]);
});

test("the MongoDB user of docs/operations.md can be created", async () => {
  const code = namedSnippets(textOf("docs/operations.md")).get("create-user.js")!;
  const { client, prefix } = await testMongo();
  const created: Promise<unknown>[] = [];
  // What mongosh offers, as far as the code uses it. The user belongs to a database of this test.
  const database = (name: string) => client.db(`${prefix}${name}`);
  const getSiblingDB = (name: string) => ({
    createUser: ({ user, ...options }: { user: string }) =>
      created.push(database(name).command({ createUser: user, ...options })),
  });
  runInNewContext(code, { db: { getSiblingDB }, passwordPrompt: () => "password of a test" });
  expect(await Promise.all(created)).toEqual([expect.objectContaining({ ok: 1 })]);
  await database("admin").command({ dropAllUsersFromDatabase: 1 });
});
