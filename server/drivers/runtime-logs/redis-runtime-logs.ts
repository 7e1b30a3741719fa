import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { LoggedApp, RuntimeLogRecord, RuntimeLogs } from "../../../domain/ports/runtime-logs.ts";
import { RemoteReads, type ReadReply, type ReadRequest } from "./remote-reads.ts";

type Listener = (records: readonly RuntimeLogRecord[]) => void;

/** The logs of the apps that run in this process. */
export interface LocalRuntimeLogs extends RuntimeLogs {
  /** Calls `observer` with the new records of every app, once they can be read. */
  observe(observer: (app: LoggedApp, records: readonly RuntimeLogRecord[]) => void): () => void;
}

export interface RedisRuntimeLogsOptions {
  redis: Redis;
  /** A separate connection, because a connection that subscribes accepts no other commands. */
  subscriber: Redis;
  /** The same for all processes of an installation, and for no other. */
  namespace: string;
  local: LocalRuntimeLogs;
  /** How long a read waits for other processes, in milliseconds. */
  replyMs?: number;
}

/** How long a follower waits before it asks for records again. */
const RETRY_MS = 1000;

/** What a listener has got. */
interface Progress {
  /** The id of the newest record that it has, or could have read; `null` until it is known. */
  lastId: number | null;
  /** The ids of the records that it got because it may have missed them. They can still arrive. */
  caughtUp: ReadonlySet<number>;
}

/** An app that is followed in this process. */
interface Followed {
  app: LoggedApp;
  listeners: Map<Listener, Progress>;
  /** Resolves when Redis sends the records of other processes, or cannot be reached. */
  subscribed: Promise<unknown>;
}

interface Announcement {
  from: string;
  records: RuntimeLogRecord[];
}

/**
 * The runtime logs of the apps that run in any process of the installation. Each process stores the records of its own apps. It
 * announces new ones through Redis to processes that follow the app, and sends the stored ones to a process that asks for them, so
 * Redis stores nothing. While Redis does not respond, a process has the records of its own apps.
 */
export class RedisRuntimeLogs implements RuntimeLogs, Disposable {
  readonly #self = randomUUID();
  readonly #options: RedisRuntimeLogsOptions;
  readonly #reads: RemoteReads;
  readonly #followed = new Map<string, Followed>();
  readonly #stop: () => void;
  /** The apps that no process follows. One that begins to follow an app asks for its records. */
  readonly #unheard = new Set<string>();
  #requests = 0;
  /** Whether this connection receives requests and responses. */
  #connected: Promise<boolean> = Promise.resolve(false);

