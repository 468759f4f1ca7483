import { checkOf } from "@vvs/checks";
import { CheckStatus } from "@vvs/proto/common/v1/common";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import type { facts } from "../ui/parts.ts";
import type { SameNames } from "../verdicts/same-names.ts";
import { identifierLabels } from "./verification-form.ts";

/** What a verification asked about, as it was stored with it. Texts are empty where it says nothing. */
export interface AskedAbout {
  /** Of the TIN match: the masked TIN. */
  readonly tin: string;
  /** Of the TIN match: the name. Without one, the name that the call or the row gave. */
  readonly name: string;
  /** Whether it agrees with a name that a source has of the vendor; undefined where it was not compared when it was stored. */
  readonly agrees: boolean | undefined;
  /** The name that SAM.gov answered with. */
  readonly registeredName: string;
  /** The TIN match was stored before its TIN and name were kept. */
  readonly isUnknown: boolean;
}

export function askedAbout({ results, payment }: Pick<Verification, "results" | "payment">): AskedAbout {
  const of = (check: string) => results.find(({ checkType }) => checkOf(checkType) === check);
  const match = of("tin_match");
  const { tin = "", name = payment?.givenName ?? "" } = match?.details ?? {};
  const isAnswered = match?.status === CheckStatus.PASS || match?.status === CheckStatus.FAIL;
  const registeredName = of("sam_registration")?.details?.legalName ?? "";
  return { tin, name, agrees: payment?.nameAgrees, registeredName, isUnknown: isAnswered && tin === "" };
}

/** Returns the names whose difference `askedWarning` reports. */
export function namesToCompare({ name, agrees, registeredName }: AskedAbout, vendorName = "") {
  return agrees === undefined ? [{ asked: name, own: registeredName || vendorName }] : [];
}

/** Renders what was asked about and the registered name, for `facts`. */
export function askedFacts({ tin, name, registeredName, isUnknown }: AskedAbout): Parameters<typeof facts>[0] {
  const lost = isUnknown && "not kept with this verification";
  return [
    ["Name asked about", name ? html`<strong>${name}</strong>` : lost],
    ["TIN asked about", tin ? html`<code>${tin}</code>` : lost],
    ["Registered name", registeredName && html`<strong>${registeredName}</strong>`],
  ];
}

/**
 * Renders a warning where the name that was asked about is not the registered one, or, if SAM.gov named none, not `vendorName`;
 * also where it is unknown what a TIN match was about.
 */
export function askedWarning(asked: AskedAbout, vendorName: string, isSame: SameNames): Html | undefined {
  const { name, agrees, registeredName, isUnknown } = asked;
  if (isUnknown) {
    return html`<p class="notice warning">This verification was stored before the TIN and the name that were asked about were kept, so it does not show which ones matched. Verify again to get a certificate that does.</p>`;
  }
  const own = registeredName || vendorName;
  if (name === "" || own === "" || (agrees ?? isSame(name, own))) return undefined;
  return html`<p class="notice warning">The name asked about is <strong>“${name}”</strong>, but the ${registeredName ? "registered name" : "vendor’s name"} is <strong>“${own}”</strong>. Check that both are the same company. Nothing here proves it.</p>`;
}

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
