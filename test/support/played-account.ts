// A simulated account service in its own process, which prints its port. It returns signing secrets (SECRETS lists them, the
// current one first; they are the same for all organizations), and approves every organization for live tin_match.
// PROVIDER_BUDGETS has the budgets of every organization as JSON; without it there are none.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import {
  type GetOrganizationSettingsRequest,
  GetOrganizationSettingsRequestSchema,
  type GetOrganizationSettingsResponse,
  GetOrganizationSettingsResponseSchema,
} from "@vvs/proto/account/v1/organization_status";
import {
  type GetSigningSecretsRequest,
  GetSigningSecretsRequestSchema,
  type GetSigningSecretsResponse,
  GetSigningSecretsResponseSchema,
} from "@vvs/proto/account/v1/webhook_secrets";

const secrets = (process.env.SECRETS ?? "").split(",");
const providerBudgets = JSON.parse(process.env.PROVIDER_BUDGETS ?? "[]");
const server = new grpc.Server();
server.addService(
  {
    getOrganizationSettings: {
      path: "/vvs.account.v1.OrganizationStatusService/GetOrganizationSettings",
      requestStream: false,
      responseStream: false,
      requestSerialize: (message: GetOrganizationSettingsRequest) =>
        Buffer.from(toBinary(GetOrganizationSettingsRequestSchema, message)),
      requestDeserialize: (bytes: Buffer) => fromBinary(GetOrganizationSettingsRequestSchema, bytes),
      responseSerialize: (message: GetOrganizationSettingsResponse) =>
        Buffer.from(toBinary(GetOrganizationSettingsResponseSchema, message)),
      responseDeserialize: (bytes: Buffer) => fromBinary(GetOrganizationSettingsResponseSchema, bytes),
    },
  },
  {
    getOrganizationSettings(_call: unknown, callback: grpc.sendUnaryData<GetOrganizationSettingsResponse>) {
      const approved = { liveTinMatch: true, tinFailuresPerDay: 1_000_000, providerBudgets };
      callback(null, create(GetOrganizationSettingsResponseSchema, approved));
    },
  },
);
server.addService(
  {
    getSigningSecrets: {
      path: "/vvs.account.v1.WebhookSecretService/GetSigningSecrets",
      requestStream: false,
      responseStream: false,
      requestSerialize: (message: GetSigningSecretsRequest) =>
        Buffer.from(toBinary(GetSigningSecretsRequestSchema, message)),
      requestDeserialize: (bytes: Buffer) => fromBinary(GetSigningSecretsRequestSchema, bytes),
      responseSerialize: (message: GetSigningSecretsResponse) =>
        Buffer.from(toBinary(GetSigningSecretsResponseSchema, message)),
      responseDeserialize: (bytes: Buffer) => fromBinary(GetSigningSecretsResponseSchema, bytes),
    },
  },
  {
    getSigningSecrets(_call: unknown, callback: grpc.sendUnaryData<GetSigningSecretsResponse>) {
      callback(null, create(GetSigningSecretsResponseSchema, { secrets }));
    },
  },
);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(port);
});
