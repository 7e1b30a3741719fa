// Runs inside the sandbox, in the program's own isolate and before it: connects to the host, gives up every right, leaves
// the program the global `service`, and waits until there is a program. Nothing here is secret, and nothing the program
// does to its globals can harm anyone but itself: the host trusts no message. It is JavaScript because that needs no
// transpiling.

const MAX_MESSAGE_BYTES = 1024 * 1024;
const LINE_FEED = 10;

const { Deno, JSON } = globalThis;
const connection = await Deno.connect({ transport: "unix", path: "/run/calls.sock" });
for (const name of ["net", "read", "write"]) Deno.permissions.revokeSync({ name });

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const pending = new Map();
let lastId = 0;
let sent = Promise.resolve();
let closed = false;

function call(name, input, failure) {
  return new Promise((resolve, reject) => {
    const fail = (code, text) => reject(describe(failure, code, text));
    if (closed)
      return fail(
        "closed",
        `${name} was not called: the connection is closed, as a run may make 1000 calls and send 32 MB`,
      );
    const id = ++lastId;
    const message = encode({ id, name, input });
    if (message instanceof Error) return fail("invalid", `The input of ${name} is not JSON: ${message.message}`);
    if (message.length > MAX_MESSAGE_BYTES)
      return fail("too_large", `The input of ${name} is larger than 1 MB: send it in smaller parts`);
    pending.set(id, { name, resolve, fail });
    sent = sent.then(() => write(message)).catch(close);
    if (pending.size === 1) receive().catch(close);
  });
}

function encode(message) {
  try {
    return encoder.encode(`${JSON.stringify(message)}\n`);
  } catch (error) {
    return error;
  }
}

/** The error was made where the call was, so its stack leads to the program and not to this file. */
function describe(failure, code, text) {
  const frames = failure.stack.indexOf("\n    at ");
  failure.message = text;
  failure.code = code;
  failure.stack = `Error: ${text}${frames < 0 ? "" : failure.stack.slice(frames)}`;
  return failure;
}

async function write(bytes) {
  for (let start = 0; start < bytes.length;) start += await connection.write(bytes.subarray(start));
}

/** Reads only while an answer is awaited: a read that waits would keep a program from ending, or from being found stuck. */
async function receive() {
  const buffer = new Uint8Array(64 * 1024);
  let parts = [];
  while (pending.size > 0) {
    const length = await connection.read(buffer);
    if (length === null) return close();
    let start = 0;
    for (let end; (end = buffer.subarray(0, length).indexOf(LINE_FEED, start)) >= 0; start = end + 1) {
      settle(decoder.decode(join([...parts, buffer.subarray(start, end)])));
      parts = [];
    }
    if (start < length) parts.push(buffer.slice(start, length));
  }
}

function join(parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

function settle(line) {
  const { id, output, error } = JSON.parse(line);
  const waiting = pending.get(id);
  if (waiting === undefined) return;
  pending.delete(id);
  if (error) waiting.fail(error.code, error.message);
  else waiting.resolve(output);
}

function close() {
  closed = true;
  for (const { name, fail } of pending.values())
    fail("closed", `${name} was not answered: the connection is closed, as a run may make 1000 calls and send 32 MB`);
  pending.clear();
}

/** Every property is a further step of the name; calling it makes the call. */
function step(path) {
  // Without properties of its own, the target lets every name be a step, also `name` and `length`.
  const target = () => undefined;
  delete target.name;
  delete target.length;
  Object.setPrototypeOf(target, null);
  return new Proxy(Object.preventExtensions(target), {
    // An object with `then` would be called by `await`, and one with `toJSON` by JSON.stringify.
    get: (_target, key) => (typeof key === "symbol" || NO_STEPS.has(key) ? undefined : step([...path, key])),
    apply: function makeCall(_target, _this, [input]) {
      const failure = new Error("The call failed");
      Error.captureStackTrace(failure, makeCall);
      return call(path.join("."), input, failure);
    },
  });
}

const NO_STEPS = new Set(["then", "toJSON"]);
const service = Object.freeze({ apps: step(["apps"]), tools: step(["tools"]), types: step(["types"]) });
define("service", service);
define("Worker", function Worker() {
  const failure = new Error("There are no workers here: a program has one thread");
  Error.captureStackTrace(failure, Worker);
  throw failure;
});

function define(name, value) {
  Object.defineProperty(globalThis, name, { value, writable: false, configurable: false, enumerable: true });
}

// One byte says that the program is there. This may have been started long before.
if ((await connection.read(new Uint8Array(1))) === null) Deno.exit(1);
