import { t } from '../../text/text.ts';

interface Snippet {
  readonly title: string;
  readonly code: string;
}

/** What snippets are written for. */
export interface SnippetRequest {
  readonly graphqlUrl: string;
  readonly socketUrl: string;
  /** Whether this server wants a credential of whoever reads this; a snippet then takes it from KILN_KEY. */
  readonly needsKey: boolean;
  /** Whether they can make one themselves. */
  readonly mayMakeKeys: boolean;
}

/** What every snippet starts. */
export const MUTATION =
  'mutation { generateImage(input: { generator: "union", prompt: "a lighthouse at dawn" }) { id state } }';
const EVENTS = `subscription ($id: ID!, $afterSeq: Int) {
  taskProgress(id: $id, afterSeq: $afterSeq) { seq stage progress task { state outputs { url } } }
}`;

/** The same request in the ways that programs send it, each to be run as it stands. */
export function snippets(asked: SnippetRequest): readonly Snippet[] {
  return [
    { title: 'curl', code: curl(asked) },
    { title: '@kiln/client', code: byClient(asked) },
    { title: 'fetch', code: withFetch(asked) },
    { title: 'Apollo Client', code: apollo(asked) },
    { title: 'urql', code: urql(asked) },
    { title: 'Python', code: python(asked) },
    { title: 'Webhooks', code: webhooks(asked) },
  ];
}

function curl(asked: SnippetRequest): string {
  return `${shellKey(asked)}${post(asked, MUTATION)}`;
}

function byClient(asked: SnippetRequest): string {
  const { graphqlUrl, needsKey } = asked;
  const [source, key] = needsKey
    ? [`import { env } from 'node:process';\n\n// ${keySource(asked)}`, ', key: env.KILN_KEY']
    : ['', ''];
  return `// npm run packages
import { createKiln } from '@kiln/client';
${source}
const kiln = createKiln({ url: '${graphqlUrl.replace(/\/graphql$/, '')}'${key} });
const { id } = await kiln.generate('image', { generator: 'union', prompt: 'a lighthouse at dawn' });
for await (const { state, stage } of kiln.follow(id)) console.log(state, stage);
console.log(await kiln.result(id));`;
}

function withFetch(asked: SnippetRequest): string {
  const { graphqlUrl, needsKey } = asked;
  return `${jsKey(asked)}const response = await fetch('${graphqlUrl}', {
  method: 'POST',
  headers: { 'content-type': 'application/json'${needsKey ? ', authorization' : ''} },
  body: JSON.stringify({ query: \`${MUTATION}\` }),
});
const { data, errors } = await response.json();
console.log(errors ?? data);`;
}

function apollo(asked: SnippetRequest): string {
  const { graphqlUrl, socketUrl, needsKey } = asked;
  const [params, headers] = needsKey
    ? [', connectionParams: { authorization }', ', headers: { authorization }']
    : ['', ''];
  return `// npm install @apollo/client graphql graphql-ws rxjs (Node >= 22)
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';
${needsKey ? '' : '\n'}${jsKey(asked)}const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: ApolloLink.split(
    ({ operationType }) => operationType === 'subscription',
    new GraphQLWsLink(createClient({ url: '${socketUrl}'${params} })),
    new HttpLink({ uri: '${graphqlUrl}'${headers} }),
  ),
});

const { data } = await client.mutate({ mutation: gql\`${MUTATION}\` });
// ${t('snippet.afterSeq')}
const variables = { id: data.generateImage.id, afterSeq: 0 };
client
  .subscribe({ query: gql\`${EVENTS}\`, variables })
  .subscribe(({ data }) => console.log(JSON.stringify(data.taskProgress)));`;
}

function urql(asked: SnippetRequest): string {
  const { graphqlUrl, socketUrl, needsKey } = asked;
  return `// npm install @urql/core graphql graphql-ws (Node >= 22)
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-ws';
${needsKey ? '' : '\n'}${jsKey(asked)}const socket = createClient({ url: '${socketUrl}'${needsKey ? ', connectionParams: { authorization }' : ''} });
const client = new Client({
  url: '${graphqlUrl}',
  preferGetMethod: false,${needsKey ? '\n  fetchOptions: { headers: { authorization } },' : ''}
  exchanges: [
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: (request) => ({
        subscribe: (sink) => ({ unsubscribe: socket.subscribe({ ...request, query: request.query ?? '' }, sink) }),
      }),
    }),
  ],
});

const { data, error } = await client.mutation(\`${MUTATION}\`, {});
if (error) throw error;
// ${t('snippet.afterSeq')}
const variables = { id: data.generateImage.id, afterSeq: 0 };
client
  .subscription(\`${EVENTS}\`, variables)
  .subscribe(({ data }) => data && console.log(JSON.stringify(data.taskProgress)));`;
}

function python({ graphqlUrl, needsKey }: SnippetRequest): string {
  const key = `, "authorization": f"Bearer {os.environ['KILN_KEY']}"`;
  return `import json${needsKey ? ', os' : ''}, urllib.request

body = json.dumps({"query": '''${MUTATION}'''}).encode()
headers = {"content-type": "application/json"${needsKey ? key : ''}}
request = urllib.request.Request("${graphqlUrl}", body, headers)
print(json.load(urllib.request.urlopen(request)))`;
}

/** Where a receiver on the reader's machine listens. */
const RECEIVER = '127.0.0.1:9000';

function webhooks(asked: SnippetRequest): string {
  const isHere = /^(127\.|localhost$|\[::1\]$)/.test(new URL(asked.graphqlUrl).hostname);
  const hook = isHere ? `http://${RECEIVER}/hook` : 'https://example.com/hook';
  const mutation = MUTATION.replace('(input:', `(callbackUrl: "${hook}", input:`);
  return `${isHere ? RECEIVER_TEXT : ''}# ${t('snippet.called')}
${shellKey(asked)}${post(asked, mutation)}

# ${t('snippet.endpoint')}
#   mutation { createWebhookEndpoint(url: "${hook}", eventTypes: ["task.succeeded"]) { secret endpoint { id } } }`;
}

const RECEIVER_TEXT = `# 1. ${t('snippet.receiver')}
node -e "require('http').createServer((request, response) => {
  request.pipe(process.stdout, { end: false });
  request.on('end', () => response.end());
}).listen(${RECEIVER.split(':')[1] ?? ''}, '127.0.0.1')"

# 2. ${t('snippet.allow')}
#   OUTBOUND_ALLOW=${RECEIVER} npm start

# 3. ${t('snippet.then')}
`;

/** Says where a key comes from. */
function shellKey(asked: SnippetRequest): string {
  return asked.needsKey ? `# ${keySource(asked)}\n` : '';
}

function keySource({ mayMakeKeys }: SnippetRequest): string {
  return t(mayMakeKeys ? 'snippet.key' : 'snippet.keyOfOthers');
}

function jsKey(asked: SnippetRequest): string {
  return asked.needsKey
    ? `import { env } from 'node:process';

// ${keySource(asked)}
const authorization = \`Bearer \${env.KILN_KEY}\`;
`
    : '';
}

/** A curl command that sends an operation. */
function post({ graphqlUrl, needsKey }: SnippetRequest, query: string): string {
  return `curl -s ${graphqlUrl} \\
  ${needsKey ? '-H "authorization: Bearer $KILN_KEY" ' : ''}-H 'content-type: application/json' \\
  -d '${JSON.stringify({ query })}'`;
}
