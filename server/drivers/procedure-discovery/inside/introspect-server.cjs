// Runs in every Node.js process of a Node server that is inspected, before the server's own code. Edits the modules that the
// process loads, and responds to two requests of the service itself, with the procedures of a tRPC router.
//
// The source of tRPC is edited, and not its adapters or its exports, because the place where it creates a router looks the same in
// its packages and in every bundle, where there is no module to replace. That is also how Workers are introspected. An HTTP
// response cannot describe a router: tRPC has no request for it. Only its path is found that way.
"use strict";

const http = require("node:http");
const Module = require("node:module");
const { pathToFileURL } = require("node:url");
const { createEditor } = require("./edit-modules.cjs");

/**
 * @param {object} options those of `createReport`, and:
 * @param {{ exported: string, used: string }} options.paths the paths of the reports
 * @param {{ pattern: string, replacement: string }} options.edit what is replaced in each module
 */
module.exports = function introspectServer({ paths, edit, ...options }) {
  editModules(edit);
  const reports = {
    // Which module of a server exports its router is not known. The one that handles requests is.
    [paths.exported]: async () => ({ found: false }),
    [paths.used]: async () => {
      const { createReport } = await import("./introspect.mjs");
      return createReport(globalThis.__serviceFindCreatedRouter(), options);
    },
  };
  sendReports(reports);
};

/** All versions of Node.js compile CommonJS modules with the same function. ES modules need hooks, which exist since 18.19. */
function editModules(edit) {
  const compile = Module.prototype._compile;
  const editSource = createEditor(edit);
  Module.prototype._compile = function _compile(source, ...rest) {
    return compile.call(this, editSource(source), ...rest);
  };
  if (Module.registerHooks)
    Module.registerHooks({
      load(url, context, nextLoad) {
        const loaded = nextLoad(url, context);
        return { ...loaded, source: editSource(loaded.source) };
      },
    });
  else if (Module.register) Module.register("./edit-modules.cjs", pathToFileURL(__filename), { data: edit });
}

/** A server of HTTP/1.1 passes its requests to this function, whatever framework it has. */
function sendReports(reports) {
  const { emit } = http.Server.prototype;
  http.Server.prototype.emit = function (event, ...values) {
    const [request, response] = values;
    if (event !== "request" || !Object.prototype.hasOwnProperty.call(reports, request.url))
      return emit.call(this, event, ...values);
    void respond(response, reports[request.url]);
    return true;
  };
}

async function respond(response, createReport) {
  try {
    response.end(JSON.stringify(await createReport()));
  } catch {
    // A router can contain anything, also what has no JSON. The service reports an empty response as a problem.
    response.statusCode = 500;
    response.end();
  }
}
