// Part of the runtime of Node servers in workerd.
import http from "node:http";

/** Corrects the two ways in which the responses of workerd differ from Node's so that apps lose data. */
export function correctResponses() {
  emitCloseAtEnd(http.ServerResponse.prototype);
  copyChunks(http.ServerResponse.prototype);
}

/** workerd emits `close` when it has sent the headers. Then `pipe` stops before the first chunk. */
function emitCloseAtEnd(prototype) {
  const { emit } = prototype;
  const ended = new WeakSet();
  prototype.emit = function (name, ...values) {
    if (name === "close" && !this.destroyed && !ended.has(this)) return false;
    const hadListeners = emit.call(this, name, ...values);
    if (name === "finish" && !ended.has(this)) {
      ended.add(this);
      queueMicrotask(() => this.emit("close"));
    }
    return hadListeners;
  };
}

/** workerd takes the memory of a written chunk away, also from other chunks that share it. */
function copyChunks(prototype) {
  const copy = (chunk) => (chunk instanceof Uint8Array ? new Uint8Array(chunk) : chunk);
  for (const name of ["write", "end"]) {
    const method = prototype[name];
    prototype[name] = function (chunk, ...values) {
      return method.call(this, copy(chunk), ...values);
    };
  }
}
