import { chmodSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "@vvs/testing";
import { run } from "../../deploy/image/run.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { kubernetesTools } from "./support/helm.ts";

const helm = (await kubernetesTools())?.helm;
const folder = temporaryFolder();

const REPOSITORY = "registry.example.com/vendor-verification";
const DIGEST = `sha256:${"0123456789abcdef".repeat(4)}`;

/** Puts a program on the path that writes its arguments into a file, and prints a text. */
function fake(name: string, prints = ""): void {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\necho "${name} $*" >> "${folder}/calls"\nprintf '%s' '${prints}'\n`);
  chmodSync(file, 0o755);
}

(helm ? test : test.skip)("a release signs the pushed image, and its chart installs exactly that image", async () => {
  fake("docker", `other.example.com/vv@sha256:beef\n${REPOSITORY}@${DIGEST}\n`);
  fake("cosign");
  if (helm !== "helm") symlinkSync(helm!, join(folder, "helm"));
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  await run("sh", [join(projectRoot, "deploy/image/release.sh"), REPOSITORY, "1.2.3-gabc", folder], { env });
  const calls = readFileSync(join(folder, "calls"), "utf8");
  expect(calls).toContain(`docker push ${REPOSITORY}:1.2.3-gabc\n`);
  expect(calls).toContain(`cosign sign --yes ${REPOSITORY}@${DIGEST}\n`);
  const installation = ["publicBaseUrl=https://a.example", "dashboardUrl=https://b.example", "kafka.brokers={k:9092}"];
  const set = [...installation, "secrets.existingSecret=s"].flatMap((value) => ["--set", value]);
  const rendered = await run(helm!, ["template", "vv", join(folder, "vendor-verification-1.2.3-gabc.tgz"), ...set]);
  const images = new Set([...rendered.matchAll(/^ +image: (.*)$/gm)].map(([, image]) => image));
  expect([...images]).toEqual([`${REPOSITORY}@${DIGEST}`]);
});
