import sax from "sax";
import { RefusedFile } from "./report.ts";

/** An element without the prefixes of its name and of the names of its attributes. */
export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  /** The id of a relationship, such as that of `r:id`; it has its own name beside `id`. */
  relation: string | null;
  children: (XmlElement | string)[];
}

/** Programs that read the elements call themselves for each level. */
const MAX_DEPTH = 500;

/**
 * Parses XML. It expands no entity that the file declares, and opens no other file.
 *
 * @param onElement - is called at the end of each element with this name, which is then not part of the tree
 * @throws {RefusedFile} for XML that is not well-formed, or nested too deeply
 */
export function parseXml(text: string, { name: taken = "", onElement }: TakenElements = {}): XmlElement {
  const root: XmlElement = { name: "", attributes: {}, relation: null, children: [] };
  const open = [root];
  const addText = (part: string): void => {
    open.at(-1)?.children.push(part);
  };
  // The parser has no methods that add a handler.
  const parser = Object.assign(sax.parser(true, { position: false }), {
    onerror: () => {
      throw new RefusedFile("damaged");
    },
    ontext: addText,
    oncdata: addText,
    onopentag: ({ name, attributes }: sax.Tag | sax.QualifiedTag) => {
      if (open.length > MAX_DEPTH) throw new RefusedFile("too-nested");
      open.push(toElement(name, attributes as Record<string, string>));
    },
    onclosetag: () => {
      const element = open.pop();
      if (element === undefined) return;
      if (element.name === taken) onElement?.(element);
      else open.at(-1)?.children.push(element);
    },
  });
  parser.write(text.replace(/^\ufeff/, "")).close();
  return root;
}

interface TakenElements {
  name?: string;
  onElement?: (element: XmlElement) => void;
}

function toElement(name: string, attributes: Record<string, string>): XmlElement {
  const element: XmlElement = { name: localName(name), attributes: {}, relation: null, children: [] };
  for (const [key, value] of Object.entries(attributes)) {
    const local = localName(key);
    if (local !== key && /^(?:id|embed|dm)$/.test(local) && !key.startsWith("w")) element.relation ??= value;
    if (local === key || !Object.hasOwn(element.attributes, local)) element.attributes[local] = value;
  }
  return element;
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** Returns the elements in an element. */
export function elementsOf({ children }: XmlElement): XmlElement[] {
  return children.filter((child) => typeof child !== "string");
}

/** Returns the elements with these names that are in each other, such as the `b` in the `a` of an element. */
export function findAll(element: XmlElement, ...path: string[]): XmlElement[] {
  return path.reduce(
    (found, name) => found.flatMap((each) => elementsOf(each).filter((child) => child.name === name)),
    [element],
  );
}

export function findFirst(element: XmlElement, ...path: string[]): XmlElement | undefined {
  return findAll(element, ...path)[0];
}

/** Yields the elements below an element with a name, but none inside of another one. */
export function* findBelow(element: XmlElement, name: string): Generator<XmlElement, void, undefined> {
  for (const child of elementsOf(element))
    if (child.name === name) yield child;
    else yield* findBelow(child, name);
}

/** Returns all text in an element. */
export function textIn(element: XmlElement): string {
  return element.children.map((child) => (typeof child === "string" ? child : textIn(child))).join("");
}

/** Returns the alternative of several that a program of today shows. */
export function chooseAlternative(element: XmlElement): XmlElement | undefined {
  const [choice] = findAll(element, "Choice").filter(({ children }) => children.length > 0);
  return choice ?? findFirst(element, "Fallback");
}
