import { isId } from "@vvs/ids";
import { type ListFilter, readFilter } from "../http/filter.ts";
import { timeField } from "../webhooks/delivery-filter.ts";
import { isAuditAction } from "./audit-words.ts";

/** The actor of actions by the operator of the service, who is no user of the organization. */
export const OPERATOR = "operator";

const fields = {
  actor: {
    accepts: (text: string) => text === OPERATOR || isId("usr", text),
    problem: "Choose one of the listed people.",
  },
  action: { accepts: isAuditAction, problem: "Choose one of the listed actions." },
  from: timeField,
  to: timeField,
};

export type AuditFilter = ListFilter<keyof typeof fields>;

export const readAuditFilter = (query: Readonly<Record<string, unknown>>): AuditFilter => readFilter(query, fields);
