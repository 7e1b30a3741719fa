/** The architectures for which there is a filter. */
export type Architecture = "x64" | "arm64";

/** One instruction of classic BPF: `struct sock_filter` of linux/filter.h. A jump skips instructions that follow it. */
export interface Instruction {
  code: number;
  skipIfTrue: number;
  skipIfFalse: number;
  operand: number;
}

/** A part of a program. It either returns, or continues after its end. */
export type Block = readonly Instruction[];

/** Instruction codes of linux/bpf_common.h. */
export const CODES = {
  loadWord: 0x20,
  jumpIfEqual: 0x15,
  jumpIfAtLeast: 0x35,
  jumpIfAnyBit: 0x45,
  return: 0x06,
} as const;

const INSTRUCTION_BYTES = 8;
const LARGEST_SKIP = 255;

/** Loads the word at an offset in `struct seccomp_data`. The conditions that follow compare it. */
export function load(offset: number): Block {
  return [instruction(CODES.loadWord, offset)];
}

export function returnAction(action: number): Block {
  return [instruction(CODES.return, action)];
}

export function ifEqual(value: number, block: Block): Block {
  return [condition(CODES.jumpIfEqual, value, 0, block.length), ...block];
}

export function unlessEqual(value: number, block: Block): Block {
  return [condition(CODES.jumpIfEqual, value, block.length, 0), ...block];
}

export function ifAtLeast(value: number, block: Block): Block {
  return [condition(CODES.jumpIfAtLeast, value, 0, block.length), ...block];
}

export function ifAnyBit(mask: number, block: Block): Block {
  return [condition(CODES.jumpIfAnyBit, mask, 0, block.length), ...block];
}

/** The bytes that the kernel reads. All our architectures are little-endian. */
export function encode(program: Block): Buffer {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  for (const [index, { code, skipIfTrue, skipIfFalse, operand }] of program.entries()) {
    const start = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, start);
    bytes.writeUInt8(skipIfTrue, start + 2);
    bytes.writeUInt8(skipIfFalse, start + 3);
    bytes.writeUInt32LE(operand, start + 4);
  }
  return bytes;
}

function instruction(code: number, operand: number): Instruction {
  return { code, skipIfTrue: 0, skipIfFalse: 0, operand };
}

function condition(code: number, operand: number, skipIfTrue: number, skipIfFalse: number): Instruction {
  if (Math.max(skipIfTrue, skipIfFalse) > LARGEST_SKIP) throw new RangeError("A block of the filter is too long");
  return { code, skipIfTrue, skipIfFalse, operand };
}
