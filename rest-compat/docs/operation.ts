import type { JsonSchema, OpenApiOperation, OpenApiResponse } from '../schemas/openapi-types.ts';
import { exampleOf, type PlacedOperation } from './example.ts';
import { code, escape } from './html.ts';
import { kindOf, limitsOf, notation } from './schema.ts';

/** One operation for people: what it takes, how it is called, what it answers. */

/** Method and path, as headings and the table of contents have them. */
export function titleOf({ method, path }: PlacedOperation): string {
  return `<span class="method ${method.toLowerCase()}">${method}</span> ${code(path)}`;
}

/** The whole of it. */
export function describeOperation(placed: PlacedOperation, baseUrl: string): string {
  const { operation } = placed;
  const marks = [
    ...(operation.deprecated === true ? ['<strong class="old">deprecated</strong>'] : []),
    ...(operation['x-extension'] === true ? ['<strong class="ours">added by Kiln</strong>'] : []),
  ];
  return `<article id="${escape(operation.operationId)}"><h3>${titleOf(placed)} ${marks.join(' ')}</h3>
${operation.summary === undefined ? '' : `<p>${escape(operation.summary)}</p>`}${inputsOf(operation)}<h4>Example</h4><pre tabindex="0">${escape(exampleOf(placed, baseUrl))}</pre>${answersOf(operation)}</article>`;
}

interface Input {
  readonly name: string;
  readonly place: string;
  readonly schema: JsonSchema;
  /** In words. */
  readonly needed: string;
  readonly description?: string | undefined;
}

function inputsOf(operation: OpenApiOperation): string {
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

/** Whether a field of a body is needed, or one of a group that it is in. */
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
  const told = [...limitsOf(schema), ...(description === undefined ? [] : [description])];
  const cells = [
    escape(place),
    escape(kindOf(schema)),
    escape(needed),
    standard === undefined ? '' : code(typeof standard === 'string' ? standard : JSON.stringify(standard)),
    escape(told.join('; ')),
  ];
  return `<tr><th scope="row">${code(name)}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

/** What the interface description tells; the answers that every operation may have are told once, at the end. */
function answersOf({ responses }: OpenApiOperation): string {
  const own = Object.entries(responses).flatMap(([status, response]) =>
    '$ref' in response ? [] : [answer(status, response)],
  );
  const shared = Object.entries(responses).flatMap(([status, response]) =>
    '$ref' in response ? [`<a href="#answer-${escape(nameIn(response.$ref))}">${status}</a>`] : [],
  );
  return `<h4>Answers</h4><ul>${own.join('')}<li class="dim">as everywhere: ${shared.join(', ')}</li></ul>`;
}

function answer(status: string, response: OpenApiResponse): string {
  const schema = response.content?.['application/json']?.schema;
  return `<li>${status}: ${schema === undefined ? '' : linkedNotation(notation(schema))}</li>`;
}

function nameIn(reference: string): string {
  return reference.split('/').at(-1) ?? '';
}

/** A notation, with links to the forms that it names. */
export function linkedNotation(text: string): string {
  return code(text).replaceAll(
    /(?<![\w&;"])[A-Z][A-Za-z]+(?![\w"(])/g,
    (name) => `<a href="#form-${name}">${name}</a>`,
  );
}
