import { checkOf } from "@vvs/checks";
import type { Verification } from "@vvs/proto/verification/v1/verification";
import { type Html, html } from "../http/html.ts";
import type { Visit } from "../http/session.ts";
import type { PageContext } from "../page/page-context.ts";
import type { facts } from "../ui/parts.ts";
import { identifierLabels } from "./verification-form.ts";

/** What a verification asked about, as it was stored with it. Texts are empty where it says nothing. */
export interface AskedAbout {
  /** Of the TIN match: the masked TIN. */
  readonly tin: string;
  /** Of the TIN match: the name. Without one, the name that the call or the row gave. */
  readonly name: string;
  /** Whether it is another one than the vendor's, as it was decided when the verification was stored. */
  readonly differs: boolean;
  /** The name that SAM.gov answered with. */
  readonly registeredName: string;
}

export function askedAbout({ results, payment }: Pick<Verification, "results" | "payment">): AskedAbout {
  const of = (check: string) => results.find(({ checkType }) => checkOf(checkType) === check);
  const { tin = "", name = payment?.givenName ?? "" } = of("tin_match")?.details ?? {};
  const registeredName = of("sam_registration")?.details?.legalName ?? "";
  return { tin, name, differs: payment?.doubts.includes("other_name") ?? false, registeredName };
}

/** Renders what was asked about and the registered name, for `facts`. */
export function askedFacts({ tin, name, registeredName }: AskedAbout): Parameters<typeof facts>[0] {
  return [
    ["Name asked about", name && html`<strong>${name}</strong>`],
    ["TIN asked about", tin && html`<code>${tin}</code>`],
    ["Registered name", registeredName && html`<strong>${registeredName}</strong>`],
  ];
}

/** Renders a warning where the name that was asked about is not the registered one, or, if SAM.gov named none, not `vendorName`. */
export function askedWarning({ name, differs, registeredName }: AskedAbout, vendorName: string): Html | undefined {
  if (!differs) return undefined;
  const own = registeredName || vendorName;
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
