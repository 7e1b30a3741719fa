import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { PackageMirror } from "../../../server/drivers/package-registry/package-mirror.ts";
import { startRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

interface Answer {
  status: number | undefined;
  body: Buffer;
}

/** Asks as a client does that has the mirror for its proxy. */
async function ask(socketPath: string, path: string, method = "GET"): Promise<Answer> {
  const asked = request({ socketPath, path, method, agent: false }).end();
  const answered = method === "CONNECT" ? "connect" : "response";
  const [response] = (await once(asked, answered)) as [IncomingMessage];
  return { status: response.statusCode, body: method === "CONNECT" ? Buffer.alloc(0) : await buffer(response) };
}

async function setUp(settings: Record<string, unknown> = {}) {
  const stack = new AsyncDisposableStack();
  const registry = stack.use(
    await startRegistry([
      { name: "left", version: "1.0.0", files: { "index.js": "export default 1;" } },
      { name: "left", version: "1.1.0", manifest: { scripts: { postinstall: "true", test: "true" } } },
      { name: "@scope/right", version: "2.0.0" },
    ]),
  );
  const cache = stack.use(await temporaryFolder());
  const options = { cacheDirectory: cache.path, settings: { registry: registry.url, ...settings } };
  /** A mirror as a newly started service has it: nothing in memory, the disk as it is. */
  const open = async () => stack.use(await new PackageMirror(options).open());
  return { registry, open, ...(await open()), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const MIRROR = "http://packages.invalid";

describe("the package mirror", () => {
  test("gives a package with what an install needs, and tarballs that are its own", async () => {
    await using mirror = await setUp();
    const { status, body } = await ask(mirror.socketPath, `${MIRROR}/left`);
    expect([status, JSON.parse(body.toString())]).toEqual([
      200,
      {
        name: "left",
        "dist-tags": { latest: "1.1.0" },
        versions: {
          "1.0.0": {
            name: "left",
            version: "1.0.0",
            dist: { tarball: `${MIRROR}/left/-/left-1.0.0.tgz`, integrity: expect.stringMatching(/^sha512-/) },
          },
          "1.1.0": {
            name: "left",
            version: "1.1.0",
            hasInstallScript: true,
            dist: { tarball: `${MIRROR}/left/-/left-1.1.0.tgz`, integrity: expect.stringMatching(/^sha512-/) },
          },
        },
      },
    ]);
  });

  test.each([
    "/left/-/left-1.0.0.tgz",
    `${MIRROR}/left/-/left-1.0.0.tgz`,
    `${MIRROR}/api/npm/all/left/-/left-1.0.0.tgz`,
  ])("gives a tarball from where the registry has it, asked for as %s", async (path) => {
    await using mirror = await setUp();
    const { status, body } = await ask(mirror.socketPath, path);
    expect([status, gunzipSync(body).includes("export default 1;")]).toEqual([200, true]);
  });

  test.each(["@scope/right", "@scope%2fright"])("takes the name of a scoped package as %s", async (name) => {
    await using mirror = await setUp();
    expect((await ask(mirror.socketPath, `${MIRROR}/${name}`)).status).toBe(200);
    expect((await ask(mirror.socketPath, `${MIRROR}/@scope/right/-/right-2.0.0.tgz`)).status).toBe(200);
  });

  verifies(hazard(49), "403 for every other host, as a URL and as a tunnel", async () => {
    await using mirror = await setUp();
    const answers = await Promise.all([
      ask(mirror.socketPath, "http://169.254.169.254/latest/meta-data/"),
      ask(mirror.socketPath, mirror.registry.url),
      ask(mirror.socketPath, "registry.example:443", "CONNECT"),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(mirror.registry.requests).toEqual([]);
    expect(mirror.report().refused.toSorted()).toEqual(
      ["169.254.169.254", "registry.example", new URL(mirror.registry.url).host].toSorted(),
    );
  });

  verifies(hazard(50), "405 for everything that could publish or carry data out", async () => {
    await using mirror = await setUp();
    for (const method of ["PUT", "POST", "DELETE", "PATCH"])
      expect((await ask(mirror.socketPath, `${MIRROR}/left`, method)).status).toBe(405);
    expect(mirror.registry.requests).toEqual([]);
  });

  test.each([
    "/-/v1/search?text=a",
    "/../etc/passwd",
    "/left/1.0.0",
    "/left/-/right-1.0.0.tgz",
    "/%",
    "/-/npm/v1/user",
  ])("404 for %s, without asking the registry", async (path) => {
    await using mirror = await setUp();
    expect((await ask(mirror.socketPath, `${MIRROR}${path}`)).status).toBe(404);
    expect(mirror.registry.requests).toEqual([]);
  });

  test("404 for a package or a version that the registry does not have, and a report of it", async () => {
    await using mirror = await setUp();
    expect((await ask(mirror.socketPath, `${MIRROR}/nothing`)).status).toBe(404);
    expect((await ask(mirror.socketPath, `${MIRROR}/left/-/left-9.0.0.tgz`)).status).toBe(404);
    expect(mirror.report()).toEqual({ unavailable: [], missing: ["nothing", "left"], refused: [] });
  });

  verifies(hazard(51), "503 when the registry fails and nothing is kept, and a report of it", async () => {
    await using mirror = await setUp();
    mirror.registry.failWith(500);
    expect((await ask(mirror.socketPath, `${MIRROR}/left`)).status).toBe(503);
    expect(mirror.report()).toEqual({ unavailable: ["left"], missing: [], refused: [] });
  });

  verifies(
    hazard(51),
    "what was given once is given again when the registry is gone, also after a restart",
    async () => {
      await using mirror = await setUp();
      const paths = [`${MIRROR}/left`, `${MIRROR}/left/-/left-1.0.0.tgz`];
      const before = await Promise.all(paths.map((path) => ask(mirror.socketPath, path)));
      await mirror.registry.goAway();
      const restarted = await mirror.open();
      expect(await Promise.all(paths.map((path) => ask(restarted.socketPath, path)))).toEqual(before);
    },
  );

  test("sends the machine's credentials to the registry and to nobody else", async () => {
    await using other = await startRegistry([]);
    const credential = (url: string) => `//${new URL(url).host}/:_authToken`;
    await using mirror = await setUp({ "@scope:registry": other.url, [credential(other.url)]: "secret" });
    await ask(mirror.socketPath, `${MIRROR}/@scope/right`);
    await ask(mirror.socketPath, `${MIRROR}/left`);
    expect([other.credentials, mirror.registry.credentials]).toEqual([["Bearer secret"], [undefined]]);
  });

  test("leaves nothing where its sockets were", async () => {
    await using folder = await temporaryFolder();
    const session = await new PackageMirror({ cacheDirectory: folder.path, settings: {} }).open();
    await session[Symbol.asyncDispose]();
    await expect(readdir(session.socketPath.replace(/\/socket$/, ""))).rejects.toThrow("ENOENT");
  });
});
