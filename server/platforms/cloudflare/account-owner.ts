import { z } from "zod";
import { type OwnerRecord, ownerSchema } from "../../installation/ownership.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { CloudflareError } from "./cloudflare-error.ts";
import type { NamedDatabases } from "./named-databases.ts";

const TABLE = "CREATE TABLE IF NOT EXISTS owner (only INTEGER PRIMARY KEY CHECK (only = 1), id TEXT, epoch INTEGER)";
/** Neither another installation nor an earlier epoch replaces the owner, also when both write at the same time. */
const WRITE = `INSERT INTO owner VALUES (1, ?, ?) ON CONFLICT DO UPDATE SET epoch = excluded.epoch
  WHERE owner.id = excluded.id AND owner.epoch < excluded.epoch`;
const rows = z.array(z.object({ results: z.array(ownerSchema) }));
const anything = z.unknown();
const SQL_ERROR = 7500;

/**
 * Names the installation of a dispatch namespace in a SQL database of the account: unlike key-value namespaces, databases return what was
 * written last.
 *
 * @param client - has no guard, because it is what the guard of the other client uses
 */
export function ownerOfAccount(client: CloudflareClient, databases: NamedDatabases, name: string): OwnerRecord {
  const query = (uuid: string, body: object) => {
    const request = { operation: "read the installation", method: "POST", path: `d1/database/${uuid}/query` } as const;
    return client.call({ ...request, body }, anything);
  };
  return {
    things: "apps",
    setting: "CLOUDFLARE_DISPATCH_NAMESPACE",
    async read() {
      const uuid = await databases.find(name);
      if (uuid === null) return null;
      const result = await query(uuid, { sql: "SELECT id, epoch FROM owner" }).catch((error: unknown) => {
        // A process was killed between the creation of the database and that of the table.
        if (error instanceof CloudflareError && error.hasCode(SQL_ERROR)) return [];
        throw error;
      });
      return rows.parse(result)[0]?.results[0] ?? null;
    },
    async write({ id, epoch }) {
      const uuid = await databases.ensure(name);
      await query(uuid, { batch: [{ sql: TABLE }, { sql: WRITE, params: [id, epoch] }] });
    },
  };
}
