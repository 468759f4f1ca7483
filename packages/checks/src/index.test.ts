import { expect, test } from "@jest/globals";
import { CheckType, CheckStatus as ProtoCheckStatus } from "@vvs/proto/common/v1/common";
import { checkNames, checkOf, statusOf, toCheckType, toProtoStatus } from "./index.ts";

const NEWER = 1_000;

test("every check of the contracts has a name, and every name has a number", () => {
  const types = Object.values(CheckType).filter((type) => typeof type === "number" && type !== CheckType.UNSPECIFIED);
  expect(checkNames.map(toCheckType).toSorted()).toEqual(types.toSorted());
  expect(checkNames.map((name) => checkOf(toCheckType(name)))).toEqual(checkNames);
});

test("a status keeps its name over gRPC and Kafka", () => {
  for (const status of ["pass", "fail", "error"] as const) expect(statusOf(toProtoStatus(status))).toBe(status);
});

test("unspecified numbers and those of a newer version have no name", () => {
  expect(checkOf(NEWER as CheckType)).toBeUndefined();
  expect(checkOf(CheckType.UNSPECIFIED)).toBeUndefined();
  expect(statusOf(NEWER as ProtoCheckStatus)).toBeUndefined();
  expect(statusOf(ProtoCheckStatus.UNSPECIFIED)).toBeUndefined();
});
