import type { TaskPartsFragment } from '../../api/operations.ts';
import { t, textOr } from '../../text/text.ts';

/** The stages of tasks, which the server names in few words that stand for codes, in the reader's language. */

/** What a task says that waits for its provider, and its place in the provider's own line. */
const WAITING = /^(provider (?:away|busy)), next try in (\d+) s$/;
const IN_LINE = /^(queued upstream), position (\d+)$/;
/** The step of a recipe, in front of what it does. */
const STEP = /^(describing the image|speaking the text|video|image)(?: (\d+) of (\d+))?: (.*)$/;

/** The stage in the reader's language where it is a known one, and the place in the line. */
export function stageText({
  stage,
  queuePosition = null,
}: Pick<TaskPartsFragment, 'stage'> & { readonly queuePosition?: number | null }): string {
  if (queuePosition !== null) return t('task.inLine', { place: queuePosition });
  const { step, code } = partsOf(stage);
  return step === null ? codeText(code) : t('stage.ofStep', { step, stage: codeText(code) });
}

/** The code of a stage without the step that it is of. */
export function stageCode(stage: string): string {
  return partsOf(stage).code;
}

function partsOf(stage: string): { readonly step: string | null; readonly code: string } {
  const [, label, number = '', most = '', code = stage] = STEP.exec(stage) ?? [];
  if (label === undefined) return { step: null, code: stage };
  const name = textOr(`step.${label}`, label);
  return { step: number === '' ? name : t('step.numbered', { name, number, most }), code };
}

function codeText(code: string): string {
  const node = nodeOf(code);
  if (node !== null) return nodeText(node);
  const [, waits, seconds = ''] = WAITING.exec(code) ?? [];
  if (waits !== undefined) return textOr(`stage.${waits}`, code).replace('{seconds}', seconds);
  const [, queued, place = ''] = IN_LINE.exec(code) ?? [];
  if (queued !== undefined) return t('stage.upstreamAt', { place });
  return textOr(`stage.${code}`, code);
}

function nodeText({ name, node, step, most }: NonNullable<ReturnType<typeof nodeOf>>): string {
  if (step === null) return t('studio.node', { name, node });
  return t('studio.nodeStep', { name, node, step, most: most ?? step });
}

/** The node of a ComfyUI workflow that a stage tells of, as in "node 3 (KSampler) 7/20"; null for other stages. */
export function nodeOf(stage: string) {
  const match = /^node (\S+)(?: \(([^)]+)\))?(?: (\d+)\/(\d+))?$/.exec(stage);
  if (match === null) return null;
  const [, node = '', name, step, most] = match;
  return { node, name: name ?? node, step: step ?? null, most: most ?? null };
}
