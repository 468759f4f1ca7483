/** Refuses a registry file or load. Its message gives the operator the reason. */
export class RegistryFileError extends Error {
  override readonly name = "RegistryFileError";
  /** SAM.gov has no such file. */
  readonly isMissing: boolean;
  /** The same may succeed later without anybody doing anything. */
  readonly isTemporary: boolean;

  constructor(message: string, options: { cause?: unknown; isMissing?: boolean; isTemporary?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.isMissing = options.isMissing ?? false;
    this.isTemporary = options.isTemporary ?? this.isMissing;
  }
}
