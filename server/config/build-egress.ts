import { z } from "zod";

/** Which hosts builds may connect to. */
export interface BuildEgress {
  /** The text of the setting, for error messages. */
  setting: string;
  /** `host:port` pairs that every build reaches. */
  hosts: readonly string[];
  /** Whether builds of apps that request it reach all public addresses. */
  isPublic: boolean;
}

const GOOGLE_FONTS = ["fonts.googleapis.com", "fonts.gstatic.com"];
/** Prisma downloads its engines from there, which no npm package contains. */
const PRISMA_ENGINES = "binaries.prisma.sh:443";
const HOST = /^(?=.{1,253}$)[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*(:\d{1,5})?$/i;

/** `none`, or a list of `fonts`, `prisma`, `public` and hosts. */
export const buildEgress = z
  .string()
  .transform((text) => text.split(",").map((word) => word.trim().toLowerCase()))
  .refine((words) => words.every((word) => HOST.test(word)) && (!words.includes("none") || words.length === 1), {
    error:
      "must be none, or a list of fonts, prisma, public and hosts, separated by commas, such as fonts,api.example.com",
  })
  .transform((words): BuildEgress => {
    const named = words.filter((word) => !["none", "fonts", "prisma", "public"].includes(word));
    // An app without `build_network` reaches these also if others may reach everything.
    const includes = (word: string) => words.includes(word) || words.includes("public");
    return {
      setting: words.join(","),
      hosts: [
        ...(includes("prisma") ? [PRISMA_ENGINES] : []),
        ...[...(includes("fonts") ? GOOGLE_FONTS : []), ...named].flatMap(withPorts),
      ],
      isPublic: words.includes("public"),
    };
  });

function withPorts(host: string): string[] {
  return host.includes(":") ? [host] : [`${host}:443`, `${host}:80`];
}
