import type { HostSettings } from "../ports/agent-host.ts";
import type { ValueCipher } from "../shared/value-cipher.ts";

/** The columns of a server whose agents are in a gateway. */
export interface GatewayRow {
  id: string;
  orgId: string;
  url: string | null;
  sealedToken: string | null;
  connectionVersion: number;
}

export const GATEWAY_COLUMNS = [
  "server.id",
  "server.org_id as orgId",
  "server.url",
  "server.sealed_token as sealedToken",
  "server.connection_version as connectionVersion",
] as const;

export function toHostSettings(row: GatewayRow, tokenCipher: ValueCipher): HostSettings {
  return {
    serverId: row.id,
    orgId: row.orgId,
    url: row.url ?? "",
    version: row.connectionVersion,
    token: () => (row.sealedToken === null ? null : tokenCipher.open(row.sealedToken, [row.id])),
  };
}
