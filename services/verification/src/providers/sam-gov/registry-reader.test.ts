import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { Environment } from "@vvs/proto/common/v1/common";
import { GetRegistryRecordResponseSchema, GetRegistryRecordsResponseSchema } from "@vvs/proto/entity/v1/entity";
import { createRegistryReader } from "./registry-reader.ts";

const recordOf = (uei = "") => create(GetRegistryRecordResponseSchema, { registryFile: `of ${uei}` });

/** Creates the reader, and notes what the entity service is asked. */
function start() {
  const asked: unknown[] = [];
  const reader = createRegistryReader({
    async getRegistryRecords({ environment, queries = [] }) {
      asked.push([environment, queries.map(({ uei }) => uei)]);
      return create(GetRegistryRecordsResponseSchema, { records: queries.map(({ uei }) => recordOf(uei)) });
    },
  });
  const read = (environment: Environment, uei: string) => reader.getRegistryRecord({ environment, uei });
  return { asked, read };
}

const { LIVE, SANDBOX } = Environment;

test("questions at the same moment share a call of their environment, and each gets its own record", async () => {
  const { asked, read } = start();
  const found = await Promise.all([read(LIVE, "A"), read(SANDBOX, "B"), read(LIVE, "C")]);
  expect(found.map(({ registryFile }) => registryFile)).toEqual(["of A", "of B", "of C"]);
  expect(asked).toEqual(expect.arrayContaining([[LIVE, ["A", "C"]]]));
  expect(asked).toHaveLength(2);
});
