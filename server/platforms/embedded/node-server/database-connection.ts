import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { POSTGRES_PORT, postgresVariables } from "../../../../domain/shared/postgres-variables.ts";
import type { PostgresUse } from "../../../../domain/ports/bundler.ts";
import type { LoopbackPort, Mount, Sandbox } from "../../../ports/sandbox.ts";
import { writePostgresCertificate } from "../../../sandbox/postgres-tls.ts";
import type { PostgresDatabase } from "../../../ports/postgres.ts";
import { SERVER_PATHS } from "./server-environment.ts";

/** What lets a server connect to its database. */
interface DatabaseConnection {
  variables: Readonly<Record<string, string>>;
  loopbackPorts: readonly LoopbackPort[];
  mounts: readonly Mount[];
}

/** Lets a server connect to its database: through a port in its sandbox, which variables name. */
export async function connectDatabase(
  { hasOwnNetwork }: Pick<Sandbox, "hasOwnNetwork">,
  { postgres, database }: { postgres?: PostgresUse; database: PostgresDatabase | null },
  folder: string,
): Promise<DatabaseConnection> {
  if (database === null || postgres === undefined) return { variables: {}, loopbackPorts: [], mounts: [] };
  const port = hasOwnNetwork ? POSTGRES_PORT : await findFreePort();
  const { certificate } = SERVER_PATHS;
  const variables = postgresVariables(postgres.variables, { ...database, port, certificateFile: certificate });
  return {
    variables,
    loopbackPorts: [{ port, target: database.address, protocol: "postgresql" }],
    mounts: [{ from: await writePostgresCertificate(folder), to: certificate, writable: false }],
  };
}

/** Only for a sandbox without a network of its own. Another program may take the port before it is used. */
async function findFreePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
