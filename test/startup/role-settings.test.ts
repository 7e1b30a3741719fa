import { expect, test } from "vitest";
import { readConfig } from "../../server/config.ts";

const SHARED = {
  DATABASE_URL: "postgres://user@db.example.com/apps",
  APPS_DATABASE_URL: "postgres://user@apps.example.com/postgres",
  TOKEN_SECRET: "t".repeat(32),
  APPS_DOMAIN: "apps.example.com",
  OBJECT_STORE: "s3",
  S3_ENDPOINT: "https://s3.example.com",
  S3_BUCKET: "objects",
  S3_REGION: "eu",
  S3_ACCESS_KEY_ID: "key",
  S3_SECRET_ACCESS_KEY: "secret",
};

const CLOUDFLARE = {
  EDGE_PLATFORM: "cloudflare",
  CLOUDFLARE_ACCOUNT_ID: "a".repeat(32),
  CLOUDFLARE_API_TOKEN: "token-of-the-account",
  CLOUDFLARE_DISPATCH_NAMESPACE: "apps",
};

const EDGE = { ROLES: "edge", INTERNAL_PORT: "3002" };
const edges = (urls: string) => ({ ROLES: "api,worker", EDGE_CLUSTER: "on", EDGE_INTERNAL_URL: urls });

test("by default, one process has every role and needs no setting", () => {
  expect(readConfig({})).toMatchObject({
    roles: new Set(["api", "worker", "edge"]),
    internalPort: null,
    edgeInternalUrls: [],
    edgeCluster: null,
    isOneOfSeveral: false,
    drainSeconds: 0,
  });
});

test("a process has the roles of the list", () => {
  const { roles, edgeInternalUrls } = readConfig({
    ...SHARED,
    ROLES: "api, worker",
    EDGE_INTERNAL_URL: "https://edge.example.com:3002",
  });
  expect([...roles]).toEqual(["api", "worker"]);
  expect(edgeInternalUrls).toEqual(["https://edge.example.com:3002"]);
  expect(readConfig({ ...SHARED, ROLES: "edge", INTERNAL_PORT: "3002" })).toMatchObject({
    internalPort: 3002,
    isOneOfSeveral: true,
  });
});

test("APIs and workers whose apps run on Cloudflare need no edge", () => {
  const { APPS_DATABASE_URL: _, ...shared } = SHARED;
  const settings = { ...shared, ...CLOUDFLARE, ROLES: "api,worker" };
  expect(readConfig(settings)).toMatchObject({ edgeInternalUrls: [], isOneOfSeveral: true });
  expect(readConfig({ ...settings, ROLES: undefined })).toMatchObject({ isOneOfSeveral: false });
});

test("processes that get requests from a load balancer serve them for some seconds after SIGTERM", () => {
  const edge = { EDGE_INTERNAL_URL: "https://edge.example.com:3002" };
  const drainSeconds = (settings: Record<string, string>) => readConfig({ ...SHARED, ...settings }).drainSeconds;
  expect(drainSeconds({ ...edge, ROLES: "api,worker" })).toBe(5);
  expect(drainSeconds({ ROLES: "edge", INTERNAL_PORT: "3002" })).toBe(5);
  expect(drainSeconds({ ...edge, ROLES: "worker" })).toBe(0);
  expect(drainSeconds({ DRAIN_SECONDS: "300" })).toBe(300);
});

