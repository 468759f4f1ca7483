import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { run } from "../../deploy/image/run.ts";
import { projectRoot } from "../../deploy/local/services.ts";
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

test.each(allRules().map(({ alert, expr }) => [alert, expr]))(
  "the metrics that alert %s uses are exported",
  (_alert, expr) => {
    expect(metricsOf(expr)).not.toEqual([]);
    expect(unknown(expr)).toEqual([]);
  },
);

test.each(allRecordings().map(({ record, expr }) => [record, expr]))(
  "the metrics that recording %s uses are exported",
  (_record, expr) => {
    expect(unknown(expr)).toEqual([]);
  },
);

test.each(panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr])))(
  "the metrics that panel %s shows are exported",
  (_title, expr) => {
    expect(metricsOf(expr)).not.toEqual([]);
    expect(unknown(expr)).toEqual([]);
  },
);

test("each alert is a page or a ticket", () => {
  for (const { alert, severity } of allRules())
    expect({ alert, severity }).toEqual({ alert, severity: expect.stringMatching(/^(page|ticket)$/) });
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
