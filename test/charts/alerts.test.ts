import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { run } from "../../deploy/image/run.ts";
import { projectRoot } from "../../deploy/local/services.ts";
import { topology } from "../../deploy/local/topology.ts";
import { exportedNames } from "../alerts/metric-names.ts";
import { allRecordings, allRules, metricsOf, rulesFolder } from "../alerts/rules.ts";
import { promtool, whyNoPromtool } from "./support/promtool.ts";

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboards = join(projectRoot, "charts/vendor-verification/dashboards");
const panels = readdirSync(dashboards).flatMap(
  (file) => (JSON.parse(readFileSync(join(dashboards, file), "utf8")) as { panels: Panel[] }).panels,
);
const exported = exportedNames();
const recorded = new Set(allRecordings().map(({ record }) => record));
const unknown = (expr: string) => metricsOf(expr).filter((name) => !exported.has(name) && !recorded.has(name));

const shown = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [`panel ${title}`, expr]));

const alerts = allRules().map(({ alert, expr }) => [`alert ${alert}`, expr]);
const recordings = allRecordings().map(({ record, expr }) => [`recording ${record}`, expr]);

test.each([...alerts, ...recordings, ...shown])("the metrics that %s uses are exported", (_name, expr) => {
  expect(unknown(expr!)).toEqual([]);
});

test("each alert and panel uses a metric", () => {
  expect([...alerts, ...shown].filter(([, expr]) => metricsOf(expr!).length === 0)).toEqual([]);
});

test.each([...allRules(), ...allRecordings()].map((rule) => ["alert" in rule ? rule.alert : rule.record, rule.expr]))(
  "every selector of %s can be limited to one installation",
  (_name, expr) => {
    expect(metricsOf(expr.replaceAll(/[\w:]+\{[^}]*\bnamespace=~"\.\*"\}/g, " "))).toEqual([]);
  },
);

test("each metric that an alert uses has a panel", () => {
  const inPanels = new Set(shown.flatMap(([, expr]) => metricsOf(expr!)));
  const used = allRules().flatMap(({ expr }) => metricsOf(expr));
  expect(used.filter((name) => !inPanels.has(name))).toEqual([]);
});

test.each(shown)("every selector of %s is limited to the chosen namespace and job", (_title, expr) => {
  const chosen = /[\w:]+\{[^}]*\bnamespace=~"\$namespace", job=~"\$job"\}/g;
  expect(metricsOf(expr!.replaceAll(chosen, " "))).toEqual([]);
});

const runbooks = join(projectRoot, "docs/runbooks");
/** Labels, ids, reasons, providers and collections, which look like metrics. */
const NO_METRIC = /^http_(?:\d|route$|response|status$)|^rpc_(?:method|status)|_(?:id|live|shards|api|unavailable)$/;
const METRIC =
  /^(?:account|canary|dead_letter|entity|http|kafka|messaging|mongodb|monitor|nodejs|outbox|process|ratelimit|request_log|rpc|sam_gov|service|slo|v8js|verification|webhook)_[a-z0-9_]+$/;

test.each(readdirSync(runbooks))("each metric that the runbook %s names is exported", (file) => {
  const text = readFileSync(join(runbooks, file), "utf8");
  const code = [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span!);
  const named = code.flatMap((span) => span.replaceAll(/"[^"]*"/g, "").match(/[a-z_0-9]+(?=[{}[\]() ]|$)/g) ?? []);
  const metricsNamed = named.filter((name) => METRIC.test(name) && !NO_METRIC.test(name));
  const isExported = (name: string) => exported.has(name) || exported.has(`${name}_count`);
  expect(metricsNamed.filter((name) => !isExported(name))).toEqual([]);
});

test("a command that reads the logs of several pods reads all lines", () => {
  for (const file of readdirSync(runbooks)) {
    const text = readFileSync(join(runbooks, file), "utf8");
    for (const [command] of text.matchAll(/kubectl logs -l [^`]*/g))
      expect({ file, command }).toEqual({ file, command: expect.stringContaining("--tail=") });
  }
});

test("each service has an alert that it is silent", () => {
  const rules = allRules().filter(({ alert }) => alert === "ServiceSilent");
  const absent = rules.flatMap(({ expr }) => [...expr.matchAll(/absent\(service_ready\{service="([\w-]+)"/g)]);
  expect([...absent.map(([, name]) => name), "gateway"].toSorted()).toEqual(
    [...Object.keys(topology), "account-people"].toSorted(),
  );
});

test("each alert is a page or a ticket", () => {
  for (const { alert, severity } of allRules())
    expect({ alert, severity }).toEqual({ alert, severity: expect.stringMatching(/^(page|ticket)$/) });
});

test("the list of alerts that page is complete", () => {
  const rows = readFileSync(join(runbooks, "README.md"), "utf8").matchAll(/^\| ([A-Z]\w+(?:, [A-Z]\w+)*) \|/gm);
  const listed = [...rows].flatMap(([, names]) => names!.split(", "));
  const pages = allRules().filter(({ severity }) => severity === "page");
  expect(listed.toSorted()).toEqual([...new Set(pages.map(({ alert }) => alert))].toSorted());
});

(promtool ? describe : describe.skip)(`promtool${promtool ? "" : ` (skipped: ${whyNoPromtool})`}`, () => {
  test("accepts the rules", async () => {
    const files = readdirSync(rulesFolder).map((file) => join(rulesFolder, file));
    await run(promtool!, ["check", "rules", ...files]);
  });

  test.each(globSync("test/alerts/*.promtool.yaml", { cwd: projectRoot }))(
    "sees alerts fire only when they must: %s",
    async (file) => {
      await run(promtool!, ["test", "rules", file], { cwd: projectRoot });
    },
    120_000,
  );
});
