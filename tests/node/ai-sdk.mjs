// Asks the assistant about a policy through the AI SDK's own client, and prints the message it read.
// Arguments: the address of the policy, an API key, the instructions.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

// The packages live outside the checkout.
const require = createRequire(path.join(process.env.TEST_NODE, "/"));
const { DefaultChatTransport, readUIMessageStream } = await import(pathToFileURL(require.resolve("ai")).href);

const [policy, key, instructions] = process.argv.slice(2);
const transport = new DefaultChatTransport({
  api: `${policy}/ai-chat`,
  headers: { "x-api-key": key },
  prepareSendMessagesRequest: ({ messages }) => ({
    body: { instructions: messages.at(-1).parts[0].text, chatHistory: [] },
  }),
});
const stream = await transport.sendMessages({
  trigger: "submit-message",
  chatId: "test",
  messageId: undefined,
  messages: [{ id: "1", role: "user", parts: [{ type: "text", text: instructions }] }],
  abortSignal: undefined,
});
let message;
for await (const next of readUIMessageStream({ stream })) {
  message = structuredClone(next);
}
console.log(JSON.stringify(message));
