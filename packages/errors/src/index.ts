export { catalogue, type ErrorCode, isErrorCode } from "./catalogue.ts";
export {
  type Candidate,
  isOutcomeUnknown,
  type MatchReason,
  outcomeUnknown,
  ServiceError,
  type ServiceErrorOptions,
  type Violation,
} from "./service-error.ts";
