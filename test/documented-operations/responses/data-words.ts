/**
 * The data of the workflow service's answers in the documents' words: `id result{videoUrl} tags[] payments[{id,status}]
 * total:int`. `(no data)` is an answer without data, `(string: ...)` one whose data is a text.
 */
type Shape = ReadonlyMap<string, Member>;

interface Member {
  readonly isList: boolean;
  /** Members of the object, or of each object of the list; null when it is none. */
  readonly shape: Shape | null;
}

const token = /[A-Za-z]\w*(?::\w+)?|[{}[\],\s]/y;

function parse(words: string): Shape {
  const tokens = words.match(new RegExp(token, 'g'))?.filter((one) => !/[,\s]/.test(one)) ?? [];
  let at = 0;
  const readShape = (): Shape => {
    const members = new Map<string, Member>();
    while (at < tokens.length && tokens[at] !== '}') {
      const [name = ''] = (tokens[at] ?? '').split(':');
      at += 1;
      members.set(name, readMember());
    }
    return members;
  };
  const readMember = (): Member => {
    const isList = tokens[at] === '[';
    if (isList) at += 1;
    const isObject = tokens[at] === '{';
    if (isObject) at += 1;
    const shape = isObject ? readShape() : null;
    if (isObject) at += 1;
    if (isList) at += 1;
    return { isList, shape };
  };
  return readShape();
}

/** What the data of an answer lacks of what is documented, in words: absent keys, lists that are none. */
export function lacking(words: string, data: unknown): readonly string[] {
  if (words === '(no data)') return data === undefined ? [] : ['there is data'];
  if (words.startsWith('(string')) return typeof data === 'string' ? [] : ['data is no text'];
  return findLacking(parse(words), data, 'data');
}

function findLacking(shape: Shape, data: unknown, place: string): readonly string[] {
  if (typeof data !== 'object' || data === null) return [`${place} is no object`];
  return [...shape].flatMap(([name, { isList, shape: inner }]) => {
    if (!Object.hasOwn(data, name)) return [`${place}.${name} is not there`];
    const value = (data as Readonly<Record<string, unknown>>)[name];
    if (isList && !Array.isArray(value)) return [`${place}.${name} is no list`];
    if (inner === null || value === null) return [];
    const objects = isList ? (value as readonly unknown[]) : [value];
    return objects.flatMap((one) => findLacking(inner, one, `${place}.${name}`));
  });
}
