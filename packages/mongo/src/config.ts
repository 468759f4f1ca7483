import { count, z } from "@vvs/config";

/** Variables of a program that uses MongoDB. */
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
  /** Maximum connections of this process to each server. */
  MONGODB_MAX_POOL_SIZE: count(1).default(50),
  /** PEM of the authorities that sign the servers' certificates, best as MONGODB_TLS_CA_FILE; implies TLS. */
  MONGODB_TLS_CA: z.string().optional(),
  /** PEM of a client certificate, best as MONGODB_TLS_CERT_FILE; implies TLS. */
  MONGODB_TLS_CERT: z.string().optional(),
  /** PEM of the key of that certificate, best as MONGODB_TLS_KEY_FILE. */
  MONGODB_TLS_KEY: z.string().optional(),
};

/** How MongoDB is reached. Only data, so that it can be sent to a thread. */
export interface MongoOptions {
  readonly uri: string;
  /** 50 where absent. */
  readonly maxPoolSize?: number;
  /** Settings of the driver: TLS, with PEM texts. */
  readonly tls?: { readonly tls: true; readonly ca?: string; readonly cert?: string; readonly key?: string };
}

const schema = z.object(mongoSection);

/** Returns the options of connectMongo from parsed variables. */
export function mongoOptions(config: Omit<z.infer<typeof schema>, "MONGODB_DATABASE_PREFIX">): MongoOptions {
  const { MONGODB_TLS_CA: ca, MONGODB_TLS_CERT: cert, MONGODB_TLS_KEY: key } = config;
  const tls = { tls: true, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) } as const;
  return { uri: config.MONGODB_URI, maxPoolSize: config.MONGODB_MAX_POOL_SIZE, ...((ca || cert) && { tls }) };
}
