import type { Environment } from "@vvs/tenant";
import { type TopicName, topicNames } from "./topics.ts";

/** The product's consumer groups and the topics that each reads. Each exists once per environment. */
export const consumerGroups = {
  verification: [topicNames.verificationRequested],
  "verification.tin_match": [topicNames.verificationRequestedTin],
  "verification.monitors": [topicNames.monitorStateChanged],
  monitor: [topicNames.verificationCompleted, topicNames.changeDetected, topicNames.registryChanged],
  entity: [topicNames.verificationCompleted, topicNames.verificationCompletedDirect, topicNames.monitorStateChanged],
  "change-detector": [topicNames.verificationCompleted],
  "webhook-dispatcher": [topicNames.webhookRequested],
} as const satisfies Readonly<Record<string, readonly TopicName[]>>;

export type GroupName = keyof typeof consumerGroups;

/** Returns the full name of a group: `<prefix><group>.<environment>`. */
export function groupFor(options: { prefix?: string; environment: Environment; group: GroupName }): string {
  return `${options.prefix ?? ""}${options.group}.${options.environment}`;
}
