import { globSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { outputOf } from "../../deploy/local/processes.ts";
import { serverCacheDir } from "../../deploy/local/servers/index.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { openApiDocument } from "../../services/gateway/src/openapi/document.ts";
import type { Document } from "../../services/gateway/src/reference/document.ts";
import { referencePage } from "../../services/gateway/src/reference/page.ts";
import { blocksOf } from "../guide/snippets.ts";
import { decoded } from "../support/reference-page.ts";

// Every line of a document that installs something for users works.

const INSTALL = /(?:npm install|pip install|pip wheel|go get) [^`\n]*[^`\s]/g;
const folder = temporaryFolder();

const files = globSync(["*.md", "docs/**/*.md", "{packages,services,charts}/*/README.md"], { cwd: projectRoot });
const pages = ["http://localhost:8080", "https://api.example.com"].map((url) =>
  decoded(referencePage(openApiDocument("1.0.0", url) as unknown as Document, url).replaceAll(/<[^>]*>/g, "\n")),
);
const texts = [...files.map((file) => readFileSync(join(projectRoot, file), "utf8")), ...pages];
const lines = [...new Set(texts.flatMap((text) => text.match(INSTALL) ?? []))].toSorted();

/** Lines with our own packages: packages.test.ts, reference-webhooks.test.ts and client-python.test.ts install these. */
const own = /FOLDER|\.\/packages\/client-python|\/vendor-verification-c/;

const succeeds = async (...command: [string, ...string[]]) => (await outputOf(command)).code === 0;
/** What comes before a line in an empty folder, by its first word, and what must be installed for it. */
const tools = {
  npm: { prepare: "echo '{}' > package.json", isInstalled: true },
  pip: {
    prepare: "python3 -m venv .venv && . .venv/bin/activate",
    isInstalled: await succeeds("python3", "-c", "import venv, ensurepip"),
  },
  go: { prepare: "go mod init example", isInstalled: await succeeds("go", "version") },
};

test("documents install our packages as tests do, and other ones by lines that are tried below", () => {
  expect(lines.filter((line) => own.test(line))).toEqual([
    "npm install --global ./vendor-verification-c*.tgz",
    "npm install --global ./vendor-verification-client-0.1.0.tgz ./vendor-verification-cli-0.1.0.tgz",
    "npm install ./vendor-verification-client-*.tgz",
    "npm install FOLDER/vendor-verification-client-0.1.0.tgz",
    "pip install 'FOLDER[receipts]'",
    "pip install ./packages/client-python",
    "pip install FOLDER",
    "pip wheel --no-deps FOLDER",
  ]);
  expect(lines.length).toBeGreaterThan(10);
});

test("no shell block of a document has a comment, which an interactive zsh passes on as arguments", () => {
  const shell = texts.flatMap((text) => blocksOf(text)).filter(({ language }) => language === "sh");
  expect(shell.length).toBeGreaterThan(10);
  expect(shell.flatMap(({ code }) => code.match(/^.*(?<=^|\s)#.*$/gm) ?? [])).toEqual([]);
});

test.each(lines.filter((line) => !own.test(line)))(
  "“%s” works",
  async (line) => {
    const tool = tools[line.split(" ")[0] as keyof typeof tools];
    if (!tool.isInstalled) return console.log(`“${line}” was not tried, since its tool is not installed`);
    const cwd = mkdtempSync(join(folder, "user-"));
    const cacheDir = serverCacheDir(process.env);
    const caches = { PIP_CACHE_DIR: join(cacheDir, "pip"), GOMODCACHE: join(cacheDir, "installs-go-modules") };
    const env = { ...caches, GOFLAGS: "-modcacherw", npm_config_prefer_offline: "true" };
    writeFileSync(join(cwd, "typed"), `${tool.prepare}\n${line}\n`);
    const { code, output } = await outputOf(["sh", "-e", "typed"], { cwd, env });
    expect([code, code === 0 ? "" : output]).toEqual([0, ""]);
  },
  240_000,
);
