import type { StagePartsFragment } from '../../api/documents/operations.ts';
import type { Texts } from '../../text/text.ts';
import { t, textOr } from '../../text/text.ts';

/** What tasks do, in the reader's language: a text for each code of the server. */

/** A task, or an entry of its log, as far as its stage goes. */
interface Staged {
  readonly stageInfo: StagePartsFragment;
  readonly queuePosition?: number | null;
}

/** The stage in the reader's language, and the place in the line. */
export function stageText({ stageInfo, queuePosition = null }: Staged): string {
  if (queuePosition !== null) return t('task.inLine', { place: queuePosition });
  const { step } = stageInfo;
  const stage = codeText(stageInfo);
  return step === null ? stage : t('stage.ofStep', { step: stepText(step), stage });
}

function codeText({ code, text, node, retryInSeconds, upstreamPosition }: StagePartsFragment): string {
  if (code === 'OTHER') return text;
  if (code === 'RUNNING_NODE') return node === null ? text : nodeText(node);
  if (upstreamPosition !== null) return t('stage.upstreamAt', { place: upstreamPosition });
  const key = `stage.${code}` as const satisfies keyof Texts;
  return textOr(key, text, { seconds: retryInSeconds ?? '' });
}

function stepText({ code, number, total }: NonNullable<StagePartsFragment['step']>): string {
  const key = `step.${code}` as const satisfies keyof Texts;
  const name = textOr(key, code);
  return number === null || total === null ? name : t('step.numbered', { name, number, most: total });
}

/** What a node of a graph is called: its class, where that is known. */
export function nodeName({ classType, nodeId }: NonNullable<StagePartsFragment['node']>): string {
  return classType ?? nodeId;
}

function nodeText(running: NonNullable<StagePartsFragment['node']>): string {
  const { nodeId: node, step, steps } = running;
  const name = nodeName(running);
  if (step === null || steps === null) return t('studio.node', { name, node });
  return t('studio.nodeStep', { name, node, step, most: steps });
}
