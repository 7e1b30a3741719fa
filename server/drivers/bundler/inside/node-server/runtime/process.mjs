// Part of the runtime of Node servers in workerd.
import util from "node:util";

const DEFAULT_PORT = "8080";

/**
 * Sets what Node and its hosts set when they start a file.
 *
 * @param {string} entry the file, relative to the root of the repository
 */
export function prepareProcess(entry) {
  const { env } = process;
  env.PORT ??= DEFAULT_PORT;
  // wrangler replaces the expression `process.env.NODE_ENV` only, and apps also read the whole object.
  env.NODE_ENV ??= "production";
  process.argv = ["/usr/bin/node", `${process.cwd()}/${entry}`];
  // workerd prints every debug message.
  const noDebug = Object.assign(() => {}, { enabled: false });
  util.debuglog = () => noDebug;
  util.debug = util.debuglog;
}

/**
 * Makes `process.exit` an error while the server starts. Its message contains what the app printed last, because apps
 * print the reason before they exit.
 *
 * @returns `exited` rejects when the app calls it; `restore` ends the start
 */
export function watchExit() {
  const { exit } = process;
  const { error: print } = console;
  let printed = "";
  const { promise: exited, reject } = Promise.withResolvers();
  exited.catch(() => {});
  console.error = (...values) => {
    printed = util.format(...values);
    print(...values);
  };
  process.exit = (code = 0) => {
    const error = new Error(`The app called process.exit(${code}) before it listened. ${printed}`.trim());
    reject(error);
    throw error;
  };
  const restore = () => {
    process.exit = exit;
    console.error = print;
  };
  return { exited, restore };
}

/**
 * Packages such as Fastify and template engines generate code, which workerd allows only through a binding.
 *
 * @param {{ eval(code: string): unknown } | undefined} binding
 */
export function allowCodeGeneration(binding) {
  if (!binding) return;
  const NativeFunction = globalThis.Function;
  function GeneratedFunction(...values) {
    const body = values.pop() ?? "";
    return binding.eval(`(function anonymous(${values.join(",")}\n) {\n${body}\n})`);
  }
  GeneratedFunction.prototype = NativeFunction.prototype;
  const evaluate = (code) => (typeof code === "string" ? binding.eval(code) : code);
  Object.assign(globalThis, { Function: GeneratedFunction, eval: evaluate });
}
