// Edits the sources of modules that Node.js loads. Versions of Node.js without `registerHooks` also load this file as hooks.
"use strict";

/** A text that each source that is edited contains. */
const REQUIRED = "createCaller";

/** @param {{ pattern: string, replacement: string }} edit */
exports.createEditor = ({ pattern, replacement }) => {
  const expression = new RegExp(pattern, "g");
  return (source) => {
    // It is absent when Node.js reads the file later.
    if (source === undefined || source === null) return source;
    const text = typeof source === "string" ? source : Buffer.from(source).toString("utf8");
    return text.includes(REQUIRED) ? text.replace(expression, replacement) : source;
  };
};

let editSource;

exports.initialize = (edit) => {
  editSource = exports.createEditor(edit);
};

exports.load = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  // A CommonJS module is edited when it is compiled. With a source from here, Node.js would load what it requires otherwise.
  return loaded.format === "module" ? { ...loaded, source: editSource(loaded.source) } : loaded;
};
