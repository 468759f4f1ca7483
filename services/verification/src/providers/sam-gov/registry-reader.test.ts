import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { GetRegistryRecordsResponseSchema, RegistryAnswerSchema } from "@vvs/proto/entity/v1/entity";
import { type Environment, toProtoEnvironment } from "@vvs/tenant";
import { createRegistryReader } from "./registry-reader.ts";

const recordOf = (uei = "") => create(RegistryAnswerSchema, { registryFile: `of ${uei}` });

/** Creates the reader, and notes what the entity service is asked. */
function start() {
  const asked: unknown[] = [];
  const reader = createRegistryReader({
    async getRegistryRecords({ environment, queries = [] }) {
      asked.push([environment, queries.map(({ uei }) => uei)]);
      return create(GetRegistryRecordsResponseSchema, { records: queries.map(({ uei }) => recordOf(uei)) });
    },
  });
  const read = (environment: Environment, uei: string) => reader.getRegistryRecord({ environment, uei, cage: "" });
  return { asked, read };
}

test("questions at the same moment share a call of their environment, and each gets its own record", async () => {
  const { asked, read } = start();
  const found = await Promise.all([read("live", "A"), read("sandbox", "B"), read("live", "C")]);
  expect(found.map(({ registryFile }) => registryFile)).toEqual(["of A", "of B", "of C"]);
  expect(asked).toEqual(expect.arrayContaining([[toProtoEnvironment("live"), ["A", "C"]]]));
  expect(asked).toHaveLength(2);
});
