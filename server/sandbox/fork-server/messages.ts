import type { ProcessExit, ProcessRequest } from "../start-process.ts";

/** What the service sends to the fork server: a process to start. */
export interface StartMessage extends ProcessRequest {
  id: number;
  /** The unix socket of the service, to which each pipe of the process is connected. */
  socketPath: string;
}

/** What the fork server sends to the service: a process has started, could not be started, or has ended. */
export type ProcessMessage = { id: number } & ({ pid: number } | { error: string } | { exit: ProcessExit });

/** The first bytes of each connection: the id of the process, and the descriptor. */
export const HEADER_BYTES = 8;

export function encodeHeader(id: number, descriptor: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(id, 0);
  header.writeUInt32LE(descriptor, 4);
  return header;
}

export function decodeHeader(header: Buffer): { id: number; descriptor: number } {
  return { id: header.readUInt32LE(0), descriptor: header.readUInt32LE(4) };
}
