import type { EventFeed, OrganizationEvent } from "../../../domain/ports/event-feed.ts";
import type { PostgresNotifications } from "./postgres-notifications.ts";

/** Triggers of the tables send its notifications, in the transaction of the change. */
export const EVENT_CHANNEL = "organization_events";

/** What the function `notify_organization` of the database sends. */
interface Notification {
  org_id: string;
  type: OrganizationEvent["type"];
  data: unknown;
}

/** @param notifications - listens to `EVENT_CHANNEL` */
export function createPostgresEventFeed(notifications: PostgresNotifications): EventFeed {
  return {
    listen(listener, onGap) {
      const onNotification = (payload: string): void => {
        const { org_id: orgId, type, data } = JSON.parse(payload) as Notification;
        listener(orgId, { type, data: JSON.stringify(data) });
      };
      return notifications.listen(EVENT_CHANNEL, onNotification, onGap);
    },
  };
}
