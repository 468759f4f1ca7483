import { loadConfig, z } from "@vvs/config";
import { mongoSection } from "@vvs/mongo";
import { MongoClient, MongoServerError } from "mongodb";

// For the chart's MongoDB of one pod: initiates a replica set with the single member of MONGODB_URI, unless it has one.
const ALREADY_INITIALIZED = 23;
const PATIENCE_MS = 120_000;

const { MONGODB_URI: uri } = loadConfig(z.object(mongoSection), process.env);
const url = new URL(uri);
const name = url.searchParams.get("replicaSet");
const direct = `mongodb://${url.host}/?directConnection=true&serverSelectionTimeoutMS=2000`;
const deadline = Date.now() + PATIENCE_MS;

async function initiate(): Promise<void> {
  const client = new MongoClient(direct);
  try {
    await client.db("admin").command({ replSetInitiate: { _id: name, members: [{ _id: 0, host: url.host }] } });
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === ALREADY_INITIALIZED)) throw error;
  } finally {
    await client.close();
  }
}

for (;;) {
  try {
    await initiate();
    console.log(`${url.host} is a member of the replica set ${name}.`);
    process.exit(0);
  } catch (error) {
    if (Date.now() > deadline) throw error;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
