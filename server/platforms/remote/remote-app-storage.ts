import type { AppStorage, StoredApp, StoredBytes, StorageRestriction } from "../../../domain/ports/app-storage.ts";
import type { EdgeClient } from "./edge-client.ts";
import type { EdgeConnection } from "./edge-connection.ts";

/** The edges that listed an app, by the app. */
type ListedApps = Map<string, { app: StoredApp; edges: Set<EdgeConnection> }>;

/**
 * Measures and restricts what apps store. Each edge lists the apps that ran there since it measured them, so an app is measured by
 * every edge that listed it. An edge that cannot be reached lists its apps later.
 */
export class RemoteAppStorage implements AppStorage {
  readonly #client: EdgeClient;
  readonly #port: Pick<AppStorage, "restrict">;
  #listed: ListedApps = new Map();

  constructor(client: EdgeClient, port: Pick<AppStorage, "restrict">) {
    this.#client = client;
    this.#port = port;
  }

  async listChanged(): Promise<StoredApp[]> {
    const lists = (await this.#client.callReachable("/storage/listChanged", [])) as Map<EdgeConnection, StoredApp[]>;
    const listed: ListedApps = new Map();
    for (const [edge, apps] of lists)
      for (const app of apps) {
        const entry = listed.get(keyOf(app)) ?? { app, edges: new Set() };
        entry.edges.add(edge);
        listed.set(keyOf(app), entry);
      }
    this.#listed = listed;
    return [...listed.values()].map(({ app }) => app);
  }

  async measure(app: StoredApp, stopAtBytes: number): Promise<StoredBytes> {
    const path = "/storage/measure";
    const edges = this.#listed.get(keyOf(app))?.edges ?? [];
    const sizes = [...(await this.#client.callSome(edges, path, [app, stopAtBytes])).values()] as StoredBytes[];
    if (sizes.length === 0) return (await this.#client.call(path, [app, stopAtBytes])) as StoredBytes;
    // Edges that share data count the same bytes, and an edge without the data of an app counts none.
    const largest = (kind: keyof StoredBytes): number => Math.max(...sizes.map((bytes) => bytes[kind]));
    return {
      sql: largest("sql"),
      keyValue: largest("keyValue"),
      objects: largest("objects"),
      durable: largest("durable"),
    };
  }

  restrict(app: StoredApp, restriction: StorageRestriction | null): Promise<void> {
    return this.#port.restrict(app, restriction);
  }
}

function keyOf({ slug, appId }: StoredApp): string {
  return `${slug}/${appId}`;
}
