import type { OrganizationEvent } from "../ports/event-feed.ts";
import { ChangeSignal, type EventReader, type StreamChunk, type StreamEvent } from "../shared/stream-events.ts";

/** A reader that is further behind gets `reset` instead of the events that it missed. */
const MAX_KEPT_EVENTS = 500;

/** What a reader knows may be outdated. */
const RESET: StreamEvent = { id: null, type: "reset", data: "{}" };
const RESET_CHUNK: StreamChunk = [RESET];

/** The newest events of one organization. All its readers in this process share them. */
export class EventTail implements Disposable {
  readonly #changed = new ChangeSignal();
  readonly #events: StreamEvent[] = [];
  /** How many events there were before the kept ones. */
  #dropped = 0;
  /** What follows a position, until there are further events. */
  readonly #chunks = new Map<number, StreamChunk>();

  add({ type, data }: OrganizationEvent): void {
    this.#append({ id: null, type, data });
  }

  /** Tells the readers that events may be missing. */
  reset(): void {
    this.#append(RESET);
  }

  /** Opens a reader that begins with `reset`. */
  openReader(close: () => void): EventReader {
    let position: number | null = null;
    return {
      close,
      next: async (signal) => {
        while (position === this.#end) await this.#changed.wait(signal);
        const chunk = position === null || position < this.#dropped ? RESET_CHUNK : this.#readAfter(position);
        position = this.#end;
        return chunk;
      },
    };
  }

  [Symbol.dispose](): void {
    this.#chunks.clear();
  }

  get #end(): number {
    return this.#dropped + this.#events.length;
  }

  #append(event: StreamEvent): void {
    this.#events.push(event);
    if (this.#events.length > MAX_KEPT_EVENTS) {
      this.#events.shift();
      this.#dropped += 1;
    }
    this.#chunks.clear();
    this.#changed.notify();
  }

  #readAfter(position: number): StreamChunk {
    const chunk = this.#chunks.get(position) ?? this.#events.slice(position - this.#dropped);
    this.#chunks.set(position, chunk);
    return chunk;
  }
}
