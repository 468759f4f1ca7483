export { advice } from "./advice.ts";
export { catalogue, type ErrorCode, isErrorCode } from "./catalogue.ts";
export { isOutcomeUnknown, outcomeUnknown, ServiceError, type Violation } from "./service-error.ts";
