import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../../deploy/local/services.ts";

/** Who calls whom, and who owns which store, as docs/architecture.md tells people. */
export interface Picture {
  /** Of gRPC calls: `caller>callee`. */
  readonly calls: ReadonlySet<string>;
  /** The services that speak with each store. */
  readonly owners: Readonly<Record<"mongodb" | "kafka" | "redis", ReadonlySet<string>>>;
}

/** Reads the picture off the tables of the document. */
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
  const kafka = rows("| topic | from | to | key |").flatMap(([, from, to]) => [...names(from!), ...names(to!)]);
  const stores = rows("| database (`<prefix>…`) | owner | holds |");
  const ownersOf = (redis: boolean) =>
    stores.filter(([name]) => (name === "Redis") === redis).map(([, owner]) => owner!);
  return {
    calls: new Set(calls),
    owners: { mongodb: new Set(ownersOf(false)), kafka: new Set(kafka), redis: new Set(ownersOf(true)) },
  };
}
