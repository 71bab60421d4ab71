import { useQuery } from '@apollo/client/react';
import { Tabs } from '@base-ui/react/tabs';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';

import { ModelsDocument } from '../../api/operations.ts';
import { isBusy } from '../../parts/controls/keys.ts';
import { Icon } from '../../parts/icons.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { type Tab, TABS } from '../../work/work.ts';
import { Chat } from './chat/chat.tsx';
import { Workbench } from './workbench.tsx';

const Templates = lazy(async () => ({ default: (await import('./templates.tsx')).Templates }));

/** The Studio: a kind of work, a form of what its model takes, and everything that this browser has made. */
export function StudioPage() {
  const { kind: tab = 'image' } = useSearch({ from: '/' });
  const navigate = useNavigate({ from: '/' });
  const { data, error } = useQuery(ModelsDocument);
  const models = data?.models;
  useKindKeys((next) => void navigate({ search: { kind: next } }));
  return (
    <Tabs.Root
      className="studio-page"
      value={tab}
      onValueChange={(next) => void navigate({ search: { kind: next as Tab } })}
    >
      <header className="top">
        <h1 className="vh">{t('page.studio')}</h1>
        <Tabs.List className="kinds" aria-label={t('studio.kind')}>
          {TABS.map(({ tab: one, icon }) => (
            <Tabs.Tab key={one} value={one}>
              <Icon name={icon} />
              {t(`tab.${one}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </header>
      <Tabs.Panel value={tab} className="studio" tabIndex={-1}>
        {error !== undefined && <Problem error={error} />}
        {models && tab === 'chat' && <Chat models={models} />}
        {models && tab === 'templates' && (
          <Suspense>
            <Templates models={models} />
          </Suspense>
        )}
        {models && tab !== 'chat' && tab !== 'templates' && <Workbench key={tab} tab={tab} models={models} />}
      </Tabs.Panel>
    </Tabs.Root>
  );
}

/** 1 to 9 choose the kind of work, while nobody types. */
function useKindKeys(choose: (tab: Tab) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const tab = TABS[Number(event.key) - 1]?.tab;
      if (tab === undefined || isBusy(event)) return;
      event.preventDefault();
      choose(tab);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}
