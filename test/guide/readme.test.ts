import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { runProcess } from "../../deploy/local/processes.ts";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { createOrganization } from "../support/organization.ts";
import { sharedProduct } from "../support/product.ts";
import { whyNoShell } from "../support/shells.ts";
import { shapeOf } from "./shape.ts";
import { blocksOf, isCode } from "./snippets.ts";

const blocks = blocksOf(readFileSync(join(projectRoot, "README.md"), "utf8"));
const code = new Map(blocks.filter(isCode).map((block) => [block.name, block.code]));
const shown = blocks.filter(({ language }) => language === "json").map((block) => shapeOf(JSON.parse(block.code)));

/** Returns a checkout in which another product runs: the repository with a folder .local of its own. */
function checkoutWith(demo: object): string {
  const checkout = temporaryFolder();
  for (const name of readdirSync(projectRoot).filter((one) => one !== ".local")) {
    symlinkSync(join(projectRoot, name), join(checkout, name));
  }
  mkdirSync(join(checkout, ".local"));
  writeFileSync(join(checkout, ".local/demo.json"), JSON.stringify(demo));
  return checkout;
}

test("README starts with commands that exist", () => {
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8"));
  const commands = [...code.get("commands.sh")!.matchAll(/^npm (?:run )?(\S+)/gm)].map(([, name]) => name!);
  expect(commands).toEqual(["start", "test"]);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(commands));
});

test("README's shell assigns no parameter that has a meaning in zsh, such as path", () => {
  const assigned = [...code.values()].flatMap((text) => [...text.matchAll(/(?<![\w$-])([a-z]\w*)=/g)]);
  expect(assigned.map(([, name]) => name)).not.toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^(path|cdpath|fpath|manpath|mailpath|status|argv|signals|prompt)$/),
    ]),
  );
});

/** Waits while `listen` still runs. */
const WHILE_LISTENING = 'while ps -A -o args | grep -q "[f]orward-to http://127.0.0.1:$PORT/hook"; do sleep 0.1; done';

const shells = ["bash", "dash", "zsh"].map((shell) => ({ shell, why: whyNoShell(shell) }));

test.each(shells)(
  "README's five minutes run in $shell as they stand, print what README shows and leave nothing running",
  async ({ shell, why }) => {
    if (why) return console.log(`${why} So README was not tried in it.`);
    const { keys } = await createOrganization();
    const checkout = checkoutWith({ base_url: sharedProduct().baseUrl, organizations: [{ test_key: keys.sandbox }] });
    const waitFor = (text: string) => `until grep -q '${text}' output; do sleep 0.1; done`;
    const steps: readonly (readonly [name: string, done: string])[] = [
      ["first-call.sh", '"overall_result":"pass"'],
      ["monitor.sh", "^{.event.:.monitor.change_detected.*delivered_at"],
      ["cancel.sh", '"status":"canceled"'],
      ["listen.sh", "Forwarding new events"],
      ["trigger.sh", "evt_.* 200 "],
    ];
    expect(["commands.sh", ...steps.map(([name]) => name)]).toEqual([...code.keys()]);
    // The last block ends what it started, so its output is waited for before that.
    const script = steps.flatMap(([name, done]) =>
      name === "trigger.sh"
        ? [code.get(name)!.replace(/^kill /m, `${waitFor(done)}\n$&`)]
        : [code.get(name)!, waitFor(done)],
    );
    const port = await freePort();
    const { exited } = runProcess({
      name: "README",
      command: shell,
      args: ["-euc", `exec > output 2>&1\n${script.join("\n")}\n${WHILE_LISTENING}`],
      cwd: checkout,
      env: { ...process.env, PORT: String(port) },
      onLine: () => undefined,
    });
    const { code: exitCode } = await exited;
    const output = readFileSync(join(checkout, "output"), "utf8");
    expect([exitCode, exitCode === 0 ? "" : output]).toEqual([0, ""]);
    const printed = output
      .split("\n")
      .filter((line) => /^\{"(id":"ver_|event":)/.test(line))
      .map((line) => shapeOf(JSON.parse(line)));
    expect(printed.slice(0, 2)).toEqual(shown);
    // The server received the event of `trigger` too, through `listen`.
    expect(printed.slice(2)).toContainEqual(shown[1]);
  },
);
