import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";
import { takeOver } from "../../server/backup/take-over.ts";
import type { Installation } from "../../server/installation/installation.ts";
import { readSharedInstallation, recordInstallation } from "../../server/installation/shared-installation.ts";
import { openDatabase } from "../../server/database/open-database.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { CloudflareEmulator } from "../support/cloudflare/emulator.ts";
import {
  createTestDatabase,
  databaseUrl as urlOf,
  executeOnServer,
  postgresServer,
} from "../support/service/test-databases.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** What a process with a data folder of its own finds; `record` says that it then claims what is outside. */
async function readAt(url: string, dataDirectory: string, record = false): Promise<Installation> {
  await using database = await openDatabase({ databaseUrl: url, dataDirectory }, createLogger("silent"));
  const installation = await readSharedInstallation(database.orm.em, dataDirectory);
  if (record) await recordInstallation(database.orm.em, dataDirectory, installation);
  return installation;
}

verifies(
  hazard(70),
  "processes without a common data folder are one installation, and those on a copy of its database are a restored one",
  async () => {
    await using folder = await temporaryFolder();
    await using emulator = await CloudflareEmulator.open({ runsScripts: false });
    await using database = await createTestDatabase();
    const { databaseUrl } = database;
    const newFolder = (name: string) => mkdir(path.join(folder.path, name), { recursive: true }).then(String);
    const [one, two, three] = [await newFolder("one"), await newFolder("two"), await newFolder("three")];
    const fresh = await Promise.all([readAt(databaseUrl, one), readAt(databaseUrl, two)]);
    expect(fresh[0]).toEqual(fresh[1]);
    const installation = await readAt(databaseUrl, one, true);
    expect([installation, await readAt(databaseUrl, two)]).toEqual([fresh[0], fresh[0]]);

    const copied = `test_${randomBytes(8).toString("hex")}`;
    const server = postgresServer();
    await executeOnServer(server, `create database ${copied} template ${new URL(databaseUrl).pathname.slice(1)}`);
    await using _ = { [Symbol.asyncDispose]: () => executeOnServer(server, `drop database ${copied} with (force)`) };
    const copyUrl = urlOf(server, copied);
    expect(await readAt(copyUrl, three)).toEqual({ ...installation, state: "restored" });

    const config = { dataDirectory: three, databaseUrl: copyUrl, s3: null, cloudflare: emulator.settings };
    expect(await takeOver(config)).toEqual({ installation: installation.id, epoch: 2 });
    expect(await takeOver(config)).toEqual({ installation: installation.id, epoch: 2 });
    expect(await readAt(copyUrl, two)).toEqual({ id: installation.id, epoch: 2, state: "active" });
    expect(await readAt(databaseUrl, two)).toEqual(installation);
  },
);
