import type { AppAddress } from "./app-address.ts";

/** A PostgreSQL server for the databases of apps. */
export interface PostgresServer extends AsyncDisposable {
  /** A connection string of a superuser. */
  url: string;
  address: AppAddress;
  /** Whether its processes run on this machine, so that their memory can be measured. */
  isLocal: boolean;
}

/** A PostgreSQL database with the credentials of a role that can connect to it only. */
export interface PostgresDatabase {
  /** Of the database and of the role. */
  name: string;
  password: string;
  /** The address of the server. */
  address: AppAddress;
}

/** Empty PostgreSQL databases for work that changes one, such as a build. Disposing of one removes it. */
export interface TemporaryDatabases {
  openTemporary(): Promise<PostgresDatabase & AsyncDisposable>;
}
