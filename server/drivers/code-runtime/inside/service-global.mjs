// Runs inside the sandbox, in the isolate of the program and before it. It connects to the host, revokes the permissions for
// that, creates the files of the workspace, defines the global `service`, and waits for the start of the program. Nothing here is secret, and a program that changes
// its globals harms only itself, because the host trusts no message. `prepare-importable-modules.ts` turns it into a script without
// imports and exports, which V8 alone parses.

/* global typedJson -- the exports of `typed-json.ts`, which is put before this script */

const MAX_MESSAGE_BYTES = 1024 * 1024;
const LINE_FEED = 10;
const LIMITS = "a run may make 1000 calls and send 32 MB";

const { Deno, JSON } = globalThis;
const SOCKET = "/code/calls.sock";
const WORKSPACE = "/workspace";
const connection = await Deno.connect({ transport: "unix", path: SOCKET });
Deno.permissions.revokeSync({ name: "net" });
for (const name of ["read", "write"]) Deno.permissions.revokeSync({ name, path: SOCKET });

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const pendingCalls = new Map();
let lastId = 0;
let lastWrite = Promise.resolve();
let isClosed = false;

function call(name, input, error) {
  return new Promise((resolve, reject) => {
    const fail = (code, message) => reject(describeError(error, code, message));
    if (isClosed) return fail("closed", `${name} was not called: the connection is closed, because ${LIMITS}`);
    const id = ++lastId;
    const message = encode({ id, name, input });
    if (message instanceof Error) return fail("invalid", `The input of ${name} is not JSON: ${message.message}`);
    if (message.length > MAX_MESSAGE_BYTES)
      return fail("too_large", `The input of ${name} is larger than 1 MB: send it in smaller parts`);
    pendingCalls.set(id, { name, resolve, fail });
    lastWrite = lastWrite.then(() => write(message)).catch(close);
    if (pendingCalls.size === 1) receive().catch(close);
  });
}

function encode(message) {
  try {
    return encoder.encode(`${typedJson.stringify(message)}\n`);
  } catch (error) {
    return error;
  }
}

/** The error was created at the call, so that its stack leads to the program and not to this file. */
function describeError(error, code, message) {
  const frames = error.stack.indexOf("\n    at ");
  error.message = message;
  error.code = code;
  error.stack = `Error: ${message}${frames < 0 ? "" : error.stack.slice(frames)}`;
  return error;
}

async function write(bytes) {
  for (let start = 0; start < bytes.length;) start += await connection.write(bytes.subarray(start));
}

/**
 * Reads only while a call is pending. A pending read would keep a finished program alive, and hide from Deno that a
 * program waits for nothing.
 */
async function receive() {
  const buffer = new Uint8Array(64 * 1024);
  let parts = [];
  while (pendingCalls.size > 0) {
    const length = await connection.read(buffer);
    if (length === null) return close();
    let start = 0;
    for (let end; (end = buffer.subarray(0, length).indexOf(LINE_FEED, start)) >= 0; start = end + 1) {
      settle(decoder.decode(concatenate([...parts, buffer.subarray(start, end)])));
      parts = [];
    }
    if (start < length) parts.push(buffer.slice(start, length));
  }
}

function concatenate(parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

function settle(line) {
  const { id, output, error } = typedJson.parse(line);
  const pending = pendingCalls.get(id);
  if (pending === undefined) return;
  pendingCalls.delete(id);
  if (error) pending.fail(error.code, error.message);
  else pending.resolve(output);
}

function close() {
  isClosed = true;
  for (const { name, fail } of pendingCalls.values())
    fail("closed", `${name} got no response: the connection is closed, because ${LIMITS}`);
  pendingCalls.clear();
}

/** Creates an object on which every property adds a part to the name of the call. Calling it makes the call. */
function createPath(parts) {
  // Without own properties of the target, every name can be a part, `name` and `length` too.
  const target = () => undefined;
  delete target.name;
  delete target.length;
  Object.setPrototypeOf(target, null);
  return new Proxy(Object.preventExtensions(target), {
    // `await` would call `then`, and JSON.stringify would call `toJSON`.
    get: (_target, key) => (typeof key === "symbol" || NOT_PARTS.has(key) ? undefined : createPath([...parts, key])),
    apply: function makeCall(_target, _this, [input]) {
      const error = new Error("The call failed");
      Error.captureStackTrace(error, makeCall);
      return call(parts.join("."), input, error);
    },
  });
}

const NOT_PARTS = new Set(["then", "toJSON"]);
const members = Object.freeze({
  apps: createPath(["apps"]),
  tools: createPath(["tools"]),
  types: createPath(["types"]),
});
const service = new Proxy(members, {
  get(target, key) {
    if (typeof key === "symbol" || NOT_PARTS.has(key) || key in target) return target[key];
    throw new TypeError(
      `service.${key} does not exist. Call an app with service.apps["<slug>"].<procedure>(input), a tool with service.tools.<tool>(input)`,
    );
  },
});
define("service", service);
define("Worker", function Worker() {
  const error = new Error("Workers are not available: a program has one thread");
  Error.captureStackTrace(error, Worker);
  throw error;
});

function define(name, value) {
  Object.defineProperty(globalThis, name, { value, writable: false, configurable: false, enumerable: true });
}

/** Creates the files that the host sends. See `OpenWorkspace.read` for the format. */
async function createWorkspace() {
  let received = new Uint8Array(0);
  const receiveMore = async () => {
    const buffer = new Uint8Array(256 * 1024);
    const length = await connection.read(buffer);
    if (length === null) Deno.exit(1);
    return buffer.subarray(0, length);
  };
  const line = [];
  for (let end = -1; end < 0;) {
    const chunk = await receiveMore();
    end = chunk.indexOf(LINE_FEED);
    line.push(end < 0 ? chunk : chunk.subarray(0, end));
    received = chunk.subarray(end + 1);
  }
  for (const [path, size, modified] of JSON.parse(decoder.decode(concatenate(line)))) {
    if (size === null) {
      Deno.mkdirSync(`${WORKSPACE}/${path}`);
      continue;
    }
    const file = Deno.openSync(`${WORKSPACE}/${path}`, { write: true, createNew: true });
    for (let missing = size; missing > 0;) {
      if (received.length === 0) received = await receiveMore();
      const written = file.writeSync(received.subarray(0, missing));
      received = received.subarray(written);
      missing -= written;
    }
    file.utimeSync(new Date(modified), new Date(modified));
    file.close();
  }
  await write(new Uint8Array([LINE_FEED]));
}

if (Deno.permissions.querySync({ name: "write", path: WORKSPACE }).state === "granted") await createWorkspace();

// The host sends one byte when the program is written to its file, which can be long after this process started.
if ((await connection.read(new Uint8Array(1))) === null) Deno.exit(1);
