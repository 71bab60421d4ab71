import type { JsonSchema } from '../schemas/openapi-types.ts';
import { exampleValues, type PlacedOperation } from './example.ts';
import { escape } from './html.ts';

/** The form under an operation that sends it from the page. The page's script reads `data-in` and `data-type`. */
export function tryForm(placed: PlacedOperation): string {
  const { method, path, operation } = placed;
  const [[type, content] = ['', undefined]] = Object.entries(operation.requestBody?.content ?? {});
  // A body that is taken as its bytes has a signature, which no page can make.
  if (type === '*/*') return '';
  const examples = exampleValues(placed);
  const parameters = (operation.parameters ?? []).map(({ name, in: place, schema }) =>
    field({ name, place, schema, example: examples.get(name) }),
  );
  const body = Object.entries((content?.schema['properties'] ?? {}) as Record<string, JsonSchema>).map(
    ([name, schema]) => field({ name, place: 'body', schema, example: examples.get(name) }),
  );
  return `<details class="try"><summary>Try it</summary><form data-method="${method}" data-path="${escape(path)}" data-type="${escape(type)}">${[...parameters, ...body].join('')}<button>Send</button> <output></output></form></details>`;
}

interface Field {
  readonly name: string;
  readonly place: string;
  readonly schema: JsonSchema;
  readonly example: string | undefined;
}

function field({ name, place, schema, example }: Field): string {
  const { contentMediaType, type } = schema;
  const isFile = contentMediaType === 'application/octet-stream';
  const value = isFile || example === undefined ? '' : ` value="${escape(example)}"`;
  const kind = typeof type === 'string' ? type : 'string';
  return `<label>${escape(name)} <input name="${escape(name)}" data-in="${escape(place)}" data-type="${escape(kind)}"${isFile ? ' type="file"' : ''}${value}></label>`;
}
