import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";

/** One of several feeds over the same connection. */
export function topicOf(feed: ChangeFeed, topic: string): ChangeFeed {
  const prefix = `${topic}:`;
  return {
    announce: (orgId) => feed.announce(prefix + orgId),
    listen: (listener, onGap) =>
      feed.listen((notice) => {
        if (notice.startsWith(prefix)) listener(notice.slice(prefix.length));
      }, onGap),
  };
}
