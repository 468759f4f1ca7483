// Baseline for look-ups by identifier, started as a separate process: a gRPC handler on grpc-js that does only one
// indexed findOne, with the product's telemetry. It prints its port.
import { EntityService, type LookUpRequest } from "@vvs/proto/entity/v1/entity";
import { MongoClient } from "mongodb";
import { answering, serveBare } from "../../support/bare-grpc.ts";

interface Entity {
  readonly _id: string;
  readonly legal_name: string;
  readonly organization_id: string | null;
}

const { MONGODB_URI, BARE_DATABASE } = process.env;
const client = await new MongoClient(MONGODB_URI!, { readConcern: { level: "majority" } }).connect();
const entities = client.db(BARE_DATABASE).collection<Entity>("entities");

async function lookUp(request: LookUpRequest) {
  const found = await entities.findOne({ "identifiers.uei": request.identifiers!.uei, organization_id: null });
  return { entity: { id: found!._id, legalName: found!.legal_name }, confidence: 1 };
}

serveBare(answering(EntityService, { lookUp }));
