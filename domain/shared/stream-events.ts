import { ServiceError } from "./errors.ts";
import { raceWithSignal } from "./race-with-signal.ts";

/** One event of a stream of log lines, or of the events of an organization. */
export interface StreamEvent {
  /** Continues the stream after this event. Contains no white space. `null` in a stream that cannot be continued. */
  id: string | null;
  /** `line`: a line of the log. `end`: nothing follows. The others are those of an organization. */
  type: "line" | "end" | "reset" | "app" | "deployment" | "push";
  /** One line: no line breaks. */
  data: string;
}

/**
 * Events that follow each other. Readers that are at the same place get the same object, so a transport can encode it
 * once.
 */
export type StreamChunk = readonly StreamEvent[];

/** One reader's place in a stream. */
export interface EventReader {
  /**
   * Returns the next events, as soon as there are any. The last event of the last chunk is `end`. A reader that does not
   * call this costs no memory: it continues at its own place.
   *
   * @throws the reason of the signal
   */
  next(signal: AbortSignal): Promise<StreamChunk>;
  /** Must be called when the reader has ended. */
  close(): void;
}

export function invalidEventId(): ServiceError {
  return new ServiceError(
    "invalid",
    "Last-Event-ID: invalid id. Send the id of an event of this stream unchanged, or omit the header to start again.",
  );
}

/** A change that any number of readers wait for. */
export class ChangeSignal {
  #change = Promise.withResolvers<void>();

  /** Wakes everyone who waits now. */
  notify(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }

  /** @throws the reason of the signal */
  wait(signal: AbortSignal): Promise<void> {
    return raceWithSignal(this.#change.promise, signal);
  }
}
