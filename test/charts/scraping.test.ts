import { describe, expect, test } from "@jest/globals";
import { render, whyNot } from "./support/render.ts";

/** Labels that the Prometheus Operator gives each target of a ServiceMonitor, before the endpoint's own relabelings. */
const OPERATOR_LABELS = ["namespace", "service", "pod", "container", "endpoint", "job", "instance"];
/** Of these, the ones by which rules and dashboards want the target. All others must be the metric's own. */
const OF_TARGET = ["namespace", "job", "instance"];

/** Returns the labels by which an expression selects, groups or joins. */
function labelsOf(expr: string): string[] {
  const selected = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, matchers]) => [
    ...matchers!.matchAll(/(\w+) *[=!]/g),
  ]);
  const grouped = [...expr.matchAll(/\b(?:by|without|on|ignoring) *\(([^)]*)\)/g)];
  return [...selected.map(([, name]) => name!), ...grouped.flatMap(([, names]) => names!.split(/, */))].filter(Boolean);
}

(whyNot ? describe.skip : describe)(`scraping${whyNot ? ` (skipped: ${whyNot})` : ""}`, () => {
  test("a scraped series keeps its own labels by which rules and dashboards select", async () => {
    const { ofKind } = await render({ files: ["ci/everything-values.yaml"] });
    const groups: { rules: { expr: string }[] }[] = ofKind("PrometheusRule")[0]!.spec.groups;
    const dashboards = ofKind("ConfigMap").flatMap(({ metadata, data }) =>
      metadata.labels?.grafana_dashboard ? Object.values(data as Record<string, string>) : [],
    );
    const panels: { targets?: { expr: string }[] }[] = dashboards.flatMap((text) => JSON.parse(text).panels);
    const rules = [...groups.flatMap((group) => group.rules), ...panels.flatMap(({ targets = [] }) => targets)];
    const used = new Set(rules.flatMap(({ expr }) => labelsOf(expr)));
    expect([...used]).toEqual(expect.arrayContaining(["service", ...OF_TARGET]));

    const { podTargetLabels, endpoints } = ofKind("ServiceMonitor")[0]!.spec;
    for (const { relabelings = [] } of endpoints) {
      const dropped = relabelings.map(({ action, regex }: { action: string; regex: string }) => {
        expect(action).toBe("labeldrop");
        return new RegExp(`^(?:${regex})$`);
      });
      const added = podTargetLabels.map((name: string) => name.replaceAll(/\W/g, "_"));
      const ofTarget: string[] = [...OPERATOR_LABELS, ...added].filter(
        (name) => !dropped.some((one: RegExp) => one.test(name)),
      );
      expect(ofTarget).toEqual(expect.arrayContaining(OF_TARGET));
      // Prometheus would rename the metric's label to `exported_…`.
      expect(ofTarget.filter((name) => used.has(name) && !OF_TARGET.includes(name))).toEqual([]);
    }
  });
});
