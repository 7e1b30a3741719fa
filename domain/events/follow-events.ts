import type { EventFeed } from "../ports/event-feed.ts";
import type { Caller } from "../shared/caller.ts";
import { ReferenceCountedInstances } from "../shared/reference-counted-instances.ts";
import type { EventReader } from "../shared/stream-events.ts";
import { EventTail } from "./event-tail.ts";

/** The events of organizations that are followed in this process. */
export class EventTails implements Disposable {
  /** By the id of the organization. */
  readonly #tails = new ReferenceCountedInstances<EventTail>();
  readonly #unlisten: () => void;

  constructor(feed: EventFeed) {
    this.#unlisten = feed.listen(
      (orgId, event) => this.#tails.get(orgId)?.add(event),
      () => {
        for (const tail of this.#tails.all()) tail.reset();
      },
    );
  }

  open(orgId: string): EventReader {
    const { instance, release } = this.#tails.acquire(orgId, () => new EventTail());
    return instance.openReader(release);
  }

  [Symbol.dispose](): void {
    this.#unlisten();
    this.#tails[Symbol.dispose]();
  }
}

export interface FollowEventsDeps {
  eventTails: EventTails;
}

/**
 * Follows what changes in the caller's organization. The first event is `reset`: what the reader has read before may be
 * outdated. It comes again when events were lost. The event `app` has an `AppState`, and `deployment` has
 * `{app_id, number, status}`, and `push` `{app_id, delivery_id, result}`.
 */
export async function followEvents({ eventTails }: FollowEventsDeps, { orgId }: Caller): Promise<EventReader> {
  return eventTails.open(orgId);
}
