import type { ProcessExit } from "../start-process.ts";

/** What the service sends to the fork server: a process to start. */
export interface StartMessage {
  id: number;
  argv: readonly [program: string, ...programArguments: string[]];
  /** The unix socket of the service, to which each pipe is connected. */
  socketPath: string;
  /** The pipes, and what the fork server writes to each connection first. */
  pipes: readonly { descriptor: number; header: Buffer }[];
  /** What the process reads from the other file descriptors. */
  inputs: ReadonlyMap<number, string | Buffer>;
}

/** What the fork server sends to the service: a process has started, could not be started, or has ended. */
export type ProcessMessage = { id: number } & ({ pid: number } | { error: string } | { exit: ProcessExit });

export const HEADER_BYTES = 8;

/** The first bytes of a connection, which say whose pipe it is. */
export function encodeHeader(id: number, descriptor: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(id, 0);
  header.writeUInt32LE(descriptor, 4);
  return header;
}

export function decodeHeader(header: Buffer): { id: number; descriptor: number } {
  return { id: header.readUInt32LE(0), descriptor: header.readUInt32LE(4) };
}
