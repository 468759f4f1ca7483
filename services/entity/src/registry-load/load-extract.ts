import { applyRegistryBatch, type RegistryItem } from "./apply.ts";
import { applyInBatches } from "./batches.ts";
import { addRow, decidingRow, factsFromDailyRow, withCages } from "./files/combine.ts";
import { type ExtractFile, type ExtractItem, readExtract, validateExtract } from "./files/extract.ts";
import type { ExtractRow } from "./files/row.ts";
import { type LoadOptions, type LoadReport, type RunningLoad, runLoad } from "./load-log.ts";
import { markGone } from "./mark-gone.ts";

const BATCH_SIZE = 250;
/** While one batch waits for the server, the next is prepared; more would only take processors from look-ups. */
const BATCHES_AT_ONCE = 2;
/** Maximum number of entities whose scattered rows are held in memory; if there are more, the file is read once more. */
const GATHERED_AT_ONCE = 10_000;
const COUNTS = { new: 0, changed: 0, unchanged: 0, quarantined: 0, gone: 0 };

type ExtractLoad = RunningLoad<ExtractFile, keyof typeof COUNTS>;

/**
 * Loads a SAM public extract: checks the whole file, writes nothing unless it is sound, and then applies it to one entity
 * after the other. Memory is constant except for 8 bytes per entity. A load that was killed is continued by loading the
 * file again, which skips what was applied. In the report, `unchanged` counts several rows of one entity
 * once, and `gone` are entities that the previous file had and this complete one lacks: they stay, marked as not listed.
 * Errors: RegistryFileError.
 */
export function loadExtract(options: LoadOptions): Promise<LoadReport> {
  return runLoad({ ...options, kind: "registry", validate: validateExtract, counts: COUNTS }, async (load) => {
    const batches = { size: BATCH_SIZE, atOnce: BATCHES_AT_ONCE };
    await applyInBatches(itemsOf(options, load), batches, (batch) => apply(load, batch));
    if (load.file.isComplete) load.counts.gone = await markGone(load, load.file.ueis);
  });
}

interface FileItem extends RegistryItem {
  readonly lineNumber: number;
}

async function apply(load: ExtractLoad, batch: readonly FileItem[]): Promise<void> {
  const { fileName, cutDate } = load.file;
  const source = { name: "sam_gov_extract", retrieved_at: load.now, version: fileName };
  const outcomes = await applyRegistryBatch({ ...load, source, cutDate }, batch);
  for (const [index, { lineNumber }] of batch.entries()) {
    const outcome = outcomes[index]!;
    if (outcome === "unknown") await load.quarantine(lineNumber, "a partial row of an entity that is not known");
    else load.counts[outcome === "unseen" ? "unchanged" : outcome]++;
  }
}

/** Yields one item per entity: first the entities whose rows are adjacent, then those whose rows are scattered. */
async function* itemsOf(options: LoadOptions, load: ExtractLoad): AsyncGenerator<FileItem> {
  const { ueis, isComplete } = load.file;
  const itemOf = ({ uei, lineNumber, rows }: EntityRows): FileItem => {
    const row = decidingRow(rows);
    const cages = rows.map(({ sam }) => sam.cage);
    if (isComplete) return { uei, lineNumber, facts: withCages(row, cages) };
    return {
      uei,
      lineNumber,
      facts(known) {
        const facts = factsFromDailyRow(known, row);
        // A daily file has not all rows of the entity.
        return facts && withCages(facts, [...cages, known?.sam.cage, ...(known?.other_cages ?? [])]);
      },
    };
  };
  for await (const entity of adjacentRows(options, load)) if (!ueis.isRepeated(entity.uei)) yield itemOf(entity);
  for (const some of ueis.repeated(GATHERED_AT_ONCE)) {
    for (const entity of await scatteredRows(options.path, some)) yield itemOf(entity);
  }
}

/** The rows of one entity, one per EFT indicator, and the line of the first. */
interface EntityRows {
  readonly uei: string;
  readonly lineNumber: number;
  readonly rows: ExtractRow[];
}

/** Yields the rows of a file, adjacent ones of one entity together; reports progress and puts bad rows into quarantine. */
async function* adjacentRows(
  { path, onProgress = () => {} }: LoadOptions,
  load: ExtractLoad,
): AsyncGenerator<EntityRows> {
  let open: EntityRows | undefined;
  let done = 0;
  for await (const group of readExtract(path)) {
    for (const item of group) {
      if (!item.row) await load.quarantine(item.lineNumber, item.reason);
      else if (item.row.uei === open?.uei) addRow(open.rows, item.row);
      else {
        if (open) yield open;
        open = entityRows(item.lineNumber, item.row);
      }
    }
    done += group.length;
    onProgress({ phase: "applying", done, total: load.file.rows });
  }
  if (open) yield open;
}

/** Returns the rows of these entities from the whole file. */
async function scatteredRows(path: string, ueis: ReadonlySet<string>): Promise<Iterable<EntityRows>> {
  const gathered = new Map<string, EntityRows>();
  for await (const group of readExtract(path)) {
    for (const { row, lineNumber } of group) {
      if (!row || !ueis.has(row.uei)) continue;
      const before = gathered.get(row.uei);
      if (before) addRow(before.rows, row);
      else gathered.set(row.uei, entityRows(lineNumber, row));
    }
  }
  return gathered.values();
}

function entityRows(lineNumber: ExtractItem["lineNumber"], row: ExtractRow): EntityRows {
  return { uei: row.uei, lineNumber, rows: [row] };
}
