import { once } from "node:events";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxedGit } from "../../../server/drivers/git-source/sandboxed-git.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { gitServer, type RequestOverride } from "../../support/builds/git-server.ts";
import { Repository } from "../../support/builds/git-repository.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";
import { checkOut, checkOutFailure } from "../../support/builds/git-checkout.ts";

const sandbox = new BubblewrapSandbox();

/** A git server with one small repository `acme/shop`. `override` can respond to a request instead of git. */
async function shopServer(override?: RequestOverride) {
  const folder = await temporaryFolder();
  await (await Repository.create(folder.path, "acme/shop")).commitFiles({ "index.ts": "export {};" });
  const server = await gitServer(folder.path, override);
  return {
    ...server,
    source: new SandboxedGit({ baseUrl: server.url, sandbox }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

function respondWith(status: number, headers: Record<string, string> = {}): RequestOverride {
  return (_request, response) => {
    response.writeHead(status, headers).end("");
    return true;
  };
}

/** A server that counts its requests. Nothing may request it. */
async function forbiddenServer() {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests: () => requests, [Symbol.asyncDispose]: async () => void server.close() };
}

verifies(hazard(11), "a private repository causes the same failure as an absent one", async () => {
  await using absent = await shopServer();
  const expected = await checkOutFailure(absent.source, "acme/absent");
  for (const status of [401, 403, 404]) {
    await using hidden = await shopServer(respondWith(status, status === 401 ? { "WWW-Authenticate": "Basic" } : {}));
    const failure = await checkOutFailure(hidden.source);
    expect([failure.kind, failure.message, failure.advice]).toEqual([expected.kind, expected.message, expected.advice]);
  }
});

for (const place of [
  "another host",
  "http://169.254.169.254/latest/",
  "file:///etc",
  "ssh://git@localhost/x",
  "ext::sh -c id",
]) {
  verifies(hazard(12), `a redirect is not followed: ${place}`, async () => {
    await using elsewhere = await forbiddenServer();
    const target = place === "another host" ? elsewhere.url : place;
    await using server = await shopServer((request, response) =>
      respondWith(301, { Location: `${target}${request.url}` })(request, response),
    );
    const failure = await checkOutFailure(server.source);
    expect([failure.kind, failure.message]).toEqual([
      "user",
      "The git host redirected the request to another address. Redirects are not followed.",
    ]);
    expect(elsewhere.requests()).toBe(0);
  });
}

verifies(hazard(12), "a redirect of a later request is not followed", async () => {
  await using elsewhere = await forbiddenServer();
  await using server = await shopServer((request, response) =>
    request.method === "POST"
      ? respondWith(307, { Location: `${elsewhere.url}${request.url}` })(request, response)
      : false,
  );
  await checkOutFailure(server.source);
  expect(elsewhere.requests()).toBe(0);
});

for (const address of ["169.254.169.254", "127.0.0.1", "0.0.0.0", "::1", "::ffff:127.0.0.1", "224.0.0.1"]) {
  verifies(hazard(13), `git does not connect to a git host whose name resolves to ${address}`, async () => {
    await using server = await shopServer();
    const port = new URL(server.url).port;
    const family = address.includes(":") ? 6 : 4;
    const lookup = () => Promise.resolve([{ address, family }]);
    const failure = await checkOutFailure(
      new SandboxedGit({ baseUrl: `http://git.example.com:${port}`, sandbox, lookup }),
    );
    expect([failure.kind, server.authorizations]).toEqual(["platform", []]);
  });
}

test("a repository is found on a host whose URLs end with .git", async () => {
  await using bare = await shopServer((request, response) =>
    request.url?.startsWith("/acme/shop/") ? respondWith(404)(request, response) : false,
  );
  await using checkout = await checkOut(bare.source);
  expect(await readFile(join(checkout.directory, "index.ts"), "utf8")).toBe("export {};");
});

test("the failure names an absent branch although the URL with .git is tried last", async () => {
  await using server = await shopServer();
  expect((await checkOutFailure(server.source, "acme/shop", "nope")).message).toBe(
    'The repository has no branch "nope".',
  );
});

test("the credentials of the base URL are sent to the host and are not printed", async () => {
  await using server = await shopServer();
  const base = server.url.replace("//", "//robot:s3cret-token@");
  const source = new SandboxedGit({ baseUrl: base, sandbox });
  await using checkout = await checkOut(source);
  expect(new Set(server.authorizations)).toEqual(
    new Set([`Basic ${Buffer.from("robot:s3cret-token").toString("base64")}`]),
  );
  expect(checkout.output).not.toContain("s3cret-token");
});

test("the credentials of the base URL do not appear in a failure", async () => {
  for (const status of [401, 403, 404, 500, 301]) {
    await using server = await shopServer(respondWith(status, { Location: "http://elsewhere.test/" }));
    const source = new SandboxedGit({ baseUrl: server.url.replace("//", "//robot:s3cret-token@"), sandbox });
    const failure = await checkOutFailure(source);
    expect(`${failure.message} ${failure.advice} ${String(failure.cause)}`).not.toMatch(/s3cret|robot/);
  }
});

test("a git host that responds with 429 or 5xx is a platform failure", async () => {
  for (const status of [429, 500, 503]) {
    await using server = await shopServer(respondWith(status));
    expect((await checkOutFailure(server.source)).kind).toBe("platform");
  }
});

test("a git host that does not respond is a platform failure", async () => {
  const server = await shopServer();
  await server[Symbol.asyncDispose]();
  expect((await checkOutFailure(server.source)).kind).toBe("platform");
});
