import { setTimeout as sleep } from "node:timers/promises";
import type { Observation, ObserverCommands } from "../processes/observer.ts";
import { measurePeakGrowth } from "../support/peak-growth.ts";
import { type CommandProcess, startProcess } from "../support/start-process.ts";
import type { ServiceProcess } from "../support/start-servers.ts";
import { percentile } from "../support/statistics.ts";
import type { HostileAct } from "./hostile-act.ts";
import type { HostileEndpoints } from "./hostile-endpoints.ts";

const APPS = 20;
const QUIET_MS = 10_000;
/** The longest wait of `GET /healthz`. */
const STALL_MS = 100;
/** p99 of `GET /v1/apps`: this bound, or on a slow machine a multiple of its value without the act. */
const LIST_MS = 100;
const LIST_RATIO = 3;

/** What another organization saw of an act, and whether that is within the bounds. */
export interface MeasuredAct {
  seen: Observation;
  bound: string;
  isFair: boolean;
  seconds: number;
  /** By how much the memory of the service grew, in MB. */
  growthMb: number;
}

/** Measures what one organization sees of the service while another one does something. */
export class ActMeasurement implements AsyncDisposable {
  readonly #service: ServiceProcess;
  readonly #observer: CommandProcess<ObserverCommands>;
  readonly #url: string;
  readonly #token: string;
  readonly #signal: AbortSignal;
  #listMs = LIST_MS;

  private constructor(
    service: ServiceProcess,
    observer: CommandProcess<ObserverCommands>,
    { url, token, signal }: { url: string; token: string; signal: AbortSignal },
  ) {
    this.#service = service;
    this.#observer = observer;
    this.#url = url;
    this.#token = token;
    this.#signal = signal;
  }

  /** Starts the observer, a process with an organization of its own that has 20 apps. */
  static async open(service: ServiceProcess, signal: AbortSignal): Promise<ActMeasurement> {
    const [organization] = await service.call("createOrganizations", 1, APPS);
    const url = await service.call("publicUrl");
    const observer = await startProcess<ObserverCommands>(
      new URL("../processes/observer.ts", import.meta.url),
      {},
      signal,
    );
    return new ActMeasurement(service, observer, { url, token: organization?.api_key ?? "", signal });
  }

  /** Measures the service while only the observer uses it. Later bounds depend on it. */
  async measureQuiet(): Promise<Observation> {
    const wait = (): Promise<void> => sleep(QUIET_MS, undefined, { signal: this.#signal });
    await this.#observeDuring(wait);
    const quiet = await this.#observeDuring(wait);
    this.#listMs = Math.max(LIST_MS, LIST_RATIO * percentile(quiet.listMs, 0.99));
    return quiet;
  }

  /** Measures one act of a new organization. */
  async measure(act: HostileAct, endpoints: HostileEndpoints): Promise<MeasuredAct> {
    const organization = await this.#service.call("createOrganization");
    const { api_key: apiKey, personal_access_token: personalAccessToken } = organization;
    const caller = { url: this.#url, apiKey, personalAccessToken, endpoints, signal: this.#signal };
    act.prepare?.();
    const startedAt = performance.now();
    let growthMb = 0;
    const seen = await this.#observeDuring(async () => {
      growthMb = await measurePeakGrowth(this.#service.pid, () => act.run(caller));
    });
    const isFast = seen.stallMs <= STALL_MS && percentile(seen.listMs, 0.99) <= this.#listMs;
    return {
      seen,
      bound: `longest wait ≤ ${STALL_MS} ms, p99 ≤ ${this.#listMs.toFixed(0)} ms, only 200`,
      isFair: isFast && Object.keys(seen.failures).length === 0,
      seconds: (performance.now() - startedAt) / 1000,
      growthMb,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#observer[Symbol.asyncDispose]();
  }

  async #observeDuring(work: () => Promise<unknown>): Promise<Observation> {
    await this.#observer.call("begin", this.#url, this.#token);
    await work();
    return await this.#observer.call("end");
  }
}

export function formatObservation({ stallMs, listMs, failures }: Observation): string {
  const others = Object.entries(failures).map(([status, count]) => `, ${count} × ${status}`);
  return `longest wait ${stallMs.toFixed(0)} ms, list p50 ${percentile(listMs, 0.5).toFixed(1)} ms, p99 ${percentile(listMs, 0.99).toFixed(0)} ms${others.join("")}`;
}
