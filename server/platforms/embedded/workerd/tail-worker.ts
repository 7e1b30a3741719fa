import { latestCompatibilityDate } from "./workerd-binary.ts";
import type { WorkerOptions } from "./worker-options.ts";

/** The name of the worker beside the app. */
export const TAIL_WORKER_NAME = "runtime-log";

/** More than what is stored, so that a secret at the end of a stored message is masked as a whole. In characters. */
const MAX_MESSAGE_LENGTH = 64 * 1024;

/**
 * The script of a streaming tail worker: workerd sends it each message and each uncaught exception of the app at once,
 * with the headers of the request. It prints them on the standard output of the process.
 */
const SCRIPT = `
export default {
  tailStream({ event }) {
    const headers = event.info?.headers ?? [];
    const requestId = headers.find(({ name }) => name.toLowerCase() === "x-request-id")?.value ?? null;
    const print = (timestamp, level, text) =>
      console.log(MARK + JSON.stringify([+new Date(timestamp), level, requestId, text.slice(0, ${MAX_MESSAGE_LENGTH})]));
    return {
      log: ({ timestamp, event: { level, message } }) => print(timestamp, level, formatMessage(message)),
      exception: ({ timestamp, event: { name, message, stack } }) =>
        print(timestamp, "exception", \`Uncaught \${name}: \${message}\${stack ? "\\n" + stack : ""}\`),
    };
  },
};

function formatMessage(message) {
  return Array.isArray(message) ? message.map(formatPart).join(" ") : formatPart(message);
}

function formatPart(part) {
  if (typeof part === "string") return part;
  try {
    return JSON.stringify(part) ?? String(part);
  } catch {
    return String(part);
  }
}
`;

/**
 * The options of the tail worker of one process.
 *
 * @param mark - begins each line that it prints. The app must not know it, because it could imitate the lines then.
 */
export function tailWorker(mark: string): WorkerOptions {
  const contents = `const MARK = ${JSON.stringify(mark)};${SCRIPT}`;
  return {
    name: TAIL_WORKER_NAME,
    modules: [{ type: "ESModule", path: "/index.js", contents }],
    compatibilityDate: latestCompatibilityDate(),
    compatibilityFlags: ["experimental", "streaming_tail_worker"],
    outboundService: { network: { allow: [] } },
  };
}
