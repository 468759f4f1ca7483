import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../deploy/local/services.ts";

/** Metrics that OpenTelemetry's HTTP instrumentation exports without our own code. */
const INSTRUMENTATIONS = [
  { name: "http.server.request.duration", kind: "Histogram" },
  { name: "http.client.request.duration", kind: "Histogram" },
];
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  Histogram: ["_bucket", "_count", "_sum"],
  Counter: ["_total"],
  ObservableCounter: ["_total"],
};

/** Returns the Prometheus names of all metrics that the code exports. */
export function exportedNames(): ReadonlySet<string> {
  const files = globSync("{packages,services}/*/src/**/*.ts", { cwd: projectRoot });
  const sources = files
    .filter((file) => !file.endsWith(".test.ts"))
    .map((file) => readFileSync(join(projectRoot, file), "utf8"));
  const measured = sources.flatMap((source) =>
    [...source.matchAll(/\.create([A-Z]\w+)\(\s*"([\w.]+)"/g)].map(([, kind, name]) => ({ kind: kind!, name: name! })),
  );
  return new Set([...measured, ...INSTRUMENTATIONS].flatMap(({ name, kind }) => prometheusNames(name, kind)));
}

function prometheusNames(name: string, kind: string): string[] {
  const bare = name.replaceAll(".", "_");
  return (SUFFIXES[kind] ?? [""]).map((suffix) => (bare.endsWith(suffix) ? bare : bare + suffix));
}
