import type { StoredApp } from "./app-storage.ts";

/** Keeps apps running that work without requests, such as bots and schedulers. */
export interface AlwaysOnApps {
  /**
   * Sets the apps that are not stopped when they are idle, and are started without a request: after this call, after a restart of
   * the service, and after they failed. They replace those of the call before. The platform keeps as many as it can without
   * stopping other apps too often, the first of the list.
   */
  set(apps: readonly StoredApp[]): void;
}
