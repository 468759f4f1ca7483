import { createServer } from "node:http";
import { verifyWebhook } from "./verify-webhook.mjs";

const { PORT, WEBHOOK_SECRET } = process.env;
createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = verifyWebhook(Buffer.concat(chunks), request.headers, WEBHOOK_SECRET);
    console.log("Verified:", request.headers["webhook-id"], event);
    response.writeHead(204).end();
  } catch (error) {
    console.error("Refused:", error.message);
    response.writeHead(400).end();
  }
}).listen(PORT);
