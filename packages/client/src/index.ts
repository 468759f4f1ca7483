export { type Client, type ClientOptions, createClient, type PostOptions } from "./client.ts";
export { ApiError, ConnectionError, type Problem, TimeoutError, VendorVerificationError } from "./errors.ts";
export { checkReceipt, type JobReceipt, type Receipt, ReceiptError } from "./receipt.ts";
export type { CallOptions, Limits, ResponseInfo } from "./transport.ts";
export type * from "./types.ts";
export {
  signWebhook,
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from "./webhook.ts";
