import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import type { NpmSettings } from "../../../server/drivers/package-registry/npm-settings.ts";
import { type MirrorLimits, PackageMirror } from "../../../server/drivers/package-registry/package-mirror.ts";
import { MIRROR, sendToMirror } from "../../support/builds/package-mirror-client.ts";
import { startRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

class DisposableAgent extends Agent implements Disposable {
  [Symbol.dispose](): void {
    this.destroy();
  }
}

const NAMES = new Set(["left", "@scope/right"]);

async function setUp(settings: Record<string, unknown> = {}, limits: Partial<MirrorLimits> = {}) {
  const stack = new AsyncDisposableStack();
  const registry = stack.use(
    await startRegistry([
      { name: "left", version: "1.0.0", files: { "index.js": "export default 1;" } },
      { name: "left", version: "1.1.0", manifest: { scripts: { postinstall: "true", test: "true" } } },
      { name: "@scope/right", version: "2.0.0" },
    ]),
  );
  const cache = stack.use(await temporaryFolder());
  const readSettings = () => Promise.resolve({ registry: registry.url, ...settings });
  const outages: string[] = [];
  const onOutage = (code: string) => void outages.push(code);
  const options = { cacheDirectory: cache.path, readSettings, limits, onOutage };
  /** Opens a mirror with an empty memory cache and the current disk cache, like a restarted service. */
  const open = async (names: ReadonlySet<string> = NAMES) => stack.use(await new PackageMirror(options).open(names));
  return { registry, open, outages, ...(await open()), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe("the package mirror", () => {
  test("the mirror returns a package with the fields that an install reads and with its own tarball URLs", async () => {
    await using mirror = await setUp();
    const { status, body } = await sendToMirror(mirror.socketPath, `${MIRROR}/left`);
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

  test("idle connections of an install are not closed, so that a delayed package manager can go on to use them", async () => {
    await using mirror = await setUp();
    using agent = new DisposableAgent({ keepAlive: true });
    const sent = request({ socketPath: mirror.socketPath, path: `${MIRROR}/left`, agent }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    await buffer(response);
    // A server that closes idle connections says after which time.
    expect([response.headers.connection, response.headers["keep-alive"]]).toEqual(["keep-alive", undefined]);
  });

  test.each([
    "/left/-/left-1.0.0.tgz",
    `${MIRROR}/left/-/left-1.0.0.tgz`,
    `${MIRROR}/api/npm/all/left/-/left-1.0.0.tgz`,
  ])("the mirror returns the registry's tarball for the path %s", async (path) => {
    await using mirror = await setUp();
    const { status, body } = await sendToMirror(mirror.socketPath, path);
    expect([status, gunzipSync(body).includes("export default 1;")]).toEqual([200, true]);
  });

  test("a large tarball arrives complete, and Node prints no warning of a listener leak", async () => {
    const content = randomBytes(4_000_000).toString("hex");
    await using registry = await startRegistry([{ name: "large", version: "1.0.0", files: { "index.js": content } }]);
    await using cache = await temporaryFolder();
    const readSettings = () => Promise.resolve({ registry: registry.url });
    const mirror = new PackageMirror({ cacheDirectory: cache.path, readSettings, limits: {} });
    await using session = await mirror.open(new Set(["large"]));
    const warnings: string[] = [];
    const record = (warning: Error) => void warnings.push(warning.name);
    process.on("warning", record);
    const { body } = await sendToMirror(session.socketPath, `${MIRROR}/large/-/large-1.0.0.tgz`);
    process.off("warning", record);
    expect(gunzipSync(body).includes(content)).toBe(true);
    expect(warnings).toEqual([]);
  });

  test.each(["@scope/right", "@scope%2fright"])(
    "the mirror accepts the name of a scoped package as %s",
    async (name) => {
      await using mirror = await setUp();
      expect((await sendToMirror(mirror.socketPath, `${MIRROR}/${name}`)).status).toBe(200);
      expect((await sendToMirror(mirror.socketPath, `${MIRROR}/@scope/right/-/right-2.0.0.tgz`)).status).toBe(200);
    },
  );

  verifies(hazard(49), "a request for another host gets 403, as an absolute URL and as CONNECT", async () => {
    await using mirror = await setUp();
    const responses = await Promise.all([
      sendToMirror(mirror.socketPath, "http://169.254.169.254/latest/meta-data/"),
      sendToMirror(mirror.socketPath, mirror.registry.url),
      sendToMirror(mirror.socketPath, "registry.example:443", "CONNECT"),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(mirror.registry.requests).toEqual([]);
    expect(mirror.report().blockedHosts.toSorted()).toEqual(
      ["169.254.169.254", "registry.example", new URL(mirror.registry.url).host].toSorted(),
    );
  });

  verifies(
    hazard(50),
    "PUT, POST, DELETE and PATCH get 405 and are not forwarded, so an install cannot upload data",
    async () => {
      await using mirror = await setUp();
      for (const method of ["PUT", "POST", "DELETE", "PATCH"])
        expect((await sendToMirror(mirror.socketPath, `${MIRROR}/left`, method)).status).toBe(405);
      expect(mirror.registry.requests).toEqual([]);
    },
  );

  test.each([
    "/-/v1/search?text=a",
    "/../etc/passwd",
    "/left/1.0.0",
    "/left/-/right-1.0.0.tgz",
    "/%",
    "/-/npm/v1/user",
  ])("the path %s gets 404, without a request to the registry", async (path) => {
    await using mirror = await setUp();
    expect((await sendToMirror(mirror.socketPath, `${MIRROR}${path}`)).status).toBe(404);
    expect(mirror.registry.requests).toEqual([]);
  });

  test("a package or version that the registry does not have gets 404 and is reported as missing", async () => {
    await using mirror = await setUp();
    expect((await sendToMirror(mirror.socketPath, `${MIRROR}/nothing`)).status).toBe(404);
    expect((await sendToMirror(mirror.socketPath, `${MIRROR}/left/-/left-9.0.0.tgz`)).status).toBe(404);
    expect(mirror.report()).toEqual({
      unavailable: [],
      missing: [
        { name: "nothing", version: null },
        { name: "left", version: "9.0.0" },
      ],
      failedUrls: [],
      blockedHosts: [],
      exceeded: null,
    });
  });

  verifies(
    hazard(51),
    "a package that is not cached gets 503 while the registry fails, and is reported as unavailable",
    async () => {
      await using mirror = await setUp();
      mirror.registry.failWith(500);
      expect((await sendToMirror(mirror.socketPath, `${MIRROR}/left`)).status).toBe(503);
      expect(mirror.report()).toEqual({
        unavailable: ["left"],
        missing: [],
        failedUrls: [],
        blockedHosts: [],
        exceeded: null,
      });
    },
  );

  test("the error code of an outage of the registry is reported once", async () => {
    await using mirror = await setUp();
    await mirror.registry.stop();
    for (const name of ["left", "@scope/right"])
      expect((await sendToMirror(mirror.socketPath, `${MIRROR}/${name}`)).status).toBe(503);
    expect(mirror.outages).toEqual(["ECONNREFUSED"]);
  });

  verifies(
    hazard(51),
    "the mirror returns cached packages and tarballs while the registry is down, also after a restart",
    async () => {
      await using mirror = await setUp();
      const paths = [`${MIRROR}/left`, `${MIRROR}/left/-/left-1.0.0.tgz`];
      const before = await Promise.all(paths.map((path) => sendToMirror(mirror.socketPath, path)));
      await mirror.registry.stop();
      const restarted = await mirror.open();
      expect(await Promise.all(paths.map((path) => sendToMirror(restarted.socketPath, path)))).toEqual(before);
    },
  );

  test("the mirror sends a registry's credentials to that registry only", async () => {
    await using other = await startRegistry([]);
    const credential = (url: string) => `//${new URL(url).host}/:_authToken`;
    await using mirror = await setUp({ "@scope:registry": other.url, [credential(other.url)]: "secret" });
    await sendToMirror(mirror.socketPath, `${MIRROR}/@scope/right`);
    await sendToMirror(mirror.socketPath, `${MIRROR}/left`);
    expect([other.credentials, mirror.registry.credentials]).toEqual([["Bearer secret"], [undefined]]);
  });

  test("an install after a failed one reads npm's settings again", async () => {
    await using folder = await temporaryFolder();
    const readSettings = vi
      .fn<() => Promise<NpmSettings>>()
      .mockRejectedValueOnce(new Error("unreadable npmrc"))
      .mockResolvedValue({});
    const mirror = new PackageMirror({ cacheDirectory: folder.path, readSettings });
    await expect(mirror.open(NAMES)).rejects.toThrow("unreadable npmrc");
    await using session = await mirror.open(NAMES);
    expect(session.report()).toEqual({
      unavailable: [],
      missing: [],
      failedUrls: [],
      blockedHosts: [],
      exceeded: null,
    });
  });

  test("disposing of a session removes the folder of its socket", async () => {
    await using folder = await temporaryFolder();
    const session = await new PackageMirror({
      cacheDirectory: folder.path,
      readSettings: () => Promise.resolve({}),
    }).open(NAMES);
    await session[Symbol.asyncDispose]();
    await expect(readdir(session.socketPath.replace(/\/socket$/, ""))).rejects.toThrow("ENOENT");
  });
});
