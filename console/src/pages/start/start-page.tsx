import { Tabs } from '@base-ui/react/tabs';
import { useState } from 'react';

import { graphqlUrl, serverUrl, socketUrl } from '../../api/addresses.ts';
import { useCaller } from '../../api/use-caller.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { t } from '../../text/text.ts';
import { snippets } from './snippets.ts';
import { TryIt } from './try-it.tsx';

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
      <header className="top">
        <h1>{t('page.start')}</h1>
      </header>
      <div className="page">
        <p className="c14 mute">{t('start.text', { url: serverUrl })}</p>
        <TryIt />
        <Snippets />
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

function Snippets() {
  // Whoever has not signed in and may start work needs no key.
  const caller = useCaller();
  const needsKey = caller?.kind !== 'ANONYMOUS';
  const mayMakeKeys = caller?.mayIssueKeys === true;
  const all = snippets({ graphqlUrl, socketUrl, needsKey, mayMakeKeys });
  const [chosen, choose] = useState('curl');
  const code = all.find(({ title }) => title === chosen)?.code ?? '';
  return (
    <section className="card">
      <Tabs.Root value={chosen} onValueChange={(next) => choose(String(next))}>
        <header className="row wrap pad">
          <Tabs.List className="seg code-tabs-wide" aria-label={t('start.language')}>
            {all.map(({ title }) => (
              <Tabs.Tab key={title} value={title}>
                {title}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <span className="push">
            <CopyButton text={code} />
          </span>
        </header>
        <Tabs.Panel value={chosen}>
          <pre className="code" tabIndex={0}>
            {code}
          </pre>
        </Tabs.Panel>
      </Tabs.Root>
    </section>
  );
}
