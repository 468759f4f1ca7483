import { newId } from "@vvs/ids";
import type { CallerContext, Environment, Tenant } from "@vvs/tenant";
import { Binary, type ClientSession } from "mongodb";
import type { Collections, EntityDocument, RememberedDocument } from "../model/documents.ts";
import type { EntityStore } from "../store.ts";
import { isSameBinary, type TinHome, type TinVault } from "../tins/tins.ts";
import { type ExternalIds, refuseTinAsNumber } from "./external-ids.ts";

/** What is known of a TIN when it is to be remembered. */
type Evidence =
  /** A call supplied it, and does not check it. */
  | "supplied"
  /** A call supplied it, and checks it. */
  | "checked"
  /** It matched, and was remembered when it was checked. */
  | "matched"
  /** It matched, and the call that checked it supplied it. */
  | "matched when supplied";

/** What is needed of an entity that carries no TIN. */
type Remembering = Pick<EntityDocument, "_id" | "created_at" | "registry_entity_id">;

/** The state of a TIN that did not match: no fingerprint is empty. */
const NOT_MATCHED = new Binary(new Uint8Array());

export type RememberedTins = ReturnType<typeof createRememberedTins>;

/**
 * Stores which TIN an organization remembers of an entity that carries none: the newest that matched; while none has
 * matched, the newest that was checked, or the only one that was supplied. Each replacement is recorded with it.
 */
export function createRememberedTins(options: {
  collections: Readonly<Record<Environment, Collections>>;
  store: EntityStore;
  tins: TinVault;
  externalIds: ExternalIds;
  now: () => Date;
}) {
  const { collections, store, tins, externalIds, now } = options;

  const isTin = (tenant: Tenant, { hash }: RememberedDocument, tin: string) =>
    tins.hashes(tenant, tin).some((one) => hash !== undefined && isSameBinary(one, hash));

  /** Remembers a TIN where the evidence is better than that of the TIN before. */
  async function remember(
    caller: CallerContext,
    entity: Remembering,
    { tin, id, evidence }: { tin: string; id: string; evidence: Evidence },
  ): Promise<void> {
    const { tenant } = caller;
    const { remembered, tinReplacements } = collections[tenant.environment];
    const home: TinHome = { collection: "remembered_identifiers", id };
    const sealed = await tins.seal(tenant, home, tin);
    const hasMatchedNow = evidence.startsWith("matched");
    const key = { _id: id, organization_id: tenant.organizationId };
    await externalIds.whileNotNumber(tenant, entity, tin, async (session: ClientSession) => {
      // In the transaction that excludes other writes of this TIN: another call may have stored one meanwhile.
      const before = await remembered.findOne(key, { session });
      if (before && isTin(tenant, before, tin)) {
        if (hasMatchedNow) await remembered.updateOne(key, { $set: { matched: before.fingerprint! } }, { session });
        return;
      }
      if (before && !replaces(evidence, before)) return;
      const matched = hasMatchedNow ? sealed.fingerprint : NOT_MATCHED;
      const $set = { entity_id: before?.entity_id ?? entity._id, type: "tin" as const, ...sealed, matched };
      await remembered.updateOne(key, { $set }, { upsert: true, session });
      if (!before) return;
      const replacement = {
        _id: newId("tin", now()),
        organization_id: tenant.organizationId,
        entity_id: entity._id,
        previous_last4: before.last4!,
        current_last4: sealed.last4,
        matched: hasMatchedNow,
        actor: caller.actor,
        request_id: caller.requestId,
        created_at: now(),
        unrecorded: true as const,
      };
      await tinReplacements.insertOne(replacement, { session });
    });
  }

  return {
    /**
     * Remembers the TIN that a call supplied for an entity, unless the one before is better. `known` is what the
     * organization supplied about the entity before. Errors: invalid_request if it is the organization's own number of it.
     */
    async supply(
      caller: CallerContext,
      entity: Remembering,
      { tin, isChecked, known }: { tin: string; isChecked: boolean; known: readonly RememberedDocument[] },
    ): Promise<void> {
      refuseTinAsNumber(known, tin);
      const evidence = isChecked ? "checked" : "supplied";
      const before = known.find(({ type }) => type === "tin");
      if (before && (isTin(caller.tenant, before, tin) || !replaces(evidence, before))) return;
      await remember(caller, entity, { tin, id: before?._id ?? tinKey(caller.tenant, entity._id), evidence });
    },
    /**
     * Records that a TIN matched. An entity that carries a TIN needs no record, and one that is not visible gets none. `tin`
     * is "" where it is not known: then it is recorded only while it is still the remembered one.
     */
    async recordMatch(
      caller: CallerContext,
      { entityId, tinHash, tin, supplied }: { entityId: string; tinHash: Uint8Array; tin: string; supplied: boolean },
    ): Promise<void> {
      const { tenant } = caller;
      const matched = new Binary(tinHash);
      const own = { organization_id: tenant.organizationId, type: "tin" as const, fingerprint: matched };
      const { remembered } = collections[tenant.environment];
      // Nearly always it is still the one that is remembered: then one command does it.
      const marked = await remembered.updateOne({ _id: tinKey(tenant, entityId), ...own }, { $set: { matched } });
      if (marked.matchedCount > 0) return;
      const [entity] = await store.findVisible(tenant, [entityId]);
      if (!entity || entity.tin_last4 !== undefined) return;
      const known = (await store.rememberedOf(tenant, [entity])).get(entity._id) ?? [];
      const before = known.find(({ type }) => type === "tin");
      if (tin !== "") {
        const evidence = supplied ? "matched when supplied" : "matched";
        await remember(caller, entity, { tin, id: before?._id ?? tinKey(tenant, entity._id), evidence });
        return;
      }
      if (before) await remembered.updateOne({ _id: before._id, ...own }, { $set: { matched } });
    },
  };
}

/** Returns whether a remembered TIN is known to have matched. */
export function isMatchRecorded({ fingerprint, matched }: RememberedDocument): boolean {
  return fingerprint !== undefined && matched !== undefined && isSameBinary(fingerprint, matched);
}

function replaces(evidence: Evidence, before: RememberedDocument): boolean {
  if (evidence === "supplied") return false;
  // One that was stored before 25 November 2026 may have matched.
  return evidence === "matched when supplied" || (before.matched !== undefined && !isMatchRecorded(before));
}

/** Returns the id of the document with the TIN that an organization remembers of an entity. */
function tinKey({ organizationId }: Tenant, entityId: string): string {
  return `${organizationId}/${entityId}/tin`;
}
