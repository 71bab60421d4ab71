import type { JsonSchema, OpenApiOperation, OpenApiResponse } from '../schemas/openapi-types.ts';
import { buildExample, exampleValues, type PlacedOperation } from './example.ts';
import { code, escape } from './html.ts';
import { limitTexts, notation, typeName } from './schema.ts';

/** One operation on a page: its inputs, an example and its responses. */

/** Method and path, for headings and the table of contents. */
export function toTitle({ method, path }: PlacedOperation): string {
  return `<span class="method ${method.toLowerCase()}">${method}</span> ${code(path)}`;
}

/** The article about an operation. */
export function describeOperation(placed: PlacedOperation, baseUrl: string): string {
  const { operation } = placed;
  const marks = [
    ...(operation.deprecated === true ? ['<strong class="old">deprecated</strong>'] : []),
    ...(operation['x-extension'] === true ? ['<strong class="ours">added by Kiln</strong>'] : []),
  ];
  return `<article id="${escape(operation.operationId)}"><h3>${toTitle(placed)} ${marks.join(' ')}</h3>
${operation.summary === undefined ? '' : `<p>${escape(operation.summary)}</p>`}${renderInputs(operation)}<h4>Example</h4><pre tabindex="0">${escape(buildExample(placed, baseUrl))}</pre>${tryForm(placed)}${responseList(operation)}</article>`;
}

interface Input {
  readonly name: string;
  readonly place: string;
  readonly schema: JsonSchema;
  /** `yes`, `no` or the group of alternatives that it is in. */
  readonly needed: string;
  readonly description?: string | undefined;
}

function renderInputs(operation: OpenApiOperation): string {
  const inputs: readonly Input[] = [
    ...(operation.parameters ?? []).map(({ name, in: place, required, schema, description }) => ({
      name,
      place,
      schema,
      needed: required ? 'yes' : 'no',
      description,
    })),
    ...bodyInputs(operation),
  ];
  const raw =
    operation.requestBody?.content['*/*'] === undefined ? '' : '<p>The body is taken as its bytes.</p>';
  if (inputs.length === 0) return raw === '' ? '<p class="dim">No inputs.</p>' : raw;
  const heads = ['name', 'in', 'type', 'required', 'default', 'limits'].map(
    (head) => `<th scope="col">${head}</th>`,
  );
  return `${raw}<div class="wide" tabindex="0" role="region" aria-label="Inputs"><table><caption>Inputs</caption><thead><tr>${heads.join('')}</tr></thead>
<tbody>${inputs.map(row).join('')}</tbody></table></div>`;
}

function bodyInputs({ requestBody }: OpenApiOperation): readonly Input[] {
  return Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) =>
    Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>).map(([name, field]) => ({
      name,
      place: type,
      schema: field,
      needed: requiredText(name, schema),
    })),
  );
}

/** Whether a field of a body is required, or one of a group of alternatives. */
function requiredText(name: string, { required, allOf }: JsonSchema): string {
  if (((required ?? []) as readonly string[]).includes(name)) return 'yes';
  const groups = (allOf ?? []) as readonly { anyOf: readonly { required: readonly string[] }[] }[];
  const group = groups
    .map(({ anyOf }) => anyOf.flatMap((one) => one.required))
    .find((names) => names.includes(name));
  return group === undefined ? 'no' : `one of ${group.join(', ')}`;
}

function row({ name, place, schema, needed, description }: Input): string {
  const { default: standard } = schema;
  const limits = [...limitTexts(schema), ...(description === undefined ? [] : [description])];
  const cells = [
    escape(place),
    escape(typeName(schema)),
    escape(needed),
    standard === undefined ? '' : code(typeof standard === 'string' ? standard : JSON.stringify(standard)),
    escape(limits.join('; ')),
  ];
  return `<tr><th scope="row">${code(name)}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

/** The operation's own responses; those that every operation shares are described at the end of the page. */
function responseList({ responses }: OpenApiOperation): string {
  const own = Object.entries(responses).flatMap(([status, response]) =>
    '$ref' in response ? [] : [responseItem(status, response)],
  );
  const shared = Object.entries(responses).flatMap(([status, response]) =>
    '$ref' in response ? [`<a href="#response-${escape(nameIn(response.$ref))}">${status}</a>`] : [],
  );
  return `<h4>Responses</h4><ul>${own.join('')}<li class="dim">and those of every operation: ${shared.join(', ')}</li></ul>`;
}

function responseItem(status: string, response: OpenApiResponse): string {
  const schema = response.content?.['application/json']?.schema;
  return `<li>${status}: ${schema === undefined ? '' : linkedNotation(notation(schema))}</li>`;
}

function nameIn(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

/** A notation with links to the schemas that it names. */
export function linkedNotation(text: string): string {
  return code(text).replaceAll(
    /(?<![\w&;"])[A-Z][A-Za-z]+(?![\w"(])/g,
    (name) => `<a href="#schema-${name}">${name}</a>`,
  );
}

/** The form under an operation that sends it from the page. The page's script reads `data-in` and `data-type`. */
function tryForm(placed: PlacedOperation): string {
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
