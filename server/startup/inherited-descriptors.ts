import { closeSync, existsSync, readdirSync, readFileSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Closes what whoever started this process left open, by accident or for itself: every child would inherit it, and
 * so would the code in the sandboxes. Node passes none of its own on. To be called before anything else is opened.
 */
export function closeInheritedDescriptors(): void {
  // The channel to a parent that is Node too is such a descriptor, but one that is in use.
  if (process.connected || !existsSync("/proc/self/fdinfo")) return;
  const descriptors = readdirSync("/proc/self/fd").map(Number);
  for (const descriptor of descriptors) if (descriptor > 2 && isPassedOn(descriptor)) closeSync(descriptor);
}

function isPassedOn(descriptor: number): boolean {
  const file = `/proc/self/fdinfo/${descriptor}`;
  // The one that listed the folder is closed by now.
  const flags = existsSync(file) ? /^flags:\s+([0-7]+)$/m.exec(readFileSync(file, "utf8"))?.[1] : undefined;
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}
