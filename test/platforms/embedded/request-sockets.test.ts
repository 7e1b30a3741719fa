import { once } from "node:events";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { RequestSockets } from "../../../server/platforms/embedded/node-server/request-sockets.ts";
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
    inside: (name: string) => path.join(sockets.folder, name),
    /** What the server says at the address that is taken. */
    take: async () => {
      const address = await sockets.take();
      return address && "socketPath" in address ? text(connect(address.socketPath)) : null;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

test("a server is reached at the port that it should listen on, else at any other", async () => {
  await using given = await openSockets();
  expect(await given.take()).toBeNull();
  await given.listen("8080.sock", "other");
  await given.listen("3000.sock", "preferred");
  expect(await given.take()).toBe("preferred");
  expect(await given.take()).toBe("other");
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
  await mkdir(given.inside("3000.sock"));
  expect(await given.take()).toBeNull();
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
