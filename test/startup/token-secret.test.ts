import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../server/config.ts";
import { configError } from "../support/config-error.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const DATABASE_URL = "postgres://ada@127.0.0.1/apps";

test("TOKEN_SECRET is required in production and with DATABASE_URL, and the error says how to generate one", () => {
  expect(configError({ NODE_ENV: "production" })).toBe(
    "TOKEN_SECRET is required with NODE_ENV=production, such as the output of: openssl rand -hex 32",
  );
  expect(configError({ DATABASE_URL })).toBe(
    "TOKEN_SECRET is required with DATABASE_URL, such as the output of: openssl rand -hex 32",
  );
  const secret = { TOKEN_SECRET: "x".repeat(32) };
  expect(readConfig({ NODE_ENV: "production", ...secret }).production).toBe(true);
  expect(readConfig({ DATABASE_URL, ...secret }).databaseUrl).toBe(DATABASE_URL);
});

test("the error about a missing TOKEN_SECRET names the file with the present one, and does not contain it", async () => {
  await using folder = await temporaryFolder();
  const file = path.join(folder.path, "secrets", "token-secret");
  await mkdir(path.dirname(file));
  await writeFile(file, "present".repeat(5));
  const message = configError({ DATABASE_URL, DATA_DIR: folder.path });
  expect(message).toContain(`This installation has a secret in ${file}. Set TOKEN_SECRET to the content of this file`);
  expect(message).not.toContain("presentpresent");
});
