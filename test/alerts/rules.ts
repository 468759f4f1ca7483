import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { projectRoot } from "../../deploy/local/services.ts";

/** One alert of deploy/alerts. */
export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly severity: string | undefined;
  readonly runbook: string | undefined;
}

/** One recording rule of deploy/alerts, used by alerts and dashboards. */
export interface Recording {
  readonly record: string;
  readonly expr: string;
}

interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert?: string;
      readonly record?: string;
      readonly expr: string;
      readonly labels?: { readonly severity?: string };
      readonly annotations?: { readonly runbook_url?: string };
    }[];
  }[];
}

/** Folder with the rule files. */
export const rulesFolder = join(projectRoot, "deploy/alerts");

const WORDS = new Set(["by", "and", "or", "unless", "on", "offset", "time", "bool"]);

/** Returns all alerts. An alert can occur twice, with two severities. */
export function allRules(): Rule[] {
  return ruleEntries().flatMap(({ alert, expr, labels, annotations }) =>
    alert === undefined ? [] : [{ alert, expr, severity: labels?.severity, runbook: annotations?.runbook_url }],
  );
}

/** Returns all recording rules. */
export function allRecordings(): Recording[] {
  return ruleEntries().flatMap(({ record, expr }) => (record === undefined ? [] : [{ record, expr }]));
}

/** Returns the names of the metrics in an expression, without Grafana's variables. */
export function metricsOf(expr: string): string[] {
  const bare = expr
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, " ")
    .replaceAll(/\bby \([^)]*\)/g, " ")
    .replaceAll(/[a-z_]+(?= *\()/g, " ")
    .replaceAll(/\boffset \w+/g, " ");
  return [...new Set(bare.match(/[a-z][a-z0-9_:]*/g) ?? [])].filter((name) => !WORDS.has(name));
}

function ruleEntries() {
  return readdirSync(rulesFolder).flatMap((file) =>
    (parse(readFileSync(join(rulesFolder, file), "utf8")) as RuleFile).groups.flatMap(({ rules }) => rules),
  );
}
