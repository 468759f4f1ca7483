import type { Verification } from "@vvs/proto/verification/v1/verification";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page-context.ts";
import { identifierLabels } from "./verification-form.ts";

/** A vendor as it was when a verification was stored, by the version that was the newest then. */
export interface VendorThen {
  readonly legalName: string;
  /** Without the TIN: versions of a registry's vendor have none, and the verification says which one it asked about. */
  readonly identifiers: readonly { readonly label: string; readonly value: string }[];
}

/** Greater than the id of every version, so that versions of the same moment count too. */
const AFTER_ALL = "snp_~";

/** Reads a vendor as it was when a verification was stored; undefined if it had no version yet, can't be seen, or is unavailable. */
export async function readVendorThen(
  { entities, readPanel }: Pick<PageContext, "entities" | "readPanel">,
  visit: Pick<Visit, "caller">,
  { entityId, createdAt }: Pick<Verification, "entityId" | "createdAt">,
): Promise<VendorThen | undefined> {
  const page = { limit: 1, after: { createdAt, id: AFTER_ALL } };
  const found = await readPanel(visit, "version of a vendor", (call) =>
    entities.listSnapshots({ caller: visit.caller, entityId, page }, call),
  );
  const [snapshot] = found?.snapshots ?? [];
  return snapshot && vendorIn(snapshot.entity ?? {});
}

function vendorIn({ legal_name, identifiers }: Readonly<Record<string, unknown>>): VendorThen {
  const values = (identifiers ?? {}) as Readonly<Record<string, unknown>>;
  const shown = Object.entries(identifierLabels).filter(([type]) => type !== "tin" && values[type] !== undefined);
  return {
    legalName: String(legal_name ?? ""),
    identifiers: shown.map(([type, label]) => ({ label, value: String(values[type]) })),
  };
}
