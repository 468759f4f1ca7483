import { type ApplyOptions, applyRegistryBatch, type ItemOutcome, type RegistryItem } from "./apply.ts";
import { addRow, factsFromDailyRow, factsFromRow, speakingRow } from "./combine.ts";
import { type ExtractFile, type ExtractItem, readExtract, validateExtract } from "./files/extract.ts";
import type { ExtractRow } from "./files/row.ts";
import { type LoadOptions, type LoadReport, type RunningLoad, runLoad } from "./load-log.ts";
import { markGone } from "./mark-gone.ts";

/**
 * What a load came to. `unchanged` says what was known, several rows of one entity counted once; `gone` are entities
 * that the file before had and this complete one lacks: they stay, marked as not listed.
 */
export type ExtractReport = LoadReport<"rows" | keyof typeof NOTHING | "seconds">;

const BATCH_SIZE = 250;
/** Entities whose scattered rows are held in memory at once; where there are more, the file is read once more for them. */
const GATHERED_AT_ONCE = 10_000;
const NOTHING = { new: 0, changed: 0, unchanged: 0, quarantined: 0, gone: 0 };

/**
 * Loads a SAM public extract: checks the whole file first and writes nothing unless it is sound; then brings one
 * entity after the other to what it says, in constant memory but for 8 bytes per entity. A load that was killed is
 * taken up by loading the file again, which passes quickly over what was applied. Errors: RegistryFileError.
 */
export async function loadExtract(options: LoadOptions): Promise<ExtractReport> {
  const { collections, path, now, onProgress } = options;
  const startedAt = now();
  const file = await validateExtract(path, onProgress);
  const source = { name: "sam_gov_extract", retrieved_at: startedAt, version: file.fileName };
  const { loadId, isOlder, counts, changes } = await runLoad(
    { ...options, kind: "registry", file, nothing: NOTHING },
    (load) =>
      applyFile(options, file, load, {
        collections,
        transact: load.transact,
        loadId: load.loadId,
        source,
        actor: `registry:${file.fileName}`,
        now: startedAt,
      }),
  );
  const seconds = (now().getTime() - startedAt.getTime()) / 1000;
  const { fileName, cutDate, rows } = file;
  return { loadId, fileName, cutDate, isOlder, counts: { rows, ...counts, seconds }, changes };
}

async function applyFile(
  { path, onProgress = () => {} }: LoadOptions,
  { rows, ueis, isComplete }: ExtractFile,
  load: RunningLoad,
  target: ApplyOptions,
): Promise<typeof NOTHING> {
  const counts = { ...NOTHING };
  const quarantine = async (lineNumber: number, reason: string) => {
    counts.quarantined++;
    await load.quarantine(lineNumber, reason);
  };
  const batch = createBatch(load, target, async ({ lineNumber }, outcome) => {
    if (outcome === "unknown") await quarantine(lineNumber, "a partial row of an entity that is not known");
    else counts[outcome === "unseen" ? "unchanged" : outcome]++;
  });
  const add = (entity: EntityRows) => batch.add(itemOf(entity, isComplete));
  let done = 0;
  const onGroup = async (group: readonly ExtractItem[]) => {
    for (const item of group) if (item.kind === "bad") await quarantine(item.lineNumber, item.reason);
    done += group.length;
    onProgress({ phase: "applying", done, total: rows });
  };
  for await (const entity of neighbouringRows(path, onGroup)) if (!ueis.isRepeated(entity.uei)) await add(entity);
  for (const some of ueis.repeated(GATHERED_AT_ONCE)) {
    for (const entity of await scatteredRows(path, some)) await add(entity);
  }
  await batch.finish();
  if (isComplete) counts.gone = await markGone(target, ueis);
  return counts;
}

/** The rows of one entity, one for each EFT indicator, and the line of the first. */
interface EntityRows {
  readonly uei: string;
  readonly lineNumber: number;
  readonly rows: ExtractRow[];
}

/** The rows of a file, neighbours of one entity together. */
async function* neighbouringRows(
  path: string,
  onGroup: (group: readonly ExtractItem[]) => Promise<void>,
): AsyncGenerator<EntityRows> {
  let open: EntityRows | undefined;
  for await (const group of readExtract(path)) {
    for (const item of group) {
      if (item.kind === "bad") continue;
      const { lineNumber, row } = item;
      if (row.uei === open?.uei) {
        addRow(open.rows, row);
        continue;
      }
      if (open) yield open;
      open = { uei: row.uei, lineNumber, rows: [row] };
    }
    await onGroup(group);
  }
  if (open) yield open;
}

/** The rows of these entities from all over a file. */
async function scatteredRows(path: string, ueis: ReadonlySet<string>): Promise<Iterable<EntityRows>> {
  const gathered = new Map<string, EntityRows>();
  for await (const group of readExtract(path)) {
    for (const item of group) {
      if (item.kind === "bad" || !ueis.has(item.row.uei)) continue;
      const before = gathered.get(item.row.uei);
      if (before) addRow(before.rows, item.row);
      else gathered.set(item.row.uei, { uei: item.row.uei, lineNumber: item.lineNumber, rows: [item.row] });
    }
  }
  return gathered.values();
}

interface FileItem extends RegistryItem {
  readonly lineNumber: number;
}

function itemOf({ uei, lineNumber, rows }: EntityRows, isComplete: boolean): FileItem {
  const row = speakingRow(rows);
  return { uei, lineNumber, facts: isComplete ? factsFromRow(row) : (known) => factsFromDailyRow(known, row) };
}

function createBatch(
  { lanes }: RunningLoad,
  target: ApplyOptions,
  onOutcome: (item: FileItem, outcome: ItemOutcome) => Promise<void>,
) {
  let items: FileItem[] = [];
  const flush = async () => {
    const batch = items;
    items = [];
    if (batch.length === 0) return;
    await lanes.run(async () => {
      const outcomes = await applyRegistryBatch(target, batch);
      for (const [index, item] of batch.entries()) await onOutcome(item, outcomes[index]!);
    });
  };
  return {
    async add(item: FileItem) {
      items.push(item);
      if (items.length >= BATCH_SIZE) await flush();
    },
    async finish() {
      await flush();
      await lanes.finish();
    },
  };
}
