import { openOnEmulator } from "../support/cloudflare/open-on-emulator.ts";
import { authEntriesContract } from "./auth-entries.ts";

authEntriesContract("Cloudflare", async () => {
  const t = await openOnEmulator();
  const { authEntries: entries } = t.platform;
  const { authEntries: elsewhere } = await t.reopen();
  return { entries, elsewhere, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
});
