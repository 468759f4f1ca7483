export { catalogue, type ErrorCode, isErrorCode } from "./catalogue.ts";
export {
  type Candidate,
  type MatchReason,
  ServiceError,
  type ServiceErrorOptions,
  type Violation,
} from "./service-error.ts";
