import type { TaskPartsFragment } from '../api/operations.ts';
import { t, textOr } from '../text/text.ts';

/** How far a running task is. */
export function ProgressBar({ task }: { readonly task: Pick<TaskPartsFragment, 'progress' | 'stage'> }) {
  return (
    <div
      className="bar"
      role="progressbar"
      aria-label={t('task.progress')}
      aria-valuenow={task.progress}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuetext={`${task.progress} %, ${task.stage}`}
    >
      <i style={{ width: `${task.progress}%` }} />
    </div>
  );
}

/** What a task says that waits for its provider. */
const WAITING = /^(provider (?:away|busy)), next try in (\d+) s$/;

/** The stage in the reader's language where it is a known one, and the place in the line. */
export function stageText({
  stage,
  queuePosition = null,
}: Pick<TaskPartsFragment, 'stage'> & { readonly queuePosition?: number | null }): string {
  if (queuePosition !== null) return t('task.inLine', { place: queuePosition });
  const [, why = '', seconds = ''] = WAITING.exec(stage) ?? [];
  const node = nodeOf(stage);
  if (node === null) return textOr(`stage.${why === '' ? stage : why}`, stage).replace('{seconds}', seconds);
  if (node.step === null) return t('studio.node', { name: node.name, node: node.node });
  const { step, most, ...where } = node;
  return t('studio.nodeStep', { ...where, step, most: most ?? step });
}

/** The node of a ComfyUI workflow that a stage tells of, as in "node 3 (KSampler) 7/20"; null for other stages. */
export function nodeOf(stage: string) {
  const match = /^node (\S+)(?: \(([^)]+)\))?(?: (\d+)\/(\d+))?$/.exec(stage);
  if (match === null) return null;
  const [, node = '', name, step, most] = match;
  return { node, name: name ?? node, step: step ?? null, most: most ?? null };
}
