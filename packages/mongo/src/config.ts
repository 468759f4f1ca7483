import { z } from "@vvs/config";

/** Variables of a service that owns data. */
export const mongoSection = {
  /**
   * Connection string of a replica set, mongodb://… or mongodb+srv://…; TLS and credentials as the driver takes them.
   */
  MONGODB_URI: z.string().regex(/^mongodb(\+srv)?:\/\//, "must begin with mongodb:// or mongodb+srv://"),
  /** Prefix of the names of databases, so that several installations can share a cluster. */
  MONGODB_DATABASE_PREFIX: z
    .string()
    .regex(/^[a-z0-9_-]{0,32}$/i, "at most 32 letters, digits, _ and -")
    .default("vvs_"),
};
