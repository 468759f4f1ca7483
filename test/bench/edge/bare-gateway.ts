// The bare chain's first half, started as a separate process: express, and a call on grpc-js. Nothing else. It prints its
// address.
import type { AddressInfo } from "node:net";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { GetEntityRequestSchema, type GetEntityResponse, GetEntityResponseSchema } from "@vvs/proto/entity/v1/entity";
import express from "express";

const client = new grpc.Client(process.env.BARE_ENTITY!, grpc.credentials.createInsecure());
const app = express();

app.get("/v1/entities/:id", (request, response) => {
  client.makeUnaryRequest(
    "/vvs.entity.v1.EntityService/GetEntity",
    (entityId: string) => Buffer.from(toBinary(GetEntityRequestSchema, create(GetEntityRequestSchema, { entityId }))),
    (bytes) => fromBinary(GetEntityResponseSchema, bytes),
    request.params.id,
    (error, reply?: GetEntityResponse) => {
      if (error || !reply?.entity) response.status(500).end();
      else response.json({ id: reply.entity.id, legal_name: reply.entity.legalName });
    },
  );
});
const server = app.listen(0, "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
