import { expect, test } from "vitest";
import { publishServer } from "../../support/edge/node-server.ts";
import { openTestPlatform } from "../../support/edge/test-platform.ts";

test("a server knows its public URL, and reads the address of the client and the scheme from the headers that variables name", async () => {
  await using edge = await openTestPlatform();
  const names = ["APP_URL", "NEXTAUTH_URL", "NEXTAUTH_URL_INTERNAL", "AUTH_TRUST_HOST", "BETTER_AUTH_URL"];
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
  const seen = [url, url, "http://localhost:3000", "true", "http://own.test", "http", "127.0.0.1"];
  expect(JSON.parse((await edge.request("addressed")).text)).toEqual(seen);
});
