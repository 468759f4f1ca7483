// Baseline for verifications, started as a separate process: a bare gRPC handler on grpc-js that does one indexed read
// and one acknowledged insert of documents shaped like the product's, without telemetry, logs, caller checks,
// transactions or Kafka. It prints its port.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "@vvs/ids";
import { CheckStatus, CheckType } from "@vvs/proto/common/v1/common";
import { VerificationService, type VerifyRequest } from "@vvs/proto/verification/v1/verification";
import { MongoClient } from "mongodb";
import { answering, serveBare } from "../../support/bare-grpc.ts";

interface Answer {
  readonly _id: string;
  readonly check_type: string;
  readonly origin: string;
  readonly confidence: number;
  readonly data_date: Date;
  readonly reason: string;
}

const { MONGODB_URI, BARE_DATABASE } = process.env;
const client = await new MongoClient(MONGODB_URI!, { maxPoolSize: 50, readConcern: { level: "majority" } }).connect();
const database = client.db(BARE_DATABASE);
// The product's answers, each a document of its own with an index for the read below.
await database
  .collection("latest_answers")
  .aggregate([{ $replaceRoot: { newRoot: "$answer" } }, { $out: "bare_answers" }])
  .toArray();
const answers = database.collection<Answer>("bare_answers");
await answers.createIndex({ organization_id: 1, entity_id: 1, check_type: 1, created_at: -1 });
const verifications = database.collection<{ _id: string }>("bare_verifications", {
  writeConcern: { w: "majority", j: true },
});

async function verify(request: VerifyRequest) {
  const organization_id = request.caller!.tenant!.organizationId;
  const entity_id = String(request.target.value);
  const stored = await answers.findOne(
    { organization_id, entity_id, check_type: "sam_registration" },
    { sort: { created_at: -1 } },
  );
  const createdAt = new Date();
  const freshness = Math.floor((createdAt.getTime() - stored!.data_date.getTime()) / 1_000);
  const result = {
    check_type: stored!.check_type,
    status: "pass",
    confidence: stored!.confidence,
    origin: stored!.origin,
    data_freshness_seconds: freshness,
    evidence_id: stored!._id,
    reason: stored!.reason,
  };
  const verification = {
    _id: newId("ver", createdAt),
    organization_id,
    entity_id,
    mode: "cached",
    overall_result: "pass",
    results: [result],
    actor: request.caller!.actor,
    request_id: request.caller!.requestId,
    created_at: createdAt,
  };
  await verifications.insertOne(verification);
  return {
    verification: {
      id: verification._id,
      entityId: entity_id,
      overallResult: CheckStatus.PASS,
      results: [
        {
          checkType: CheckType.SAM_REGISTRATION,
          status: CheckStatus.PASS,
          confidence: result.confidence,
          origin: result.origin,
          dataFreshnessSeconds: BigInt(freshness),
          evidenceId: result.evidence_id,
          reason: result.reason,
        },
      ],
      createdAt: timestampFromDate(createdAt),
    },
  };
}

serveBare(answering(VerificationService, { verify }));
