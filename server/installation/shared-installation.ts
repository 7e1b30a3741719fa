import { InstallationRecord } from "../../domain/installation/installation-record.entity.ts";
import { sha256Hex } from "../../domain/shared/sha256.ts";
import type { Orm } from "../database/orm.ts";
import { type Installation, readInstallation, writeInstallation } from "./installation.ts";

const KEY = 1;

/**
 * Returns the installation of processes that share a database and have no data folder in common. A database that was restored from a dump
 * is recognized, because it is another database than the one that its row names.
 */
export async function readSharedInstallation(em: Orm["em"], dataDirectory: string): Promise<Installation> {
  const file = await readInstallation(dataDirectory);
  const database = await identifyDatabase(em);
  const record = await em.fork().findOne(InstallationRecord, { key: KEY });
  // All processes that start on a new database get the same id.
  if (record === null) return file ?? { id: toUuid(database), epoch: 1, state: "active" };
  const isCopy = record.database !== database || file?.state === "restored";
  return { id: record.id, epoch: record.epoch, state: isCopy ? "restored" : "active" };
}

/** Stores what an active installation is. Call it when what is outside of the database belongs to it. */
export async function recordInstallation(
  em: Orm["em"],
  dataDirectory: string,
  { id, epoch, state }: Installation,
): Promise<void> {
  const database = await identifyDatabase(em);
  await em.fork().upsert(InstallationRecord, { key: KEY, id, epoch, database });
  await writeInstallation(dataDirectory, { id, epoch, state });
}

/** Returns what no other database has: a dump that is restored is in another one. A copy of the files of the server is not. */
async function identifyDatabase(em: Orm["em"]): Promise<string> {
  const [row] = await em.fork().execute<{ server: string; oid: string }[]>(
    `select (select system_identifier::text from pg_control_system()) as server, oid::text
       from pg_database where datname = current_database()`,
  );
  return `${row?.server}/${row?.oid}`;
}

function toUuid(text: string): string {
  const hex = sha256Hex(`installation ${text}`);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}
