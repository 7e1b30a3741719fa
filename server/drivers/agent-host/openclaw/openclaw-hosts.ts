import {
  AgentHostError,
  type AgentHosts,
  type HostSettings,
  type ConnectedHost,
} from "../../../../domain/ports/agent-host.ts";
import type { TextWorkers } from "../../../../domain/ports/text-workers.ts";
import { FairQueue } from "../../../../domain/shared/fair-queue.ts";
import { ConnectLimiter } from "./connect-limiter.ts";
import { DeviceIdentity } from "./device-identity.ts";
import { type ConnectionTimeouts, GatewayConnection, type Scope } from "./gateway-connection.ts";
import type { GatewayTasks } from "./gateway-frames.ts";
import { findUrlProblem, type TargetRules } from "./gateway-target.ts";
import { OpenClawHost } from "./openclaw-host.ts";
import { type ReconnectBackOff, ReconnectingConnection } from "./reconnecting-connection.ts";

export interface OpenClawHostsOptions extends TargetRules {
  /** The identities of the service to gateways are derived from it. */
  tokenSecret: string;
  /** Certificates of trusted authorities in PEM, instead of those that Node.js trusts. */
  trustedCertificates?: string | undefined;
  /** Parse large messages. Not those of documents, behind which a message could wait for longer than its timeout. */
  textWorkers: TextWorkers<GatewayTasks>;
  timeouts?: ConnectionTimeouts;
  backOff?: ReconnectBackOff;
  /** The largest response that is read, in bytes. */
  maxMessageBytes?: number;
  /** A connection that is not used for this time is closed, in milliseconds. */
  idleMs?: number;
  /** Called with an unexpected error, which is no `AgentHostError`. */
  report(error: unknown): void;
}

const TIMEOUTS: ConnectionTimeouts = { connect: 10_000, call: 15_000, ping: 30_000 };
const BACK_OFF: ReconnectBackOff = { first: 1000, max: 60_000, stable: 30_000 };
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
const IDLE_MS = 10 * 60_000;
/** How many lists of agents are read at the same time, in all and of one organization. The others wait, however many there are. */
const LISTS = { running: 32, runningPerKey: 2, waiting: Number.MAX_SAFE_INTEGER };

interface Entry {
  version: number;
  host: OpenClawHost;
  connection: ReconnectingConnection;
  usedAt: number;
}

/** Keeps one connection to each OpenClaw gateway. */
export class OpenClawHosts implements AgentHosts, Disposable {
  readonly #options: OpenClawHostsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #limiter = new ConnectLimiter();
  readonly #lists = new FairQueue(LISTS, "too many lists of agents are being read");
  readonly #buffered = { total: 0 };
  readonly #idleTimer: NodeJS.Timeout;

  constructor(options: OpenClawHostsOptions) {
    this.#options = options;
    const { idleMs = IDLE_MS } = options;
    this.#idleTimer = setInterval(() => this.#closeIdle(idleMs), idleMs / 10).unref();
  }

  open(settings: HostSettings): ConnectedHost {
    const { serverId, version } = settings;
    const known = this.#entries.get(serverId);
    if (known !== undefined && known.version >= version) {
      known.usedAt = performance.now();
      return known.host;
    }
    known?.connection[Symbol.dispose]();
    const entry = this.#createEntry(settings);
    this.#entries.set(serverId, entry);
    return entry.host;
  }

  close(serverId: string): void {
    this.#entries.get(serverId)?.connection[Symbol.dispose]();
    this.#entries.delete(serverId);
  }

  closeOthers(serverIds: ReadonlySet<string>): void {
    for (const serverId of this.#entries.keys()) if (!serverIds.has(serverId)) this.close(serverId);
  }

  findUrlProblem(url: string): string | null {
    return findUrlProblem(url, this.#options);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#idleTimer);
    this.closeOthers(new Set());
  }

  #createEntry(settings: HostSettings): Entry {
    const { backOff = BACK_OFF, report } = this.#options;
    const connect = (scopes: Scope[], signal: AbortSignal) => this.#connect(settings, scopes, signal);
    const connection = new ReconnectingConnection({
      connect: (failedAttempts, signal) =>
        this.#limiter.run(settings.orgId, failedAttempts, () => connect(["operator.read"], signal)),
      backOff,
      report,
    });
    // Only to replace instructions, so that the reconnecting connection permits nothing but reading.
    const connectToWrite = (signal: AbortSignal) =>
      this.#limiter.run(settings.orgId, 0, () => connect(["operator.read", "operator.admin"], signal));
    return {
      version: settings.version,
      connection,
      host: new OpenClawHost(connection, connectToWrite, (work, signal) =>
        this.#lists.run(settings.orgId, work, signal),
      ),
      usedAt: performance.now(),
    };
  }

  async #connect(settings: HostSettings, scopes: Scope[], signal: AbortSignal): Promise<GatewayConnection> {
    const token = settings.token();
    if (token === null)
      throw new AgentHostError(
        "unauthorized",
        "The stored token cannot be decrypted, because TOKEN_SECRET has changed. Set the token with PATCH /v1/servers/{id}.",
      );
    const { networks, ports, lookup, trustedCertificates, tokenSecret, timeouts = TIMEOUTS } = this.#options;
    const { maxMessageBytes = MAX_MESSAGE_BYTES, textWorkers } = this.#options;
    const device = new DeviceIdentity(tokenSecret, settings.serverId);
    const rules = { networks, ports, lookup, trustedCertificates, maxMessageBytes };
    const shared = { buffered: this.#buffered, textWorkers, timeouts };
    const { url, orgId } = settings;
    return GatewayConnection.open({ ...rules, ...shared, url, orgId, token, device, scopes }, signal);
  }

  #closeIdle(idleMs: number): void {
    const before = performance.now() - idleMs;
    for (const [serverId, { usedAt }] of this.#entries) if (usedAt < before) this.close(serverId);
  }
}