  constructor(options: RedisRuntimeLogsOptions) {
    const { redis, subscriber, local, replyMs = 1000 } = options;
    this.#options = options;
    this.#reads = new RemoteReads({
      replyMs,
      publish: (request) => redis.publish(this.#requestChannel, JSON.stringify({ ...request, from: this.#self })),
    });
    const receive = (channel: string, message: string): void => this.#receive(channel, message);
    const resubscribe = (): void => void this.#resubscribe();
    subscriber.on("message", receive);
    subscriber.on("ready", resubscribe);
    const unobserve = local.observe((app, records) => this.#announce(app, records));
    this.#stop = () => {
      unobserve();
      subscriber.off("message", receive);
      subscriber.off("ready", resubscribe);
    };
    if (subscriber.status === "ready") resubscribe();
  }

  async read(app: LoggedApp): Promise<RuntimeLogRecord[]> {
    const followed = this.#followed.get(app.id);
    // Otherwise a record could be printed after the read, and before Redis sends it to this process.
    await followed?.subscribed;
    const [own, others] = await Promise.all([this.#options.local.read(app), this.#readOthers(app)]);
    const records = merge(own, others);
    const lastId = records.at(-1)?.id ?? 0;
    for (const state of followed?.listeners.values() ?? []) state.lastId ??= lastId;
    return records;
  }

  listen(app: LoggedApp, listener: Listener): () => void {
    const followed = this.#followed.get(app.id) ?? this.#follow(app);
    const state: Progress = { lastId: null, caughtUp: new Set() };
    const deliver: Listener = (records) => {
      state.lastId = Math.max(state.lastId ?? 0, records.at(-1)?.id ?? 0);
      listener(records);
    };
    followed.listeners.set(deliver, state);
    const unlisten = this.#options.local.listen(app, deliver);
    return () => {
      unlisten();
      followed.listeners.delete(deliver);
      if (followed.listeners.size > 0 || this.#followed.get(app.id) !== followed) return;
      this.#followed.delete(app.id);
      this.#options.subscriber.unsubscribe(this.#channelOf(app.id)).catch(() => undefined);
    };
  }

  [Symbol.dispose](): void {
    this.#stop();
    this.#reads[Symbol.dispose]();
  }

  get #requestChannel(): string {
    return `${this.#options.namespace}:runtime-log-reads`;
  }

  get #replyChannel(): string {
    return this.#replyChannelOf(this.#self);
  }

  #replyChannelOf(process: string): string {
    return `${this.#options.namespace}:runtime-log-replies:${process}`;
  }

  #channelOf(appId: string): string {
    return `${this.#options.namespace}:runtime-logs:${appId}`;
  }

  #follow(app: LoggedApp): Followed {
    const subscribed = this.#subscribe(this.#channelOf(app.id));
    const followed: Followed = { app, listeners: new Map(), subscribed };
    this.#followed.set(app.id, followed);
    void subscribed.then((isSubscribed) => (isSubscribed ? this.#catchUp(followed) : undefined));
    return followed;
  }

  /** While there is no connection, the next one subscribes. */
  async #subscribe(...channels: string[]): Promise<boolean> {
    const { subscriber } = this.#options;
    if (subscriber.status !== "ready") return false;
    return await subscriber.subscribe(...channels).then(
      () => true,
      () => false,
    );
  }

  /** Subscribes once per connection. Records can be missing until Redis confirms it, so they are read. */
  async #resubscribe(): Promise<void> {
    const apps = [...this.#followed.values()];
    const channels = apps.map(({ app }) => this.#channelOf(app.id));
    const subscribed = this.#subscribe(this.#requestChannel, this.#replyChannel, ...channels);
    this.#connected = subscribed;
    for (const followed of apps) followed.subscribed = subscribed;
    if (!(await subscribed)) return;
    await Promise.all(apps.map((followed) => this.#catchUp(followed)));
  }

  /** Delivers what may have been missed, and lets the processes that run the app announce its records from now on. */
  async #catchUp(followed: Followed): Promise<void> {
    while (this.#followed.get(followed.app.id) === followed && this.#options.subscriber.status === "ready")
      try {
        return deliverMissed(followed, await this.#reads.read(followed.app));
      } catch {
        await delay(RETRY_MS, undefined, { ref: false });
      }
  }

  async #readOthers(app: LoggedApp): Promise<RuntimeLogRecord[]> {
    const isConnected = this.#options.subscriber.status === "ready" && (await this.#connected);
    return isConnected ? await this.#reads.read(app).catch(() => []) : [];
  }

  #announce(app: LoggedApp, records: readonly RuntimeLogRecord[]): void {
    if (this.#unheard.has(app.id)) return;
    const requests = this.#requests;
    const announcement = JSON.stringify({ from: this.#self, records });
    this.#options.redis.publish(this.#channelOf(app.id), announcement).then(
      // A process may have asked for records since.
      (followers) => followers === 0 && requests === this.#requests && this.#unheard.add(app.id),
      () => undefined,
    );
  }

  #receive(channel: string, message: string): void {
    if (!channel.startsWith(`${this.#options.namespace}:`)) return;
    if (channel === this.#requestChannel)
      return void this.#reply(JSON.parse(message) as ReadRequest & { from: string });
    if (channel === this.#replyChannel) return this.#reads.receive(JSON.parse(message) as ReadReply);
    const followed = this.#followed.get(channel.slice(this.#channelOf("").length));
    if (followed === undefined || channel !== this.#channelOf(followed.app.id)) return;
    const { from, records } = JSON.parse(message) as Announcement;
    if (from === this.#self) return;
    for (const [listener, { caughtUp }] of followed.listeners) {
      const unknown = records.filter((record) => !caughtUp.has(record.id));
      if (unknown.length > 0) listener(unknown);
    }
  }

  async #reply({ from, id, app }: ReadRequest & { from: string }): Promise<void> {
    this.#requests++;
    this.#unheard.delete(app.id);
    // Its own request counts as a response: Redis has counted this process too.
    if (from === this.#self) return this.#reads.receive({ id, records: [] });
    const records = await this.#options.local.read(app).catch(() => []);
    const reply: ReadReply = { id, records };
    await this.#options.redis.publish(this.#replyChannelOf(from), JSON.stringify(reply)).catch(() => undefined);
  }
}

function deliverMissed({ listeners }: Followed, records: readonly RuntimeLogRecord[]): void {
  for (const [listener, progress] of listeners) {
    const { lastId } = progress;
    const missed = lastId === null ? [] : records.filter(({ id }) => id > lastId);
    progress.caughtUp = new Set(missed.map(({ id }) => id));
    if (missed.length > 0) listener(missed);
  }
}

/** Sorted by id. An app that has moved has records in several processes. */
function merge(own: RuntimeLogRecord[], others: readonly RuntimeLogRecord[]): RuntimeLogRecord[] {
  return others.length === 0 ? own : [...own, ...others].toSorted((a, b) => a.id - b.id);
}
