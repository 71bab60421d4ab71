type Node = Map<string, Node | string>;

/** What a form stands for whose names say where a value is, as Stripe's do: `items[0][price]=x`. */
export function nested(form: URLSearchParams): unknown {
  const root: Node = new Map();
  for (const [name, value] of form) {
    const path = name.split(/\[|\]\[|\]/).filter((part) => part !== '');
    put(root, path, value);
  }
  return plain(root);
}

function put(node: Node, [name = '', ...rest]: readonly string[], value: string): void {
  if (rest.length === 0) return void node.set(name, value);
  const known = node.get(name);
  const inner: Node = known instanceof Map ? known : new Map();
  node.set(name, inner);
  put(inner, rest, value);
}

/** Members that are numbered from 0 are a list. */
function plain(node: Node | string): unknown {
  if (typeof node === 'string') return node;
  const names = [...node.keys()];
  const values = [...node.values()].map(plain);
  const isList = names.length > 0 && names.every((name, at) => name === String(at));
  return isList ? values : Object.fromEntries(names.map((name, at) => [name, values[at]]));
}
