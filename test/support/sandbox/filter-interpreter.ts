import { CODES } from "../../../server/sandbox/system-calls/filter-program.ts";

/** What a system call looks like to a filter: `struct seccomp_data` of linux/seccomp.h. */
interface SystemCallData {
  number: number;
  architecture: number;
  args: readonly number[];
}

type FilterResult = "allow" | "kill" | { errno: number };

/** Runs an encoded filter on one system call as the kernel would, to test architectures that this machine does not have. */
export function runFilter(filter: Buffer, call: SystemCallData): FilterResult {
  const data = encodeData(call);
  let accumulator = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const code = filter.readUInt16LE(at);
    const operand = filter.readUInt32LE(at + 4);
    if (code === CODES.return) return toResult(operand);
    if (code === CODES.loadWord) accumulator = data.readUInt32LE(operand);
    else at += 8 * filter.readUInt8(at + (isTrue(code, accumulator, operand) ? 2 : 3));
  }
  throw new Error("The filter ended without a result");
}

function isTrue(code: number, accumulator: number, operand: number): boolean {
  switch (code) {
    case CODES.jumpIfEqual:
      return accumulator === operand;
    case CODES.jumpIfAtLeast:
      return accumulator >= operand;
    case CODES.jumpIfAnyBit:
      return (accumulator & operand) !== 0;
    default:
      throw new Error(`Unknown instruction ${code}`);
  }
}

function encodeData({ number, architecture, args }: SystemCallData): Buffer {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [index, argument] of args.entries()) data.writeUInt32LE(argument, 16 + 8 * index);
  return data;
}

function toResult(action: number): FilterResult {
  if (action === 0x7fff_0000) return "allow";
  if (action === 0x8000_0000) return "kill";
  if (action >>> 16 === 5) return { errno: action & 0xffff };
  throw new Error(`Unknown action ${action}`);
}
