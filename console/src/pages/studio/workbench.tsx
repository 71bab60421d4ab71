import { useState } from 'react';

import { Empty } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { type Draft, draftOf, setDraft } from '../../work/drafts.ts';
import { hasEnded } from '../../work/ending.ts';
import { type Choice, choicesOf, type Model, type Tab } from '../../work/work.ts';
import { Canvas } from './canvas/canvas.tsx';
import { StudioForm } from './studio-form.tsx';
import { useActions } from './use-actions.ts';
import { useSubmission } from './use-studio.ts';

/** The form of one tab beside everything that was made. */
export function Workbench({ tab, models }: { readonly tab: Tab; readonly models: readonly Model[] }) {
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
