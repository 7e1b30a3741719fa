import type { AppStorage, StorageRestriction, StoredApp, StoredBytes } from "../../../domain/ports/app-storage.ts";

const NOTHING: StoredBytes = { sql: 0, keyValue: 0, objects: 0, durable: 0 };

/** Apps that store what a test says, and the restrictions that were set. */
export class RecordedStorage implements AppStorage {
  readonly stored = new Map<string, StoredBytes>();
  readonly restrictions = new Map<string, StorageRestriction | null>();
  /** The bounds that measurements were given, by the id of the app. */
  readonly stopAtBytes = new Map<string, number>();
  changed: StoredApp[] = [];

  /** Says what an app stores, and that it has changed. */
  store(app: StoredApp & Partial<StoredBytes>): void {
    const { appId, slug, ...bytes } = app;
    this.stored.set(appId, { ...NOTHING, ...bytes });
    this.changed.push({ appId, slug });
  }

  async listChanged(): Promise<StoredApp[]> {
    return this.changed.splice(0);
  }

  async measure({ appId }: StoredApp, stopAtBytes: number): Promise<StoredBytes> {
    this.stopAtBytes.set(appId, stopAtBytes);
    return this.stored.get(appId) ?? NOTHING;
  }

  async restrict({ appId }: StoredApp, restriction: StorageRestriction | null): Promise<void> {
    this.restrictions.set(appId, restriction);
  }
}
