import { checkNames, toCheckType } from "@vvs/checks";
import type { CountVendorsResponse } from "@vvs/proto/entity/v1/vendors";
import type { ProviderUsage } from "@vvs/proto/verification/v1/provider_usage";
import type { Provider } from "@vvs/proto/verification/v1/verification";
import { checkTitle } from "../ui/parts.ts";
import { counted, providerName } from "../ui/vocabulary.ts";

type ShownProvider = Pick<Provider, "name" | "checks" | "state" | "quotaRemaining"> &
  Partial<Pick<Provider, "outdated">>;

/** What the overview reports on. Each part is undefined while its service is unavailable. */
export interface Situation {
  /** Numbers of the organization's vendors. */
  readonly vendors:
    | Pick<CountVendorsResponse, "excluded" | "failed" | "error" | "expiring30" | "registrationEnded">
    | undefined;
  /** Number of endpoints that are failing or gone, and not dismissed. */
  readonly failingEndpoints: number | undefined;
  /** Monitors that have had no answer for too long. */
  readonly unanswered: { readonly count: number; readonly hasMore: boolean } | undefined;
  /** All providers of the environment. */
  readonly providers: readonly ShownProvider[] | undefined;
  /** The organization's budgets at providers. */
  readonly budgets: readonly Pick<ProviderUsage, "provider" | "directLeft" | "monitorsLeft">[] | undefined;
}

/** Something to do today, with its one action. */
interface ToDo {
  /** The name and the text of its label. */
  readonly label: readonly [className: string, text: string];
  readonly text: string;
  /** The path below the environment. */
  readonly path: string;
  readonly action: string;
}

/** Returns what a user must do today, vendors first. */
export function toDoList(situation: Situation): ToDo[] {
  return [
    ...vendors(situation),
    ...monitors(situation),
    ...endpoints(situation),
    ...missingProviders(situation),
    ...impairedProviders(situation),
    ...spentBudgets(situation),
  ];
}

function vendors({ vendors: counts }: Situation): ToDo[] {
  if (!counts) return [];
  const { excluded, failed, error, expiring30, registrationEnded = 0 } = counts;
  const item = (count: number, show: string, label: ToDo["label"], one: string, many: string): ToDo[] => {
    const text = vendorCount(count, one, many);
    return count > 0 ? [{ label, text, path: `/vendors?show=${show}`, action: "View these vendors" }] : [];
  };
  const unanswered = "no answer from the newest verification";
  return [
    ...item(excluded, "excluded", ["fail", "excluded"], "is excluded by SAM.gov", "are excluded by SAM.gov"),
    ...item(failed, "failed", ["fail", "failed"], "has failed a check", "have failed a check"),
    ...item(error, "error", ["error", "no answer"], `has ${unanswered}`, `have ${unanswered}`),
    ...item(
      registrationEnded,
      "expired",
      ["expired", "ended"],
      "has a registration that has ended",
      "have registrations that have ended",
    ),
    ...item(
      expiring30,
      "expiring-30",
      ["pending", "expiring"],
      "has a registration that expires within 30 days",
      "have registrations that expire within 30 days",
    ),
  ];
}

/** Counts end at this number. */
const MAX_COUNT = 1_000;

function vendorCount(count: number, one: string, many: string): string {
  return `${counted(count, "vendor")}${count >= MAX_COUNT ? " or more" : ""} ${count === 1 ? one : many}`;
}

function monitors({ unanswered }: Situation): ToDo[] {
  if (!unanswered || unanswered.count === 0) return [];
  const { count, hasMore } = unanswered;
  const name = `${counted(count, "monitor")}${hasMore ? " or more" : ""}`;
  const text = `${name} ${count === 1 && !hasMore ? "has" : "have"} had no answer for too long`;
  return [{ label: ["error", "no answer"], text, path: "/monitors?outcome=unanswered", action: "View these monitors" }];
}

function endpoints({ failingEndpoints: count = 0 }: Situation): ToDo[] {
  if (count === 0) return [];
  const text = `${counted(count, "webhook endpoint")} ${count === 1 ? "does" : "do"} not accept events`;
  return [{ label: ["failing", "failing"], text, path: "/webhooks#endpoints", action: "View webhook endpoints" }];
}

function missingProviders({ providers }: Situation): ToDo[] {
  if (!providers) return [];
  const missing = checkNames.filter((check) => !providers.some(({ checks }) => checks.includes(toCheckType(check))));
  return missing.map((check) => ({
    label: ["error", "missing"],
    text: `No provider is set up for the check “${checkTitle(toCheckType(check))}”, so it gets no answer`,
    path: `/providers#${check}`,
    action: "View what to do",
  }));
}

function impairedProviders({ providers = [] }: Situation): ToDo[] {
  return providers
    .filter(({ state }) => state !== "available")
    .map(({ name, state, quotaRemaining, outdated }) => ({
      label: quotaRemaining === 0n ? ["error", "out of budget"] : [state, state],
      text: `${providerName(name)}${outdated ? ": the data is too old for an answer" : ` ${impairment(state, quotaRemaining)}`}`,
      path: "/providers",
      action: "View providers",
    }));
}

function impairment(state: string, callsLeft: bigint | undefined): string {
  if (callsLeft === 0n) return "has no calls left today for the API and the dashboard, for any customer";
  return state === "degraded" ? "answers only at times" : "does not answer";
}

function spentBudgets({ budgets = [] }: Situation): ToDo[] {
  return budgets
    .filter(({ directLeft, monitorsLeft }) => directLeft === 0 || monitorsLeft === 0)
    .map(({ provider, directLeft, monitorsLeft }) => ({
      label: ["error", "out of budget"],
      text: `Your calls to ${providerName(provider)} for ${directLeft > 0 ? "monitors" : monitorsLeft > 0 ? "the API and the dashboard" : "today"} are used up until midnight UTC`,
      path: "/usage#provider-usage",
      action: "View your budget",
    }));
}
