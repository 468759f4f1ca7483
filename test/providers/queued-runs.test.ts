import { fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { VerificationCompletedSchema } from "@vvs/proto/events/v1/events";
import { createTestMonitor, startPlayedQueue } from "../../services/verification/src/testing/played-queue.ts";
import { startChangeDetector } from "../support/change-detector.ts";

// Two weeks of daily runs through the verification service with its queue and the change detector, with a simulated
// SAM.gov, its files, a day on which it is down, and one on which its quota is used up.

const queue = await startPlayedQueue("2026-11-20T09:00:00Z");
const service = await queue.startReplica({ SAM_GOV_DAILY_QUOTA: "40" });
const detector = await startChangeDetector({ prefix: service.prefix, now: () => queue.now() });

async function changesOf(monitorId: string): Promise<string[]> {
  const reports = await detector.reportsOf(monitorId);
  return reports.flatMap(({ runSeq, changes }) =>
    changes.map(
      ({ field, previous, current }) => `${runSeq} ${field.replace("sam_registration.", "")}: ${previous} > ${current}`,
    ),
  );
}

/** What happens to a vendor on a day, in SAM.gov or in its exclusions. */
interface Vendor {
  readonly uei: string;
  /** Its registration on a day; undefined where it has none. */
  readonly registered: (day: string) => { expirationDate: string; status?: string } | undefined;
  readonly isExcluded?: (day: string) => boolean;
  /** Its changes, as the monitor reports them: the run, the field, the values before and after. */
  readonly changes: readonly string[];
}

const active = (expirationDate: string) => ({ expirationDate });
const lapsed = (expirationDate: string) => ({ expirationDate, status: "Inactive" });

// Run 1 is that of 2026-11-20, run 3 that of 2026-11-22.
const vendors: readonly Vendor[] = [
  { uei: "PLAYEDSTEADY", registered: () => active("2027-05-01"), changes: [] },
  {
    uei: "PLAYEDRENEWS",
    registered: (day) => active(day >= "2026-11-21" ? "2027-11-21" : "2026-11-21"),
    changes: ["3 expiration_date: 2026-11-21 > 2027-11-21"],
  },
  {
    uei: "PLAYEDLAPSES",
    registered: (day) => (day >= "2026-11-22" ? lapsed("2026-11-21") : active("2026-11-21")),
    changes: ["3 status: pass > fail", "3 registration_status: active > expired"],
  },
  {
    uei: "PLAYEDEXCLUD",
    registered: () => active("2027-05-01"),
    isExcluded: (day) => day >= "2026-11-23",
    changes: [
      "4 status: pass > fail",
      "4 registration_status: active > debarred",
      "4 exclusion_effect: undefined > bar",
    ],
  },
  {
    uei: "PLAYEDENDSEX",
    registered: () => active("2027-05-01"),
    isExcluded: (day) => day < "2026-11-24",
    changes: [
      "5 status: fail > pass",
      "5 registration_status: debarred > active",
      "5 exclusion_effect: bar > undefined",
    ],
  },
  {
    uei: "PLAYEDCOMESB",
    registered: (day) => {
      if (day >= "2026-11-28") return active("2027-11-28");
      return day >= "2026-11-22" ? lapsed("2026-11-21") : active("2026-11-21");
    },
    changes: [
      "3 status: pass > fail",
      "3 registration_status: active > expired",
      "9 status: fail > pass",
      "9 registration_status: expired > active",
      "9 expiration_date: 2026-11-21 > 2027-11-28",
    ],
  },
];

/** Puts SAM.gov and the loaded files into the state of the day. */
function play(day: string): void {
  // An extract that was cut before the re-registration is loaded two days after it.
  const cutDate = day >= "2026-11-30" ? "2026-11-27" : "2026-11-01";
  for (const { uei, registered, isExcluded = () => false } of vendors) {
    queue.sam.forget(uei);
    const now = registered(day);
    const flag = isExcluded(day) ? "Y" : "N";
    if (now) queue.sam.register({ uei, ...now, exclusionFlag: flag });
    const listed = registered(cutDate);
    const row = {
      uei,
      legalName: "PLAYED VENDOR LLC",
      cage: "1PLY1",
      entityType: "Corporate Entity (Not Tax Exempt)",
      extractCode: listed?.status ? "E" : "A",
      expirationDate: listed?.expirationDate ?? "",
      excluded: isExcluded(cutDate),
    };
    queue.setFiles(uei, {
      ...(listed && { record: row }),
      registryCutDate: cutDate,
      registryLoad: `registry:${cutDate}`,
      exclusionsCutDate: day,
      exclusionsLoad: `exclusions:${day}`,
      exclusions: isExcluded(day) ? [{ samNumber: uei, program: "Reciprocal", terminationDate: "indefinite" }] : [],
      endedExclusions: isExcluded("2026-11-01") && !isExcluded(day) ? [{ samNumber: uei, endedOn: "2026-11-24" }] : [],
    });
  }
}

test("each change of a vendor is reported once, whichever source knows it first, and no older source takes it back", async () => {
  const monitors = vendors.map(({ uei }) => createTestMonitor({ uei }, { replicas: [service] }));
  const outbox = service.databases.live.collection("outbox");
  const detected = new Set<string>();
  /** Passes new completed runs to the change detector. */
  async function detectNew(): Promise<void> {
    const rows = await outbox
      .find({ key: { $in: monitors.map(({ monitorId }) => monitorId) } })
      .sort({ seq: 1 })
      .toArray();
    for (const { record_id, value } of rows.filter((row) => !detected.has(row.record_id))) {
      await detector.detect(fromBinary(VerificationCompletedSchema, value.buffer));
      detected.add(record_id);
    }
  }
  const callsByDay: number[] = [];
  for (let count = 0; count < 14; count++) {
    play(queue.now().toISOString().slice(0, 10));
    const before = queue.sam.calls().length;
    // Down on 2026-11-25, and a used-up quota on the next day: what waits then is asked on a later day.
    if (count === 5) queue.sam.misbehave({ kind: "status", status: 503 });
    if (count === 6) {
      queue.sam.misbehave({ kind: "throttled", shape: "fault", nextAccessTime: "2026-Nov-27 00:00:00+0000 UTC" });
    }
    for (const monitor of monitors) await monitor.run();
    await service.queue.ask();
    await service.queue.resume();
    await detectNew();
    queue.sam.behave();
    callsByDay.push(queue.sam.calls().length - before);
    queue.passHours(24);
  }
  const reported = await Promise.all(monitors.map(({ monitorId }) => changesOf(monitorId)));
  expect(Object.fromEntries(vendors.map(({ uei }, index) => [uei, reported[index]!.toSorted()]))).toEqual(
    Object.fromEntries(vendors.map(({ uei, changes }) => [uei, changes.toSorted()])),
  );
  // First runs cost a call each; after that, one call a day asks for all that the files can't know.
  expect(callsByDay[0]).toBe(vendors.length);
  expect(Math.max(...callsByDay.slice(1))).toBeLessThanOrEqual(2);
  expect(await queue.collections().questions.countDocuments()).toBe(0);
});
