import { useQuery } from '@apollo/client/react';
import { Tabs } from '@base-ui/react/tabs';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

import { ModelsDocument } from '../../api/operations.ts';
import { Icon } from '../../parts/icons.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { type Batch, useBatches } from '../../work/batches.ts';
import { type Draft, draftOf, setDraft } from '../../work/drafts.ts';
import { type Choice, choicesOf, type Model, type Tab, tabOf, TABS, type Values } from '../../work/work.ts';
import { BatchView } from './canvas/batch.tsx';
import { Welcome } from './canvas/welcome.tsx';
import { Chat } from './chat/chat.tsx';
import { StudioForm } from './studio-form.tsx';
import { useSubmission } from './use-studio.ts';

/** The Studio: a kind of work, a form of what its model takes, and everything that this browser has made. */
export function StudioPage() {
  const { kind: tab = 'image' } = useSearch({ from: '/' });
  const navigate = useNavigate({ from: '/' });
  const { data, error } = useQuery(ModelsDocument);
  const models = data?.models;
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
        {models && tab !== 'chat' && <Workbench key={tab} tab={tab} models={models} />}
      </Tabs.Panel>
    </Tabs.Root>
  );
}

function Workbench({ tab, models }: { readonly tab: Tab; readonly models: readonly Model[] }) {
  const navigate = useNavigate({ from: '/' });
  const choices = choicesOf(tab, models);
  const [draft, showDraft] = useState<Draft>(
    () => draftOf(tab) ?? { key: choices[0]?.key ?? '', values: {} },
  );
  const submission = useSubmission();
  const choice = choices.find(({ key }) => key === draft.key) ?? choices[0];
  const keep = (next: Draft) => {
    setDraft(tab, next);
    showDraft(next);
    submission.reset();
  };
  const recall = (batch: Batch) => {
    const next = { key: `${batch.kind} ${batch.generator} ${batch.model}`, values: batch.values };
    const target = tabOf(batch.kind);
    if (target === tab) return keep(next);
    setDraft(target, next);
    void navigate({ search: { kind: target } });
  };
  const again = (batch: Batch) => {
    const same = choicesOf(tabOf(batch.kind), models).find(
      ({ kind, model }) =>
        kind === batch.kind && model.model === batch.model && model.generator === batch.generator,
    );
    if (same !== undefined) void submission.submit(same, batch.values);
  };
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
        onRemix={recall}
        onAgain={again}
        onIdea={tab === 'image' ? (values) => keep({ key: choice.key, values }) : undefined}
      />
    </>
  );
}

interface CanvasProps {
  readonly onRemix: (batch: Batch) => void;
  readonly onAgain: (batch: Batch) => void;
  readonly onIdea: ((values: Values) => void) | undefined;
}

const SHOWN = 20;

function Canvas({ onRemix, onAgain, onIdea }: CanvasProps) {
  const batches = useBatches();
  return (
    <div className="canvas">
      {batches.length === 0 &&
        (onIdea === undefined ? <Empty title={t('studio.nothing')} /> : <Welcome onIdea={onIdea} />)}
      {batches.slice(0, SHOWN).map((batch) => (
        <BatchView key={batch.id} batch={batch} onRemix={onRemix} onAgain={onAgain} />
      ))}
    </div>
  );
}
