// `npm run check:charts`: runs compiled checkers on the rendered chart. Their first build needs Go and takes minutes,
// so `npm test` leaves them out.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments, stringify } from "yaml";
import { run } from "../../../deploy/image/run.ts";
import { serverCacheDir } from "../../../deploy/local/servers/index.ts";
import { chart, type KubernetesObject, renderText, VALUES_FILES, whyNot } from "../support/render.ts";
import { IGNORED_SCORES, NO_CPU_LIMIT } from "./ignored.ts";
import { fetchCheckers, KUBERNETES } from "./programs.ts";

/** The oldest version as kube-score names it: v1.30. */
const KUBERNETES_MINOR = `v${KUBERNETES[0].replace(/\.0$/, "")}`;
const log = (line: string) => void process.stderr.write(`${line}\n`);
const tally = { passed: 0, failed: 0 };

function report(what: string, problem: string | undefined): void {
  tally[problem === undefined ? "passed" : "failed"]++;
  console.log(`${problem === undefined ? "PASS" : "FAIL"} ${what}`);
  if (problem !== undefined) console.log(problem.replaceAll(/^/gm, "  "));
}

/** Runs a program. Returns what it complains about, if anything. */
const complaintOf = (program: string, args: readonly string[]) =>
  run(program, args).then(
    () => undefined,
    (error: Error) => error.message,
  );

if (whyNot) throw new Error(whyNot);
const checkers = await fetchCheckers({ cacheDir: serverCacheDir(process.env), log });
const folder = mkdtempSync(join(tmpdir(), "vvs-checkers-"));
const invalid = (version: string, file: string) => {
  const locations = checkers.schemaLocations(version).flatMap((location) => ["-schema-location", location]);
  return complaintOf(checkers.kubeconform, ["-strict", ...locations, file]);
};
try {
  const kinds = new Map<string, KubernetesObject>();
  for (const [index, files] of VALUES_FILES.entries()) {
    const values = files.join(", ") || "values.yaml";
    const rendered = join(folder, `${index}.yaml`);
    const text = await renderText({ files });
    writeFileSync(rendered, text);
    for (const document of parseAllDocuments(text)) {
      const object = document.toJS() as KubernetesObject | null;
      if (object) kinds.set(object.kind, object);
    }
    for (const version of KUBERNETES)
      report(`${values} is valid for Kubernetes ${version} (kubeconform)`, await invalid(version, rendered));
    const options = ["--exit-one-on-warning", NO_CPU_LIMIT, "--kubernetes-version", KUBERNETES_MINOR];
    const ignored = Object.keys(IGNORED_SCORES).flatMap((name) => ["--ignore-test", name]);
    const complaint = await complaintOf(checkers.kubeScore, ["score", ...options, ...ignored, rendered]);
    report(`${values} has no warnings (kube-score)`, complaint);
  }
  const authority = "ci/certificate-authority.yaml";
  report(`${authority} is valid (kubeconform)`, await invalid(KUBERNETES[0], join(chart, authority)));
  // The checker itself: no kind is left unchecked.
  for (const [kind, { spec, ...rest }] of kinds) {
    const file = join(folder, `${kind}.yaml`);
    const wrong = { noSuchField: 1 };
    writeFileSync(file, stringify(spec ? { ...rest, spec: { ...spec, ...wrong } } : { ...rest, ...wrong }));
    const refused = (await invalid(KUBERNETES[0], file))?.includes("noSuchField");
    report(`a wrong field of a ${kind} is noticed (kubeconform)`, refused ? undefined : "it is not");
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exitCode = tally.failed === 0 ? 0 : 1;
