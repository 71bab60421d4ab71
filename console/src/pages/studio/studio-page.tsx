import { useQuery } from '@apollo/client/react';
import { Tabs } from '@base-ui/react/tabs';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';

import { ModelsDocument } from '../../api/operations.ts';
import { isBusy } from '../../parts/controls/keys.ts';
import { Icon } from '../../parts/icons.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { type Draft, draftOf, setDraft } from '../../work/drafts.ts';
import { hasEnded } from '../../work/ending.ts';
import { type Choice, choicesOf, type Model, type Tab, TABS } from '../../work/work.ts';
import { Canvas } from './canvas/canvas.tsx';
import { Chat } from './chat/chat.tsx';
import { StudioForm } from './studio-form.tsx';
import { useActions } from './use-actions.ts';
import { useSubmission } from './use-studio.ts';

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

/** The form of one tab beside everything that was made. */
function Workbench({ tab, models }: { readonly tab: Tab; readonly models: readonly Model[] }) {
  const choices = choicesOf(tab, models);
  const first = choices.find(({ model }) => !hasEnded(model)) ?? choices[0];
  const [draft, showDraft] = useState<Draft>(() => draftOf(tab) ?? { key: first?.key ?? '', values: {} });
  const submission = useSubmission();
  const choice = choices.find(({ key }) => key === draft.key) ?? first;
  const keep = (next: Draft) => {
    setDraft(tab, next);
    showDraft(next);
    submission.reset();
  };
  const { remix, again, vary, useAsInput } = useActions(tab, models, submission, keep);
  if (choice === undefined) return <Empty title={t('studio.noModels')} text={t('studio.noModelsText')} />;
  return (
    <>
      <StudioForm
        choices={choices}
        choice={choice}
        values={draft.values}
        submission={submission}
        onChoose={(next: Choice) => keep({ ...draft, key: next.key })}
        onChange={(member, value) => keep({ key: choice.key, values: { ...draft.values, [member]: value } })}
        onSubmit={() => void submission.submit(choice, draft.values)}
      />
      <Canvas
        onRemix={remix}
        onAgain={again}
        onVary={vary}
        onInput={useAsInput}
        onIdea={tab === 'image' ? (values) => keep({ key: choice.key, values }) : undefined}
      />
    </>
  );
}
