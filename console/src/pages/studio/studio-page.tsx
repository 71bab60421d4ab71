import { useNavigate, useSearch } from '@tanstack/react-router';
import { type KeyboardEvent as KeyPress, useCallback, useEffect, useRef, useState } from 'react';

import { CallerDocument } from '../../api/documents/api.ts';
import { useModels, useSharedQuery } from '../../api/shared-queries.ts';
import { isBusy } from '../../parts/controls/typing.ts';
import { Icon } from '../../parts/icons.tsx';
import { PageTop } from '../../parts/looks/panels.tsx';
import { later } from '../../parts/page/later.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { type Draft, readDraft, onDraft, setDraft } from '../../work/keeper.ts';
import { findRefusal } from '../../work/model-words.ts';
import { type Choice, listChoices, type Model, type Tab, TABS, type Values } from '../../work/work.ts';
import { Canvas } from './canvas/canvas.tsx';
import { StudioForm, type StudioFormProps } from './studio-form.tsx';
import { useActions, useSubmission } from './use-studio.ts';

const Chat = later(async () => (await import('./chat/chat.tsx')).Chat);
const Templates = later(async () => (await import('./templates.tsx')).Templates);

/** The Studio: a kind of work, a form of what its model takes, and everything that this browser has made. */
export function StudioPage() {
  const { kind: tab = 'image' } = useSearch({ from: '/' });
  const navigate = useNavigate({ from: '/' });
  const { data, error } = useModels();
  const { data: who, error: unknown } = useSharedQuery(CallerDocument);
  // What was filled in is kept for each account: it waits until it is known whose this is.
  const caller = who?.caller.id ?? (unknown === undefined ? undefined : 'anon');
  const models = caller === undefined ? undefined : data?.models;
  const [isDrawn, setDrawn] = useState(false);
  const onDrawn = useCallback(() => setDrawn(true), []);
  const choose = (next: Tab) => void navigate({ search: { kind: next } });
  useKindKeys(choose);
  return (
    <div className="flex flex-col flex-1">
      <PageTop>
        <PageHeading className="sr-only">{t('page.studio')}</PageHeading>
        <KindTabs chosen={tab} onChoose={choose} />
      </PageTop>
      <div
        id="studio-work"
        role="tabpanel"
        aria-label={t(`tab.${tab}`)}
        className="grid grid-cols-[var(--form-w)_minmax(0,1fr)] flex-1 relative max-sm:flex max-sm:flex-col"
        tabIndex={-1}
      >
        {error !== undefined && (
          <div className="col-span-full m-6">
            <Problem error={error} />
          </div>
        )}
        {models && tab === 'chat' && <Chat key={caller} models={models} />}
        {models && tab === 'templates' && <Templates key={caller} models={models} />}
        {models && tab !== 'chat' && tab !== 'templates' && (
          <Workbench key={`${tab} ${caller}`} tab={tab} models={models} isDrawn={isDrawn} onDrawn={onDrawn} />
        )}
      </div>
    </div>
  );
}

/**
 * The kinds of work, as tabs of our own: those of the library ask where each of them is while they are drawn, which lays the
 * page out more than once and keeps the first view waiting for longer than all else in it.
 */
function KindTabs({ chosen, onChoose }: { readonly chosen: Tab; readonly onChoose: (tab: Tab) => void }) {
  const list = useRef<HTMLDivElement>(null);
  // On phones some of them lie beside the window.
  useEffect(() => {
    list.current
      ?.querySelector('[aria-selected=true]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chosen]);
  const onKeyDown = (event: KeyPress<HTMLDivElement>) => {
    const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')];
    const at = tabs.indexOf(event.target as HTMLElement);
    const goals: Readonly<Record<string, number>> = {
      ArrowRight: (at + 1) % tabs.length,
      ArrowLeft: at - 1,
      Home: 0,
      End: -1,
    };
    const goal = goals[event.key];
    if (goal === undefined) return;
    event.preventDefault();
    tabs.at(goal)?.focus();
  };
  return (
    <div
      ref={list}
      role="tablist"
      className="-ml-2 flex gap-0.5 overflow-x-auto p-1 [scrollbar-width:none]"
      aria-label={t('studio.kind')}
      onKeyDown={onKeyDown}
    >
      {TABS.map(({ tab, icon }) => (
        <button
          key={tab}
          type="button"
          role="tab"
          className="inline-flex h-8 items-center gap-1.5 rounded-control px-2.5 whitespace-nowrap text-muted hover:bg-hover aria-selected:bg-active aria-selected:font-medium aria-selected:text-text"
          aria-selected={tab === chosen}
          aria-controls="studio-work"
          tabIndex={tab === chosen ? 0 : -1}
          onClick={() => onChoose(tab)}
        >
          <Icon name={icon} />
          {t(`tab.${tab}`)}
        </button>
      ))}
    </div>
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

interface WorkbenchProps extends Pick<StudioFormProps, 'isDrawn' | 'onDrawn'> {
  readonly tab: Tab;
  readonly models: readonly Model[];
}

/** The form of one tab beside everything that was made, which comes after the first form: on phones it stands below it. */
function Workbench({ tab, models, ...form }: WorkbenchProps) {
  const choices = listChoices(tab, models);
  const first = choices.find(({ model }) => findRefusal(model) === null) ?? choices[0];
  const [draft, showDraft] = useState<Draft>(() => readDraft(tab) ?? { key: first?.key ?? '', values: {} });
  const submission = useSubmission();
  useEffect(() => onDraft((of, next) => of === tab && showDraft(next)), [tab]);
  const choice =
    choices.find(({ key }) => key === draft.key) ?? choices.find(({ kind }) => kind === draft.key) ?? first;
  const keep = (next: Draft) => {
    setDraft(tab, next);
    showDraft(next);
    submission.reset();
  };
  const { remix, again, vary } = useActions(tab, models, submission, keep);
  if (choice === undefined) return <Empty title={t('studio.noModels')} text={t('studio.noModelsText')} />;
  return (
    <>
      <StudioForm
        choices={choices}
        choice={choice}
        values={draft.values}
        submission={submission}
        onChoose={(next: Choice) => keep({ key: next.key, values: valuesFor(next, choice, draft.values) })}
        // Two changes before it is drawn anew, such as a mask and a prompt, are both kept.
        onChange={(member, value) =>
          keep({ key: choice.key, values: { ...(readDraft(tab)?.values ?? draft.values), [member]: value } })
        }
        onSubmit={() => void submission.submit(choice, draft.values)}
        {...form}
      />
      {form.isDrawn && (
        <Canvas
          onRemix={remix}
          onAgain={again}
          onVary={vary}
          onIdea={tab === 'image' ? (values) => keep({ key: choice.key, values }) : undefined}
        />
      )}
    </>
  );
}

/** A voice belongs to the generator that it was chosen for. */
function valuesFor(next: Choice, before: Choice, { voiceId, ...values }: Values): Values {
  const isSame = next.kind === before.kind && next.model.generator === before.model.generator;
  return isSame && voiceId !== undefined ? { ...values, voiceId } : values;
}
