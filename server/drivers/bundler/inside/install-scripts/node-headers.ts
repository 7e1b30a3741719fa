import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";

const HEADERS = "include/node";
const OBJECT_WRAP = "node_object_wrap.h";
/** The calls in the constructor and the destructor of `node::ObjectWrap`. */
const CLEANUP_HOOK = /^ *(?:Add|Remove)CleanupHook\(\);\n/gm;

/**
 * Corrects the headers of Node.js 24.19 and later. With them, a garbage collection can end the process of a package whose objects are
 * `node::ObjectWrap`, such as better-sqlite3 12 and older: their destructor removes a hook from the current environment, and there may be
 * none (https://github.com/nodejs/node/issues/65446). Without the hook they are as before: what exists at the end of a process is not destroyed.
 *
 * @param nodeFolder - a folder of Node.js with its headers
 * @param target - a new folder for links to the headers
 * @returns the folder with the correct headers
 */
export function correctHeaders(nodeFolder: string, target: string): string {
  const [headers, corrected] = [path.join(nodeFolder, HEADERS), path.join(target, HEADERS)];
  const text = readHeader(path.join(headers, OBJECT_WRAP));
  if (!CLEANUP_HOOK.test(text)) return nodeFolder;
  mkdirSync(corrected, { recursive: true });
  for (const name of readdirSync(headers))
    if (name === OBJECT_WRAP) writeFileSync(path.join(corrected, name), text.replaceAll(CLEANUP_HOOK, ""));
    else symlinkSync(path.join(headers, name), path.join(corrected, name));
  return target;
}

function readHeader(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // Another version may not have it.
    return "";
  }
}
