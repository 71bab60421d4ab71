import { useNavigate } from '@tanstack/react-router';

import type { MediaPartsFragment } from '../../api/documents/operations.ts';
import type { Batch } from '../../work/batches.ts';
import { type Draft, setDraft } from '../../work/drafts.ts';
import { variantOf } from '../../work/reuse.ts';
import { type Choice, choicesOf, type Model, type Tab, tabOf } from '../../work/work.ts';
import type { Submission } from './use-studio.ts';

/** What can be done next with something that was made. */
export interface Actions {
  /** Fills the form with every setting of a submission. */
  readonly remix: (batch: Batch) => void;
  /** Starts it once more. */
  readonly again: (batch: Batch) => void;
  /** Starts a variant of one of its results. */
  readonly vary: (batch: Batch, media: MediaPartsFragment) => void;
}

/** The actions of a tab of the Studio; `show` takes a draft for the form that is shown. */
export function useActions(
  tab: Tab,
  models: readonly Model[],
  submission: Submission,
  show: (draft: Draft) => void,
): Actions {
  const navigate = useNavigate({ from: '/' });
  const open = (target: Tab, draft: Draft) => {
    if (target === tab) return show(draft);
    setDraft(target, draft);
    void navigate({ search: { kind: target } });
  };
  return {
    remix(batch) {
      if (batch.template !== undefined)
        return open('templates', { key: batch.template, values: batch.values });
      open(tabOf(batch.kind), { key: keyOf(batch), values: batch.values });
    },
    again(batch) {
      const choice = choiceOf(batch, models);
      if (batch.template !== undefined) void submission.runTemplate(batch, batch.values);
      else if (choice !== undefined) void submission.submit(choice, batch.values);
    },
    vary(batch, media) {
      const choice = choiceOf(batch, models);
      if (choice !== undefined) void submission.submit(choice, variantOf(choice, batch.values, media));
    },
  };
}

function keyOf({ kind, generator, model }: Batch): string {
  return `${kind} ${generator} ${model}`;
}

function choiceOf(batch: Batch, models: readonly Model[]): Choice | undefined {
  return choicesOf(tabOf(batch.kind), models).find(({ key }) => key === keyOf(batch));
}
