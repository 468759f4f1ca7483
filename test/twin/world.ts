import { create } from "@bufbuild/protobuf";
import {
  type EntityService,
  GetCheckSubjectsResponseSchema,
  GetRegistryRecordsResponseSchema,
  ListWithdrawnLoadsResponseSchema,
  RecordTinMatchResponseSchema,
  type RegistryAnswer,
  RegistryAnswerSchema,
  UpdateFromProviderResponseSchema,
} from "@vvs/proto/entity/v1/entity";
import { type ExclusionEffect, isInForce, registryDay } from "@vvs/registration";
import type { Client } from "@vvs/rpc";
import type { PlayedSamGov } from "../outside/sam-gov.ts";
import { PRODUCTS_ONLY } from "../outside/sam-gov-rows.ts";

// What is true of the vendors, and what SAM.gov's files and API say of it. The files are cut from the truth of an earlier
// moment; a bad one says something else. The API always says what is true now.

/** An exclusion of a vendor; dates are YYYY-MM-DD, the last one may be `indefinite`. */
export interface TrueExclusion {
  readonly activeDate: string;
  readonly terminationDate: string;
  readonly effect: ExclusionEffect;
  /** It names the vendor only by its CAGE. */
  readonly withoutUei: boolean;
}

/** What is true of a vendor. */
export interface Truth {
  readonly listed: "active" | "expired" | "absent";
  readonly legalName: string;
  readonly expirationDate: string;
  readonly exclusions: readonly TrueExclusion[];
}

export interface Vendor {
  readonly uei: string;
  readonly cage: string;
  /** Oldest first. */
  readonly history: { readonly at: Date; readonly truth: Truth }[];
}

interface Load {
  readonly id: string;
  /** YYYY-MM-DD. */
  readonly cutDate: string;
  /** By UEI. */
  readonly rows: ReadonlyMap<string, Truth>;
}
type Kind = "registry" | "exclusions";

/** The vendors of which a load or its withdrawal changed what the files say. */
export interface Changed {
  readonly loadId: string;
  readonly vendors: readonly Vendor[];
}

export const ENTITY_TYPE = "Corporate Entity (Not Tax Exempt)";

export type World = ReturnType<typeof createWorld>;

