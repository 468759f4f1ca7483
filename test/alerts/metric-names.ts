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
  const inKafka = namesOfKafka();
  const measured = sources.flatMap((source) =>
    [...source.matchAll(/\.create([A-Z]\w+)\(\s*(?:"([\w.]+)"|metricNames\.(\w+))/g)].map(([, kind, name, member]) => ({
      kind: kind!,
      name: name ?? inKafka[member!]!,
    })),
  );
  return new Set([...measured, ...INSTRUMENTATIONS].flatMap(({ name, kind }) => prometheusNames(name, kind)));
}

function prometheusNames(name: string, kind: string): string[] {
  const bare = name.replaceAll(".", "_");
  return (SUFFIXES[kind] ?? [""]).map((suffix) => (bare.endsWith(suffix) ? bare : bare + suffix));
}

/** Returns the metric names of the Kafka package, which defines them in one object. */
function namesOfKafka(): Record<string, string> {
  const source = readFileSync(join(projectRoot, "packages/kafka/src/messaging.ts"), "utf8");
  const block = /metricNames = \{([\s\S]*?)\}/.exec(source)![1]!;
  return Object.fromEntries([...block.matchAll(/(\w+): "([\w.]+)"/g)].map(([, member, name]) => [member!, name!]));
}
