import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { CheckoutLimits } from "../../../server/drivers/git-source/checkout-limits.ts";
import { SandboxedGit } from "../../../server/drivers/git-source/sandboxed-git.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { checkOut } from "../../support/builds/git-checkout.ts";
import { Repository } from "../../support/builds/git-repository.ts";
import { gitServer } from "../../support/builds/git-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const sandbox = new BubblewrapSandbox();

const CONTENT = "the content of a large file";

function hashOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

function pointerTo(content: string, size = content.length): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${hashOf(content)}\nsize ${size}\n`;
}

interface LfsRequest {
  method: string | undefined;
  path: string;
  authorization: string | undefined;
}

interface Setting {
  /** Responds to all requests that are not for git. */
  respond: (request: IncomingMessage, response: ServerResponse, url: string) => void;
  files?: Readonly<Record<string, string>>;
  limits?: Partial<CheckoutLimits>;
  completionMs?: number;
  credentials?: string;
}

/** Checks out a repository from a git server that serves Git LFS. Returns the warnings, the requests and what `file` contains. */
async function checkOutLarge({ respond, files = {}, credentials = "", ...options }: Setting) {
  await using folder = await temporaryFolder();
  const repository = await Repository.create(folder.path, "acme/shop");
  await repository.commitFiles({ "large.bin": pointerTo(CONTENT), ...files });
  const requests: LfsRequest[] = [];
  await using server = await gitServer(folder.path, (request, response) => {
    const path = request.url ?? "";
    if (!/\/info\/lfs\/|^\/objects\//.test(path)) return false;
    requests.push({ method: request.method, path, authorization: request.headers.authorization });
    respond(request, response, server.url);
    return true;
  });
  const baseUrl = server.url.replace("//", `//${credentials}`);
  await using checkout = await checkOut(new SandboxedGit({ baseUrl, sandbox, ...options }));
  const read = (path: string) => readFile(join(checkout.directory, path), "utf8");
  return { warnings: checkout.warnings, requests, file: await read("large.bin"), read: await readAll(files, read) };
}

async function readAll(files: Readonly<Record<string, string>>, read: (path: string) => Promise<string>) {
  return Object.fromEntries(await Promise.all(Object.keys(files).map(async (path) => [path, await read(path)])));
}

interface BatchRequest {
  objects: { oid: string; size: number }[];
}

/** A host of Git LFS. `hrefOf` names where an object can be downloaded; `serve` responds to these requests. */
function lfsHost(
  hrefOf: (oid: string, url: string) => string,
  serve: (response: ServerResponse, path: string) => void = (response) => void response.end(CONTENT),
  header: Readonly<Record<string, string>> = {},
): Setting["respond"] {
  return (request, response, url) => {
    if (!request.url?.endsWith("/info/lfs/objects/batch")) return serve(response, request.url ?? "");
    void respondToBatch(request, response, url);
  };
  async function respondToBatch(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
    const body = await json(request);
    const objects = (body as BatchRequest).objects.map(({ oid, size }) => ({
      oid,
      size,
      actions: { download: { href: hrefOf(oid, url), header } },
    }));
    response.setHeader("Content-Type", "application/vnd.git-lfs+json").end(JSON.stringify({ objects }));
  }
}

const toOwnHost = (oid: string, url: string) => `${url}/objects/${oid}`;

