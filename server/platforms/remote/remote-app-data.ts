import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type {
  AppData,
  AppDataCopy,
  AppDataFile,
  AppDataLocation,
  RestoredApp,
} from "../../../domain/ports/app-data.ts";
import { packFiles, readCopy } from "./data-archive.ts";
import type { EdgeClient } from "./edge-client.ts";
import { COPY_PATH, RESTORE_PATH } from "./edge-methods.ts";

/** How long an edge may need for the next bytes of a copy. It has them on its disk. */
const SILENCE_MS = 20_000;

/**
 * Copies and restores the data of apps on the edges. A copy is on the disk of the edge, which removes it when the connection ends, and is
 * read from there as fast as it is sent on.
 */
export class RemoteAppData implements AppData {
  readonly #client: EdgeClient;

  constructor(client: EdgeClient) {
    this.#client = client;
  }

  async copy(app: AppDataLocation, signal: AbortSignal): Promise<AppDataCopy> {
    const response = await this.#client.open(COPY_PATH, [app, signal]);
    try {
      const copy = await readCopy(readTimely(response));
      return { ...copy, [Symbol.asyncDispose]: async () => void response.destroy() };
    } catch (error) {
      response.destroy();
      throw error;
    }
  }

  async restore(app: RestoredApp, openFiles: () => AsyncIterable<AppDataFile>, signal: AbortSignal): Promise<string[]> {
    // What the source of the files throws must not look like a lost connection, after which it would be opened again.
    const failed = new AbortController();
    async function* files(): AsyncGenerator<AppDataFile> {
      try {
        for await (const file of openFiles()) yield { ...file, content: () => guard(file.content(), failed) };
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    }
    const path = `${RESTORE_PATH}?${new URLSearchParams({ app: JSON.stringify(app) }).toString()}`;
    const ended = AbortSignal.any([signal, failed.signal]);
    return z.array(z.string()).parse(await this.#client.send(path, () => packFiles(files()), ended));
  }
}

async function* guard(content: AsyncIterable<Uint8Array>, failed: AbortController): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

/** Waits for each chunk for a limited time. A reader may pause as long as it likes. */
async function* readTimely(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  for (;;) {
    const end = () => response.destroy(new Error("the edge sends nothing any more"));
    const timer = setTimeout(end, SILENCE_MS);
    const next = await chunks.next().finally(() => clearTimeout(timer));
    if (next.done === true) return;
    yield next.value;
  }
}
