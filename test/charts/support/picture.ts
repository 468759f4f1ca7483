import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../../deploy/local/services.ts";

/** The calls between services and the owners of stores, as docs/architecture.md lists them. */
export interface Picture {
  /** gRPC calls, as `caller>callee`. */
  readonly calls: ReadonlySet<string>;
  /** Consumed topics, as `consumer<topic`. */
  readonly consumes: ReadonlySet<string>;
  /** The services that use each store. */
  readonly owners: Readonly<Record<"mongodb" | "kafka" | "redis", ReadonlySet<string>>>;
}

/** Reads the tables of docs/architecture.md. */
export function picture(): Picture {
  const text = readFileSync(join(projectRoot, "docs/architecture.md"), "utf8");
  const rows = (heading: string): string[][] => {
    const table = text.slice(text.indexOf(heading)).split("\n\n")[0] ?? "";
    const lines = table.split("\n").filter((line) => line.startsWith("|"));
    return lines.slice(2).map((line) =>
      line
        .split("|")
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
  };
  const names = (cell: string) => cell.split(",").map((name) => name.trim());
  const calls = rows("| from | to | for |").flatMap(([from, to]) => names(to!).map((callee) => `${from}>${callee}`));
  const topics = rows("| topic | from | to | key |");
  const kafka = topics.flatMap(([, from, to]) => [...names(from!), ...names(to!)]);
  const consumes = topics.flatMap(([topic, , to]) => names(to!).map((name) => `${name}<${topic!.split("`")[1]}`));
  const stores = rows("| database (`<prefix>…`) | owner | holds |");
  const ownersOf = (redis: boolean) =>
    stores.filter(([name]) => (name === "Redis") === redis).map(([, owner]) => owner!);
  return {
    calls: new Set(calls),
    consumes: new Set(consumes),
    owners: { mongodb: new Set(ownersOf(false)), kafka: new Set(kafka), redis: new Set(ownersOf(true)) },
  };
}
