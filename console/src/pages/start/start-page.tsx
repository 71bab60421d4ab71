import { Tabs } from '@base-ui/react/tabs';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { graphqlUrl, serverUrl, socketUrl } from '../../api/addresses.ts';
import { useCaller } from '../../api/caller.ts';
import { freshAuthorization } from '../../api/session.ts';
import { CopyButton } from '../../parts/buttons.tsx';
import { Code } from '../../parts/code-tabs.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { segmentLook, segmentsLook } from '../../parts/looks/choices.tsx';
import { Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead, Page, PageTop } from '../../parts/looks/panels.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { MUTATION, snippets } from './snippets.ts';

const PAGES = [
  { path: 'explorer', name: t('start.explorer') },
  { path: 'docs', name: t('start.restMedia') },
  { path: 'docs/workflow', name: t('start.restWorkflow') },
  { path: 'openapi.json', name: 'OpenAPI' },
];

/** The same request in the ways that programs send it, with this server's own address, and a way to try it. */
export function StartPage() {
  return (
    <>
      <PageTop>
        <PageHeading>{t('page.start')}</PageHeading>
      </PageTop>
      <Page>
        <p className="text-muted text-14 font-normal">{t('start.text', { url: serverUrl })}</p>
        <TryIt />
        <Snippets />
        <p className="flex items-center min-w-0 flex-wrap gap-3">
          {PAGES.map(({ path, name }) => (
            <a key={path} className="link" href={new URL(path, serverUrl).href}>
              {name}
            </a>
          ))}
        </p>
      </Page>
    </>
  );
}

function Snippets() {
  // Whoever has not signed in and may start work needs no key.
  const caller = useCaller();
  const needsKey = caller?.kind !== 'ANONYMOUS';
  const mayMakeKeys = caller?.mayIssueKeys === true;
  const all = snippets({ graphqlUrl, socketUrl, needsKey, mayMakeKeys });
  const [chosen, choose] = useState('curl');
  const code = all.find(({ title }) => title === chosen)?.code ?? '';
  return (
    <Card>
      <Tabs.Root value={chosen} onValueChange={(next) => choose(String(next))}>
        <header className="flex min-w-0 items-start gap-2 px-4 pt-4">
          <Tabs.List className={`${segmentsLook} min-w-0 flex-wrap`} aria-label={t('start.language')}>
            {all.map(({ title }) => (
              <Tabs.Tab key={title} className={segmentLook} value={title}>
                {title}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <span className="ml-auto">
            <CopyButton text={code} />
          </span>
        </header>
        <Tabs.Panel value={chosen}>
          <Code>{code}</Code>
        </Tabs.Panel>
      </Tabs.Root>
    </Card>
  );
}

interface Answer {
  readonly text: string;
  /** The task that was started; null when the server refused. */
  readonly task: string | null;
}

/** Sends the request of the snippets from this page, as it would be sent by a program. */
function TryIt() {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isSending, setIsSending] = useState(false);
  const run = () => {
    setIsSending(true);
    setError(null);
    send()
      .then(setAnswer, setError)
      .finally(() => setIsSending(false));
  };
  return (
    <Card>
      <CardHead title={t('start.try')}>
        <Button kind="primary" className="ml-auto" disabled={isSending} onClick={run}>
          {t(isSending ? 'start.trying' : 'start.send')}
        </Button>
      </CardHead>
      <div className="p-4 flex flex-col gap-2 min-w-0">
        <p className="text-muted">{t('start.tryText')}</p>
        <pre className="whitespace-pre-wrap">{MUTATION}</pre>
        {error !== null && <Problem error={error} />}
        {answer !== null && (
          <div role="status" className="flex flex-col gap-2 min-w-0">
            <Small as="p">{t('start.answer')}</Small>
            <pre tabIndex={0}>{answer.text}</pre>
            {answer.task !== null && (
              <Link className="link" to="/tasks/$id" params={{ id: answer.task }}>
                {t('start.openTask')}
              </Link>
            )}
          </div>
        )}
      </div>
    </Card>
  );
}

async function send(): Promise<Answer> {
  const authorization = await freshAuthorization();
  const response = await fetch(graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization === null ? {} : { authorization }) },
    body: JSON.stringify({ query: MUTATION }),
  });
  const body = (await response.json()) as {
    readonly data?: { readonly generateImage?: { readonly id: string } | null } | null;
  };
  return { text: JSON.stringify(body, null, 2), task: body.data?.generateImage?.id ?? null };
}
