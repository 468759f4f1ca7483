// Baseline for look-ups by identifier, started as a separate process: a gRPC handler on grpc-js that does only one
// indexed findOne, with the product's telemetry. It prints its port.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import {
  type LookUpRequest,
  LookUpRequestSchema,
  type LookUpResponse,
  LookUpResponseSchema,
} from "@vvs/proto/entity/v1/entity";
import { MongoClient } from "mongodb";

interface Entity {
  readonly _id: string;
  readonly legal_name: string;
  readonly organization_id: string | null;
}

const { MONGODB_URI, BARE_DATABASE } = process.env;
const client = await new MongoClient(MONGODB_URI!, { readConcern: { level: "majority" } }).connect();
const entities = client.db(BARE_DATABASE).collection<Entity>("entities");

async function lookUp(request: LookUpRequest): Promise<LookUpResponse> {
  const found = await entities.findOne({ "identifiers.uei": request.identifiers!.uei, organization_id: null });
  return create(LookUpResponseSchema, { entity: { id: found!._id, legalName: found!.legal_name }, confidence: 1 });
}

const server = new grpc.Server();
server.addService(
  {
    lookUp: {
      path: "/vvs.entity.v1.EntityService/LookUp",
      requestStream: false,
      responseStream: false,
      requestSerialize: (message: LookUpRequest) => Buffer.from(toBinary(LookUpRequestSchema, message)),
      requestDeserialize: (bytes: Buffer) => fromBinary(LookUpRequestSchema, bytes),
      responseSerialize: (message: LookUpResponse) => Buffer.from(toBinary(LookUpResponseSchema, message)),
      responseDeserialize: (bytes: Buffer) => fromBinary(LookUpResponseSchema, bytes),
    },
  },
  {
    lookUp(call: grpc.ServerUnaryCall<LookUpRequest, LookUpResponse>, callback: grpc.sendUnaryData<LookUpResponse>) {
      lookUp(call.request).then(
        (reply) => callback(null, reply),
        (error: unknown) => callback({ code: grpc.status.INTERNAL, details: String(error) }),
      );
    },
  },
);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(port);
});
