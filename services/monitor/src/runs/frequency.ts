import { Frequency as ProtoFrequency } from "@vvs/proto/monitor/v1/monitor";

/** How often a monitor runs, by the name that the public API and stored documents use. */
export type Frequency = "hourly" | "daily" | "weekly" | "monthly";

const frequencies: Readonly<Record<Frequency, ProtoFrequency>> = {
  hourly: ProtoFrequency.HOURLY,
  daily: ProtoFrequency.DAILY,
  weekly: ProtoFrequency.WEEKLY,
  monthly: ProtoFrequency.MONTHLY,
};

/** Returns a frequency's number on gRPC. */
export function toProtoFrequency(frequency: Frequency): ProtoFrequency {
  return frequencies[frequency];
}

/** Returns the frequency of a number, or undefined for one that this version does not know. */
export function frequencyOf(value: ProtoFrequency): Frequency | undefined {
  return (Object.keys(frequencies) as Frequency[]).find((name) => frequencies[name] === value);
}
