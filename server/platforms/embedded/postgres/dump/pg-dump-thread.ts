import { receiveMessageOnPort, workerData } from "node:worker_threads";
import { pgDump } from "@electric-sql/pglite-tools/pg_dump";
import { completeMessages, greeting, splitRequests } from "./wire-messages.ts";
import type { DumpThreadInput, DumpThreadOutput } from "./pg-dump.ts";

const { args, parameters, port, received } = workerData as DumpThreadInput;

/** Waits for the next bytes of the server. The thread has nothing else to do: `pg_dump` is synchronous. */
function receive(): Uint8Array {
  for (;;) {
    const before = Atomics.load(received, 0);
    const next = receiveMessageOnPort(port);
    if (next !== undefined) return next.message;
    Atomics.wait(received, 0, before);
  }
}

let pending: Uint8Array = new Uint8Array();
let isStarted = false;

/** Sends what `pg_dump` writes, and returns the whole response: it reads without waiting. */
function exchange(bytes: Uint8Array): Uint8Array {
  const { requests, rest } = splitRequests(Buffer.concat([pending, bytes]), isStarted);
  pending = rest;
  const responses: Uint8Array[] = [];
  for (const { message, kind } of requests) {
    if (kind === "startup") {
      isStarted = true;
      responses.push(greeting(parameters));
    }
    if (kind === "startup" || kind === "end") continue;
    port.postMessage(message);
    if (kind === "sync") responses.push(readResponse());
  }
  return Buffer.concat(responses);
}

function readResponse(): Uint8Array {
  const complete = completeMessages();
  const chunks: Uint8Array[] = [];
  do {
    const chunk = receive();
    chunks.push(chunk);
    complete.add(chunk);
  } while (!complete.isReady());
  return Buffer.concat(chunks);
}

/** What the package calls of PGlite: here a connection to a server. */
const server = {
  query: async () => ({ rows: [{ search_path: "" }] }),
  exec: async () => [],
  execProtocolRawStream(bytes: Uint8Array, { onRawData }: { onRawData(bytes: Uint8Array): void }) {
    // The memory of `pg_dump` is reused.
    onRawData(exchange(Uint8Array.from(bytes)));
  },
};

function send(output: DumpThreadOutput): void {
  port.postMessage(output);
}

try {
  const file = await pgDump({ pg: server as never, args: [...args] });
  send({ text: await file.text() });
} catch (error) {
  send({ problem: error instanceof Error ? error.message : String(error) });
}
