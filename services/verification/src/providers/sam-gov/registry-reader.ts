import type { EntityService, GetRegistryRecordResponse } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { toProtoEnvironment } from "@vvs/tenant";
import { readOwnData } from "../../own-data.ts";
import type { Question } from "../provider.ts";

export type RegistryReader = Pick<Client<typeof EntityService>, "getRegistryRecord">;

/** Reads the loaded files' records of the vendor in question. Errors: service_unavailable. */
export function readRegistry(
  entities: RegistryReader,
  question: Pick<Question, "tenant" | "uei" | "cage">,
  signal: AbortSignal,
): Promise<GetRegistryRecordResponse> {
  const environment = toProtoEnvironment(question.tenant.environment);
  const query = { environment, uei: question.uei, cage: question.cage };
  return readOwnData(() => entities.getRegistryRecord(query, { signal }));
}
