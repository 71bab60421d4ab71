import { startOf } from '@kiln/client';

import { graphqlUrl, serverUrl } from '../api/addresses.ts';
import { kindName } from './kinds.ts';
import { type Choice, makeInput, type Values } from './work.ts';

/** The request of a form as programs write it. */

/** What a program sends. */
interface Request {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Code by the name of its tab: each starts what the form would start. */
export function writePrograms(
  choice: Choice,
  values: Values,
  needsKey: boolean,
): Readonly<Record<string, string>> {
  const request = makeRequest(choice, values);
  return {
    GraphQL: `${request.query}\n\n# variables\n${JSON.stringify(request.variables, null, 2)}`,
    curl: curl(request, needsKey),
    JavaScript: javascript(choice, values, needsKey),
    Python: python(request, needsKey),
  };
}

/** The mutation with the task's id alone in the answer, and its variables. */
function makeRequest(choice: Choice, values: Values): Request {
  const { field, parameters, isWhole } = startOf(kindName(choice.kind));
  const input = makeInput(choice, values);
  const given = parameters.map((one) => one.split(':')).filter(([name = '']) => isWhole || name in input);
  const query = `mutation (${given.map(([name, type]) => `$${name}: ${type}`).join(', ')}) {
  ${field}(${given.map(([name]) => `${name}: $${name}`).join(', ')}) { id state }
}`;
  return { query, variables: isWhole ? { input } : input };
}

/** By Kiln's own client. */
function javascript(choice: Choice, values: Values, needsKey: boolean): string {
  return `// npm run packages
import { createKiln } from '@kiln/client';${needsKey ? "\nimport { env } from 'node:process';" : ''}

const kiln = createKiln({ url: '${serverUrl}'${needsKey ? ', key: env.KILN_KEY' : ''} });
const input = ${JSON.stringify(makeInput(choice, values), null, 2)};
const { id } = await kiln.generate('${kindName(choice.kind)}', input);
for await (const { stage, progress } of kiln.follow(id)) console.log(stage, progress);
console.log(await kiln.result(id));`;
}

/** The Authorization option of a curl command; empty for visitors, who have no key. */
export function keyOption(needsKey: boolean): string {
  return needsKey ? '-H "authorization: Bearer $KILN_KEY" ' : '';
}

function curl({ query, variables }: Request, needsKey: boolean): string {
  const body = JSON.stringify({ query: query.replaceAll(/\s+/g, ' '), variables });
  return `curl -s ${graphqlUrl} \\
  ${keyOption(needsKey)}-H 'content-type: application/json' \\
  -d '${body.replaceAll("'", String.raw`'\''`)}'`;
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
