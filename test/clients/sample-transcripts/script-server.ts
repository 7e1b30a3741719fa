import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { EntryUsage } from "../../../domain/sessions/transcript-entry.ts";

/** A part of what the model says. */
export type Block =
  | { text: string }
  | { thinking: string }
  | { call: string; id: string; input: Record<string, unknown> };

export interface ScriptedSuccess {
  blocks: Block[];
  usage: EntryUsage;
}

export type ScriptedResponse = ScriptedSuccess | { status: number; error: string };

/** Writes the responses of the script in the format of an API. */
export interface ScriptedApi {
  /** Whether a request belongs to the session. Programs also ask for titles and other texts that no transcript has. */
  isScripted(request: unknown): boolean;
  /** Whether a request wants events. By default, its body says it. */
  isStream?(url: string): boolean;
  /** The events of a response, in groups that are sent one after the other. */
  toEvents(request: unknown, id: string, response: ScriptedSuccess): object[][];
  /** The response to a request that wants no events. */
  toBody(request: unknown, id: string, response: ScriptedSuccess): object;
  toError(message: string): object;
}

/** A model server on a loopback address that sends the responses of a script in order. */
export interface ScriptServer extends AsyncDisposable {
  url: string;
  /** Replaces the rest of the script. */
  expect(...responses: ScriptedResponse[]): void;
  /** The number of responses that were not requested. */
  remaining(): number;
}

const NO_SCRIPT: ScriptedSuccess = {
  blocks: [{ text: "Lines and words of the notes" }],
  usage: { input: 1, output: 1, cache_read: 0, cache_write: 0 },
};

/** @param pauseMs - between the groups of events, so that a program can record a part of a response before the rest arrives */
export async function openScriptServer(api: ScriptedApi, { pauseMs }: { pauseMs: number }): Promise<ScriptServer> {
  let script: ScriptedResponse[] = [];
  let count = 0;
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body: unknown = request.method === "POST" ? await json(request) : {};
    const next = (api.isScripted(body) ? script.shift() : undefined) ?? NO_SCRIPT;
    if ("error" in next) {
      response
        .writeHead(next.status, { "content-type": "application/json" })
        .end(JSON.stringify(api.toError(next.error)));
      return;
    }
    const id = String(++count).padStart(4, "0");
    response.setHeader("request-id", `req_${id}`);
    const wantsEvents = api.isStream?.(request.url ?? "") ?? (body as { stream?: boolean }).stream === true;
    if (!wantsEvents) {
      response.setHeader("content-type", "application/json").end(JSON.stringify(api.toBody(body, id, next)));
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    for (const events of api.toEvents(body, id, next)) {
      response.write(events.map(toServerSentEvent).join(""));
      await delay(pauseMs);
    }
    response.end();
  };
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.destroy(error as Error));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    expect(...responses) {
      script = responses;
    },
    remaining: () => script.length,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function toServerSentEvent(event: object): string {
  const name = "type" in event ? `event: ${String(event.type)}\n` : "";
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
