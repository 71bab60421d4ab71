import { serverUrl } from '../../api/addresses.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { t } from '../../text/text.ts';

/** The same request in the ways that programs send it, with this server's own address. */
export function StartPage() {
  return (
    <>
      <header className="top">
        <h1>{t('page.start')}</h1>
      </header>
      <div className="page">
        <p className="c14 mute">{t('start.text', { url: serverUrl })}</p>
        {snippets().map(({ title, code }) => (
          <section key={title} className="card">
            <header>
              <h2>{title}</h2>
              <span className="push">
                <CopyButton text={code} />
              </span>
            </header>
            <pre className="code" tabIndex={0}>
              {code}
            </pre>
          </section>
        ))}
        <p className="row wrap gap3">
          {PAGES.map(({ path, name }) => (
            <a key={path} className="link" href={new URL(path, serverUrl).href}>
              {name}
            </a>
          ))}
        </p>
      </div>
    </>
  );
}

const PAGES = [
  { path: 'explorer', name: 'GraphQL explorer' },
  { path: 'docs', name: 'REST: media' },
  { path: 'docs/workflow', name: 'REST: workflow' },
  { path: 'openapi.json', name: 'OpenAPI' },
];

function snippets(): readonly { readonly title: string; readonly code: string }[] {
  const graphql = new URL('graphql', serverUrl).href;
  const socket = graphql.replace(/^http/, 'ws');
  const mutation =
    'mutation { generateImage(input: { generator: "union", prompt: "a lighthouse at dawn" }) { id } }';
  return [
    {
      title: 'curl',
      code: `curl -s ${graphql} -H 'content-type: application/json' \\\n  -d '${JSON.stringify({ query: mutation })}'`,
    },
    {
      title: 'fetch',
      code: `const response = await fetch('${graphql}', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ query: \`${mutation}\` }),
});
const { data, errors } = await response.json();`,
    },
    {
      title: 'graphql-ws',
      code: `import { createClient } from 'graphql-ws';

const client = createClient({ url: '${socket}' });
const events = client.iterate({
  query: 'subscription ($id: ID!) { taskProgress(id: $id) { seq stage progress task { outputs { url } } } }',
  variables: { id: data.generateImage.id },
});
for await (const event of events) console.log(event.data.taskProgress);`,
    },
    {
      title: 'Python',
      code: `import json, urllib.request

body = json.dumps({"query": '''${mutation}'''}).encode()
request = urllib.request.Request("${graphql}", body, {"content-type": "application/json"})
print(json.load(urllib.request.urlopen(request)))`,
    },
  ];
}
