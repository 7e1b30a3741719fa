/** The parts of npm's own libraries that the registry client uses. The libraries have no types of their own. */

declare module "npm-registry-fetch" {
  namespace fetch {
    /** The settings that `@npmcli/config` reads, and the options of one request. */
    interface Options {
      [setting: string]: unknown;
      registry?: string;
      cache?: string;
      offline?: boolean;
      preferOffline?: boolean;
      integrity?: string;
      headers?: Record<string, string>;
      spec?: string;
      signal?: AbortSignal;
    }
    interface Response {
      status: number;
      headers: { get(name: string): string | null };
      body: NodeJS.ReadableStream;
      json(): Promise<unknown>;
    }
  }
  function fetch(uri: string, options: fetch.Options): Promise<fetch.Response>;
  export = fetch;
}

declare module "@npmcli/config" {
  class Config {
    constructor(options: {
      npmPath: string;
      definitions: object;
      shorthands: object;
      flatten: object;
      nerfDarts: readonly string[];
      env: Readonly<Record<string, string>>;
      argv: readonly string[];
      execPath: string;
      cwd: string;
      warn: boolean;
    });
    load(): Promise<void>;
    readonly flat: Record<string, unknown>;
  }
  export = Config;
}

declare module "@npmcli/config/lib/definitions/index.js" {
  const settings: { definitions: object; shorthands: object; flatten: object; nerfDarts: readonly string[] };
  export = settings;
}

declare module "cacache" {
  interface Entry {
    key: string;
    integrity: string;
    /** The file with the content. Several entries may have the same one. */
    path: string;
  }
  const cacache: {
    get: { info(cache: string, key: string): Promise<Entry | null> };
    ls: { stream(cache: string): AsyncIterable<Entry> };
    rm: {
      entry(cache: string, key: string, options: { removeFully: boolean }): Promise<void>;
      content(cache: string, integrity: string): Promise<void>;
    };
  };
  export = cacache;
}
