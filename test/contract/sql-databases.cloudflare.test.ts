import { openOnEmulator } from "../support/cloudflare/open-on-emulator.ts";
import { sqlDatabasesContract } from "./sql-databases.ts";

sqlDatabasesContract("Cloudflare", async () => {
  const t = await openOnEmulator();
  return { databases: t.platform.databases, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
});
