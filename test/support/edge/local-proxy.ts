import { createHash } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import type { AuthEntries } from "../../../domain/ports/auth-entries.ts";
import { EdgeProxy, type EdgeProxyOptions } from "../../../server/platforms/embedded/proxy/edge-proxy.ts";
import type { LogEntry } from "./test-platform.ts";

export const APP_TOKEN = "sva_valid";

/** An edge proxy whose only app, `shop`, is a server of the test. It can respond with what no runtime of apps sends. */
export interface LocalProxy extends AsyncDisposable {
  proxy: EdgeProxy;
  port: number;
  /** The slugs of which an app was requested, in order. */
  slugs: string[];
  /** Whether each acquired request had the app's token, in order. */
  acquired: boolean[];
  /** How many requests the app was released from. */
  released: number;
  /** The app ids of all requests that the app got. */
  requests: string[];
  log: LogEntry[];
}

export interface LocalProxyOptions extends Partial<Pick<EdgeProxyOptions, "limits" | "trusts" | "scheme">> {
  domain?: string;
  /** Called before the app is acquired. */
  beforeAcquire?: () => Promise<void>;
}

/** @param app - a server that does not listen yet */
export async function openLocalProxy(app: Server, options: LocalProxyOptions = {}): Promise<LocalProxy> {
  await once(app.listen(0, "127.0.0.1"), "listening");
  const appPort = (app.address() as AddressInfo).port;
  const tokenSha256 = createHash("sha256").update(APP_TOKEN).digest("hex");
  const log: LogEntry[] = [];
  const addEntry = (fields: object, message: string) => void log.push({ ...fields, message });
  const proxy = new EdgeProxy({
    apps: {
      appIdAt: async (slug) => (slug === "shop" ? "app-1" : null),
      acquire: async (slug, hasToken) => {
        local.slugs.push(slug);
        if (slug !== "shop") return null;
        local.acquired.push(hasToken);
        await options.beforeAcquire?.();
        let isReleased = false;
        const release = () => {
          if (!isReleased) local.released++;
          isReleased = true;
        };
        return { appId: "app-1", address: { host: "127.0.0.1", port: appPort }, release };
      },
    },
    entries: { get: async (appId) => (appId === "app-1" ? { appId, tokenSha256 } : null) } as AuthEntries,
    log: { info: addEntry, warn: addEntry },
    edges: null,
    trusts: options.trusts ?? null,
    scheme: options.scheme ?? "http",
    limits: options.limits ?? { requestsPerApp: 100, requestsPerClient: 100 },
    onRequest: (appId) => void local.requests.push(appId),
  });
  const local: LocalProxy = {
    proxy,
    port: await proxy.listen(0, "127.0.0.1", options.domain ?? "localhost"),
    slugs: [],
    acquired: [],
    released: 0,
    requests: [],
    log,
    async [Symbol.asyncDispose]() {
      await proxy.close(0);
      app.close();
      if ("closeAllConnections" in app) (app.closeAllConnections as () => void)();
    },
  };
  return local;
}
