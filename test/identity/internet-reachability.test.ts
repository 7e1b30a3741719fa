import { afterAll, beforeAll, expect, test } from "vitest";
import type { HttpsMetadataFetcherOptions } from "../../server/drivers/client-metadata/https-metadata-fetcher.ts";
import { InternetReachability } from "../../server/identity/internet-reachability.ts";
import { type ClientPublisher, openClientPublisher } from "../support/identity/client-publisher.ts";
import { TestUser } from "../support/identity/test-user.ts";
import { createHarness } from "../support/service/harness.ts";
import { waitFor } from "../support/time-limits.ts";

const NEVER = new AbortController().signal;
let publisher: ClientPublisher;

beforeAll(async () => {
  publisher = await openClientPublisher();
});
afterAll(() => publisher[Symbol.asyncDispose]());

function createFetcher(options: HttpsMetadataFetcherOptions = {}) {
  return publisher.createFetcher({ probeUrls: [publisher.url("/nothing-here")], timeoutMs: 1000, ...options });
}

/** Reads whether a service offers metadata documents to clients. */
async function readOffer(options: HttpsMetadataFetcherOptions, setting: "auto" | "on" | "off"): Promise<unknown> {
  await using harness = await createHarness({
    clientMetadata: createFetcher(options),
    config: { clientMetadataDocuments: setting },
  });
  const user = new TestUser(harness.service.publicUrl);
  const { status, body } = await user.send("GET", "/.well-known/oauth-authorization-server");
  expect([status, body["registration_endpoint"]]).toEqual([200, expect.any(String)]);
  return body["client_id_metadata_document_supported"];
}

const OFFLINE: HttpsMetadataFetcherOptions = { lookup: () => Promise.reject(new Error("ENOTFOUND")) };

test("with CLIENT_METADATA_DOCUMENTS=auto, metadata documents are offered only if the internet can be reached", async () => {
  expect(await readOffer({}, "auto")).toBe(true);
  expect(await readOffer(OFFLINE, "auto")).toBeUndefined();
  expect(await readOffer(OFFLINE, "on")).toBe(true);
  expect(await readOffer({}, "off")).toBeUndefined();
});

test("the OAuth metadata is not sent before the first check of the internet has ended", async () => {
  const checked = Promise.withResolvers<void>();
  const probe = publisher.handle("/slow", (_request, response) => void checked.promise.then(() => response.end()));
  await using harness = await createHarness({
    clientMetadata: createFetcher({ probeUrls: [probe], timeoutMs: 30_000 }),
    config: { clientMetadataDocuments: "auto" },
  });
  const user = new TestUser(harness.service.publicUrl);
  const metadata = user.send("GET", "/.well-known/oauth-authorization-server");
  expect((await user.send("GET", "/api/auth/ok")).status).toBe(200);
  checked.resolve();
  expect((await metadata).body["client_id_metadata_document_supported"]).toBe(true);
});

test("the internet can be reached if one host responds over https at a public address, whatever its status", async () => {
  const [responds, missing] = [publisher.url("/nothing-here"), `https://client.example.com:1/`];
  const hangs = publisher.handle("/hangs", () => {});
  const isReachable = (options: HttpsMetadataFetcherOptions) => createFetcher(options).canReachInternet(NEVER);
  expect(await isReachable({ probeUrls: [missing, hangs, responds] })).toBe(true);
  expect(await isReachable({ probeUrls: [missing, hangs] })).toBe(false);
  expect(await isReachable({ isAllowedAddress: () => false })).toBe(false);
  expect(await isReachable({ lookup: () => new Promise(() => {}) })).toBe(false);
  expect(await isReachable({ trustedCertificates: "" })).toBe(false);
});

test("the internet is checked again and again, and the log says when the result changes", async () => {
  const results = [false, false, true, true, false];
  const logged: string[] = [];
  let checks = 0;
  using reachability = new InternetReachability({
    fetcher: { canReachInternet: () => Promise.resolve(results[checks++] ?? false) },
    log: { info: (message: unknown) => void logged.push(String(message)) } as never,
    intervals: { reachableMs: 1, unreachableMs: 1 },
  });
  const states: boolean[] = [];
  await reachability.untilKnown();
  states.push(reachability.isReachable);
  await waitFor(() => {
    if (reachability.isReachable !== states.at(-1)) states.push(reachability.isReachable);
    expect(checks).toBeGreaterThan(results.length);
  });
  expect(logged.map((line) => line.split(":")[0])).toEqual([
    "the internet cannot be reached",
    "the internet can be reached",
    "the internet cannot be reached",
  ]);
  expect(states[0]).toBe(false);
});

test("the log says nothing when the internet can be reached from the start", async () => {
  using reachability = new InternetReachability({
    fetcher: { canReachInternet: () => Promise.resolve(true) },
    log: { info: () => expect.unreachable() } as never,
  });
  expect(reachability.isReachable).toBe(false);
  await reachability.untilKnown();
  expect(reachability.isReachable).toBe(true);
});

test("a check that runs when the service stops is aborted", async () => {
  const started = Promise.withResolvers<AbortSignal>();
  const reachability = new InternetReachability({
    fetcher: {
      canReachInternet: (signal) => {
        started.resolve(signal);
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(false)));
      },
    },
    log: { info: () => expect.unreachable() } as never,
  });
  const signal = await started.promise;
  reachability[Symbol.dispose]();
  expect(signal.aborted).toBe(true);
  await reachability.untilKnown();
  expect(reachability.isReachable).toBe(false);
});
