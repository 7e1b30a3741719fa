import { constants } from "node:os";
import {
  type Architecture,
  type Block,
  encode,
  ifAnyBit,
  ifAtLeast,
  ifEqual,
  load,
  returnAction,
  unlessEqual,
} from "./filter-program.ts";
import {
  AF_NETLINK,
  CHECKED_CALLS,
  LAST_CHECKED_CALL,
  NAMESPACE_FLAGS,
  NETLINK_ROUTE,
  REFUSALS,
  SOCKET_FAMILIES,
  type SystemCall,
} from "./refused-system-calls.ts";

/** The actions of linux/seccomp.h. */
const ALLOW = returnAction(0x7fff_0000);
const KILL_PROCESS = returnAction(0x8000_0000);

const refuse = (error: "EPERM" | "ENOSYS" | "EAFNOSUPPORT" | "EPROTONOSUPPORT"): Block =>
  returnAction(0x0005_0000 | constants.errno[error]);

/** Offsets in `struct seccomp_data`. An argument has 64 bits, of which the checked calls read the lower half. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

/** The AUDIT_ARCH constants of linux/audit.h. */
const ARCHITECTURES: Readonly<Record<Architecture, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };

/** For `socket` and `socketpair`, which both have the family first and the protocol third. */
const SOCKET_BLOCK: Block = [
  ...load(argument(0)),
  ...Object.values(SOCKET_FAMILIES).flatMap((family) => ifEqual(family, ALLOW)),
  ...ifEqual(AF_NETLINK, [...load(argument(2)), ...ifEqual(NETLINK_ROUTE, ALLOW), ...refuse("EPROTONOSUPPORT")]),
  ...refuse("EAFNOSUPPORT"),
];

const filters = new Map<string, Buffer>();

/**
 * The seccomp filter of every sandbox, for `bwrap --seccomp`: refuses the system calls of `refused-system-calls.ts`.
 *
 * @throws on an architecture whose numbers of system calls we do not know
 */
export function systemCallFilter(architecture: string = process.arch): Buffer {
  if (!isKnown(architecture))
    throw new Error(
      `The sandbox has no system call filter for ${architecture}. It supports ${Object.keys(ARCHITECTURES).join(" and ")}.`,
    );
  const filter = filters.get(architecture) ?? encode(filterProgram(architecture));
  filters.set(architecture, filter);
  return filter;
}

function isKnown(architecture: string): architecture is Architecture {
  return Object.hasOwn(ARCHITECTURES, architecture);
}

function filterProgram(architecture: Architecture): Block {
  const on = (call: SystemCall, block: Block): Block => {
    const number = call[architecture];
    return number === null ? [] : ifEqual(number, block);
  };
  return [
    // A 64-bit process can also make the calls of the 32-bit architecture, which have other numbers.
    ...load(ARCHITECTURE),
    ...unlessEqual(ARCHITECTURES[architecture], KILL_PROCESS),
    ...load(NUMBER),
    // Also the calls of the x32 interface, whose numbers start at 0x4000_0000.
    ...ifAtLeast(LAST_CHECKED_CALL + 1, refuse("ENOSYS")),
    ...REFUSALS.flatMap(({ calls, error }) => calls.flatMap((call) => on(call, refuse(error)))),
    ...on(CHECKED_CALLS.clone, [...load(argument(0)), ...ifAnyBit(NAMESPACE_FLAGS, refuse("EPERM")), ...ALLOW]),
    ...on(CHECKED_CALLS.socket, SOCKET_BLOCK),
    ...on(CHECKED_CALLS.socketpair, SOCKET_BLOCK),
    ...ALLOW,
  ];
}
