import { closeSync, existsSync, readdirSync, readFileSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Closes the file descriptors that the parent process left open. Every child would inherit them, and so would untrusted
 * code in the sandboxes. Descriptors that Node opens are not inherited. Call this before anything else is opened.
 */
export function closeInheritedDescriptors(): void {
  // The channel to a parent that is a Node process is inherited too, but it is in use.
  if (process.connected || !existsSync("/proc/self/fdinfo")) return;
  const descriptors = readdirSync("/proc/self/fd").map(Number);
  for (const descriptor of descriptors) if (descriptor > 2 && isInheritable(descriptor)) closeSync(descriptor);
}

function isInheritable(descriptor: number): boolean {
  const file = `/proc/self/fdinfo/${descriptor}`;
  // The descriptor that listed the folder is closed by now.
  const flags = existsSync(file) ? /^flags:\s+([0-7]+)$/m.exec(readFileSync(file, "utf8"))?.[1] : undefined;
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}
