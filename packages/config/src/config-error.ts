/** The configuration can't be used. The message lists every problem on a line of its own, without any values. */
export class ConfigError extends Error {}
