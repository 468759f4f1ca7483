import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectRoot } from "../local/services.ts";
import { prepareBuildContext } from "./build-context.ts";
import { findBuilder } from "./builder.ts";
import { run } from "./run.ts";

const USAGE = `Usage: npm run image -- [--tag NAME:TAG] [--base IMAGE] [--save FILE.tar]

  --tag   name and tag of the image (default: vendor-verification:<version>)
  --base  base image with Node 26, ideally by digest (default: docker.io/library/node:26-bookworm-slim)
  --save  also write the image to an archive

Builds with Docker if its daemon answers, else with buildah.`;

function options() {
  try {
    return parseArgs({ options: { tag: { type: "string" }, base: { type: "string" }, save: { type: "string" } } })
      .values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(64);
  }
}

const wanted = options();
const builder = await findBuilder();
if (!builder) {
  console.error("Neither Docker nor buildah works on this machine: install one of them.");
  process.exit(1);
}
const { version } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as { version: string };
const image = wanted.tag ?? `vendor-verification:${version}`;
const revision = await run("git", ["rev-parse", "HEAD"], { cwd: projectRoot }).catch(() => "unknown");
const context = mkdtempSync(join(tmpdir(), "vvs-image-"));
try {
  await prepareBuildContext(context);
  await builder.build({
    image,
    dockerfile: join(projectRoot, "deploy/Dockerfile"),
    context,
    args: { VERSION: version, REVISION: revision.trim(), ...(wanted.base && { NODE_IMAGE: wanted.base }) },
    onOutput: (text) => process.stderr.write(text),
  });
  if (wanted.save) await builder.save(image, wanted.save);
  console.log(`${image} built with ${builder.name}.`);
} finally {
  rmSync(context, { recursive: true, force: true });
}
