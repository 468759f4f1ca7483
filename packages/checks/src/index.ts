export { type Check, checkDefinitions, checkNames, checkOf, toCheckType } from "./checks.ts";
export { type CheckStatus, statusOf, toProtoStatus } from "./statuses.ts";
