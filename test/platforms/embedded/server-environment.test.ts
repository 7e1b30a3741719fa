import { expect, test } from "vitest";
import { serverEnvironment } from "../../../server/platforms/embedded/node-server/server-environment.ts";
import { publishServer } from "../../support/edge/node-server.ts";
import { openTestPlatform } from "../../support/edge/test-platform.ts";

test("a server knows its public URL, and reads the address of the client and the scheme from the headers that variables name", async () => {
  await using edge = await openTestPlatform();
  const names = ["APP_URL", "NEXTAUTH_URL", "AUTH_TRUST_HOST", "BETTER_AUTH_URL"];
  const server = `
    const { env } = process;
    require("http").createServer(({ headers }, response) => {
      const client = [headers[env.PROTOCOL_HEADER], headers[env.ADDRESS_HEADER]];
      if (client.includes(undefined)) throw new Error("A header is absent");
      response.end(JSON.stringify([...${JSON.stringify(names)}.map((name) => env[name]), ...client]));
    }).listen(env.PORT);`;
  edge.variables.set("app-addressed", { BETTER_AUTH_URL: "http://own.test" });
  const { url } = await publishServer(edge, "addressed", server);
  expect(url).toBe(`http://addressed.localhost:${edge.platform.port}`);
  const seen = [url, url, "true", "http://own.test", "http", "127.0.0.1"];
  expect(JSON.parse((await edge.request("addressed")).text)).toEqual(seen);
});

test("with https, a server requests its sessions of NextAuth itself, and a URL of the owner replaces all settings of Auth.js", () => {
  const url = "https://shop.apps.test";
  const read = (env: Record<string, string>) => {
    const variables = serverEnvironment({ directory: ".", url, env, database: {} }, {});
    return ["NEXTAUTH_URL", "NEXTAUTH_URL_INTERNAL", "AUTH_TRUST_HOST"].map((name) => variables[name]);
  };
  expect(read({ PORT: "4000" })).toEqual([url, "http://localhost:4000", "true"]);
  expect(read({ NEXTAUTH_URL: "https://own.test/auth" })).toEqual(["https://own.test/auth", undefined, undefined]);
  expect(read({ AUTH_URL: "https://own.test" })).toEqual([undefined, undefined, undefined]);
});
