import { graphqlUrl, serverUrl } from '../api/addresses.ts';
import { type Choice, operationOf, type Values } from './work.ts';

/** The request of a form as programs write it. */

/** What a program sends. */
interface Request {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Code by the name of its tab: each starts what the form would start. */
export function programsOf(
  choice: Choice,
  values: Values,
  needsKey: boolean,
): Readonly<Record<string, string>> {
  const request = requestOf(choice, values);
  return {
    GraphQL: `${request.query}\n\n# variables\n${JSON.stringify(request.variables, null, 2)}`,
    curl: curl(request, needsKey),
    JavaScript: javascript(request, needsKey),
    Python: python(request, needsKey),
  };
}

/** As much of a mutation's document as is written here; its kinds are an enum elsewhere. */
interface Mutation {
  readonly variableDefinitions: readonly { readonly variable: Named; readonly type: Type }[];
  readonly selectionSet: {
    readonly selections: readonly (Named & {
      readonly arguments: readonly (Named & { readonly value: Named })[];
    })[];
  };
}

interface Named {
  readonly name: { readonly value: string };
}

interface Type {
  readonly kind: string;
  readonly name?: { readonly value: string };
  readonly type?: Type;
}

/** The mutation with the task's id alone in the answer, and its variables. */
function requestOf(choice: Choice, values: Values): Request {
  const { document, variables } = operationOf(choice, values);
  const [mutation] = document.definitions as unknown as readonly Mutation[];
  const field = mutation?.selectionSet.selections[0];
  if (mutation === undefined || field === undefined) return { query: '', variables };
  const types = mutation.variableDefinitions
    .filter(({ variable }) => variable.name.value !== 'key')
    .map(({ variable, type }) => `$${variable.name.value}: ${typeText(type)}`);
  const given = field.arguments
    .filter(({ value }) => value.name.value !== 'key')
    .map(({ name, value }) => `${name.value}: $${value.name.value}`);
  const query = `mutation (${types.join(', ')}) {
  ${field.name.value}(${given.join(', ')}) { id state }
}`;
  return { query, variables };
}

function typeText({ kind, name, type }: Type): string {
  if (type === undefined) return name?.value ?? '';
  return kind === 'NonNullType' ? `${typeText(type)}!` : `[${typeText(type)}]`;
}

function curl({ query, variables }: Request, needsKey: boolean): string {
  const body = JSON.stringify({ query: query.replaceAll(/\s+/g, ' '), variables });
  const key = needsKey ? '-H "authorization: Bearer $KILN_KEY" ' : '';
  return `curl -s ${graphqlUrl} \\
  ${key}-H 'content-type: application/json' \\
  -d '${body.replaceAll("'", String.raw`'\''`)}'`;
}

function javascript({ query, variables }: Request, needsKey: boolean): string {
  const key = needsKey ? ', authorization: `Bearer ${env.KILN_KEY}`' : '';
  return `${needsKey ? "import { env } from 'node:process';\n\n" : ''}const query = \`${query}\`;
const variables = ${JSON.stringify(variables, null, 2)};
const response = await fetch('${graphqlUrl}', {
  method: 'POST',
  headers: { 'content-type': 'application/json'${key} },
  body: JSON.stringify({ query, variables }),
});
console.log(await response.json());`;
}

function python({ query, variables }: Request, needsKey: boolean): string {
  const key = needsKey ? `, "authorization": f"Bearer {os.environ['KILN_KEY']}"` : '';
  return `import json${needsKey ? ', os' : ''}, urllib.request

query = """${query}"""
variables = json.loads(r"""${JSON.stringify(variables, null, 2).replaceAll('"""', String.raw`\u0022""`)}""")
body = json.dumps({"query": query, "variables": variables}).encode()
headers = {"content-type": "application/json"${key}}
print(json.load(urllib.request.urlopen(urllib.request.Request("${graphqlUrl}", body, headers))))`;
}

/** The REST address that tells how a task is. */
export function statusUrl(id: string): string {
  return new URL(`api/task/status/${id}`, serverUrl).href;
}
