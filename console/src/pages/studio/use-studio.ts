import { KilnError } from '@kiln/client';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { client } from '../../api/client.ts';
import type { MediaPartsFragment } from '../../api/documents/operations.ts';
import { StartTemplateDocument } from '../../api/documents/studio.ts';
import { sendOnce } from '../../api/send-once.ts';
import { t } from '../../text/text.ts';
import { addBatches, type NewBatch, type Run, type Batch } from '../../work/batches.ts';
import { type Draft, setDraft } from '../../work/keeper.ts';
import { makeVariant } from '../../work/reuse.ts';
import {
  type Choice,
  makeParameters,
  startTask,
  tasksFor,
  type Values,
  listChoices,
  type Model,
  type Tab,
  findTab,
} from '../../work/work.ts';

/** The state of a submission. */
export type Submission = ReturnType<typeof useSubmission>;

/** A template to run, and what it is called. */
type TemplateRun = Pick<NewBatch, 'kind' | 'modelName' | 'template'>;

/** Starts the tasks of a form and remembers them; what is refused is said at its field. */
export function useSubmission() {
  const [isSending, setIsSending] = useState(false);
  const [error, setError] = useState<unknown>(null);

  async function submitAll(runs: readonly Run[]): Promise<void> {
    setIsSending(true);
    setError(null);
    try {
      const started = await Promise.all(runs.map(start));
      addBatches(started.flatMap(({ batch }) => batch ?? []));
      const refused = started.find(({ refusal }) => refusal !== null);
      if (refused !== undefined) setError(refused.refusal);
    } finally {
      setIsSending(false);
    }
  }

  const submit = (choice: Choice, values: Values) => submitAll([{ choice, values }]);

  async function runTemplate(template: TemplateRun, values: Values): Promise<void> {
    setIsSending(true);
    setError(null);
    try {
      addBatches([await startTemplate(template, values)]);
    } catch (refused) {
      setError(refused);
    } finally {
      setIsSending(false);
    }
  }

  const reset = () => setError(null);
  return {
    isSending,
    error,
    /** Messages by member of the input, as the server says. */
    problems: listProblems(error),
    submit,
    /** Starts several at once, in the order in which they are shown. */
    submitAll,
    /** Runs a template of the catalog; its task is shown among the rest. */
    runTemplate,
    reset,
  };
}

async function startTemplate(
  { kind, modelName, template = '' }: TemplateRun,
  values: Values,
): Promise<NewBatch> {
  const run = { code: template, parameters: makeParameters(values) };
  const { data } = await sendOnce(run, (key) =>
    client.mutate({ mutation: StartTemplateDocument, variables: { ...run, key } }),
  );
  const task = data?.executeTemplate.taskId;
  if (task === undefined) throw new Error(t('problem.noAnswer'));
  return {
    id: crypto.randomUUID(),
    kind,
    generator: '',
    model: '',
    modelName,
    template,
    values,
    tasks: [task],
    at: new Date().toISOString(),
  };
}

/** Starts the tasks of one submission: what was started, and why another one was not. */
async function start(run: Run): Promise<{ readonly batch: NewBatch | null; readonly refusal: unknown }> {
  const { choice, values } = run;
  const count = tasksFor(choice, Number(values['count'] ?? 1));
  const started = await Promise.allSettled(Array.from({ length: count }, () => startTask(choice, values)));
  const tasks = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []));
  const refused = started.find((one) => one.status === 'rejected');
  return { batch: tasks.length === 0 ? null : makeBatch(run, tasks), refusal: refused?.reason ?? null };
}

function makeBatch({ choice: { kind, model }, values, cell }: Run, tasks: readonly string[]): NewBatch {
  const { generator, name } = model;
  return {
    ...(cell === undefined ? {} : { cell }),
    id: crypto.randomUUID(),
    kind,
    generator,
    model: model.model,
    modelName: name,
    values,
    tasks,
    at: new Date().toISOString(),
  };
}

/** What the server says against members of an input. */
function listProblems(error: unknown): Record<string, string> {
  if (!(error instanceof KilnError)) return {};
  const { problems, field = '', message } = error;
  return Object.fromEntries(
    (problems.length > 0 ? problems : [{ field, message }]).map((one) => [
      one.field.replace(/^input\./, ''),
      one.message,
    ]),
  );
}

/** The actions of a tab of the Studio; `show` takes a draft for the form that is shown. */
export function useActions(
  tab: Tab,
  models: readonly Model[],
  submission: Submission,
  show: (draft: Draft) => void,
) {
  const navigate = useNavigate({ from: '/' });
  const open = (target: Tab, draft: Draft) => {
    if (target === tab) return show(draft);
    setDraft(target, draft);
    void navigate({ search: { kind: target } });
  };
  return {
    /** Fills the form with every setting of a submission. */
    remix: (batch: Batch): void => {
      if (batch.template !== undefined)
        return open('templates', { key: batch.template, values: batch.values });
      open(findTab(batch.kind), { key: choiceKey(batch), values: batch.values });
    },
    /** Starts it once more. */
    again: (batch: Batch): void => {
      const choice = findChoice(batch, models);
      if (batch.template !== undefined) void submission.runTemplate(batch, batch.values);
      else if (choice !== undefined) void submission.submit(choice, batch.values);
    },
    /** Starts a variant of one of its results. */
    vary: (batch: Batch, media: MediaPartsFragment): void => {
      const choice = findChoice(batch, models);
      if (choice !== undefined) void submission.submit(choice, makeVariant(choice, batch.values, media));
    },
  };
}

function choiceKey({ kind, generator, model }: Batch): string {
  return `${kind} ${generator} ${model}`;
}

function findChoice(batch: Batch, models: readonly Model[]): Choice | undefined {
  return listChoices(findTab(batch.kind), models).find(({ key }) => key === choiceKey(batch));
}
