import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

import { isEnded } from '../../api/live-tasks.ts';
import { useModels } from '../../api/shared-queries.ts';
import { downloadFiles } from '../../library/download.ts';
import { isBusy } from '../../parts/controls/typing.ts';
import { Icon } from '../../parts/icons.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Row } from '../../parts/looks/lines.tsx';
import { problemText } from '../../parts/problem.tsx';
import { CancelButton } from '../../parts/task/cancel-button.tsx';
import { t } from '../../text/text.ts';
import { setDraft } from '../../work/keeper.ts';
import { findRecalledChoice, recallTask } from '../../work/recall.ts';
import { startTask } from '../../work/work.ts';
import type { TaskLog } from './timeline/segments.ts';

/** What can be done with a task: cancel it while it runs, make it again, change its settings first. */
export function TaskActions({ task }: { readonly task: TaskLog }) {
  const navigate = useNavigate();
  const { models = [] } = useModels().data ?? {};
  const [failure, setFailure] = useState<unknown>(null);
  const [isStarting, setStarting] = useState(false);
  const recalled = recallTask(task);
  const choice = findRecalledChoice(recalled, models);
  const remix = () => {
    if (recalled === null) return;
    setDraft(recalled.tab, recalled.draft);
    void navigate({ to: '/', search: { kind: recalled.tab } });
  };
  const again = () => {
    if (choice === undefined || recalled === null) return;
    setStarting(true);
    setFailure(null);
    startTask(choice, recalled.draft.values)
      .then(({ id }) => void navigate({ to: '/tasks/$id', params: { id } }), setFailure)
      .finally(() => setStarting(false));
  };
  const download = () => {
    setFailure(null);
    downloadFiles(task.outputs).catch(setFailure);
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'r' || isBusy(event)) return;
      // Else the prompt, which has the focus then, would get the letter.
      event.preventDefault();
      remix();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  return (
    <Row as="span" className="ml-auto">
      {failure !== null && (
        <span className="text-12 font-normal" role="alert">
          {problemText(failure)}
        </span>
      )}
      {!isEnded(task) && <CancelButton task={task} onFailed={setFailure} />}
      {task.outputs.length > 1 && (
        <Button className="max-sm:hidden" onClick={download}>
          <Icon name="download" size={14} />
          {t('task.downloadAll')}
        </Button>
      )}
      {choice !== undefined && (
        <Button disabled={isStarting} onClick={again}>
          <Icon name="again" size={14} />
          {t('studio.again')}
        </Button>
      )}
      {recalled !== null && (
        <Button kind="primary" onClick={remix}>
          <Icon name="remix" size={14} />
          {t('studio.remix')}
        </Button>
      )}
    </Row>
  );
}
