// Runs inside the sandbox of a Node server that exports its request handler and listens nowhere, as for the functions of Vercel, if it
// has a folder `public`: serves the files of that folder, and passes all other requests to the handler.
//
// usage: node serve-handler.mjs <module>
import { createServer } from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import send from "@fastify/send";

const [, , file] = process.argv;
const root = path.resolve("public");
const { default: app } = await import(pathToFileURL(path.resolve(file)).href);
// Koa has a function that returns its handler.
const handle = app.callback?.() ?? app;

createServer((request, response) => {
  if (request.method !== "GET" && request.method !== "HEAD") return handle(request, response);
  sendFile(request, response).then(
    (isSent) => isSent || handle(request, response),
    () => response.destroy(),
  );
}).listen(process.env.PORT);

async function sendFile(request, response) {
  const [pathname] = request.url.split("?", 1);
  const { type, statusCode, headers, stream } = await send(request, pathname, { root });
  if (type !== "file") return false;
  response.writeHead(statusCode, headers);
  stream.on("error", () => response.destroy()).pipe(response);
  return true;
}