test.each([
  [{ DRAIN_SECONDS: "301" }, "DRAIN_SECONDS must be a whole number of seconds from 0 to 300"],
  [{ ROLES: "api,builder" }, "ROLES must be a list of: api, worker, edge"],
  [{ ROLES: "api" }, "EDGE_INTERNAL_URL is required without the role edge"],
  [{ ROLES: "edge" }, "INTERNAL_PORT is required"],
  [{ ROLES: "api", EDGE_INTERNAL_URL: "https://edge:1", INTERNAL_PORT: "3002" }, "INTERNAL_PORT needs the role edge"],
  [{ EDGE_INTERNAL_URL: "https://edge:1" }, "EDGE_INTERNAL_URL must not be set"],
  [{ ROLES: "api", EDGE_INTERNAL_URL: "http://edge:1" }, "EDGE_INTERNAL_URL"],
  [{ ROLES: "api,edge", ...CLOUDFLARE }, "processes have the roles api, worker or api,worker"],
  [{ INTERNAL_PORT: "3002", ...CLOUDFLARE }, "INTERNAL_PORT and EDGE_INTERNAL_URL must not be set"],
  [
    { ROLES: "api", EDGE_INTERNAL_URL: "https://edge:1", ...CLOUDFLARE },
    "must not be set with EDGE_PLATFORM=cloudflare",
  ],
  [{ ROLES: "api", OBJECT_STORE: "filesystem", ...CLOUDFLARE }, "OBJECT_STORE must be s3"],
  [{ INTERNAL_PORT: "70000" }, "INTERNAL_PORT must be a port number"],
  [edges("https://a:1,,https://b:1"), "EDGE_INTERNAL_URL has an empty entry"],
  [
    edges("https://a:1,http://b:1"),
    "EDGE_INTERNAL_URL must have https:// with a host and a port for each edge, such as",
  ],
  [edges("https://a:1,https://b:1/edge"), "entry 2 has not"],
  [edges("https://user:password@a:1"), "entry 1 has not"],
  [edges("https://a:1,https://b:1,https://A:2"), "EDGE_INTERNAL_URL has the host a twice"],
  [edges(Array.from({ length: 17 }, (_, n) => `https://10.0.0.${n}:1`).join(",")), "must name at most 16 edges"],
  [
    { ROLES: "api", EDGE_INTERNAL_URL: "https://a:1,https://b:1" },
    "EDGE_INTERNAL_URL can name several edges only with EDGE_CLUSTER=on",
  ],
  [{ EDGE_CLUSTER: "yes" }, "EDGE_CLUSTER must be one of: on, off"],
  [{ EDGE_CLUSTER_HOST: "10.0.0.5" }, "EDGE_CLUSTER_HOST needs EDGE_CLUSTER=on"],
  [{ EDGE_CLUSTER: "on" }, "EDGE_CLUSTER=on needs ROLES=edge for an edge"],
  [{ ...EDGE, EDGE_CLUSTER: "on" }, "EDGE_CLUSTER_HOST is required"],
  [{ ...edges("https://a:1"), EDGE_CLUSTER_HOST: "10.0.0.5" }, "EDGE_CLUSTER_HOST needs the role edge"],
  [{ EDGE_CLUSTER: "on", ...CLOUDFLARE }, "EDGE_CLUSTER=on cannot be set with EDGE_PLATFORM=cloudflare"],
])("%j is refused with what is wrong", (settings, message) => {
  expect(() => readConfig({ ...SHARED, ...settings })).toThrow(message);
});

test("processes of one installation need what they share", () => {
  expect(() => readConfig({ INTERNAL_PORT: "3002" })).toThrow(
    "DATABASE_URL is required, and APPS_DATABASE_URL is required, and TOKEN_SECRET is required, and APPS_DOMAIN is required, and OBJECT_STORE must be s3, because several processes share them",
  );
});

test("with EDGE_CLUSTER=on, there can be several edges, each with the address at which the others reach it", () => {
  expect(readConfig({ ...SHARED, ...edges("https://10.0.0.5:3010, https://edge-2:3010/") })).toMatchObject({
    edgeInternalUrls: ["https://10.0.0.5:3010", "https://edge-2:3010/"],
    edgeCluster: { host: null },
  });
  expect(() => readConfig({ ...SHARED, ...edges("https://a:1"), OBJECT_STORE: "filesystem" })).toThrow(
    "OBJECT_STORE must be s3",
  );
});

test.each([
  ...["10.0.0.5", "192.168.1.2", "100.64.0.1", "127.0.0.1", "::1", "fd00::5"],
  ...["edge-1", "edge.internal", "localhost"],
])("EDGE_CLUSTER_HOST accepts %s", (host) => {
  expect(readConfig({ ...SHARED, ...EDGE, EDGE_CLUSTER: "on", EDGE_CLUSTER_HOST: host }).edgeCluster).toEqual({ host });
});

test.each([
  ...["8.8.8.8", "2001:4860::1", "::ffff:8.8.8.8", "0.0.0.0", "169.254.1.1", "10.5", "0x08080808", "134744072"],
  ...["10.0.0.5:3010", "https://10.0.0.5", "edge_1", "-edge", "a..b"],
])("EDGE_CLUSTER_HOST refuses %s", (host) => {
  expect(() => readConfig({ ...SHARED, ...EDGE, EDGE_CLUSTER: "on", EDGE_CLUSTER_HOST: host })).toThrow(
    "EDGE_CLUSTER_HOST must be a private address or a host name",
  );
});
