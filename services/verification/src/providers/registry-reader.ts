import type { EntityService, GetRegistryRecordResponse } from "@vvs/proto/entity/v1/entity";
import type { Client } from "@vvs/rpc";
import { toProtoEnvironment } from "@vvs/tenant";
import { ProviderError, type Question } from "./provider.ts";

export type RegistryReader = Pick<Client<typeof EntityService>, "getRegistryRecord">;

/** What the loaded files say of the vendor asked about. Errors: ProviderError where they are out of reach. */
export async function readRegistry(
  entities: RegistryReader,
  question: Question,
  signal: AbortSignal,
): Promise<GetRegistryRecordResponse> {
  const environment = toProtoEnvironment(question.tenant.environment);
  try {
    return await entities.getRegistryRecord({ environment, uei: question.uei, cage: question.cage }, { signal });
  } catch (cause) {
    throw new ProviderError("registry_unavailable", { cause });
  }
}
