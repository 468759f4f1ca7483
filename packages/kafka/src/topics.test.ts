import { expect, test } from "@jest/globals";
import { allTopics, topicFor, topicNames } from "./topics.ts";

test("a topic's name carries the prefix and the environment", () => {
  expect(topicFor({ environment: "live", topic: topicNames.changeDetected })).toBe("live.monitor.change_detected");
  expect(topicFor({ prefix: "eu.", environment: "sandbox", topic: topicNames.webhookRequested })).toBe(
    "eu.sandbox.webhook.requested",
  );
});

test("each topic exists in both environments with a dead-letter topic, which keeps records longer", () => {
  const topics = allTopics("eu.", { partitions: 6, minInsyncReplicas: 2 });
  expect(topics).toHaveLength(4 * Object.keys(topicNames).length);
  const find = (name: string) => topics.find(({ topic }) => topic === name);
  const DAY_MS = 86_400_000;
  expect(find("eu.live.webhook.requested")).toMatchObject({ partitions: 6, retentionMs: 7 * DAY_MS });
  expect(find("eu.live.webhook.requested.dlq")).toMatchObject({ partitions: 1, retentionMs: 30 * DAY_MS });
  expect(topics.every(({ minInsyncReplicas }) => minInsyncReplicas === 2)).toBe(true);
});
