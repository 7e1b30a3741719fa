import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { RequestSockets } from "../../../server/platforms/embedded/node-server/request-sockets.ts";
import type { AppAddress } from "../../../server/ports/app-address.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

/** Sockets for the preferred port 3000, and a server of the host that a Node server must not reach. */
async function openSockets() {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const sockets = opening.use(await RequestSockets.open(folder.path, 3000));
  const servers: Server[] = [];
  opening.defer(() => servers.forEach((server) => server.close()));
  const listen = async (file: string, word: string) => {
    const server = createServer((socket) => socket.end(word));
    servers.push(server);
    await once(server.listen(file), "listening");
  };
  const victim = path.join(folder.path, "victim");
  await listen(victim, "victim");
  const resources = opening.move();
  return {
    sockets,
    victim,
    listen: (name: string, word: string) => listen(path.join(sockets.folder, name), word),
    outside: path.join(folder.path, "sockets"),
    inside: (name: string) => path.join(sockets.folder, name),
    take: async () => wordAt(await sockets.take()),
    takeBetter: async () => wordAt(await sockets.takeBetter()),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** What the server says at an address. */
async function wordAt(address: AppAddress | null): Promise<string | null> {
  return address && "socketPath" in address ? text(connect(address.socketPath)) : null;
}

test("a server is reached at the port that it should listen on, else at any other", async () => {
  await using given = await openSockets();
  expect(await given.take()).toBeNull();
  await given.listen("8080.sock", "other");
  await given.listen("3000.sock", "preferred");
  expect(await given.take()).toBe("preferred");
  expect(await given.take()).toBe("other");
});

test("the socket of a port that the system chose is used after some seconds without another, until there is another", async () => {
  await using given = await openSockets();
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  await given.listen("any-40000.sock", "chosen by the system");
  expect(await given.take()).toBeNull();
  clock.mockReturnValue(4999);
  expect(await given.take()).toBeNull();
  clock.mockReturnValue(5000);
  expect(await given.take()).toBe("chosen by the system");
  expect(await given.takeBetter()).toBeNull();
  await given.listen("8080.sock", "named");
  expect(await given.takeBetter()).toBe("named");
  await given.listen("9090.sock", "metrics");
  expect(await given.takeBetter()).toBeNull();
  await given.listen("3000.sock", "preferred");
  expect(await given.takeBetter()).toBe("preferred");
});

test("a server that is not reachable any more is not replaced by a port that the system chose at once", async () => {
  await using given = await openSockets();
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  await given.listen("any-40000.sock", "chosen by the system");
  await given.listen("3000.sock", "preferred");
  expect(await given.take()).toBe("preferred");
  clock.mockReturnValue(60_000);
  expect(await given.take()).toBeNull();
  clock.mockReturnValue(65_000);
  expect(await given.take()).toBe("chosen by the system");
});

test("the socket of a process that was killed is not used for a port that the system chose", async () => {
  await using given = await openSockets();
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  const listen = `require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
  spawnSync(process.execPath, ["-e", listen, given.inside("any-40000.sock")]);
  expect((await lstat(given.inside("any-40000.sock"))).isSocket()).toBe(true);
  expect(await given.take()).toBeNull();
  clock.mockReturnValue(5000);
  expect(await given.take()).toBeNull();
});

test("a socket that is not ready, and files with other names, are not used", async () => {
  await using given = await openSockets();
  await given.listen("3000.sock.new", "early");
  await given.listen("server.sock", "named");
  expect(await given.take()).toBeNull();
  await rename(given.inside("3000.sock.new"), given.inside("3000.sock"));
  expect(await given.take()).toBe("early");
});

verifies(hazard(13), "a link to another socket, a file or a folder in the place of a socket is not used", async () => {
  await using given = await openSockets();
  await symlink(given.victim, given.inside("3000.sock"));
  expect(await given.take()).toBeNull();
  await symlink("../victim", given.inside("3000.sock"));
  expect(await given.take()).toBeNull();
  await writeFile(given.inside("3000.sock"), "no socket");
  expect(await given.take()).toBeNull();
  await mkdir(given.inside("3000.sock/folder"), { recursive: true });
  expect(await given.take()).toBeNull();
  expect(await given.takeBetter()).toBeNull();
  // It stays where the server can write anyway.
  expect((await lstat(given.inside("3000.sock/folder"))).isDirectory()).toBe(true);
  expect(await readdir(given.outside)).toEqual([]);
  await rm(given.inside("3000.sock"), { recursive: true });
  await given.listen("3000.sock", "own");
  expect(await given.take()).toBe("own");
});

verifies(hazard(13), "a server cannot replace a socket after it was checked", async () => {
  await using given = await openSockets();
  await given.listen("3000.sock", "own");
  const address = await given.sockets.take();
  await symlink(given.victim, given.inside("3000.sock"));
  expect(address && "socketPath" in address && (await text(connect(address.socketPath)))).toBe("own");
});
