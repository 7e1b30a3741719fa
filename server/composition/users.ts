import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

/** The capabilities for a user's own account. */
export function createUsers({ database, shared }: Foundation): Pick<Capabilities, "account" | "oauthConnections"> {
  const { db, em } = database;
  return { account: { db }, oauthConnections: { db, em, accessChanges: shared.accessChanges } };
}
