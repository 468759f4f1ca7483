// The bare chain's second half, started as a separate process: a gRPC handler on grpc-js that does one findOne, without
// telemetry. It prints its port.
import { EntityService, type GetEntityRequest } from "@vvs/proto/entity/v1/entity";
import { MongoClient } from "mongodb";
import { answering, serveBare } from "../../support/bare-grpc.ts";

const { MONGODB_URI, BARE_DATABASE } = process.env;
const client = await new MongoClient(MONGODB_URI!).connect();
const entities = client.db(BARE_DATABASE).collection<{ _id: string; legal_name: string }>("entities");

async function getEntity({ entityId }: GetEntityRequest) {
  const found = await entities.findOne({ _id: entityId });
  return { entity: { id: found!._id, legalName: found!.legal_name } };
}

serveBare(answering(EntityService, { getEntity }));