describe("files in Git LFS", { concurrent: true }, () => {
  test("pointers of Git LFS are replaced by the files that the git host serves", async () => {
    const files = { "copy.bin": pointerTo(CONTENT), ".lfsconfig": "[lfs]\n\turl = http://127.0.0.1:1\n", "a.txt": "a" };
    const { warnings, requests, file, read } = await checkOutLarge({ respond: lfsHost(toOwnHost), files });
    expect(warnings).toEqual([]);
    expect([file, read["copy.bin"], read["a.txt"]]).toEqual([CONTENT, CONTENT, "a"]);
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /acme/shop.git/info/lfs/objects/batch",
      `GET /objects/${hashOf(CONTENT)}`,
    ]);
  });

  test("the credentials of the base URL are sent to the git host, unless it names others for the download", async () => {
    const own = `Basic ${Buffer.from("robot:secret").toString("base64")}`;
    const credentials = "robot:secret@";
    const { requests } = await checkOutLarge({ respond: lfsHost(toOwnHost), credentials });
    expect(requests.map(({ authorization }) => authorization)).toEqual([own, own]);
    const named = await checkOutLarge({
      respond: lfsHost(toOwnHost, undefined, { Authorization: "Bearer x", Host: "other.test" }),
      credentials,
    });
    expect(named.requests.map(({ authorization }) => authorization)).toEqual([own, "Bearer x"]);
    expect(named.file).toBe(CONTENT);
  });

  test("a redirect of a download within the git host is followed", async () => {
    const { warnings, file } = await checkOutLarge({
      respond: lfsHost(toOwnHost, (response, path) => {
        if (path.endsWith("/again")) return void response.end(CONTENT);
        response.writeHead(302, { Location: `${path}/again` }).end();
      }),
    });
    expect([file, warnings]).toEqual([CONTENT, []]);
  });

  const PUBLIC_NAME = "https://files.example.com/object";

  verifies([hazard(12), hazard(13)], "an object at an address that is not public is not requested", async () => {
    await using folder = await temporaryFolder();
    await using elsewhere = await gitServer(folder.path, (_request, response) => Boolean(response.end(CONTENT)));
    const own = (oid: string, url: string) => toOwnHost(oid, url);
    const refused = "because the git host names an address that is neither its own nor one with HTTPS";
    const failed = "because the download failed";
    const cases: [href: (oid: string, url: string) => string, location: string | null, reason: string][] = [
      [() => `${elsewhere.url}/object`, null, refused],
      [() => "http://169.254.169.254/latest/meta-data", null, refused],
      [() => "file:///etc/passwd", null, refused],
      [() => "https://robot:secret@files.example.com/", null, refused],
      [() => "https://127.0.0.1/object", null, failed],
      [() => "https://169.254.169.254/latest", null, failed],
      [() => `${elsewhere.url.replace("http:", "https:")}/object`, null, failed],
      [own, `${elsewhere.url}/object`, refused],
      [own, "https://127.0.0.1/object", failed],
    ];
    const results = await Promise.all(
      cases.map(([href, location]) =>
        checkOutLarge({
          respond: lfsHost(href, (response) => void response.writeHead(302, { Location: location ?? "" }).end()),
        }),
      ),
    );
    expect(results.map(({ warnings }) => warnings)).toEqual(
      cases.map(([, , reason]) => [expect.stringContaining(`large.bin has only the text of a pointer, ${reason}`)]),
    );
    expect(results.map(({ file }) => file)).toEqual(cases.map(() => pointerTo(CONTENT)));
    expect(elsewhere.authorizations).toEqual([]);
  });

  for (const address of ["127.0.0.1", "10.0.0.5", "169.254.169.254", "100.100.100.200"]) {
    verifies(hazard(13), `an object at a name that resolves to ${address} is not requested`, async () => {
      await using folder = await temporaryFolder();
      const repository = await Repository.create(folder.path, "acme/shop");
      await repository.commitFiles({ "large.bin": pointerTo(CONTENT) });
      await using server = await gitServer(folder.path, (request, response) => {
        if (!request.url?.includes("/info/lfs/")) return false;
        lfsHost(() => PUBLIC_NAME)(request, response, server.url);
        return true;
      });
      const names: string[] = [];
      const lookup = (host: string) => {
        names.push(host);
        return Promise.resolve([{ address: host === "files.example.com" ? address : host, family: 4 }]);
      };
      await using checkout = await checkOut(new SandboxedGit({ baseUrl: server.url, sandbox, lookup }));
      expect(names).toContain("files.example.com");
      expect(checkout.warnings).toEqual([expect.stringContaining("because the download failed")]);
    });
  }

  verifies(hazard(18), "a download that differs from its pointer, or does not end, is discarded", async () => {
    const endless = (response: ServerResponse) => {
      const write = () => void (response.destroyed || response.write("x".repeat(65_536), write));
      write();
    };
    const bodies: ((response: ServerResponse) => void)[] = [
      (response) => void response.end("x".repeat(CONTENT.length)),
      (response) => void response.end(CONTENT.slice(1)),
      endless,
    ];
    const results = await Promise.all(
      bodies.map((serve) => checkOutLarge({ respond: lfsHost(toOwnHost, (response) => serve(response)) })),
    );
    for (const { file, warnings } of results) {
      expect(file).toBe(pointerTo(CONTENT));
      expect(warnings).toEqual([
        "Git LFS: large.bin has only the text of a pointer, because the download does not have the size and the hash of the pointer. Commit the content to git, or load it from another host.",
      ]);
    }
  });

  verifies(hazard(18), "files in Git LFS are not downloaded beyond the limits of the checkout", async () => {
    const files = { "huge.bin": pointerTo("huge", 400_000), "last.bin": pointerTo("last", 200_000), "z.bin": "x" };
    const limits = { totalBytes: 450_000, fileBytes: 300_000 };
    const { warnings, requests, file } = await checkOutLarge({ respond: lfsHost(toOwnHost), files, limits });
    expect(file).toBe(CONTENT);
    expect(warnings).toEqual([
      expect.stringContaining("huge.bin has only the text of a pointer, because the checkout would exceed its limits"),
      expect.stringContaining("last.bin has only the text of a pointer, because the download does not have the size"),
    ]);
    expect(requests.map(({ path }) => path)).not.toContain(`/objects/${hashOf("huge")}`);
  });

  test("a host that does not finish a download within the time limit leaves the pointer", async () => {
    const { warnings } = await checkOutLarge({
      respond: lfsHost(toOwnHost, (response) => void response.write("t")),
      completionMs: 1000,
    });
    expect(warnings).toEqual([expect.stringContaining("because the checkout took too long")]);
  });

  verifies(hazard(12), "responses of the host that are not those of Git LFS leave the pointers", async () => {
    const responses: Setting["respond"][] = [
      (_request, response) => void response.writeHead(404).end(),
      (_request, response) => void response.writeHead(307, { Location: "http://169.254.169.254/" }).end(),
      (_request, response) => void response.end("{"),
      (_request, response) => void response.end(JSON.stringify({ objects: 7 })),
      (_request, response) => void response.end(JSON.stringify({ transfer: "ssh", objects: [] })),
      (_request, response) => void response.end("x".repeat(5 * 1024 * 1024)),
    ];
    const results = await Promise.all(responses.map((respond) => checkOutLarge({ respond })));
    for (const { warnings } of results)
      expect(warnings).toEqual([expect.stringContaining("because the git host does not serve Git LFS")]);
    const absent = await checkOutLarge({
      respond: (_request, response) =>
        void response.end(JSON.stringify({ objects: [{ oid: hashOf(CONTENT), error: { code: 404 } }] })),
      files: { "old.bin": pointerTo("a").replace("size 1", "size one") },
    });
    expect(absent.warnings).toEqual([
      expect.stringContaining("old.bin has only the text of a pointer, because the text of the pointer is not valid"),
      expect.stringContaining(
        "large.bin has only the text of a pointer, because the git host does not have the content",
      ),
    ]);
  });

  test("a file in Git LFS keeps the executable bit of its pointer", async () => {
    await using folder = await temporaryFolder();
    const repository = await Repository.create(folder.path, "acme/shop");
    const id = await repository.blob(pointerTo(CONTENT));
    await repository.commit(await repository.tree([{ mode: "100755", name: "run", id }]));
    await using server = await gitServer(folder.path, (request, response) => {
      if (!/\/info\/lfs\/|^\/objects\//.test(request.url ?? "")) return false;
      lfsHost(toOwnHost)(request, response, server.url);
      return true;
    });
    await using checkout = await checkOut(new SandboxedGit({ baseUrl: server.url, sandbox }));
    const file = join(checkout.directory, "run");
    expect([await readFile(file, "utf8"), (await stat(file)).mode & 0o100]).toEqual([CONTENT, 0o100]);
  });
});
