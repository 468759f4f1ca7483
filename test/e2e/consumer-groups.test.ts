import { expect, test } from "@jest/globals";
import { consumerGroups, topicFor } from "@vvs/kafka";
import { environments } from "@vvs/tenant";
import { eventually } from "@vvs/testing";
import kafkajs from "kafkajs";
import { sharedProduct } from "../support/product.ts";

test("each consumer group reads the topics that are listed for it, and no others", async () => {
  const { KAFKA_BROKERS, KAFKA_TOPIC_PREFIX: prefix = "" } = sharedProduct().environment;
  const kafka = new kafkajs.Kafka({ brokers: KAFKA_BROKERS!.split(","), logLevel: kafkajs.logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  try {
    for (const environment of environments)
      for (const [group, topics] of Object.entries(consumerGroups)) {
        const listed = topics.map((topic) => topicFor({ prefix, environment, topic }));
        const groupId = `${prefix}${group}.${environment}`;
        const [member] = await eventually(async () => {
          const { groups } = await admin.describeGroups([groupId]);
          const [{ state, members }] = groups as [(typeof groups)[number]];
          return state === "Stable" && members;
        });
        const read = kafkajs.AssignerProtocol.MemberMetadata.decode(member!.memberMetadata)?.topics;
        expect({ groupId, topics: read?.toSorted() }).toEqual({ groupId, topics: listed.toSorted() });
      }
  } finally {
    await admin.disconnect();
  }
});
