import { type Query, type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { OrganizationEvent } from "../../sdk/src/events.ts";
import { type App, isChanging } from "./apps-query.ts";
import { reloadMemberships } from "./memberships.ts";
import { redirectToSignIn } from "./query-client.ts";

/** The list of apps, and usage, are read at most this often. */
const LIST_INTERVAL_MS = 1_000;

/** When the stream of events is opened again after the service has refused it. */
const RESTART_MS = 30_000;

/** Keeps what the page shows of apps and deployments current, by one stream of events for the tab. */
export function useLiveUpdates(organizationId: string | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (organizationId === undefined) return;
    const closing = new AbortController();
    const updates = new Updates(client, organizationId);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = async (): Promise<void> => {
      // Not needed for the first view of a page.
      const { followChanges } = await import("./event-streams.ts");
      const options = { signal: closing.signal, onConnection: () => undefined };
      for await (const event of followChanges(organizationId, options)) updates.apply(event);
    };
    const start = (): void => {
      follow().catch((error: Error) => {
        redirectToSignIn(error);
        if (closing.signal.aborted) return;
        // The user may have been removed from the organization. The page then shows it.
        reloadMemberships(client).catch(redirectToSignIn);
        // Or there are too many open streams of it. The first event of the next stream refreshes the page.
        timer = setTimeout(start, RESTART_MS);
      });
    };
    start();
    return () => {
      closing.abort();
      clearTimeout(timer);
      updates.stop();
    };
  }, [client, organizationId]);
}

/** Applies events to what was read. */
class Updates {
  readonly #client: QueryClient;
  readonly #organizationId: string;
  #listTimer: ReturnType<typeof setTimeout> | undefined;
  /** Whether an app was added or deleted since usage was read. */
  #isUsageOld = false;

  constructor(client: QueryClient, organizationId: string) {
    this.#client = client;
    this.#organizationId = organizationId;
  }

  apply(event: OrganizationEvent): void {
    this.#refresh(["environments", this.#organizationId]);
    if (event.type === "reset") {
      this.#refresh(["app", this.#organizationId]);
      this.#refreshList();
    } else if (event.type === "app") {
      this.#applyToList(event);
      this.#refresh(["app", this.#organizationId, event.id]);
    } else this.#refresh(["app", this.#organizationId, event.app_id]);
  }

  stop(): void {
    clearTimeout(this.#listTimer);
  }

  /** The list is not read again for each step of a deployment: it may be long. */
  #applyToList({ id, status, updated_at: at }: OrganizationEvent & { type: "app" }): void {
    const key = ["apps", this.#organizationId];
    const listed = this.#client.getQueryData<App[]>(key)?.find((app) => app.id === id);
    if (listed === undefined || status === "deleted") {
      this.#refreshList();
      this.#isUsageOld = true;
      return;
    }
    const changed: App = { ...listed, status, status_message: null, updated_at: at };
    this.#client.setQueryData<App[]>(key, (apps) => apps?.map((app) => (app.id === id ? changed : app)));
    // For the message of a deployment that has ended.
    if (!isChanging(status)) this.#refreshList();
  }

  #refreshList(): void {
    this.#listTimer ??= setTimeout(() => {
      this.#listTimer = undefined;
      this.#refresh(["apps", this.#organizationId]);
      if (!this.#isUsageOld) return;
      this.#isUsageOld = false;
      void this.#client.invalidateQueries({ queryKey: ["usage", this.#organizationId], refetchType: "all" });
    }, LIST_INTERVAL_MS);
  }

  /** Lists of which the user is loading another page are read afterwards: reading them now would cancel that. */
  #refresh(queryKey: string[]): void {
    void this.#client.invalidateQueries({ queryKey, predicate: (query) => !isLoadingPage(query) });
    for (const query of this.#client.getQueryCache().findAll({ queryKey, predicate: isLoadingPage })) {
      const refresh = () => void this.#client.invalidateQueries({ queryKey: query.queryKey, exact: true });
      query.promise?.then(refresh, refresh);
    }
  }
}

function isLoadingPage({ state }: Query): boolean {
  return state.fetchStatus === "fetching" && state.fetchMeta?.fetchMore !== undefined;
}
