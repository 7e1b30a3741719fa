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
const HOST = /^(?=.{1,253}$)[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*(:\d{1,5})?$/i;

/** `none`, or a list of `fonts`, `public` and hosts. */
export const buildEgress = z
  .string()
  .transform((text) => text.split(",").map((word) => word.trim().toLowerCase()))
  .refine((words) => words.every((word) => HOST.test(word)) && (!words.includes("none") || words.length === 1), {
    error: "must be none, or a list of fonts, public and hosts, separated by commas, such as fonts,api.example.com",
  })
  .transform((words): BuildEgress => {
    const named = words.filter((word) => !["none", "fonts", "public"].includes(word));
    // An app without `build_network` reaches the fonts also if others may reach everything.
    const hasFonts = words.includes("fonts") || words.includes("public");
    return {
      setting: words.join(","),
      hosts: [...(hasFonts ? GOOGLE_FONTS : []), ...named].flatMap(withPorts),
      isPublic: words.includes("public"),
    };
  });

function withPorts(host: string): string[] {
  return host.includes(":") ? [host] : [`${host}:443`, `${host}:80`];
}
