import pg from "pg";
import { type DatabaseLogin, endConnection, streamOf } from "../database-login.ts";

/** The bytes of a connection. */
interface RawStream {
  onData(listener: (chunk: Buffer) => void): void;
  onClose(listener: () => void): void;
  write(bytes: Uint8Array): void;
  /** Gives the connection back to `pg`. */
  release(): void;
}

/** A connection that `pg` and `pg_dump` use in turns. */
export class DumpConnection implements AsyncDisposable {
  readonly client: pg.Client;
  /** What the server has reported about itself. */
  readonly parameters: (readonly [string, string])[] = [];
  readonly #login: DatabaseLogin;
  readonly #signal: AbortSignal;

  private constructor(login: DatabaseLogin, settings: readonly string[], signal: AbortSignal) {
    const options = settings.map((setting) => `-c ${setting}`).join(" ");
    this.client = new pg.Client({ connectionString: login.url, options });
    this.client.on("error", () => undefined);
    this.#login = login;
    this.#signal = signal;
  }

  /** Opens a connection that ends with the signal. */
  static async open(login: DatabaseLogin, settings: readonly string[], signal: AbortSignal): Promise<DumpConnection> {
    const opened = new DumpConnection(login, settings, signal);
    connectionOf(opened.client).on("parameterStatus", ({ parameterName, parameterValue }) => {
      opened.parameters.push([parameterName, parameterValue]);
    });
    await opened.client.connect();
    signal.addEventListener("abort", opened.#end);
    return opened;
  }

  /** Takes the connection from `pg` between two of its queries. */
  takeOver(): RawStream {
    const stream = streamOf(this.client);
    const listeners = stream.listeners("data") as ((chunk: Buffer) => void)[];
    stream.removeAllListeners("data");
    let closed = (): void => undefined;
    stream.on("close", () => closed());
    return {
      onData: (listener) => void stream.on("data", listener),
      onClose: (listener) => void (closed = listener),
      write: (bytes) => void stream.write(bytes),
      release() {
        closed = () => undefined;
        stream.removeAllListeners("data");
        for (const listener of listeners) stream.on("data", listener);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal.removeEventListener("abort", this.#end);
    // A statement may still run, such as one of a dump that has failed.
    this.#end();
  }

  readonly #end = (): void => endConnection(this.client, this.#login);
}

interface StatusEvents {
  on(event: "parameterStatus", listener: (status: { parameterName: string; parameterValue: string }) => void): void;
}

function connectionOf(client: pg.Client): StatusEvents {
  return (client as unknown as { connection: StatusEvents }).connection;
}
