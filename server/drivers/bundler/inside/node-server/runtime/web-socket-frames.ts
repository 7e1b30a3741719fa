// Part of the runtime of Node servers in workerd: frames of the WebSocket protocol (RFC 6455, section 5.2).

const FINAL = 0x80;
const MASKED = 0x80;
const LENGTH = 0x7f;
const SHORT = 126;
const LONG = 127;
/** The bytes of a length that does not fit into the first two. */
const EXTENSION: Readonly<Record<number, number>> = { [SHORT]: 2, [LONG]: 8 };
const NO_MASK = Buffer.alloc(4);

/** A message, or a control frame. */
export interface Message {
  opcode: number;
  payload: Buffer;
}

interface Frame extends Message {
  isFinal: boolean;
}

/** Writes a frame of a client, with a mask that changes nothing. */
export function writeFrame(opcode: number, payload: Buffer): Buffer {
  const head = [FINAL | opcode, MASKED | sizeOf(payload.length)];
  return Buffer.concat([Buffer.from(head), extendedLength(payload.length), NO_MASK, payload]);
}

function sizeOf(length: number): number {
  if (length < SHORT) return length;
  return length < 0x10000 ? SHORT : LONG;
}

function extendedLength(length: number): Buffer {
  const bytes = Buffer.alloc(EXTENSION[sizeOf(length)] ?? 0);
  if (bytes.length === 2) bytes.writeUInt16BE(length);
  if (bytes.length === 8) bytes.writeBigUInt64BE(BigInt(length));
  return bytes;
}

/** Reads the frames of a server, which have no mask, and joins those of one message. */
export class FrameReader {
  #bytes: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #opcode = 0;

  /** Returns the messages that end in this chunk. */
  read(chunk: Buffer): Message[] {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    const messages: Message[] = [];
    for (let frame = this.#next(); frame !== null; frame = this.#next()) {
      const { isFinal, opcode, payload } = frame;
      // A control frame may be between the frames of a message.
      if (opcode >= 8) messages.push({ opcode, payload });
      else {
        if (opcode !== 0) this.#opcode = opcode;
        this.#parts.push(payload);
        if (!isFinal) continue;
        messages.push({ opcode: this.#opcode, payload: Buffer.concat(this.#parts) });
        this.#parts = [];
      }
    }
    return messages;
  }

  #next(): Frame | null {
    const bytes = this.#bytes;
    const [first, second] = bytes;
    if (first === undefined || second === undefined) return null;
    const size = second & LENGTH;
    const start = 2 + (EXTENSION[size] ?? 0);
    if (bytes.length < start) return null;
    const length = readLength(bytes, size);
    if (bytes.length < start + length) return null;
    this.#bytes = bytes.subarray(start + length);
    return {
      isFinal: (first & FINAL) !== 0,
      opcode: first & 0x0f,
      payload: bytes.subarray(start, start + length),
    };
  }
}

function readLength(bytes: Buffer, size: number): number {
  if (size === SHORT) return bytes.readUInt16BE(2);
  return size === LONG ? Number(bytes.readBigUInt64BE(2)) : size;
}
