import { useState } from 'react';

import { client } from '../../api/client.ts';
import type { RowPartsFragment, TaskFilter, TasksQuery } from '../../api/documents/operations.ts';
import { TasksDocument } from '../../api/documents/tasks.ts';
import { Icon } from '../../parts/icons.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Row } from '../../parts/looks/lines.tsx';
import { problemText } from '../../parts/problem.tsx';
import { saveAs } from '../../parts/save-as.ts';
import { t } from '../../text/text.ts';

const PAGE = 200;
/** More than this is a question for the API, not for a tab. */
const MOST = 10_000;

/** Saves every task that the filters let in as a table, newest first. */
export function CsvButton({ filter }: { readonly filter: TaskFilter }) {
  const [count, setCount] = useState<number | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const save = () => {
    setCount(0);
    setFailure(null);
    readAll(filter, setCount)
      .then(
        ({ tasks, isWhole }) => {
          saveAs(new Blob([writeCsv(tasks)], { type: 'text/csv' }), 'tasks.csv');
          if (!isWhole) setFailure(t('tasks.csvCut', { count: tasks.length }));
        },
        (thrown: unknown) => setFailure(problemText(thrown)),
      )
      .finally(() => setCount(null));
  };
  return (
    <Row as="span" className="ml-auto">
      {failure !== null && (
        <span className="text-12 font-normal" role="alert">
          {failure}
        </span>
      )}
      <Button disabled={count !== null} onClick={save}>
        <Icon name="download" size={14} />
        {count === null || count === 0 ? t('usage.csv') : t('tasks.read', { count })}
      </Button>
    </Row>
  );
}

/** The tasks, and whether these are all of them. */
async function readAll(filter: TaskFilter, onCount: (count: number) => void) {
  const tasks: RowPartsFragment[] = [];
  let after: string | null = null;
  do {
    const { edges, pageInfo }: TasksQuery['tasks'] = await readPage(filter, after);
    tasks.push(...edges.map(({ node }) => node));
    onCount(tasks.length);
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after !== null && tasks.length < MOST);
  return { tasks, isWhole: after === null };
}

async function readPage(filter: TaskFilter, after: string | null): Promise<TasksQuery['tasks']> {
  const { data } = await client.query({
    query: TasksDocument,
    variables: { filter, first: PAGE, after },
    fetchPolicy: 'no-cache',
  });
  if (data === undefined) throw new Error(t('problem.noAnswer'));
  return data.tasks;
}

const HEADS = [
  'id',
  'state',
  'kind',
  'generator',
  'model',
  'owner',
  'prompt',
  'createdAt',
  'startedAt',
  'endedAt',
  'cost',
  'currency',
  'estimated',
  'sandbox',
  'error',
] as const;

function writeCsv(tasks: readonly RowPartsFragment[]): string {
  const rows = tasks.map((task) => {
    const { cost, input, error } = task;
    const cells: Readonly<Record<(typeof HEADS)[number], unknown>> = {
      ...task,
      prompt: input?.prompt,
      cost: cost?.amount,
      currency: cost?.currency,
      estimated: cost?.estimated,
      error: error?.code,
    };
    return HEADS.map((name) => writeCell(cells[name])).join(',');
  });
  return `${[HEADS.join(','), ...rows].join('\r\n')}\r\n`;
}

/** What a spreadsheet would take for a formula is quoted as text. */
function writeCell(value: unknown): string {
  const text =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
