import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";

/** A feed for the notices of one topic. Several topics share the connection of `feed`. */
export function createTopicFeed(feed: ChangeFeed, topic: string): ChangeFeed {
  const prefix = `${topic}:`;
  return {
    announce: (id) => feed.announce(prefix + id),
    listen: (listener, onGap) =>
      feed.listen((notice) => {
        if (notice.startsWith(prefix)) listener(notice.slice(prefix.length));
      }, onGap),
  };
}
