/** An XML element, for XMP. */
export interface XmlElement {
  /** With its prefix: `mwg-rs:Regions`. */
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The text directly in it, entities replaced. */
  readonly text: string;
}

interface OpenElement extends XmlElement {
  readonly children: XmlElement[];
  text: string;
}

/** Limits of the parser; the rest of a larger text is ignored. */
const MOST_CHARACTERS = 1_000_000;
const MOST_ELEMENTS = 20_000;
const DEEPEST = 64;

/** Comments, CDATA and the like are skipped; an unclosed one ends the parsing, so that a hostile text is not searched repeatedly. */
const ASIDES = [
  { start: '<!--', end: '-->', isText: false },
  { start: '<![CDATA[', end: ']]>', isText: true },
  { start: '<!', end: '>', isText: false },
  { start: '<?', end: '?>', isText: false },
] as const;
const TAG =
  /<(?<end>\/)?(?<name>[\w:.-]+)(?![\w:.-])(?<attributes>[^>"']*(?:"[^"]*"[^>"']*|'[^']*'[^>"']*)*)>/y;
const ATTRIBUTE = /(?<![\w:.-])(?<name>[\w:.-]+)\s*=\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)')/g;

/** Parses XML leniently: unmatched end tags are ignored, open elements end with the text. */
export function readXml(xml: string): XmlElement {
  const text = xml.slice(0, MOST_CHARACTERS);
  const root = emptyElement('', new Map());
  const open: OpenElement[] = [root];
  let elements = 0;
  for (let at = 0; at >= 0 && at < text.length && elements < MOST_ELEMENTS;) {
    const inner = open.at(-1) ?? root;
    const next = text.indexOf('<', at);
    inner.text += unescapeXml(text.slice(at, next < 0 ? text.length : next));
    if (next < 0) break;
    const aside = ASIDES.find(({ start }) => text.startsWith(start, next));
    if (aside === undefined) {
      elements += 1;
      at = readTag(text, next, open);
      continue;
    }
    const end = text.indexOf(aside.end, next + aside.start.length);
    if (end < 0) break;
    if (aside.isText) inner.text += text.slice(next + aside.start.length, end);
    at = end + aside.end.length;
  }
  return root;
}

/** Parses the tag that starts here; returns its end, or -1 when it is none. */
function readTag(text: string, start: number, open: OpenElement[]): number {
  TAG.lastIndex = start;
  const match = TAG.exec(text);
  if (match === null) return -1;
  const { name = '', end, attributes = '' } = match.groups ?? {};
  if (end !== undefined) close(open, name);
  else if (open.length <= DEEPEST) {
    const element = emptyElement(name, attributesIn(attributes));
    open.at(-1)?.children.push(element);
    if (!attributes.endsWith('/')) open.push(element);
  }
  return start + match[0].length;
}

function emptyElement(name: string, attributes: ReadonlyMap<string, string>): OpenElement {
  return { name, attributes, children: [], text: '' };
}

function close(open: OpenElement[], name: string): void {
  const at = open.findLastIndex((element) => element.name === name);
  if (at > 0) open.length = at;
}

function attributesIn(text: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const { groups = {} } of text.matchAll(ATTRIBUTE)) {
    attributes.set(groups['name'] ?? '', unescapeXml(groups['double'] ?? groups['single'] ?? ''));
  }
  return attributes;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
const LAST_CHARACTER = 0x10_ff_ff;

/** Text with XML's own entities and numbered characters replaced. */
export function unescapeXml(text: string): string {
  return text.replaceAll(
    /&(?:(lt|gt|quot|apos|amp)|#(\d{1,7})|#x([\da-f]{1,6}));/gi,
    (all, name?: string, decimal?: string, hex?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? all;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code <= LAST_CHARACTER ? String.fromCodePoint(code) : all;
    },
  );
}

/** Every element of this name below, at any depth. */
export function elementsNamed(within: XmlElement, name: string): XmlElement[] {
  return within.children.flatMap((child) => [
    ...(child.name === name ? [child] : []),
    ...elementsNamed(child, name),
  ]);
}

/** A property of an XMP structure, which may be written as an attribute or as an element, with rdf:Description between. */
export function readProperty(structure: XmlElement, name: string): string | null {
  const places = [structure, ...structure.children.filter((child) => child.name === 'rdf:Description')];
  for (const place of places) {
    const value = place.attributes.get(name) ?? place.children.find((child) => child.name === name)?.text;
    if (value !== undefined) return value.trim();
  }
  return null;
}
