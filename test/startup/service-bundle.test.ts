import { execFile } from "node:child_process";
import { appendFile, cp, mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { BundleManifest } from "../../server/startup/service-bundle.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { createTestDatabase } from "../support/service/test-databases.ts";
import { createInstallation, PROJECT, type ServiceProcess } from "../support/service/service-process.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";

const SOURCES = ["domain", "routers", "server", "scripts", "package.json", "package-lock.json"];
const LINKS = ["node_modules", "examples"];
const OWN_CACHES = ["service", "service-bundle"];
const BUNDLES = ".cache/service-bundle";

/** A part of the start message, and one of the same length. The test replaces it in the bundle to see what runs. */
const FROM_SOURCES = "(reference: ";
const FROM_BUNDLE = "(REFERENCE: ";

/** Copies the sources of the project, so that the test can change them, with caches of builds but without a bundle. */
async function copyProject(): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  const copyOf = (name: string): string => path.join(folder.path, name);
  for (const name of SOURCES) await cp(path.join(PROJECT, name), copyOf(name), { recursive: true });
  await mkdir(copyOf(".cache"));
  const caches = (await readdir(path.join(PROJECT, ".cache"))).filter((name) => !OWN_CACHES.includes(name));
  for (const name of [...LINKS, ...caches.map((cache) => `.cache/${cache}`)])
    await symlink(path.join(PROJECT, name), copyOf(name));
  return folder;
}

/** Builds the bundle, and changes its start message. */
async function buildBundle(project: string): Promise<void> {
  await promisify(execFile)(process.execPath, ["scripts/build-service.ts"], { cwd: project });
  for (const file of await readdir(path.join(project, BUNDLES), { recursive: true })) {
    const target = path.join(project, BUNDLES, file);
    if (!file.endsWith(".mjs")) continue;
    const code = await readFile(target, "utf8");
    if (code.includes(FROM_SOURCES)) await writeFile(target, code.replace(FROM_SOURCES, FROM_BUNDLE));
  }
}

/** Starts the service, calls `use`, and stops it. */
async function runService(project: string, use: (service: ServiceProcess) => Promise<void>): Promise<void> {
  await using installation = await createInstallation(createTestDatabase, project);
  const service = await installation.start();
  await use(service);
  expect(await service.end("SIGTERM")).toBe(0);
}

/** The bundle that a start would use, by its path in the project; empty for none. */
async function findBundle(project: string): Promise<string> {
  const module = path.join(project, "server/startup/service-bundle.ts");
  const code = `import { findServiceBundle } from ${JSON.stringify(module)}; process.stdout.write(findServiceBundle() ?? "");`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code]);
  return stdout && path.relative(project, stdout);
}

test("a service from the bundle signs users in, deploys apps and calls tools; without a complete and current bundle, the sources run", async () => {
  await using project = await copyProject();
  await buildBundle(project.path);

  await runService(project.path, async ({ output, publicUrl, rest, tokens }) => {
    expect(output()).toContain(FROM_BUNDLE);
    const { app_id: appId } = (await rest.deploy({ repo: "examples/hello" })).body;
    const readStatus = async () => (await rest.get(`/v1/apps/${String(appId)}`)).body["status"];
    await expect.poll(readStatus).toBe("ready");
    const { structuredContent } = await new GatewayClient(publicUrl, tokens.personal_access_token).tool(
      "service_list_apps",
    );
    expect(structuredContent["apps"]).toEqual([expect.objectContaining({ id: appId })]);
    const user = new TestUser(publicUrl);
    expect((await user.signUp()).status).toBe(200);
    expect((await rest.as(await user.accessToken()).get("/v1/apps")).body["apps"]).toHaveLength(1);
    const documented = JSON.parse(await readFile(path.join(PROJECT, "docs/openapi.json"), "utf8")) as { paths: object };
    expect((await rest.get("/v1/openapi.json")).body["paths"]).toEqual(documented.paths);
  });

  const { folder, entry } = JSON.parse(
    await readFile(path.join(project.path, BUNDLES, "newest.json"), "utf8"),
  ) as BundleManifest;
  const file = path.join(project.path, BUNDLES, folder, entry);
  await rename(file, `${file}.removed`);
  expect(await findBundle(project.path)).toBe("");
  await rename(`${file}.removed`, file);
  expect(await findBundle(project.path)).toBe(path.join(BUNDLES, folder, entry));

  await appendFile(path.join(project.path, "domain/apps/app.entity.ts"), "// A change.\n");
  expect(await findBundle(project.path)).toBe("");
  await runService(project.path, async ({ output }) => expect(output()).toContain(FROM_SOURCES));
});