/** Creates a world without vendors and files. `sams` say what is true, each to a product of its own. */
export function createWorld({ sams, now }: { sams: readonly PlayedSamGov[]; now: () => Date }) {
  const vendors = new Map<string, Vendor>();
  const loads: Record<Kind, Load[]> = { registry: [], exclusions: [] };
  const withdrawn: string[] = [];
  /** By organization and entity. */
  const subjects = new Map<string, { uei: string; cage: string }>();
  let count = 0;
  /** No exclusions file comes before this time. */
  let noExclusionsUntil = new Date(0);

  const current = (kind: Kind) => loads[kind].at(-1);

  function truthAt({ history }: Vendor, at: Date): Truth | undefined {
    return history.findLast((each) => each.at <= at)?.truth;
  }

  /** Makes the APIs say what is true now. */
  function publish({ uei, cage, history }: Vendor): void {
    const { listed, legalName, expirationDate, exclusions } = history.at(-1)!.truth;
    const today = registryDay(now());
    const left = exclusions.filter((each) => isLeft(each, today));
    for (const sam of sams) {
      for (const each of [uei, cage]) sam.forget(each);
      const status = listed === "active" ? "Active" : "Expired";
      const exclusionFlag = isFlagged(left, today) ? "Y" : "N";
      if (listed !== "absent") sam.register({ uei, cage, legalName, status, expirationDate, exclusionFlag });
      for (const { activeDate, terminationDate, effect, withoutUei } of left) {
        sam.exclude({
          ...{ uei: withoutUei ? null : uei, cage, activateDate: american(activeDate) },
          terminationDate: terminationDate === "indefinite" ? null : american(terminationDate),
          ...(effect === "facility" && { ctCode: "H" }),
          ...(effect === "product" && { agencyCode: "GSA", comments: PRODUCTS_ONLY }),
        });
      }
    }
  }

  function recordOf(query: { uei: string; cage: string }): RegistryAnswer {
    const [registry, exclusionsFile] = [current("registry"), current("exclusions")];
    const today = registryDay(now());
    const named = [...vendors.values()].find(({ uei, cage }) => (query.uei ? uei === query.uei : cage === query.cage));
    const row = named && registry?.rows.get(named.uei);
    const rows = (named && exclusionsFile?.rows.get(named.uei)?.exclusions) ?? [];
    const earlier = loads.exclusions
      .slice(0, -1)
      .flatMap(({ rows }) => (named && rows.get(named.uei)?.exclusions) ?? []);
    const gone = earlier.filter((each) => !rows.some((other) => keyOf(other) === keyOf(each)));
    const record = row &&
      row.listed !== "absent" && {
        ...{ uei: named!.uei, cage: named!.cage, legalName: row.legalName, expirationDate: row.expirationDate },
        ...{ extractCode: row.listed === "active" ? "A" : "E", entityType: ENTITY_TYPE },
        excluded: isFlagged(row.exclusions, registry!.cutDate),
      };
    return create(RegistryAnswerSchema, {
      ...(record && { record }),
      exclusions: rows.filter((each) => isLeft(each, today)).map((each) => exclusionOf(each, "")),
      endedExclusions: [
        ...rows.filter((each) => !isLeft(each, today)).map((each) => exclusionOf(each, "")),
        ...gone.map((each) => exclusionOf(each, exclusionsFile!.cutDate)),
      ],
      ...(registry && { registryCutDate: registry.cutDate, registryLoad: registry.id }),
      ...(exclusionsFile && { exclusionsCutDate: exclusionsFile.cutDate, exclusionsLoad: exclusionsFile.id }),
      withdrawnLoads: withdrawn,
    });
  }

  /** The entity service, as far as verification calls it for sam_registration. */
  const entities: Partial<Client<typeof EntityService>> = {
    getCheckSubjects: async ({ keys = [] }) =>
      create(GetCheckSubjectsResponseSchema, {
        subjects: keys.map(({ tenant, entityId }) => {
          const subject = subjects.get(`${tenant?.organizationId} ${entityId}`);
          return subject ? { entityId, legalName: "V", ...subject } : {};
        }),
      }),
    getRegistryRecords: async ({ queries = [] }) =>
      create(GetRegistryRecordsResponseSchema, {
        records: queries.map(({ uei = "", cage = "" }) => recordOf({ uei, cage })),
      }),
    listWithdrawnLoads: async () => create(ListWithdrawnLoadsResponseSchema, { loads: withdrawn }),
    updateFromProvider: async () => create(UpdateFromProviderResponseSchema, {}),
    recordTinMatch: async () => create(RecordTinMatchResponseSchema, {}),
  };

  return {
    entities: entities as Client<typeof EntityService>,
    recordOf,
    addVendor(truth: Truth): Vendor {
      const serial = String(++count).padStart(4, "0");
      const vendor: Vendor = { uei: `TWINVEND${serial}`, cage: `${serial}T`, history: [{ at: new Date(0), truth }] };
      vendors.set(vendor.uei, vendor);
      publish(vendor);
      return vendor;
    },
    change(vendor: Vendor, change: Partial<Truth>): void {
      vendor.history.push({ at: now(), truth: { ...vendor.history.at(-1)!.truth, ...change } });
      publish(vendor);
    },
    /** Makes an entity with these identifiers visible to an organization. */
    put: (organizationId: string, entityId: string, subject: { uei: string; cage: string }) =>
      void subjects.set(`${organizationId} ${entityId}`, subject),
    /** Lets the APIs follow the calendar. */
    publishAll(): void {
      for (const vendor of vendors.values()) if (vendor.history.at(-1)!.truth.exclusions.length > 0) publish(vendor);
    },
    /**
     * Loads a file that was cut on this day, where none as new is loaded. `bad` changes what it says. Returns the vendors of
     * which it says something else than the one before.
     */
    load(
      kind: Kind,
      cutDate: string,
      bad: (vendor: Vendor, truth: Truth) => Truth = (_, truth) => truth,
    ): Changed | undefined {
      const before = current(kind);
      const isLate = kind === "exclusions" && now() < noExclusionsUntil;
      if (isLate || (before && before.cutDate >= cutDate)) return undefined;
      const rows = new Map<string, Truth>();
      for (const vendor of vendors.values()) {
        const truth = truthAt(vendor, new Date(`${cutDate}T00:00:00Z`));
        if (truth) rows.set(vendor.uei, bad(vendor, truth));
      }
      const load: Load = { id: `${kind}:${++count}`, cutDate, rows };
      loads[kind].push(load);
      return { loadId: load.id, vendors: differing(before, load) };
    },
    /** Lets no exclusions file come before this time. */
    exclusionsWait(until: Date): void {
      noExclusionsUntil = until;
    },
    /** Withdraws the newest file. Returns as `load` does. */
    withdraw(kind: Kind): Changed | undefined {
      if (loads[kind].length < 2) return undefined;
      const gone = loads[kind].pop()!;
      withdrawn.unshift(gone.id);
      return { loadId: gone.id, vendors: differing(gone, current(kind)) };
    },
    /** Begins again, without vendors and files. */
    clear(): void {
      for (const { uei, cage } of vendors.values())
        for (const sam of sams) for (const each of [uei, cage]) sam.forget(each);
      for (const each of [vendors, subjects]) each.clear();
      noExclusionsUntil = new Date(0);
      for (const each of [loads.registry, loads.exclusions, withdrawn]) each.length = 0;
    },
  };

  function differing(before: Load | undefined, after: Load | undefined): Vendor[] {
    const text = (load: Load | undefined, { uei }: Vendor) => JSON.stringify(load?.rows.get(uei));
    return [...vendors.values()].filter((vendor) => text(before, vendor) !== text(after, vendor));
  }
}

/** Has it not ended? */
const isLeft = ({ terminationDate }: TrueExclusion, today: string) =>
  terminationDate === "indefinite" || terminationDate >= today;
const keyOf = ({ activeDate, effect, withoutUei }: TrueExclusion) => `${activeDate} ${effect} ${withoutUei}`;
const american = (day: string) => `${day.slice(5)}-${day.slice(0, 4)}`;
const isFlagged = (exclusions: readonly TrueExclusion[], day: string) =>
  exclusions.some(
    ({ activeDate: active_date, terminationDate: termination_date, withoutUei }) =>
      !withoutUei && isInForce({ active_date, termination_date }, day),
  );

function exclusionOf(exclusion: TrueExclusion, endedOn: string) {
  return { program: "Reciprocal", agency: "PLAY", ...exclusion, endedOn };
}
