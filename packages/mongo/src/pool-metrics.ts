import { metrics } from "@opentelemetry/api";
import type { MongoClient } from "mongodb";

/**
 * Counts a client's connections from now on. Returns a function that reports them whenever metrics are collected, until the
 * client is closed.
 */
export function countConnections(client: MongoClient): () => void {
  let [open, used, waiting] = [0, 0, 0];
  client.on("connectionCreated", () => {
    open += 1;
  });
  client.on("connectionClosed", () => {
    open -= 1;
  });
  client.on("connectionCheckOutStarted", () => {
    waiting += 1;
  });
  client.on("connectionCheckOutFailed", () => {
    waiting -= 1;
  });
  client.on("connectionCheckedOut", () => {
    waiting -= 1;
    used += 1;
  });
  client.on("connectionCheckedIn", () => {
    used -= 1;
  });

  return () => report(client, () => ({ open, used, waiting }));
}

function report(client: MongoClient, count: () => { open: number; used: number; waiting: number }): void {
  const meter = metrics.getMeter("@vvs/mongo");
  const connections = meter.createObservableGauge("mongodb_pool_connections", {
    description:
      "Connections to MongoDB by state (used, idle). If used is at the pool's maximum for minutes, operations wait for a connection.",
  });
  const queue = meter.createObservableGauge("mongodb_pool_waiting", {
    description:
      "Operations that wait for a connection to MongoDB. Sustained above 0: MongoDB is slow, or the pool is too small.",
  });
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = (result) => {
    const { open, used, waiting } = count();
    result.observe(connections, used, { state: "used" });
    result.observe(connections, Math.max(0, open - used), { state: "idle" });
    result.observe(queue, waiting);
  };
  meter.addBatchObservableCallback(observe, [connections, queue]);
  client.once("topologyClosed", () => meter.removeBatchObservableCallback(observe, [connections, queue]));
}
