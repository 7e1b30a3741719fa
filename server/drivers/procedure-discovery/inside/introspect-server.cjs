// Runs in every Node.js process of a Node server that is inspected, before the server's own code. Edits the modules that the
// process loads, and responds to two requests of the service itself, with the procedures of a tRPC router.
"use strict";

const http = require("node:http");
const Module = require("node:module");
const { pathToFileURL } = require("node:url");

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

/** CommonJS modules pass the same function in all versions of Node.js. ES modules need hooks, which exist since 18.19. */
function editModules(edit) {
  const compile = Module.prototype._compile;
  const { createEditor } = require("./edit-modules.cjs");
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

/** Every HTTP server passes its requests to this function, whatever framework it has. */
function sendReports(reports) {
  const { emit } = http.Server.prototype;
  http.Server.prototype.emit = function (event, ...values) {
    const [request, response] = values;
    if (event !== "request" || !Object.prototype.hasOwnProperty.call(reports, request.url))
      return emit.call(this, event, ...values);
    reports[request.url]().then(
      (report) => response.end(JSON.stringify(report)),
      () => {
        response.statusCode = 500;
        response.end();
      },
    );
    return true;
  };
}
