import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { outputOf, runProcess } from "../../deploy/local/processes.ts";
import { freePort } from "../../deploy/local/servers/free-port.ts";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { createOrganization } from "../support/organization.ts";
import { pageBlocks, withKey } from "../support/reference-page.ts";
import { whyNoShell } from "../support/shells.ts";

// What the reference page shows, typed into an interactive shell, leads from a key to a verified webhook.

/** Returns a folder with the service's source, in which a user may also write. */
function checkout(): string {
  const folder = temporaryFolder();
  for (const name of readdirSync(projectRoot)) symlinkSync(join(projectRoot, name), join(folder, name));
  return folder;
}

const succeeds = async (...command: [string, ...string[]]) => (await outputOf(command)).code === 0;
const whyNoZsh = whyNoShell("zsh");
const [shell, options] = whyNoZsh ? ["bash", "--norc -i"] : ["zsh", "-f -i"];
const cacheDir = serverCacheDir(process.env);

const languages = [
  {
    language: "JavaScript",
    isInstalled: true,
    typed: ["cli-calls", "many-vendors-cli", "webhook-verify", "webhook-receiver", "webhook-listen"],
  },
  {
    language: "Python",
    isInstalled: await succeeds("python3", "-c", "import sys, venv; sys.exit(sys.version_info < (3, 10))"),
    typed: ["start-python-install", "webhook-receiver-python", "webhook-listen-python"],
  },
  {
    language: "Go",
    isInstalled: await succeeds("go", "version"),
    typed: ["webhook-receiver-go", "webhook-listen-go"],
  },
];

test.each(languages)(
  `what the page shows, typed in ${shell}, leads to a verified webhook in $language`,
  async ({ language, isInstalled, typed }) => {
    if (whyNoZsh) console.log(`${whyNoZsh} So the reference page was typed in bash.`);
    if (!isInstalled) return console.log(`${language} is not installed, so its webhook guide was not typed`);
    const { keys } = await createOrganization();
    const blocks = await pageBlocks();
    const place = checkout();
    const waitFor = (text: string) => `for i in {1..900}; do grep -q "${text}" output && break; sleep 0.1; done`;
    const lines = ["cli-local", ...typed, "webhook-trigger"].flatMap((id) => {
      const { title, code } = blocks.get(id)!;
      const [file] = /^[\w-]+\.(?:mjs|py|go)\b/.exec(title) ?? [];
      if (file) writeFileSync(join(place, file), `${code}\n`);
      if (file) return [];
      return [
        code,
        `echo "exit code $?"`,
        ...(id.startsWith("webhook-listen") ? [waitFor("Forwarding new events")] : []),
      ];
    });
    // Without job control all processes are in one group, which ends with the shell.
    const script = ["set +m", withKey(blocks, keys.sandbox), ...lines, waitFor("Verified: evt_"), "exit", "exit", ""];
    writeFileSync(join(place, "typed"), script.join("\n"));
    const env = {
      ...process.env,
      ...{ PORT: String(await freePort()), XDG_CONFIG_HOME: place, PIP_CACHE_DIR: join(cacheDir, "pip") },
      ...{ GOCACHE: join(cacheDir, "guide-go-build"), GOTOOLCHAIN: "local" },
    };
    const args = ["-c", `exec ${shell} ${options} < typed > output 2>&1`];
    await runProcess({ name: "new user", command: "sh", args, cwd: place, env }).exited;
    const output = readFileSync(join(place, "output"), "utf8");
    expect(output).toMatch(/Verified: evt_/);
    expect([...new Set(output.match(/exit code \d+/g))]).toEqual(["exit code 0"]);
    if (typed.includes("cli-calls")) expect(output.match(/\d rows: 2 pay, 0 hold, 0 review\./g)).toHaveLength(2);
  },
  300_000,
);
