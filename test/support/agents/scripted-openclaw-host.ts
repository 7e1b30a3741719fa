import { randomUUID } from "node:crypto";
import type { HostSettings, ConnectedHost } from "../../../domain/ports/agent-host.ts";
import {
  OpenClawHosts,
  type OpenClawHostsOptions,
} from "../../../server/drivers/agent-host/openclaw/openclaw-hosts.ts";
import { TextWorkerPool } from "../../../server/text-workers/text-worker-pool.ts";
import { ScriptedGateway, type ScriptedGatewayOptions } from "./scripted-openclaw-gateway.ts";

export interface ScriptedHost extends AsyncDisposable {
  gateway: ScriptedGateway;
  hosts: OpenClawHosts;
  settings: HostSettings;
  host: ConnectedHost;
}

/** Opens a scripted gateway, and the driver that connects to it. Its back-off is short, and its timeouts are long. */
export async function openScriptedHost(
  options: Partial<OpenClawHostsOptions> = {},
  gatewayOptions: ScriptedGatewayOptions = {},
): Promise<ScriptedHost> {
  const gateway = await ScriptedGateway.open(gatewayOptions);
  const hosts = createHosts(options);
  const settings = settingsOf(gateway);
  return {
    gateway,
    hosts,
    settings,
    host: hosts.open(settings),
    async [Symbol.asyncDispose]() {
      hosts[Symbol.dispose]();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

/** Its threads end when they have nothing to do. */
const textWorkers = new TextWorkerPool({ threads: 1 });

export function createHosts(options: Partial<OpenClawHostsOptions> = {}): OpenClawHosts {
  return new OpenClawHosts({
    tokenSecret: "x".repeat(32),
    textWorkers,
    networks: ["127.0.0.0/8"],
    ports: [{ from: 1024, to: 65_535 }],
    timeouts: { connect: 10_000, call: 30_000, ping: 30_000 },
    backOff: { first: 20, max: 100, stable: 0 },
    report: (error) => {
      throw error;
    },
    ...options,
  });
}

export function settingsOf({ url, token }: { url: string; token: string }): HostSettings {
  return { serverId: randomUUID(), orgId: randomUUID(), url, version: 1, token: () => token };
}
