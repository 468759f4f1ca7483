import type { Logger } from "@vvs/logging";
import type { Document } from "mongodb";

const PARAMETER = "transactionLifetimeLimitSeconds";
/** Maximum time for which the locks of a killed process's transaction stay held. MongoDB's default is 60 seconds. */
const RECOMMENDED_SECONDS = 10;

/** Logs a warning if MongoDB's limit of a transaction's lifetime is longer than docs/operations.md requires. */
export async function checkTransactionLifetime(
  command: (command: Document) => Promise<Document>,
  logger: Logger,
): Promise<void> {
  try {
    const { [PARAMETER]: seconds } = await command({ getParameter: 1, [PARAMETER]: 1 });
    if (Number(seconds) <= RECOMMENDED_SECONDS) return;
    logger.warn(
      { seconds: Number(seconds), recommended_seconds: RECOMMENDED_SECONDS },
      "MongoDB's transactionLifetimeLimitSeconds is too long",
    );
  } catch (err) {
    logger.debug({ err }, "MongoDB's transactionLifetimeLimitSeconds can't be read");
  }
}
