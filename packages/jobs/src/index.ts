export { apiResultColumns } from "./api-result-columns.ts";
export { addJobRows, fittingRows, readJobResults } from "./calls.ts";
export {
  type Decision,
  decisionOf,
  decisions,
  outcomeOf,
  type RowOutcome,
  rowOutcomes,
  toProtoDecision,
  toProtoOutcome,
} from "./names.ts";
export { createRepeatFinder, isTinAsNumber, type JobRow, TIN_AS_NUMBER_PROBLEM } from "./rows.ts";
