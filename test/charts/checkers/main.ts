// `npm run check:charts`: runs compiled checkers on the rendered chart. Their first build needs Go and takes minutes,
// so `npm test` leaves them out.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../deploy/image/run.ts";
import { serverCacheDir } from "../../../deploy/local/servers/index.ts";
import { renderText, VALUES_FILES, whyNot } from "../support/render.ts";
import { FOREIGN_KINDS, IGNORED_SCORES, NO_CPU_LIMIT } from "./ignored.ts";
import { fetchCheckers, KUBERNETES } from "./programs.ts";

/** The oldest version as kube-score names it: v1.30. */
const KUBERNETES_MINOR = `v${KUBERNETES[0].replace(/\.0$/, "")}`;
const log = (line: string) => void process.stderr.write(`${line}\n`);
const tally = { passed: 0, failed: 0 };

async function check(what: string, program: string, args: readonly string[]): Promise<void> {
  const problem = await run(program, args).then(
    () => undefined,
    (error: Error) => error.message,
  );
  tally[problem === undefined ? "passed" : "failed"]++;
  console.log(`${problem === undefined ? "PASS" : "FAIL"} ${what}`);
  if (problem !== undefined) console.log(problem.replaceAll(/^/gm, "  "));
}

if (whyNot) throw new Error(whyNot);
const checkers = await fetchCheckers({ cacheDir: serverCacheDir(process.env), log });
const folder = mkdtempSync(join(tmpdir(), "vvs-checkers-"));
try {
  for (const [index, files] of VALUES_FILES.entries()) {
    const values = files.join(", ") || "values.yaml";
    const rendered = join(folder, `${index}.yaml`);
    writeFileSync(rendered, await renderText({ files }));
    for (const version of KUBERNETES) {
      const schemas = join(checkers.schemas, version, "{{.ResourceKind}}{{.KindSuffix}}.json");
      const options = ["-strict", "-skip", FOREIGN_KINDS.join(","), "-schema-location", schemas];
      await check(`${values} is valid for Kubernetes ${version} (kubeconform)`, checkers.kubeconform, [
        ...options,
        rendered,
      ]);
    }
    const options = ["--exit-one-on-warning", NO_CPU_LIMIT, "--kubernetes-version", KUBERNETES_MINOR];
    const ignored = Object.keys(IGNORED_SCORES).flatMap((name) => ["--ignore-test", name]);
    await check(`${values} has no warnings (kube-score)`, checkers.kubeScore, [
      "score",
      ...options,
      ...ignored,
      rendered,
    ]);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exitCode = tally.failed === 0 ? 0 : 1;
