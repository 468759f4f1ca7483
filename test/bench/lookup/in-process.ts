import { readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createIndexedCandidates } from "../../../services/entity/src/lookup/candidates.ts";
import { matchesAmong, namesOf } from "../../../services/entity/src/lookup/lookup-fuzzy.ts";
import { readName } from "../../../services/entity/src/matching/names/name-agrees.ts";
import type { FoundEntity } from "../../../services/entity/src/model/documents.ts";
import { createMatchIndexBuilder } from "../../../services/entity/src/name-index/name-index.ts";
import { UsageError } from "../benchmark.ts";
import { sorted } from "../load.ts";
import type { GeneratedQuery } from "./generated-queries.ts";
import type { Outcome } from "./judgement.ts";
import { nameKey } from "./same-name.ts";

interface FileQuery {
  readonly cat: string;
  readonly q: string;
  readonly id: number | null;
}

export interface InProcessRun {
  readonly outcomes: readonly Outcome[];
  /** Sorted. */
  readonly latenciesMs: readonly number[];
  readonly cpuMsPerQuery: number;
  readonly buildSeconds: number;
  readonly names: number;
}

const SEARCHER = "org_benchmark";
const WARM_UP = 200;

/** Reads a file with one name a line, and one with queries, in which the id of a name is its line number from 0. */
export function readFiles({ namesFile, queriesFile }: { namesFile: string; queriesFile: string }) {
  const names = linesOf(namesFile);
  const queries = readQueries(queriesFile, names.length).map(
    ({ cat, q, id }): GeneratedQuery => ({ cat, q, wanted: id === null ? undefined : names[id]! }),
  );
  return { names, queries };
}

/** Runs queries through the index, the scorer and the rules for answers: a look-up by name without gRPC and MongoDB. */
export async function runInProcess(options: {
  names: readonly string[];
  queries: readonly GeneratedQuery[];
  log: (line: string) => void;
}): Promise<InProcessRun> {
  const { names, queries } = options;
  const began = performance.now();
  const builder = createMatchIndexBuilder();
  for (const [line, name] of names.entries()) builder.add({ id: idOfLine(line), owner: null, names: [name] });
  const index = builder.finish();
  const buildSeconds = (performance.now() - began) / 1_000;
  options.log(`Indexed ${names.length} names in ${buildSeconds.toFixed(1)} s`);

  const candidates = createIndexedCandidates({
    store: {
      findMatches: async (_, ids) => ids.map((id) => entityOf(id, names[lineOfId(id)]!)),
      findWhere: async () => [],
    },
    index: {
      search: async ({ name, organizationId, limit }) => ({
        ...index.search(name, organizationId, limit),
        completeUntil: Number.POSITIVE_INFINITY,
        lacksOwn: false,
      }),
    },
    now: () => new Date(),
  });
  const lookUp = async (text: string) => {
    const given = readName(text);
    const query = { name: given.normalized };
    const tenant = { organizationId: SEARCHER, environment: "live" } as const;
    const { entities, idf } = await candidates(tenant, { name: query.name, address: undefined });
    const comparable = (entity: FoundEntity) => ({ identifiers: new Map(), names: namesOf(entity), addresses: [] });
    return matchesAmong({ query, given, entities, idf, comparable, nextTurn });
  };
  for (const { q } of queries.slice(0, WARM_UP)) await lookUp(q);
  const latenciesMs: number[] = [];
  const outcomes: Outcome[] = [];
  const before = process.cpuUsage();
  for (const { cat, q, wanted } of queries) {
    const start = performance.now();
    const matches = await lookUp(q);
    latenciesMs.push(performance.now() - start);
    outcomes.push({
      cat,
      isPresent: wanted !== undefined,
      right: matches.map(({ entity }) => wanted !== undefined && nameKey(entity.legal_name) === nameKey(wanted)),
      confidences: matches.map(({ confidence }) => confidence),
    });
  }
  const used = process.cpuUsage(before);
  const cpuMsPerQuery = (used.user + used.system) / 1_000 / queries.length;
  return { outcomes, latenciesMs: sorted(latenciesMs), cpuMsPerQuery, buildSeconds, names: names.length };
}

function linesOf(path: string): string[] {
  try {
    const lines = readFileSync(path, "utf8").split("\n");
    if (lines.at(-1) === "") lines.pop();
    return lines.map((line) => line.replace(/\r$/, ""));
  } catch (cause) {
    throw new UsageError(`${path} can't be read.`, { cause });
  }
}

function readQueries(path: string, names: number): FileQuery[] {
  return linesOf(path)
    .filter((line) => line.trim() !== "")
    .map((line, index) => {
      const query = parsed(line);
      const isSound =
        typeof query?.cat === "string" &&
        typeof query.q === "string" &&
        (query.id === null || (Number.isSafeInteger(query.id) && query.id >= 0 && query.id < names));
      if (!isSound)
        throw new UsageError(`${path}: line ${index + 1} is not a query {cat, q, id} for a name in the file.`);
      return query;
    });
}

function parsed(line: string): FileQuery | undefined {
  try {
    return JSON.parse(line) as FileQuery;
  } catch {
    return undefined;
  }
}

/** Returns an entity id that contains the line number. */
function idOfLine(line: number): string {
  return `ent_${String(line).padStart(26, "0")}`;
}

function lineOfId(id: string): number {
  return Number(id.slice("ent_".length));
}

function entityOf(id: string, legalName: string): FoundEntity {
  return {
    _id: id,
    organization_id: null,
    version: 1,
    last_hash: "",
    legal_name: legalName,
    placeholder: false,
    other_names: [],
    identifiers: {},
    exclusions: [],
    addresses: [],
    sources: [],
    created_at: new Date(0),
    changed_at: new Date(0),
  };
}
