import { graphqlUrl, socketUrl } from '../../api/addresses.ts';

/** A request as a program writes it. */
interface Snippet {
  readonly title: string;
  readonly code: string;
}

/** What every snippet starts. */
export const MUTATION =
  'mutation { generateImage(input: { generator: "union", prompt: "a lighthouse at dawn" }) { id state } }';
const EVENTS =
  'subscription ($id: ID!) { taskProgress(id: $id) { seq stage progress task { state outputs { url } } } }';

/** The same request in the ways that programs send it, with this server's own addresses. */
export function snippets(): readonly Snippet[] {
  return [
    { title: 'curl', code: curl() },
    { title: 'fetch', code: withFetch() },
    { title: 'Apollo Client', code: apollo() },
    { title: 'urql', code: urql() },
    { title: 'Python', code: python() },
    { title: 'Webhooks', code: webhooks() },
  ];
}

function curl(): string {
  return `# A key, where this server wants one: people and keys, "Make a key".
curl -s ${graphqlUrl} \\
  -H "authorization: Bearer $KILN_KEY" -H 'content-type: application/json' \\
  -d '${JSON.stringify({ query: MUTATION })}'`;
}

function withFetch(): string {
  return `const response = await fetch('${graphqlUrl}', {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: \`Bearer \${key}\` },
  body: JSON.stringify({ query: \`${MUTATION}\` }),
});
const { data, errors } = await response.json();`;
}

function apollo(): string {
  return `import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';

const headers = { authorization: \`Bearer \${key}\` };
const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: ApolloLink.split(
    ({ operationType }) => operationType === 'subscription',
    // Replays what a lost connection has missed: give afterSeq the last seq that was seen.
    new GraphQLWsLink(createClient({ url: '${socketUrl}', connectionParams: headers })),
    new HttpLink({ uri: '${graphqlUrl}', headers }),
  ),
});

const { data } = await client.mutate({ mutation: gql\`${MUTATION}\` });
client
  .subscribe({ query: gql\`${EVENTS}\`, variables: { id: data.generateImage.id } })
  .subscribe(({ data }) => console.log(data.taskProgress));`;
}

function urql(): string {
  return `import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient } from 'graphql-ws';

const socket = createClient({ url: '${socketUrl}', connectionParams: { authorization: \`Bearer \${key}\` } });
const client = new Client({
  url: '${graphqlUrl}',
  fetchOptions: { headers: { authorization: \`Bearer \${key}\` } },
  exchanges: [
    fetchExchange,
    subscriptionExchange({
      forwardSubscription: (request) => ({
        subscribe: (sink) => ({ unsubscribe: socket.subscribe({ ...request, query: request.query ?? '' }, sink) }),
      }),
    }),
  ],
});

const { data, error } = await client.mutation(\`${MUTATION}\`, {});`;
}

function python(): string {
  return `import json, os, urllib.request

body = json.dumps({"query": '''${MUTATION}'''}).encode()
headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ['KILN_KEY']}"}
request = urllib.request.Request("${graphqlUrl}", body, headers)
print(json.load(urllib.request.urlopen(request)))`;
}

function webhooks(): string {
  return `# Called once the task has ended. Answer 2xx, else it is sent again; each delivery can be repeated on the task's page.
curl -s ${graphqlUrl} \\
  -H "authorization: Bearer $KILN_KEY" -H 'content-type: application/json' \\
  -d '${JSON.stringify({
    query:
      'mutation { generateImage(callbackUrl: "https://example.com/hook", input: { generator: "union", prompt: "a lighthouse at dawn" }) { id } }',
  })}'

# An endpoint of the operator's own hears of all tasks, each delivery signed with its secret:
#   mutation { createWebhookEndpoint(url: "https://example.com/all", eventTypes: ["task.succeeded"]) { secret endpoint { id } } }`;
}
