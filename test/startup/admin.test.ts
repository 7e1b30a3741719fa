import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createTestDatabase } from "../support/service/databases.ts";
import { createHarness } from "../support/service/harness.ts";
import { OAuthRequests } from "../support/identity/oauth-requests.ts";
import { Person } from "../support/identity/person.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { RestClient } from "../support/clients/rest-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** `npm run admin` in a process of its own, on a database and a data folder. */
function admin(env: Record<string, string>, ...args: string[]): Promise<Ended> {
  const { PATH = "", HOME = "" } = process.env;
  return new Promise((resolve) => {
    const options = { cwd: PROJECT, env: { PATH, HOME, ...env } };
    execFile(process.execPath, ["server/admin/admin.ts", ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

test("an operator gives a person a new password: it is shown once, and all that the old one led to ends", async () => {
  const dataDirectory = await mkdtemp(path.join(tmpdir(), "admin-"));
  const { databaseUrl, redisUrl, ...database } = await createTestDatabase();
  // The second time at the same port, so that tokens of the first have the issuer of the second.
  const settings = (port: number) => ({ config: { dataDirectory, databaseUrl, redisUrl, port } });
  let port: number;
  const env = { DATA_DIR: dataDirectory, DATABASE_URL: databaseUrl };
  let person: Person;
  let refreshing: Record<string, string>;
  let stale: string[];
  {
    await using harness = await createHarness(settings(0));
    const { publicUrl } = harness.service;
    ({ port } = harness.service);
    person = new Person(publicUrl, "Ada@Example.com");
    await person.signUp();
    const { body } = await new OAuthRequests(publicUrl, person).grant(`${publicUrl}/v1`, "read offline_access");
    refreshing = { refresh_token: String(body["refresh_token"]), client_id: clientOf(String(body["access_token"])) };
    stale = [await person.accessToken(), String(body["access_token"])];
    for (const token of stale) expect((await new RestClient(publicUrl, token).get("/v1/apps")).status).toBe(200);
  }
  for (const email of ["nobody@example.com", "owner@localhost.localdomain", "x@oidc.invalid"]) {
    const unknown = await admin(env, "reset-password", "--email", email);
    expect(unknown).toEqual({ code: 1, stdout: "", stderr: "No user has this email address.\n" });
  }
  expect((await admin(env, "reset-password")).stderr).toBe("--email is missing\n");
  const { code, stdout, stderr } = await admin(env, "reset-password", "--email", "ada@example.com", "--json");
  const { password, user_id: userId } = JSON.parse(stdout) as Record<string, string>;
  expect([code, stderr, password]).toEqual([0, "", expect.stringMatching(/^[\w-]{24}$/)]);
  {
    await using harness = await createHarness(settings(port));
    const { publicUrl } = harness.service;
    for (const token of stale) expect((await new RestClient(publicUrl, token).get("/v1/apps")).status).toBe(401);
    const back = new Person(publicUrl, person.email);
    const refresh = { grant_type: "refresh_token", ...refreshing };
    expect((await new OAuthRequests(publicUrl, back).token(refresh)).status).toBe(400);
    expect([(await back.signIn()).status, (await back.signIn(password)).status]).toEqual([401, 200]);
    const { events } = await rpcClient(publicUrl, await back.accessToken()).audit.list.query({});
    const said = { action: "reset-password", outcome: "done", user_id: userId, target: userId, credential_kind: null };
    expect(events).toContainEqual(expect.objectContaining(said));
    expect(harness.logged() + JSON.stringify(events)).not.toContain(password);
  }
  await database[Symbol.asyncDispose]();
  await rm(dataDirectory, { recursive: true });
});

test("an operator works on the embedded database while the service runs, and while it does not", async () => {
  await using folder = await temporaryFolder();
  const env = { DATA_DIR: folder.path };
  const listOrganizations = async () => {
    const { code, stdout, stderr } = await admin(env, "list-organizations", "--json");
    expect([code, stderr]).toEqual([0, ""]);
    return (JSON.parse(stdout) as { organizations: { id: string }[] }).organizations.map(({ id }) => id);
  };
  const config = { dataDirectory: folder.path, databaseUrl: null };
  let orgId: string;
  {
    await using harness = await createHarness({ config });
    orgId = (await harness.tenant()).org_id;
    expect(await listOrganizations()).toContain(orgId);
  }
  expect(await listOrganizations()).toContain(orgId);
});

function clientOf(accessToken: string): string {
  const [, payload = ""] = accessToken.split(".");
  return (JSON.parse(Buffer.from(payload, "base64url").toString()) as { client_id: string }).client_id;
}
