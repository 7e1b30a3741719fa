import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readBuildLimits } from "../../server/config/build-limits.ts";
import { readConfig } from "../../server/config.ts";
import { configError } from "../support/config-error.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** What builds reach by default. */
const FONTS = ["fonts.googleapis.com", "fonts.gstatic.com"].flatMap((host) => [`${host}:443`, `${host}:80`]);

describe("the configuration", () => {
  test("every setting has a default", () => {
    expect(readConfig({})).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      edgePort: 3001,
      databaseUrl: null,
      redisUrl: null,
      sandbox: "bubblewrap",
      gitBaseUrl: "https://github.com",
      defaultPlan: "free",
      production: false,
      plans: { free: { apps: 10 }, team: { apps: 100 }, scale: { apps: 10_000 } },
    });
  });

  test("an empty variable counts as not set", () => {
    expect(readConfig({ PORT: "", DATABASE_URL: "", BUILDER_COMMAND: "" })).toMatchObject({
      port: 3000,
      databaseUrl: null,
    });
  });

  test("the configuration is frozen", () => {
    const config = readConfig({});
    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError);
  });

  const BAD: [string, string][] = [
    ["PORT", "eighty"],
    ["PORT", "70000"],
    ["EDGE_PORT", "-1"],
    ["PUBLIC_URL", "apps.example.com"],
    ["PUBLIC_URL", "https://apps.example.com/service"],
    ["PUBLIC_URL", 'https://apps.example.com/"'],
    ["PUBLIC_URL", "https://user:password@apps.example.com"],
    ["TRUSTED_PROXIES", "all"],
    ["TRUSTED_PROXIES", "true"],
    ["TRUSTED_PROXIES", "1"],
    ["TRUSTED_PROXIES", "10.0.0.0/0"],
    ["TRUSTED_PROXIES", "10.0.0.0/33"],
    ["TRUSTED_PROXIES", "127.0.0.1,,::1"],
    ["TRUSTED_PROXIES", "proxy.example.com"],
    ["AGENT_HOST_PRIVATE_NETWORKS", "0.0.0.0/0"],
    ["AGENT_HOST_PRIVATE_NETWORKS", "gateway.local"],
    ...["0", "65536", "443,", "20-10", "1-2-3", "any", "-1", "1e3"].map((ports): [string, string] => [
      "AGENT_HOST_PRIVATE_PORTS",
      ports,
    ]),
    ["APPS_DOMAIN", "http://apps.example.com"],
    ["DATABASE_URL", "mysql://127.0.0.1/apps"],
    ["REDIS_URL", "127.0.0.1:6379"],
    ["GIT_BASE_URL", "ssh://git@example.com"],
    ["TOKEN_SECRET", "short"],
    ["SANDBOX", "docker"],
    ["BUILD_EGRESS", "none,fonts"],
    ["BUILD_EGRESS", "https://api.example.com"],
    ["BUILD_EGRESS", "*.example.com"],
    ["BUILD_MEMORY_MB", "100"],
    ["BUILD_DISK_MB", "2G"],
    ["INSTALL_TIMEOUT_MS", "5m"],
    ["BUILD_TIMEOUT_MS", "10"],
    ["PLANS_FILE", "/nowhere/plans.json"],
    ["LOG_LEVEL", "loud"],
    ["BUILD_CONCURRENCY", "0"],
    ["MAX_ACTIVE_APPS", "many"],
    ["EDGE_PLATFORM", "elsewhere"],
    ["CLOUDFLARE_ACCOUNT_ID", "my-account"],
    ["CLOUDFLARE_DISPATCH_NAMESPACE", "my--apps"],
    ["CLOUDFLARE_API_URL", "api.cloudflare.com"],
    ["OBJECT_STORE", "disk"],
    ["S3_ENDPOINT", "s3.example.com"],
    ["S3_BUCKET", "Objects"],
    ["S3_PREFIX", "../other"],
    ["BUILDER_COMMAND", "my-agent"],
    ["MODEL_PROVIDER", "some-provider"],
    ["EMBEDDINGS_BASE_URL", "ftp://models.example.com"],
    ["EMBEDDINGS_DIMENSIONS", "5000"],
    ["EMBEDDINGS_MIN_SIMILARITY", "1.5"],
    ["OIDC_ISSUER", "id.example.com"],
    ["SIGN_UP", "everybody"],
    ["AUDIT_RETENTION_DAYS", "-1"],
  ];

  test("the S3 object store requires its server, bucket and key, and they require it", () => {
    const S3 = {
      S3_ENDPOINT: "https://s3.example.com",
      S3_BUCKET: "objects",
      S3_ACCESS_KEY_ID: "id",
      S3_SECRET_ACCESS_KEY: "secret",
    };
    expect(readConfig({ OBJECT_STORE: "s3", ...S3, S3_PREFIX: "production" }).s3).toEqual({
      endpoint: "https://s3.example.com",
      bucket: "objects",
      region: "us-east-1",
      accessKeyId: "id",
      secretAccessKey: "secret",
      prefix: "production/",
    });
    expect(readConfig({}).s3).toBeNull();
    expect(() => readConfig({ OBJECT_STORE: "s3", ...S3, S3_BUCKET: "" })).toThrow("S3_BUCKET must be set too");
    expect(() => readConfig(S3)).toThrow("OBJECT_STORE must be s3, because S3_ENDPOINT is set");
  });

  test.each(BAD)("%s=%s is rejected with a message that names the variable and the rule", (name, value) => {
    expect(configError({ [name]: value })).toMatch(new RegExp(`^${name} (must|cannot) .{10,}`));
  });

  test.each([
    [{ MODEL_NAME: "m" }, /^MODEL_PROVIDER must be set too, because MODEL_NAME is/],
    [{ MODEL_PROVIDER: "anthropic", MODEL_API_KEY: "k" }, /^MODEL_NAME must be set too/],
    [{ MODEL_PROVIDER: "anthropic", MODEL_NAME: "m" }, /^MODEL_API_KEY must be set too/],
    [{ MODEL_PROVIDER: "openai-compatible", MODEL_NAME: "m" }, /^MODEL_BASE_URL must be set too/],
    [{ MODEL_PROVIDER: "anthropic", MODEL_NAME: "m", MODEL_BASE_URL: "ftp://a" }, /^MODEL_BASE_URL must be a URL/],
  ])("the language model %j is incomplete", (values, message) => {
    expect(configError(values)).toMatch(message);
  });

  test.each([
    [undefined, { hosts: ["binaries.prisma.sh:443", ...FONTS], isPublic: false }],
    ["none", { hosts: [], isPublic: false }],
    ["fonts", { hosts: FONTS, isPublic: false }],
    ["public", { hosts: ["binaries.prisma.sh:443", ...FONTS], isPublic: true }],
    ["api.example.com:8443", { hosts: ["api.example.com:8443"], isPublic: false }],
    ["fonts, API.example.com", { hosts: [...FONTS, "api.example.com:443", "api.example.com:80"], isPublic: false }],
  ])("BUILD_EGRESS=%s names the hosts that builds reach", (setting, expected) => {
    expect(readConfig({ BUILD_EGRESS: setting }).buildEgress).toMatchObject(expected);
  });

  test.each([
    [32, undefined, 4, [4, 4096]],
    [24, undefined, 4, [4, 4096]],
    [16, undefined, 4, [3, 4096]],
    [12, undefined, 4, [2, 4096]],
    [8, undefined, 4, [3, 2048]],
    [4, undefined, 4, [1, 2048]],
    [1, undefined, 4, [1, 768]],
    [16, 6000, 4, [2, 6000]],
    [16, 99_000, 4, [1, 99_000]],
    [64, undefined, 10, [10, 4096]],
  ])(
    "on a machine with %d GiB, BUILD_MEMORY_MB=%s and BUILD_CONCURRENCY=%d, the builds fit in the memory",
    (gib, memory, concurrency, expected) => {
      const values = { INSTALL_TIMEOUT_MS: 1000, BUILD_TIMEOUT_MS: 1000, BUILD_CONCURRENCY: concurrency };
      const limits = readBuildLimits({ ...values, BUILD_MEMORY_MB: memory }, gib * 1024 ** 3);
      expect([limits.concurrency, limits.memoryMb]).toEqual(expected);
    },
  );

  test("builds may write 4 GiB, unless only smaller workspaces fit in memory", () => {
    const values = { INSTALL_TIMEOUT_MS: 1000, BUILD_TIMEOUT_MS: 1000, BUILD_CONCURRENCY: 4 };
    const disk = (gib: number, setting?: number) =>
      readBuildLimits({ ...values, BUILD_DISK_MB: setting }, gib * 1024 ** 3).diskMb;
    expect([disk(64), disk(24), disk(16), disk(24, 8000)]).toEqual([4096, 2048, 4096, 8000]);
  });

  test("the language model is read, and there is none by default", () => {
    const endpoint = { MODEL_PROVIDER: "openai-compatible", MODEL_NAME: "m", MODEL_BASE_URL: "http://127.0.0.1:1/v1/" };
    expect([readConfig({}).model, readConfig(endpoint).model]).toEqual([
      null,
      { provider: "openai-compatible", name: "m", baseUrl: "http://127.0.0.1:1/v1", apiKey: null },
    ]);
  });

  test.each([
    [{ EMBEDDINGS_API_KEY: "k" }, /^EMBEDDINGS_MODEL must be set too, because EMBEDDINGS_API_KEY is/],
    [{ EMBEDDINGS_MODEL: "m" }, /^EMBEDDINGS_BASE_URL must be set too/],
  ])("the embeddings endpoint %j is incomplete", (values, message) => {
    expect(configError(values)).toMatch(message);
  });

  test("the embeddings endpoint is read, and there is none by default", () => {
    const endpoint = { EMBEDDINGS_MODEL: "m", EMBEDDINGS_BASE_URL: "http://127.0.0.1:1/v1/" };
    const all = {
      ...endpoint,
      EMBEDDINGS_API_KEY: "k",
      EMBEDDINGS_DIMENSIONS: "512",
      EMBEDDINGS_MIN_SIMILARITY: "0.75",
    };
    const read = { model: "m", baseUrl: "http://127.0.0.1:1/v1", apiKey: null, dimensions: null, minSimilarity: 0.3 };
    expect([readConfig({}).embeddings, readConfig(endpoint).embeddings, readConfig(all).embeddings]).toEqual([
      null,
      read,
      { ...read, apiKey: "k", dimensions: 512, minSimilarity: 0.75 },
    ]);
  });

  test("TRUSTED_PROXIES is a list of addresses and ranges, and empty by default", () => {
    expect(readConfig({}).trustedProxies).toEqual([]);
    const given = readConfig({ TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8,::1, fd00::/8" }).trustedProxies;
    expect(given).toEqual(["127.0.0.1", "10.0.0.0/8", "::1", "fd00::/8"]);
  });

  test("the audit log is kept for a year, for the configured number of days, or without limit", () => {
    const kept = (days?: string) => readConfig({ AUDIT_RETENTION_DAYS: days }).auditRetentionDays;
    expect([kept(), kept("30"), kept("0")]).toEqual([365, 30, null]);
  });

  test("PUBLIC_URL is reduced to its origin", () => {
    expect(readConfig({ PUBLIC_URL: "https://Apps.Example.com:443/" }).publicUrl).toBe("https://apps.example.com");
  });

  test("one message names every invalid variable and contains no secret", () => {
    const message = configError({ PORT: "x", SANDBOX: "y", DATABASE_URL: "mysql://root:hunter2@host/x" });
    expect(message.split("\n").map((line) => line.split(" ")[0])).toEqual(["PORT", "DATABASE_URL", "SANDBOX"]);
    expect(message).not.toContain("hunter2");
  });

  test("one of two settings that belong together is rejected without the other", () => {
    expect(configError({ GITHUB_CLIENT_ID: "x" })).toBe(
      "GITHUB_CLIENT_SECRET must be set too, because GITHUB_CLIENT_ID is",
    );
    expect(configError({ OIDC_AUDIENCE: "x" })).toBe("OIDC_ISSUER must be set too, because OIDC_AUDIENCE is");
    expect(readConfig({ GOOGLE_CLIENT_ID: "a", GOOGLE_CLIENT_SECRET: "b" }).social).toEqual({
      github: null,
      google: { clientId: "a", clientSecret: "b" },
    });
  });

  test("PLANS_FILE adds and replaces plans, and PLAN_DEFAULT must be one of all plans", async () => {
    await using folder = await temporaryFolder();
    const file = path.join(folder.path, "plans.json");
    await writeFile(file, JSON.stringify({ startup: { apps: 50 }, free: { apps: 1 } }));
    expect(readConfig({ PLANS_FILE: file, PLAN_DEFAULT: "startup" }).plans).toMatchObject({
      startup: { apps: 50 },
      free: { apps: 1 },
    });
    expect(configError({ PLANS_FILE: file, PLAN_DEFAULT: "golden" })).toBe(
      "PLAN_DEFAULT must be one of: free, team, scale, startup",
    );
  });

  test("a plan may have its own deploy limit, storage bound and document quotas, and has the defaults otherwise", async () => {
    await using folder = await temporaryFolder();
    const file = path.join(folder.path, "plans.json");
    const deploys = { limit: 20, window_seconds: 60 };
    await writeFile(
      file,
      JSON.stringify({
        startup: { apps: 50, always_on_apps: 3, deploys, storage_mb: 2, documents: 7, document_mb: 3 },
        small: { apps: 1 },
      }),
    );
    expect(readConfig({ PLANS_FILE: file }).plans).toMatchObject({
      startup: {
        apps: 50,
        alwaysOnApps: 3,
        deploys: { limit: 20, windowSeconds: 60 },
        storageBytes: 2 * 1024 ** 2,
        documents: 7,
        documentBytes: 3 * 1024 ** 2,
      },
      small: {
        apps: 1,
        alwaysOnApps: 0,
        deploys: { limit: 5, windowSeconds: 300 },
        storageBytes: 1024 ** 3,
        documents: 10_000,
        documentBytes: 1024 ** 3,
      },
    });
    await writeFile(file, JSON.stringify({ startup: { apps: 50, deploys: { limit: 0, window_seconds: 60 } }, x: {} }));
    expect(configError({ PLANS_FILE: file })).toMatch(
      /^PLANS_FILE must .*"storage_mb"[^]*startup.deploys.limit: [^]*x.apps: /,
    );
    await writeFile(file, JSON.stringify({ startup: { apps: 50, storage_gb: 1 } }));
    expect(configError({ PLANS_FILE: file })).toContain('startup: Unrecognized key: "storage_gb"');
  });
});
