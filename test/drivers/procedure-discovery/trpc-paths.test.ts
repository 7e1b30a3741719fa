import { expect, test } from "vitest";
import { guessTrpcPaths, routeOfFile } from "../../../server/drivers/procedure-discovery/trpc-paths.ts";

test("the file of a route says the path of its router", () => {
  const files = {
    "src/app/api/trpc/[trpc]/route.ts": "/api/trpc",
    "apps/nextjs/src/app/(main)/api/trpc/[trpc]/route.ts": "/api/trpc",
    "pages/api/trpc/[trpc].ts": "/api/trpc",
    "server/api/trpc/[trpc].ts": "/api/trpc",
    "server/routes/rpc/[...trpc].ts": "/rpc",
    "src/routes/api/trpc/[...path]/+server.ts": "/api/trpc",
    "src/pages/internal/trpc/[trpc].ts": "/internal/trpc",
    "app/routes/api.trpc.$trpc.ts": "/api/trpc",
    "src/routes/api/trpc/$.ts": "/api/trpc",
  };
  expect(Object.fromEntries(Object.keys(files).map((file) => [file, routeOfFile(file)]))).toEqual(files);
});

test("other files, and files whose names are not paths, say no path", () => {
  const files = [
    "src/server/trpc.ts",
    "src/app/api/users/[id]/route.ts",
    "src/app/[trpc]/route.ts",
    "src/pages/api/a b/trpc/[trpc].ts",
    "server/../trpc/[trpc].ts",
    "app//trpc/[trpc].ts",
  ];
  expect(files.map(routeOfFile)).toEqual(files.map(() => null));
});

test("paths of the code come after the usual ones, and nested ones last", () => {
  const script = `
    const TRPC_PATH = "/rpc";
    app.use("/calls/*", trpc); app.route("/v2", api); app.use('/internal/trpc/:path', x);
    fetchRequestHandler({ endpoint: "//other.example/trpc" }); const b = "/../trpc"; const c = "/a/./trpc";`;
  const [first, second, third, ...others] = guessTrpcPaths(script, ["/app/api"]);
  expect([first, second, third]).toEqual(["/trpc", "/api/trpc", "/app/api"]);
  expect(others).toEqual(expect.arrayContaining(["/rpc", "/calls", "/internal/trpc", "", "/v2/trpc", "/v2/rpc"]));
  expect(others.filter((path) => /\/\/|\.{1,2}\//.test(path))).toEqual([]);
});

test("a script with thousands of paths leads to few requests, and always to one at the root", () => {
  const uses = Array.from({ length: 5000 }, (_, at) => `app.use("/p${at}", x); const trpc${at} = "/trpc${at}";`);
  const paths = guessTrpcPaths(
    uses.join("\n"),
    Array.from({ length: 50 }, (_, at) => `/r${at}`),
  );
  expect(paths.length).toBeLessThanOrEqual(33);
  expect(paths).toContain("");
});
