import { once } from "node:events";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GitHost } from "../../../server/drivers/git-source/sandboxed-git.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { type Before, gitServer } from "../../support/builds/git-server.ts";
import { Repository } from "../../support/builds/git-repository.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";
import { checkOut, failureOf } from "../../contract/git-source.ts";

const sandbox = new BubblewrapSandbox();

/** A server with one small repository `acme/shop`, which may answer something else first. */
async function shopServer(before?: Before) {
  const folder = await temporaryFolder();
  await (await Repository.create(folder.path, "acme/shop")).commitFiles({ "index.ts": "export {};" });
  const server = await gitServer(folder.path, before);
  return {
    ...server,
    source: new GitHost({ baseUrl: server.url, sandbox }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

function answer(status: number, headers: Record<string, string> = {}): Before {
  return (_request, response) => {
    response.writeHead(status, headers).end("");
    return true;
  };
}

/** Counts who comes; nobody should. */
async function trap() {
  let visits = 0;
  const server = createServer((_request, response) => {
    visits += 1;
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, visits: () => visits, [Symbol.asyncDispose]: async () => void server.close() };
}

verifies(hazard(11), "a private repository is told apart from an absent one by nothing", async () => {
  await using absent = await shopServer();
  const expected = await failureOf(absent.source, "acme/absent");
  for (const status of [401, 403, 404]) {
    await using hidden = await shopServer(answer(status, status === 401 ? { "WWW-Authenticate": "Basic" } : {}));
    const failure = await failureOf(hidden.source);
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
    await using elsewhere = await trap();
    const target = place === "another host" ? elsewhere.url : place;
    await using server = await shopServer((request, response) =>
      answer(301, { Location: `${target}${request.url}` })(request, response),
    );
    const failure = await failureOf(server.source);
    expect([failure.kind, failure.message]).toEqual([
      "user",
      "The git host redirects to another address, which is not followed.",
    ]);
    expect(elsewhere.visits()).toBe(0);
  });
}

verifies(hazard(12), "a redirect in the middle of the conversation is not followed either", async () => {
  await using elsewhere = await trap();
  await using server = await shopServer((request, response) =>
    request.method === "POST" ? answer(307, { Location: `${elsewhere.url}${request.url}` })(request, response) : false,
  );
  await failureOf(server.source);
  expect(elsewhere.visits()).toBe(0);
});

for (const address of ["169.254.169.254", "127.0.0.1", "0.0.0.0", "::1", "::ffff:127.0.0.1", "224.0.0.1"]) {
  verifies(hazard(13), `a git host whose name turns out to mean ${address} is not connected to`, async () => {
    await using server = await shopServer();
    const port = new URL(server.url).port;
    const family = address.includes(":") ? 6 : 4;
    const lookup = () => Promise.resolve([{ address, family }]);
    const failure = await failureOf(new GitHost({ baseUrl: `http://git.example.com:${port}`, sandbox, lookup }));
    expect([failure.kind, server.authorizations]).toEqual(["platform", []]);
  });
}

test("the repository is found whether or not the host's URLs end with .git", async () => {
  await using bare = await shopServer((request, response) =>
    request.url?.startsWith("/acme/shop/") ? answer(404)(request, response) : false,
  );
  await using checkout = await checkOut(bare.source);
  expect(await readFile(join(checkout.directory, "index.ts"), "utf8")).toBe("export {};");
});

test("a branch that is absent is named also where only the URL with .git is served", async () => {
  await using server = await shopServer();
  expect((await failureOf(server.source, "acme/shop", "nope")).message).toBe('The repository has no branch "nope".');
});

test("user and password of the base URL are sent to the host, and printed nowhere", async () => {
  await using server = await shopServer();
  const base = server.url.replace("//", "//robot:s3cret-token@");
  const source = new GitHost({ baseUrl: base, sandbox });
  await using checkout = await checkOut(source);
  expect(new Set(server.authorizations)).toEqual(
    new Set([`Basic ${Buffer.from("robot:s3cret-token").toString("base64")}`]),
  );
  expect(checkout.output).not.toContain("s3cret-token");
});

test("user and password of the base URL are in no failure", async () => {
  for (const status of [401, 403, 404, 500, 301]) {
    await using server = await shopServer(answer(status, { Location: "http://elsewhere.test/" }));
    const source = new GitHost({ baseUrl: server.url.replace("//", "//robot:s3cret-token@"), sandbox });
    const failure = await failureOf(source);
    expect(`${failure.message} ${failure.advice} ${String(failure.cause)}`).not.toMatch(/s3cret|robot/);
  }
});

test("a git host that fails is the platform's matter", async () => {
  for (const status of [429, 500, 503]) {
    await using server = await shopServer(answer(status));
    expect((await failureOf(server.source)).kind).toBe("platform");
  }
});

test("a git host that does not answer is the platform's matter", async () => {
  const server = await shopServer();
  await server[Symbol.asyncDispose]();
  expect((await failureOf(server.source)).kind).toBe("platform");
});
