/** A configuration that can't be used; the message lists every problem, one a line, without any value. */
export class ConfigError extends Error {}
