// The bare chain's second half, started as a separate process: a gRPC handler on grpc-js that does one findOne, without
// telemetry. It prints its port.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import {
  type GetEntityRequest,
  GetEntityRequestSchema,
  type GetEntityResponse,
  GetEntityResponseSchema,
} from "@vvs/proto/entity/v1/entity";
import { MongoClient } from "mongodb";

const { MONGODB_URI, BARE_DATABASE } = process.env;
const client = await new MongoClient(MONGODB_URI!).connect();
const entities = client.db(BARE_DATABASE).collection<{ _id: string; legal_name: string }>("entities");

async function getEntity({ entityId }: GetEntityRequest): Promise<GetEntityResponse> {
  const found = await entities.findOne({ _id: entityId });
  return create(GetEntityResponseSchema, { entity: { id: found!._id, legalName: found!.legal_name } });
}

const server = new grpc.Server();
server.addService(
  {
    getEntity: {
      path: "/vvs.entity.v1.EntityService/GetEntity",
      requestStream: false,
      responseStream: false,
      requestSerialize: (message: GetEntityRequest) => Buffer.from(toBinary(GetEntityRequestSchema, message)),
      requestDeserialize: (bytes: Buffer) => fromBinary(GetEntityRequestSchema, bytes),
      responseSerialize: (message: GetEntityResponse) => Buffer.from(toBinary(GetEntityResponseSchema, message)),
      responseDeserialize: (bytes: Buffer) => fromBinary(GetEntityResponseSchema, bytes),
    },
  },
  {
    getEntity(
      call: grpc.ServerUnaryCall<GetEntityRequest, GetEntityResponse>,
      callback: grpc.sendUnaryData<GetEntityResponse>,
    ) {
      getEntity(call.request).then(
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
