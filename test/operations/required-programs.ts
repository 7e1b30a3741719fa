import { findTool } from "../../server/sandbox/system-tools.ts";

/** The Debian packages of programs that the machines of the tests use. */
const PACKAGES = {
  caddy: "caddy",
  debootstrap: "debootstrap",
  nsenter: "util-linux",
  openssl: "openssl",
  psql: "postgresql",
  "redis-server": "redis-server",
};

/**
 * Ends the run before it begins if it could only fail.
 *
 * @throws {Error} without root, or when a program is missing; the message says how to install it
 */
export function setup(): void {
  if (process.getuid?.() !== 0) throw new Error("These tests create kernel namespaces. Run them as root.");
  const missing = Object.entries(PACKAGES).filter(([program]) => findTool(program) === null);
  if (missing.length === 0) return;
  const packages = missing.map(([, debianPackage]) => debianPackage).join(" ");
  throw new Error(`These tests need ${packages}. Install them: apt-get install ${packages}`);
}
